"""tf.logging: public names, re-exported from where they are made."""

from weft.platform.tf_logging import (
    DEBUG as DEBUG,
)
from weft.platform.tf_logging import (
    ERROR as ERROR,
)
from weft.platform.tf_logging import (
    FATAL as FATAL,
)
from weft.platform.tf_logging import (
    INFO as INFO,
)
from weft.platform.tf_logging import (
    WARN as WARN,
)
from weft.platform.tf_logging import (
    TaskLevelStatusMessage as TaskLevelStatusMessage,
)
from weft.platform.tf_logging import (
    debug as debug,
)
from weft.platform.tf_logging import (
    error as error,
)
from weft.platform.tf_logging import (
    fatal as fatal,
)
from weft.platform.tf_logging import (
    flush as flush,
)
from weft.platform.tf_logging import (
    get_verbosity as get_verbosity,
)
from weft.platform.tf_logging import (
    info as info,
)
from weft.platform.tf_logging import (
    log as log,
)
from weft.platform.tf_logging import (
    log_every_n as log_every_n,
)
from weft.platform.tf_logging import (
    log_first_n as log_first_n,
)
from weft.platform.tf_logging import (
    log_if as log_if,
)
from weft.platform.tf_logging import (
    set_verbosity as set_verbosity,
)
from weft.platform.tf_logging import (
    vlog as vlog,
)
from weft.platform.tf_logging import (
    warn as warn,
)
from weft.platform.tf_logging import (
    warning as warning,
)
