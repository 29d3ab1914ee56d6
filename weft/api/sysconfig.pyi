# Written by `make stubs` from weft/api/sysconfig.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.platform.sysconfig import CXX11_ABI_FLAG as CXX11_ABI_FLAG
from weft.lib.platform.sysconfig import get_compile_flags as get_compile_flags
from weft.lib.platform.sysconfig import get_include as get_include
from weft.lib.platform.sysconfig import get_lib as get_lib
from weft.lib.platform.sysconfig import get_link_flags as get_link_flags
from weft.lib.platform.sysconfig import MONOLITHIC_BUILD as MONOLITHIC_BUILD
