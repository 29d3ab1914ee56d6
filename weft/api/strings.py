"""tf.strings: public names, re-exported from where they are made."""

from weft.ops.array_join import (
    split as split,
)
from weft.ops.philox import (
    join as join,
)
