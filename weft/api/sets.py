"""tf.sets: public names, re-exported from where they are made."""

from weft.graph.shape_fn import (
    size as size,
)
