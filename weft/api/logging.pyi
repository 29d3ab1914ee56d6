# Written by `make stubs` from weft/api/logging.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.platform.tf_logging import DEBUG as DEBUG
from weft.lib.platform.tf_logging import debug as debug
from weft.lib.platform.tf_logging import ERROR as ERROR
from weft.lib.platform.tf_logging import error as error
from weft.lib.platform.tf_logging import FATAL as FATAL
from weft.lib.platform.tf_logging import fatal as fatal
from weft.lib.platform.tf_logging import flush as flush
from weft.lib.platform.tf_logging import get_verbosity as get_verbosity
from weft.lib.platform.tf_logging import INFO as INFO
from weft.lib.platform.tf_logging import info as info
from weft.lib.platform.tf_logging import log as log
from weft.lib.platform.tf_logging import log_every_n as log_every_n
from weft.lib.platform.tf_logging import log_first_n as log_first_n
from weft.lib.platform.tf_logging import log_if as log_if
from weft.lib.platform.tf_logging import set_verbosity as set_verbosity
from weft.lib.platform.tf_logging import TaskLevelStatusMessage as TaskLevelStatusMessage
from weft.lib.platform.tf_logging import vlog as vlog
from weft.lib.platform.tf_logging import WARN as WARN
from weft.lib.platform.tf_logging import warn as warn
from weft.lib.platform.tf_logging import warning as warning
