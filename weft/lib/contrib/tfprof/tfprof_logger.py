"""tf.contrib.tfprof.tfprof_logger."""

from weft.lib.profiler.options import TRAINABLE_VARIABLES as TRAINABLE_VARIABLES
from weft.lib.profiler.profiler import write_op_log as write_op_log
