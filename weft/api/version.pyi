# Written by `make stubs` from weft/api/version.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.platform.versions import COMPILER_VERSION as COMPILER_VERSION
from weft.lib.platform.versions import GIT_VERSION as GIT_VERSION
from weft.lib.platform.versions import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from weft.lib.platform.versions import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from weft.lib.platform.versions import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from weft.lib.platform.versions import VERSION as VERSION
