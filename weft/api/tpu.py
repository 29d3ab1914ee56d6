"""tf.tpu: public names, re-exported from where they are made; those that work without TPUs."""

from weft.lib.contrib.tpu import CrossShardOptimizer as CrossShardOptimizer
from weft.lib.contrib.tpu import bfloat16_scope as bfloat16_scope
