# Written by `make stubs` from weft/api/app.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.platform.app import run as run
from weft.lib.platform import flags as flags
