"""tf.sysconfig: public names, re-exported from where they are made."""

from weft.platform.sysconfig import (
    CXX11_ABI_FLAG as CXX11_ABI_FLAG,
)
from weft.platform.sysconfig import (
    MONOLITHIC_BUILD as MONOLITHIC_BUILD,
)
from weft.platform.sysconfig import (
    get_compile_flags as get_compile_flags,
)
from weft.platform.sysconfig import (
    get_include as get_include,
)
from weft.platform.sysconfig import (
    get_lib as get_lib,
)
from weft.platform.sysconfig import (
    get_link_flags as get_link_flags,
)
