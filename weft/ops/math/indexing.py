"""Everything that takes parts of arrays or puts parts together, under one name."""

from __future__ import annotations

from weft.ops.array.gather import (  # noqa: F401
    batch_gather,
    check_coordinates,
    coordinates,
    gather,
    gather_nd,
    sparse_mask,
    take_rows,
)
from weft.ops.array.one_hot_search import (  # noqa: F401
    boolean_mask,
    one_hot,
    searchsorted,
    sequence_mask,
    unravel_index,
    where,
    where_v2,
)
from weft.ops.array.partition import dynamic_partition, dynamic_stitch, parallel_dynamic_stitch  # noqa: F401
from weft.ops.array.scatter import (  # noqa: F401
    scatter_into,
    scatter_nd,
    tensor_scatter_add,
    tensor_scatter_nd_add,
    tensor_scatter_nd_sub,
    tensor_scatter_nd_update,
    tensor_scatter_sub,
    tensor_scatter_update,
)
from weft.ops.array.slicing import slice  # noqa: F401
from weft.ops.array.strided import newaxis, strided_slice  # noqa: F401
