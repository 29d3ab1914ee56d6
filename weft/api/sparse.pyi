# Written by `make stubs` from weft/api/sparse.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from weft.graph.slices import SparseTensor as SparseTensor
from weft.ops.queues.accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator
from weft.ops.array.gather import sparse_mask as mask
from weft.ops.sparse.add import sparse_add as add
from weft.ops.sparse.convert import sparse_eye as eye
from weft.ops.sparse.convert import from_dense as from_dense
from weft.ops.sparse.convert import sparse_maximum as maximum
from weft.ops.sparse.convert import sparse_minimum as minimum
from weft.ops.sparse.convert import sparse_placeholder as placeholder
from weft.ops.sparse.convert import sparse_reduce_max as reduce_max
from weft.ops.sparse.convert import sparse_reduce_max_sparse as reduce_max_sparse
from weft.ops.sparse.convert import sparse_reduce_sum as reduce_sum
from weft.ops.sparse.convert import sparse_reduce_sum_sparse as reduce_sum_sparse
from weft.ops.sparse.convert import sparse_softmax as softmax
from weft.ops.sparse.convert import sparse_tensor_to_dense as to_dense
from weft.ops.sparse.convert import sparse_to_indicator as to_indicator
from weft.ops.sparse.cross import sparse_cross as cross
from weft.ops.sparse.cross import sparse_cross_hashed as cross_hashed
from weft.ops.sparse.matmul import sparse_tensor_dense_matmul as matmul
from weft.ops.sparse.matmul import sparse_tensor_dense_matmul as sparse_dense_matmul
from weft.ops.sparse.select import sparse_concat as concat
from weft.ops.sparse.select import sparse_expand_dims as expand_dims
from weft.ops.sparse.select import sparse_fill_empty_rows as fill_empty_rows
from weft.ops.sparse.select import sparse_merge as merge
from weft.ops.sparse.select import sparse_reorder as reorder
from weft.ops.sparse.select import sparse_reset_shape as reset_shape
from weft.ops.sparse.select import sparse_reshape as reshape
from weft.ops.sparse.select import sparse_retain as retain
from weft.ops.sparse.select import sparse_slice as slice
from weft.ops.sparse.select import sparse_split as split
from weft.ops.sparse.select import sparse_transpose as transpose
def segment_mean(data: _Any, indices: _Any, segment_ids: _Any, name: _builtins.str | None = None, num_segments: _Any = None) -> _Tensor: ...
def segment_sqrt_n(data: _Any, indices: _Any, segment_ids: _Any, name: _builtins.str | None = None, num_segments: _Any = None) -> _Tensor: ...
def segment_sum(data: _Any, indices: _Any, segment_ids: _Any, name: _builtins.str | None = None, num_segments: _Any = None) -> _Tensor: ...
