"""tensorflow.python.debug (`tf_debug`): the values of all tensors of a step, dumped or shown."""

from weft.lib.train.debug.cli import LocalCLIDebugHook as LocalCLIDebugHook
from weft.lib.train.debug.cli import LocalCLIDebugWrapperSession as LocalCLIDebugWrapperSession
from weft.lib.train.debug.dump import DebugDumpDir as DebugDumpDir
from weft.lib.train.debug.dump import DebugTensorDatum as DebugTensorDatum
from weft.lib.train.debug.dump import has_inf_or_nan as has_inf_or_nan
from weft.lib.train.debug.dump import load_tensor_from_event_file as load_tensor_from_event_file
from weft.lib.train.debug.watching import DumpingDebugHook as DumpingDebugHook
from weft.lib.train.debug.watching import DumpingDebugWrapperSession as DumpingDebugWrapperSession
from weft.lib.train.debug.watching import WatchOptions as WatchOptions
