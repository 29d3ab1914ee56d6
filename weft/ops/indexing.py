"""Everything that takes parts of arrays or puts parts together, under one name."""

from __future__ import annotations

from weft.ops.gather import (
    batch_gather as batch_gather,
)
from weft.ops.gather import (
    check_coordinates as check_coordinates,
)
from weft.ops.gather import (
    coordinates as coordinates,
)
from weft.ops.gather import (
    gather as gather,
)
from weft.ops.gather import (
    gather_nd as gather_nd,
)
from weft.ops.gather import (
    sparse_mask as sparse_mask,
)
from weft.ops.gather import (
    take_rows as take_rows,
)
from weft.ops.partition import (
    dynamic_partition as dynamic_partition,
)
from weft.ops.partition import (
    dynamic_stitch as dynamic_stitch,
)
from weft.ops.partition import (
    parallel_dynamic_stitch as parallel_dynamic_stitch,
)
from weft.ops.scatter import (
    scatter_into as scatter_into,
)
from weft.ops.scatter import (
    scatter_nd as scatter_nd,
)
from weft.ops.scatter import (
    tensor_scatter_add as tensor_scatter_add,
)
from weft.ops.scatter import (
    tensor_scatter_nd_add as tensor_scatter_nd_add,
)
from weft.ops.scatter import (
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
)
from weft.ops.scatter import (
    tensor_scatter_nd_update as tensor_scatter_nd_update,
)
from weft.ops.scatter import (
    tensor_scatter_sub as tensor_scatter_sub,
)
from weft.ops.scatter import (
    tensor_scatter_update as tensor_scatter_update,
)
from weft.ops.select import (
    boolean_mask as boolean_mask,
)
from weft.ops.select import (
    one_hot as one_hot,
)
from weft.ops.select import (
    searchsorted as searchsorted,
)
from weft.ops.select import (
    sequence_mask as sequence_mask,
)
from weft.ops.select import (
    unravel_index as unravel_index,
)
from weft.ops.select import (
    where as where,
)
from weft.ops.select import (
    where_v2 as where_v2,
)
from weft.ops.strided import (
    getitem as getitem,
)
from weft.ops.strided import (
    newaxis as newaxis,
)
from weft.ops.strided import (
    slice as slice,
)
from weft.ops.strided import (
    slice_static as slice_static,
)
from weft.ops.strided import (
    strided_plan as strided_plan,
)
from weft.ops.strided import (
    strided_slice as strided_slice,
)
from weft.ops.strided import (
    strided_static as strided_static,
)
