"""tf.sparse: public names, re-exported from where they are made."""

from weft.autodiff.accumulate import (
    to_dense as to_dense,
)
from weft.core.device_name import (
    merge as merge,
)
from weft.graph.shape_fn import (
    concat as concat,
)
from weft.graph.slices import (
    SparseTensor as SparseTensor,
)
from weft.ops.array_join import (
    split as split,
)
from weft.ops.array_shape import (
    expand_dims as expand_dims,
)
from weft.ops.array_shape import (
    reshape as reshape,
)
from weft.ops.array_shape import (
    transpose as transpose,
)
from weft.ops.decompose import (
    eye as eye,
)
from weft.ops.elementwise import (
    add as add,
)
from weft.ops.elementwise import (
    maximum as maximum,
)
from weft.ops.elementwise import (
    minimum as minimum,
)
from weft.ops.matmul import (
    cross as cross,
)
from weft.ops.reduce import (
    reduce_max as reduce_max,
)
from weft.ops.reduce import (
    reduce_sum as reduce_sum,
)
from weft.ops.strided import (
    slice as slice,
)
