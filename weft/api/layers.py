"""tf.layers: public names, re-exported from where they are made."""

from weft.core.nest import (
    flatten as flatten,
)
