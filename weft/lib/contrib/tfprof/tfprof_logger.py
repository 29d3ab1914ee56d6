"""tf.contrib.tfprof.tfprof_logger."""

from weft.lib.profiler.op_log import merge_default_with_oplog as merge_default_with_oplog
from weft.lib.profiler.op_log import write_op_log as write_op_log
from weft.lib.profiler.options import TRAINABLE_VARIABLES as TRAINABLE_VARIABLES
