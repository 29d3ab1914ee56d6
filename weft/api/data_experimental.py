"""tf.data.experimental: public names, re-exported from where they are made."""

from weft.ops.array import (
    unique as unique,
)
