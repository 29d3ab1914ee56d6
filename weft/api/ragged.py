"""tf.ragged: public names, re-exported from where they are made."""

from weft.graph.constant import (
    constant as constant,
)
from weft.graph.constant_value import (
    constant_value as constant_value,
)
from weft.ops.array_join import (
    stack as stack,
)
from weft.ops.array_pass import (
    placeholder as placeholder,
)
from weft.ops.select import (
    boolean_mask as boolean_mask,
)
from weft.ops.sequence import (
    range as range,
)
