"""tf.initializers: public names, re-exported from where they are made."""

from weft.ops.initializers import (
    he_normal as he_normal,
)
from weft.ops.initializers import (
    he_uniform as he_uniform,
)
from weft.ops.initializers import (
    lecun_normal as lecun_normal,
)
from weft.ops.initializers import (
    lecun_uniform as lecun_uniform,
)
