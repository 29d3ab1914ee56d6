"""tf.bitwise: public names, re-exported from where they are made."""

from weft.ops.elementwise import (
    bitwise_and as bitwise_and,
)
from weft.ops.elementwise import (
    bitwise_or as bitwise_or,
)
from weft.ops.elementwise import (
    bitwise_xor as bitwise_xor,
)
from weft.ops.elementwise import (
    left_shift as left_shift,
)
from weft.ops.elementwise import (
    right_shift as right_shift,
)
from weft.ops.unary import (
    invert as invert,
)
