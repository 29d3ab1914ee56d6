# Written by `make stubs` from weft/api/xla/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.api.xla import experimental as experimental
