# Written by `make stubs` from weft/api/tpu.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.contrib.tpu import CrossShardOptimizer as CrossShardOptimizer
from weft.lib.contrib.tpu import bfloat16_scope as bfloat16_scope
