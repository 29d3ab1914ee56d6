"""tf.compat.v2.summary.trace_on and its like: what runs between two calls, for TensorBoard.

The graphs of the functions that are called go to the default writer, a profile to its folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import device
from weft.lib.platform import tf_logging as logging
from weft.lib.summary import profile
from weft.lib.summary.write import summary_scope, write
from weft.ops.kit.eager import executing_eagerly
from weft.runtime.recording.recorder import Probe, Recorder

_lock = threading.Lock()
_FUNCTION = "weft.lib.functions.concrete.ConcreteFunction"


class _Trace(NamedTuple):
    graph: bool
    profiler: bool


class _State:
    trace: _Trace | None = None


def _noted(original: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    """A call of a function, whose graph is noted."""

    def called(self: Any, inputs: Any) -> Any:
        recorder.note_graph(self.graph)
        return original(self, inputs)

    return called


_calls = Recorder()
_calls.register([Probe(_FUNCTION, "_called", _noted)])


def trace_on(graph: bool = True, profiler: bool = False) -> None:
    """Begins to collect the graphs of functions that run and, if asked for, a profile.

    Args:
        graph: whether graphs are collected.
        profiler: whether a profile is taken.
    """
    if not executing_eagerly():
        logging.warning("Must enable trace in eager mode.")
        return
    with _lock:
        if _State.trace is not None:
            logging.warning("Trace already enabled")
            return
        if profiler:
            profile.start()
        _calls.start()
        _State.trace = _Trace(graph, profiler)


def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """Ends the trace: graphs go to the default writer, a profile to `profiler_outdir`.

    Args:
        name: the tag of the summary.
        step: the step of the summary.
        profiler_outdir: the folder of the profile, if one was asked for.

    Raises:
        ValueError: if there is no trace, or a profile and no folder for it.
    """
    if not executing_eagerly():
        logging.warning("Can only export trace while executing eagerly.")
        return
    trace = _State.trace
    if trace is None:
        raise ValueError("Must enable trace before export.")
    if trace.profiler and profiler_outdir is None:
        raise ValueError("Required profiler_outdir is not specified")
    kind = "graph_run_metadata_graph" if not trace.profiler else "graph_run_metadata"
    _write(name, kind, _metadata(), step)
    if trace.profiler:
        profile.save(profiler_outdir, profile.stop())
    trace_off()


def trace_off() -> None:
    """Ends the trace, and forgets what it has collected."""
    with _lock:
        _calls.stop()
        _calls.forget_graphs()
        trace, _State.trace = _State.trace, None
    if trace is not None and trace.profiler:
        try:
            profile.stop()
        except profile.ProfilerNotRunningError:  # it was exported
            return


def _metadata() -> Any:
    """The graphs of the functions that were called."""
    metadata = RunMetadata()
    for graph in _calls.graphs():
        graph_def = graph.as_graph_def(add_shapes=True)
        metadata.function_graphs.add(
            partition_graphs=[graph_def],
            pre_optimization_graph=graph_def,
            post_optimization_graph=graph_def,
        )
        metadata.partition_graphs.append(graph_def)
    return metadata


def _write(name: str, kind: str, metadata: Any, step: Any) -> None:
    about = SummaryMetadata()
    about.plugin_data.plugin_name, about.plugin_data.content = kind, b"1"
    with summary_scope(name, f"{kind}_summary", [step]) as (tag, _):
        with device("cpu:0"):
            value = constant(metadata.SerializeToString(), dtypes.string)
        write(tag, value, step, about)
