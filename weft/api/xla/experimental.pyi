# Written by `make stubs` from weft/api/xla/experimental.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.contrib.compiler.jit import experimental_jit_scope as _is_jit_scope
from weft.lib.contrib.compiler.xla import compile as compile
jit_scope = _is_jit_scope
