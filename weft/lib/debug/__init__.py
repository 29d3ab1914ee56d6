"""tensorflow.python.debug (`tf_debug`): the values of all tensors of a step, dumped or shown.

The runtime publishes what RunOptions ask for (`watching.py`, `weft/runtime/debug/watches.py`).
`sessions.py`, `dumping.py`, `local.py` and `hooks.py` ask for it around runs; `dump.py` reads what
was written; `analyzer.py` and `answers/` are the commands, `ui.py` and `screen.py` the prompts.
"""

from weft.lib.debug.dump import (
    DebugDumpDir as DebugDumpDir,
)
from weft.lib.debug.dump import (
    DebugTensorDatum as DebugTensorDatum,
)
from weft.lib.debug.dump import (
    has_inf_or_nan as has_inf_or_nan,
)
from weft.lib.debug.dump import (
    load_tensor_from_event as load_tensor_from_event,
)
from weft.lib.debug.dump import (
    load_tensor_from_event_file as load_tensor_from_event_file,
)
from weft.lib.debug.dumping import (
    DumpingDebugWrapperSession as DumpingDebugWrapperSession,
)
from weft.lib.debug.dumping import (
    GrpcDebugWrapperSession as GrpcDebugWrapperSession,
)
from weft.lib.debug.dumping import (
    TensorBoardDebugWrapperSession as TensorBoardDebugWrapperSession,
)
from weft.lib.debug.gradients import GradientsDebugger as GradientsDebugger
from weft.lib.debug.graphs import (
    reconstruct_non_debug_graph_def as reconstruct_non_debug_graph_def,
)
from weft.lib.debug.hooks import (
    DumpingDebugHook as DumpingDebugHook,
)
from weft.lib.debug.hooks import (
    GrpcDebugHook as GrpcDebugHook,
)
from weft.lib.debug.hooks import (
    LocalCLIDebugHook as LocalCLIDebugHook,
)
from weft.lib.debug.hooks import (
    TensorBoardDebugHook as TensorBoardDebugHook,
)
from weft.lib.debug.local import LocalCLIDebugWrapperSession as LocalCLIDebugWrapperSession
from weft.lib.debug.sessions import WatchOptions as WatchOptions
from weft.lib.debug.watching import (
    add_debug_tensor_watch as add_debug_tensor_watch,
)
from weft.lib.debug.watching import (
    watch_graph as watch_graph,
)
from weft.lib.debug.watching import (
    watch_graph_with_blacklists as watch_graph_with_blacklists,
)
