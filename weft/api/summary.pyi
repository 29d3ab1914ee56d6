# Written by `make stubs` from weft/api/summary.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from tensorboard.compat.proto.event_pb2 import Event as Event
from tensorboard.compat.proto.event_pb2 import SessionLog as SessionLog
from tensorboard.compat.proto.event_pb2 import TaggedRunMetadata as TaggedRunMetadata
from tensorboard.compat.proto.summary_pb2 import Summary as Summary
from tensorboard.compat.proto.summary_pb2 import SummaryDescription as SummaryDescription
from weft.lib.summary.summary import get_summary_description as get_summary_description
from weft.lib.summary.summary import merge as merge
from weft.lib.summary.summary import merge_all as merge_all
from weft.lib.summary.summary import text as text
from weft.lib.summary.summary_ops_v2 import all_v2_summary_ops as all_v2_summary_ops
from weft.lib.summary.summary_ops_v2 import initialize as initialize
from weft.lib.summary.writer import FileWriter as FileWriter
from weft.lib.summary.writer import FileWriterCache as FileWriterCache
def audio(name: _builtins.str, tensor: _Any, sample_rate: _Any, max_outputs: _builtins.int = 3, collections: _Any = None, family: _builtins.str | None = None) -> _Tensor: ...
def histogram(name: _builtins.str, values: _Any, collections: _Any = None, family: _builtins.str | None = None) -> _Tensor: ...
def image(name: _builtins.str, tensor: _Any, max_outputs: _builtins.int = 3, collections: _Any = None, family: _builtins.str | None = None) -> _Tensor: ...
def scalar(name: _builtins.str, tensor: _Any, collections: _Any = None, family: _builtins.str | None = None) -> _Tensor: ...
def tensor_summary(name: _builtins.str, tensor: _Any, summary_description: _Any = None, collections: _Any = None, summary_metadata: _Any = None, family: _builtins.str | None = None, display_name: _builtins.str | None = None) -> _Tensor: ...
