"""tf.sparse: public names, re-exported from where they are made."""

from weft.autodiff.accumulate import (
    to_dense as to_dense,
)
from weft.core.device_name import (
    merge as merge,
)
from weft.graph.slices import (
    SparseTensor as SparseTensor,
)
from weft.ops.accumulators import (
    SparseConditionalAccumulator as SparseConditionalAccumulator,
)
from weft.ops.array_join import (
    concat as concat,
    split as split,
)
from weft.ops.array_pass import (
    sparse_placeholder as placeholder,
)
from weft.ops.array_shape import (
    expand_dims as expand_dims,
    reshape as reshape,
    transpose as transpose,
)
from weft.ops.elementwise import (
    add as add,
    maximum as maximum,
    minimum as minimum,
)
from weft.ops.gather import (
    sparse_mask as mask,
)
from weft.ops.matmul import (
    cross as cross,
    sparse_matmul as matmul,
)
from weft.ops.matrices import (
    eye as eye,
)
from weft.ops.nn_impl import (
    softmax as softmax,
)
from weft.ops.reduce import (
    reduce_max as reduce_max,
    reduce_sum as reduce_sum,
)
from weft.ops.segment import (
    sparse_segment_mean as segment_mean,
    sparse_segment_sqrt_n as segment_sqrt_n,
    sparse_segment_sum as segment_sum,
)
from weft.ops.strided import (
    slice as slice,
)
