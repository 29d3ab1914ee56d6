"""tf.nn: public names, re-exported from where they are made."""

from weft.ops.blocks import (
    depth_to_space as depth_to_space,
    space_to_batch as space_to_batch,
    space_to_depth as space_to_depth,
)
from weft.ops.math import (
    sigmoid as sigmoid,
)
