"""tf.sparse: public names, re-exported from where they are made."""

from weft.graph.slices import (
    SparseTensor as SparseTensor,
)
from weft.ops.accumulators import (
    SparseConditionalAccumulator as SparseConditionalAccumulator,
)
from weft.ops.array_pass import (
    sparse_placeholder as placeholder,
)
from weft.ops.gather import (
    sparse_mask as mask,
)
from weft.ops.matmul import (
    sparse_matmul as matmul,
)
from weft.ops.segment import (
    sparse_segment_mean as segment_mean,
)
from weft.ops.segment import (
    sparse_segment_sqrt_n as segment_sqrt_n,
)
from weft.ops.segment import (
    sparse_segment_sum as segment_sum,
)
from weft.ops.sparse import (
    sparse_to_dense as to_dense,
)
from weft.ops.sparse_add import (
    sparse_add as add,
)
