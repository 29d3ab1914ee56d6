"""tf.contrib.summary: summaries that are written when their operations run.

There is a default writer, and a condition for writing; both are the thread's. All operations made
here are collected, for the program to run with its steps.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Graph,
    add_to_collection,
    control_dependencies,
    device,
    get_collection,
    get_default_graph,
    name_scope,
)
from weft.graph.op_def import raw
from weft.graph.stacks import get_default_session
from weft.graph.tensor import Tensor
from weft.lib.summary import summary as tags  # whose summary_scope libraries replace
from weft.lib.summary.event_writers import WRITERS
from weft.lib.summary.recording import default_writer, record_if, recording
from weft.ops.array.placeholders import placeholder
from weft.ops.control.cond import smart_cond
from weft.ops.kit.eager import executing_eagerly
from weft.ops.math import math
from weft.ops.state.global_step import get_or_create_global_step

OPS = "_SUMMARY_V2"


def should_record_summaries() -> Any:
    """Whether summaries are written here: a bool or a tensor; False by default."""
    return recording(otherwise=False)


def record_summaries_every_n_global_steps(
    n: int, global_step: Any = None
) -> AbstractContextManager[None]:
    """Summaries made inside are written in every `n`-th step."""
    step = get_or_create_global_step() if global_step is None else global_step

    def is_due() -> Tensor:
        return math.equal(step % n, 0)

    with device("cpu:0"):
        return record_if(is_due if executing_eagerly() else is_due())


def always_record_summaries() -> AbstractContextManager[None]:
    """Summaries inside of `with` are written at every step."""
    return record_if(True)


def never_record_summaries() -> AbstractContextManager[None]:
    """Summaries inside of `with` are not written."""
    return record_if(False)


def summary_writer_initializer_op() -> list[Any]:
    """The operations that begin the files of all writers of the graph."""
    if executing_eagerly():
        raise RuntimeError(
            "tf.contrib.summary.summary_writer_initializer_op is only supported in graph mode."
        )
    return get_collection(WRITERS)


def all_v2_summary_ops() -> list[Any] | None:
    """All operations of the graph that write summaries; None in eager execution."""
    return None if executing_eagerly() else get_collection(OPS)


def initialize(graph: Any = None, session: Any = None) -> None:
    """Begins the files of all writers, and writes `graph` if one is given."""
    if executing_eagerly():
        return
    if default_writer() is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    run = getattr(session or get_default_session(), "run", None)
    if run is None:
        raise ValueError("session must be passed if no default session exists")
    run(summary_writer_initializer_op())
    if graph is None:
        return
    source = placeholder(dtypes.string)
    run(write_graph(source, 0), {source: _serialized(graph)})


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The folder for the summaries of an evaluation, by convention."""
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")


# ---- summaries -----------------------------------------------------------------------------------


def _written(
    name: str, tensor: Any, family: str | None, make: Callable[[Any, str, str], Any]
) -> Any:
    """`make(writer, tag, scope)` where summaries are recorded, as a collected operation."""
    writer = default_writer()
    if writer is None:
        return raw.NoOp()
    outer = get_default_graph().get_name_scope()

    def record() -> Any:
        # A conditional has a scope of its own; the tag is that of the place of the call.
        inside = name_scope(f"{outer}/" if outer else None)
        with inside, tags.summary_scope(name, family, values=[tensor]) as (tag, scope):
            with control_dependencies([make(writer._resource, tag, scope)]):
                return constant(True)

    with device("cpu:0"):
        return collected(smart_cond(should_record_summaries(), record, lambda: constant(False)))


def collected(written: Any) -> Any:
    """The outcome of writing, kept among those of the graph."""
    if not executing_eagerly():
        add_to_collection(OPS, written)
    return written


def _step(step: Any) -> Any:
    if step is None:
        return get_or_create_global_step()
    return step if isinstance(step, Tensor) else convert_to_tensor(step, dtypes.int64)


def generic(
    name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None
) -> Any:
    """Writes a whole tensor; the metadata says which plugin may show it."""
    serialized = "" if metadata is None else metadata
    if hasattr(metadata, "SerializeToString"):
        serialized = metadata.SerializeToString()
    return _written(
        name, tensor, family,
        lambda writer, tag, scope: raw.WriteSummary(
            writer, _step(step), raw.Identity(tensor), tag, serialized, name=scope
        ),
    )  # fmt: skip


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes a number."""
    return _written(
        name, tensor, family,
        lambda writer, tag, scope: raw.WriteScalarSummary(
            writer, _step(step), tag, raw.Identity(tensor), name=scope
        ),
    )  # fmt: skip


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes how the elements of a tensor are distributed."""
    return _written(
        name, tensor, family,
        lambda writer, tag, scope: raw.WriteHistogramSummary(
            writer, _step(step), tag, raw.Identity(tensor), name=scope
        ),
    )  # fmt: skip


def image(
    name: str,
    tensor: Any,
    bad_color: Any = None,
    max_images: int = 3,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes the first images of a batch."""
    color = [255, 0, 0, 255] if bad_color is None else bad_color
    return _written(
        name, tensor, family,
        lambda writer, tag, scope: raw.WriteImageSummary(
            writer, _step(step), tag, raw.Identity(tensor),
            convert_to_tensor(color, dtypes.uint8), max_images=max_images, name=scope,
        ),
    )  # fmt: skip


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes the first sounds of a batch."""
    return _written(
        name, tensor, family,
        lambda writer, tag, scope: raw.WriteAudioSummary(
            writer, _step(step), tag, raw.Identity(tensor), sample_rate,
            max_outputs=max_outputs, name=scope,
        ),
    )  # fmt: skip


def graph(param: Any, step: Any = None, name: str | None = None) -> Any:
    """Writes a graph, given as a tensor that holds a serialized GraphDef.

    In eager execution it may also be the graph itself, or a GraphDef.
    """
    if not (executing_eagerly() or isinstance(param, Tensor)):
        raise TypeError(
            f"graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: {type(param)}"
        )
    writer = default_writer()
    if writer is None:
        return raw.NoOp()
    is_message = isinstance(param, Graph) or hasattr(param, "SerializeToString")
    with device("cpu:0"):
        tensor = constant(_serialized(param)) if is_message else raw.Identity(param)
        return raw.WriteGraphSummary(writer._resource, _step(step), tensor, name=name)


write_graph = graph  # for functions with a parameter of that name


def import_event(tensor: Any, name: str | None = None) -> Any:
    """Writes a serialized `Event`."""
    return raw.ImportEvent(default_writer()._resource, tensor, name=name)


def _serialized(graph: Any) -> bytes:
    message = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
    return message.SerializeToString()
