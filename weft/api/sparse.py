"""tf.sparse: public names, re-exported from where they are made."""

from weft.graph.slices import SparseTensor as SparseTensor
from weft.ops.queues.accumulators import (
    SparseConditionalAccumulator as SparseConditionalAccumulator,
)
from weft.ops.array.gather import sparse_mask as mask
from weft.ops.math.segment_sparse import (
    sparse_segment_mean as segment_mean,
    sparse_segment_sqrt_n as segment_sqrt_n,
    sparse_segment_sum as segment_sum,
)
from weft.ops.sparse.add import sparse_add as add
from weft.ops.sparse.convert import (
    sparse_eye as eye,
    from_dense as from_dense,
    sparse_maximum as maximum,
    sparse_minimum as minimum,
    sparse_placeholder as placeholder,
    sparse_reduce_max as reduce_max,
    sparse_reduce_max_sparse as reduce_max_sparse,
    sparse_reduce_sum as reduce_sum,
    sparse_reduce_sum_sparse as reduce_sum_sparse,
    sparse_softmax as softmax,
    sparse_tensor_to_dense as to_dense,
    sparse_to_indicator as to_indicator,
)
from weft.ops.sparse.cross import sparse_cross as cross, sparse_cross_hashed as cross_hashed
from weft.ops.sparse.matmul import (
    sparse_tensor_dense_matmul as matmul,
    sparse_tensor_dense_matmul as sparse_dense_matmul,
)
from weft.ops.sparse.select import (
    sparse_concat as concat,
    sparse_expand_dims as expand_dims,
    sparse_fill_empty_rows as fill_empty_rows,
    sparse_merge as merge,
    sparse_reorder as reorder,
    sparse_reset_shape as reset_shape,
    sparse_reshape as reshape,
    sparse_retain as retain,
    sparse_slice as slice,
    sparse_split as split,
    sparse_transpose as transpose,
)
