# Written by `make stubs` from weft/api/manip.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from weft.ops.array.reverse import reverse as reverse
from weft.ops.array.reverse import roll as roll
from weft.ops.array.shape import reshape as reshape
from weft.ops.array.blocks import batch_to_space_nd as batch_to_space_nd
from weft.ops.array.blocks import space_to_batch_nd as space_to_batch_nd
from weft.ops.array.scatter import scatter_nd as scatter_nd
def gather_nd(params: _Any, indices: _Any, name: _builtins.str | None = None, batch_dims: _Any = 0) -> _Tensor: ...
def tile(input: _Any, multiples: _Any, name: _builtins.str | None = None) -> _Tensor: ...
