"""tf.compat.v2.summary.write: any tensor becomes a summary, of a kind that its metadata tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.graph.constant import constant
from weft.graph.graph import control_dependencies, device, get_default_graph, name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.summary.recording import default_writer, get_step, recording
from weft.lib.summary.summary_ops_v2 import collected
from weft.ops.control.cond import smart_cond, smart_constant_value
from weft.ops.kit.replicas import replica_number
from weft.ops.math.elementwise import logical_and

_NOT_IN_SCOPES = re.compile(r"[^-_/.A-Za-z0-9]")


@contextmanager
def summary_scope(
    name: str, default_name: str = "summary", values: Any = None
) -> Iterator[tuple[str, str]]:
    """Opens the scope of a summary: (its tag, the scope).

    The tag has the scopes around it and the name as it was given: tags need not differ, nor be
    names of nodes.

    Args:
        name: of the summary.
        default_name: of the scope, where nothing of the name can be in one.
        values: the tensors of the summary.
    """
    shown, outer = name or default_name, get_default_graph().get_name_scope()
    inside = name_scope(_NOT_IN_SCOPES.sub("", shown) or None, default_name, values)
    with inside as scope:
        yield "/".join(filter(None, (outer, shown))), scope or ""


def plugin_metadata(plugin: str, description: str | None = None, content: bytes = b"") -> Any:
    """The message that says which plugin shows a summary, and what it is."""
    from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

    data = SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    return SummaryMetadata(summary_description=description or "", plugin_data=data)


def write(
    tag: Any, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None
) -> Tensor:
    """Writes a tensor to the default writer, if there is one.

    Args:
        tag: the name of the summary.
        tensor: what is written.
        step: a number, tensor or variable (int64); None: the one of `experimental.set_step`.
        metadata: a `SummaryMetadata`, as a message or serialized: which plugin shows it.
        name: of the operation.

    Returns:
        A bool tensor: whether something was written.

    Raises:
        ValueError: there is a writer, but no step.
    """
    about = b"" if metadata is None else metadata
    if hasattr(about, "SerializeToString"):
        about = about.SerializeToString()

    def record(writer: Any, at: Any, scope: str) -> Any:
        return raw.WriteSummary(writer, at, raw.Identity(tensor), tag, about, name=scope)

    return _written(name, "write_summary", step, record)


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Tensor:
    """Writes serialized `Summary` messages to the default writer, if there is one.

    Args:
        tensor: strings.
        step: a number, tensor or variable (int64); None: the one of `experimental.set_step`.
        name: of the operation.

    Returns:
        A bool tensor: whether something was written.

    Raises:
        ValueError: there is a writer, but no step.
    """

    def record(writer: Any, at: Any, scope: str) -> Any:
        return raw.WriteRawProtoSummary(writer, at, raw.Identity(tensor), name=scope)

    return _written(name, "write_raw_pb", step, record)


def _written(
    name: str | None, default_name: str, step: Any, record: Callable[[Any, Any, str], Any]
) -> Tensor:
    """`record(writer, step, scope)` where summaries are recorded, as a collected operation."""
    with name_scope(name, default_name) as scope:
        writer = default_writer()
        if writer is None:
            return constant(False)
        at = get_step() if step is None else step
        if at is None:
            raise ValueError(
                "No step set via 'step' argument or tf.summary.experimental.set_step()"
            )

        def recorded() -> Tensor:
            with device("cpu:0"), control_dependencies([record(writer._resource, at, scope or "")]):
                return constant(True)

        with device("cpu:0"):
            condition = _condition()
            made = smart_cond(condition, recorded, lambda: constant(False), name="summary_cond")
            return collected(made)


def _condition() -> Any:
    """Whether summaries are written here, and by this replica: known now, or a tensor."""
    asked, of_first = recording(otherwise=True), not replica_number()
    both = logical_and(of_first, asked)
    known = smart_constant_value(asked) if isinstance(asked, Tensor) else bool(asked)
    return both if of_first and known is None else of_first and bool(known)
