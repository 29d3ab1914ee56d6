# Written by `make stubs` from weft/api/sparse.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from weft.graph.slices import SparseTensor as SparseTensor
from weft.ops.queues.accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator
from weft.ops.array.gather import sparse_mask as _is_mask
from weft.ops.sparse.add import sparse_add as _is_add
from weft.ops.sparse.convert import sparse_eye as _is_eye
from weft.ops.sparse.convert import from_dense as from_dense
from weft.ops.sparse.convert import sparse_maximum as _is_maximum
from weft.ops.sparse.convert import sparse_minimum as _is_minimum
from weft.ops.sparse.convert import sparse_placeholder as _is_placeholder
from weft.ops.sparse.convert import sparse_reduce_max as _is_reduce_max
from weft.ops.sparse.convert import sparse_reduce_max_sparse as _is_reduce_max_sparse
from weft.ops.sparse.convert import sparse_reduce_sum as _is_reduce_sum
from weft.ops.sparse.convert import sparse_reduce_sum_sparse as _is_reduce_sum_sparse
from weft.ops.sparse.convert import sparse_softmax as _is_softmax
from weft.ops.sparse.convert import sparse_tensor_to_dense as _is_to_dense
from weft.ops.sparse.convert import sparse_to_indicator as _is_to_indicator
from weft.ops.sparse.cross import sparse_cross as _is_cross
from weft.ops.sparse.cross import sparse_cross_hashed as _is_cross_hashed
from weft.ops.sparse.matmul import sparse_tensor_dense_matmul as _is_matmul
from weft.ops.sparse.matmul import sparse_tensor_dense_matmul as _is_sparse_dense_matmul
from weft.ops.sparse.select import sparse_concat as _is_concat
from weft.ops.sparse.select import sparse_expand_dims as _is_expand_dims
from weft.ops.sparse.select import sparse_fill_empty_rows as _is_fill_empty_rows
from weft.ops.sparse.select import sparse_merge as _is_merge
from weft.ops.sparse.select import sparse_reorder as _is_reorder
from weft.ops.sparse.select import sparse_reset_shape as _is_reset_shape
from weft.ops.sparse.select import sparse_reshape as _is_reshape
from weft.ops.sparse.select import sparse_retain as _is_retain
from weft.ops.sparse.select import sparse_slice as _is_slice
from weft.ops.sparse.select import sparse_split as _is_split
from weft.ops.sparse.select import sparse_transpose as _is_transpose
mask = _is_mask
def segment_mean(data: _Any, indices: _Any, segment_ids: _Any, name: _builtins.str | None = None, num_segments: _Any = None) -> _Tensor: ...
def segment_sqrt_n(data: _Any, indices: _Any, segment_ids: _Any, name: _builtins.str | None = None, num_segments: _Any = None) -> _Tensor: ...
def segment_sum(data: _Any, indices: _Any, segment_ids: _Any, name: _builtins.str | None = None, num_segments: _Any = None) -> _Tensor: ...
add = _is_add
eye = _is_eye
maximum = _is_maximum
minimum = _is_minimum
placeholder = _is_placeholder
reduce_max = _is_reduce_max
reduce_max_sparse = _is_reduce_max_sparse
reduce_sum = _is_reduce_sum
reduce_sum_sparse = _is_reduce_sum_sparse
softmax = _is_softmax
to_dense = _is_to_dense
to_indicator = _is_to_indicator
cross = _is_cross
cross_hashed = _is_cross_hashed
matmul = _is_matmul
sparse_dense_matmul = _is_sparse_dense_matmul
concat = _is_concat
expand_dims = _is_expand_dims
fill_empty_rows = _is_fill_empty_rows
merge = _is_merge
reorder = _is_reorder
reset_shape = _is_reset_shape
reshape = _is_reshape
retain = _is_retain
slice = _is_slice
split = _is_split
transpose = _is_transpose
