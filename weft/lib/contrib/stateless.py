"""tf.contrib.stateless: random numbers that follow from their seeds."""

from weft.ops.random.random import stateless_multinomial as stateless_multinomial
from weft.ops.random.random import stateless_normal as stateless_random_normal  # noqa: F401
from weft.ops.random.random import stateless_truncated_normal as stateless_truncated_normal
from weft.ops.random.random import stateless_uniform as stateless_random_uniform  # noqa: F401
