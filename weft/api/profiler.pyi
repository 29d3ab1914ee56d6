# Written by `make stubs` from weft/api/profiler.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from tensorboard.compat.proto.tfprof_log_pb2 import OpLogProto as OpLogProto
from weft.lib.profiler import experimental as experimental
from weft.lib.profiler.op_log import write_op_log as write_op_log
from weft.lib.profiler.options import ProfileOptionBuilder as ProfileOptionBuilder
from weft.lib.profiler.profiler import advise as advise
from weft.lib.profiler.profiler import profile as profile
from weft.lib.profiler.profiler import Profiler as Profiler
from weft.protos.profiler import AdviceProto as AdviceProto
from weft.protos.profiler import GraphNodeProto as GraphNodeProto
from weft.protos.profiler import MultiGraphNodeProto as MultiGraphNodeProto
