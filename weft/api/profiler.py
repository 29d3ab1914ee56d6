"""tf.profiler: public names, re-exported from where they are made."""

from tensorboard.compat.proto.tfprof_log_pb2 import OpLogProto as OpLogProto
from weft.lib.profiler import experimental as experimental
from weft.lib.profiler.op_log import write_op_log as write_op_log
from weft.lib.profiler.options import ProfileOptionBuilder as ProfileOptionBuilder
from weft.lib.profiler.profiler import (
    advise as advise,
    profile as profile,
    Profiler as Profiler,
)
from weft.protos.profiler import (
    AdviceProto as AdviceProto,
    GraphNodeProto as GraphNodeProto,
    MultiGraphNodeProto as MultiGraphNodeProto,
)
