# Written by `make stubs` from weft/api/sets.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.ops.sparse.sets import set_difference as difference
from weft.ops.sparse.sets import set_intersection as intersection
from weft.ops.sparse.sets import set_difference as set_difference
from weft.ops.sparse.sets import set_intersection as set_intersection
from weft.ops.sparse.sets import set_size as set_size
from weft.ops.sparse.sets import set_union as set_union
from weft.ops.sparse.sets import set_size as size
from weft.ops.sparse.sets import set_union as union
