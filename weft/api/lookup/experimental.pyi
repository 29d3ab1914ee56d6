# Written by `make stubs` from weft/api/lookup/experimental.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.train.checkpoint.mutable_tables import DenseHashTable as DenseHashTable
