# Written by `make stubs` from weft/api/sets.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.ops.sparse.sets import set_difference as _is_difference
from weft.ops.sparse.sets import set_intersection as _is_intersection
from weft.ops.sparse.sets import set_difference as set_difference
from weft.ops.sparse.sets import set_intersection as set_intersection
from weft.ops.sparse.sets import set_size as set_size
from weft.ops.sparse.sets import set_union as set_union
from weft.ops.sparse.sets import set_size as _is_size
from weft.ops.sparse.sets import set_union as _is_union
difference = _is_difference
intersection = _is_intersection
size = _is_size
union = _is_union
