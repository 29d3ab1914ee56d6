"""tf.sets: public names, re-exported from where they are made."""

from weft.ops.array_shape import (
    size as size,
)
