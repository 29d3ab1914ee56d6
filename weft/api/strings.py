"""tf.strings: public names, re-exported from where they are made."""

from weft.ops.array import (
    split as split,
)
from weft.ops.philox import (
    join as join,
)
