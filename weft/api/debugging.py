"""tf.debugging: public names, re-exported from where they are made."""

from weft.ops.array import (
    check_numerics as check_numerics,
)
from weft.ops.control import (
    Assert as Assert,
)
