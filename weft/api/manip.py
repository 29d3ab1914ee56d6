"""tf.manip: public names, re-exported from where they are made."""

from weft.ops.array import (
    reshape as reshape,
    reverse as reverse,
    roll as roll,
    tile as tile,
)
from weft.ops.blocks import (
    batch_to_space_nd as batch_to_space_nd,
    space_to_batch_nd as space_to_batch_nd,
)
from weft.ops.indexing import (
    gather_nd as gather_nd,
    scatter_nd as scatter_nd,
)
