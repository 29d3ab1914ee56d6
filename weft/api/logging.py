"""tf.logging: public names, re-exported from where they are made."""

from weft.core.flags import (
    DEBUG as DEBUG,
)
from weft.ops.unary import (
    log as log,
)
