"""tf.manip: public names, re-exported from where they are made."""

from weft.ops.array.reverse import reverse as reverse, roll as roll
from weft.ops.array.shape import reshape as reshape
from weft.ops.array.blocks import (
    batch_to_space_nd as batch_to_space_nd,
    space_to_batch_nd as space_to_batch_nd,
)
from weft.ops.array.scatter import scatter_nd as scatter_nd
from weft.lib.ragged.dispatched import gather_nd as gather_nd, tile as tile
