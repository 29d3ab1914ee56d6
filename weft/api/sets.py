"""tf.sets: public names, re-exported from where they are made."""

from weft.ops.sparse.sets import (
    set_difference as difference,
    set_intersection as intersection,
    set_difference as set_difference,
    set_intersection as set_intersection,
    set_size as set_size,
    set_union as set_union,
    set_size as size,
    set_union as union,
)
