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
from weft.ops.array import (
    concat as concat,
    expand_dims as expand_dims,
    placeholder as placeholder,
    reshape as reshape,
    split as split,
    transpose as transpose,
)
from weft.ops.elementwise import (
    maximum as maximum,
    minimum as minimum,
)
from weft.ops.indexing import (
    slice as slice,
)
from weft.ops.matmul import (
    sparse_matmul as matmul,
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
