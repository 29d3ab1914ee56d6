"""Summaries that operations write themselves: tf.contrib.summary."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.core import dtypes, errors
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST_STATE
from weft.ops.files.summary import (
    _REAL,
    add_images,
    add_sounds,
    fill_histogram,
    fill_tensor,
    text_of,
)
from weft.ops.kit.resource_names import named_or_node
from weft.storage.event_file_writer import EventFileWriter

if TYPE_CHECKING:
    from weft.storage.summary_database import SummaryDatabase

_EFFECT: dict[str, Any] = dict(shape=s.none, traits=HOST_STATE)


class Writer:
    """The object behind a writer's handle: has a file once it is created, until it is closed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.file: EventFileWriter | SummaryDatabase | None = None

    def create(self, logdir: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        """Begins a file; nothing happens if there is one already."""
        if self.file is None:
            self.file = EventFileWriter(
                logdir, max_queue, flush_millis / 1000, suffix, watched=False
            )

    def create_database(self, uri: str, experiment: str, run: str, user: str) -> None:
        """Opens a database; nothing happens if something is open already."""
        from weft.storage.summary_database import SummaryDatabase  # brings SQLite

        if self.file is None:
            self.file = SummaryDatabase(uri, experiment, run, user)

    def opened(self) -> EventFileWriter | SummaryDatabase:
        if self.file is None:
            raise errors.NotFoundError(
                None, None, f"Resource {self.name} does not exist: the summary writer was not "
                "initialized, or is closed",
            )  # fmt: skip
        return self.file

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None


def _string(value: Any) -> bytes:
    return np.asarray(value, object).item()


def _event(step: Any) -> Any:
    from tensorboard.compat.proto.event_pb2 import Event

    return Event(wall_time=time.time(), step=int(step))


# ---- the writer ----------------------------------------------------------------------------------


@op(
    "SummaryWriter", outputs="writer: resource",
    attrs='shared_name: string = "", container: string = ""', **_EFFECT | {"shape": s.scalar},
)  # fmt: skip
def summary_writer(xp: Any, ctx: Any, *, shared_name: str, container: str) -> Writer:
    name = shared_name or ctx.node.name
    return named_or_node(ctx, "summary_writer", container, shared_name, lambda: Writer(name))


@op(
    "CreateSummaryFileWriter",
    inputs="writer: resource, logdir: string, max_queue: int32, flush_millis: int32, "
    "filename_suffix: string",
    **_EFFECT,
)
def create_summary_file_writer(
    xp: Any, writer: Writer, logdir: Any, max_queue: Any, flush_millis: Any, filename_suffix: Any
) -> None:
    suffix = _string(filename_suffix).decode()
    writer.create(_string(logdir).decode(), int(max_queue), int(flush_millis), suffix)


@op(
    "CreateSummaryDbWriter",
    inputs="writer: resource, db_uri: string, experiment_name: string, run_name: string, "
    "user_name: string",
    **_EFFECT,
)
def create_summary_db_writer(
    xp: Any, writer: Writer, db_uri: Any, experiment_name: Any, run_name: Any, user_name: Any
) -> None:
    names = (_string(each).decode() for each in (db_uri, experiment_name, run_name, user_name))
    writer.create_database(*names)


@op("FlushSummaryWriter", inputs="writer: resource", **_EFFECT)
def flush_summary_writer(xp: Any, writer: Writer) -> None:
    writer.opened().flush()


@op("CloseSummaryWriter", inputs="writer: resource", **_EFFECT)
def close_summary_writer(xp: Any, writer: Writer) -> None:
    writer.close()


# ---- what it writes ------------------------------------------------------------------------------


def _write_op(name: str, inputs: str, attrs: str = "") -> Any:
    """Declares an op that takes a writer, a step and `inputs`."""
    return op(name, inputs=f"writer: resource, step: int64, {inputs}", attrs=attrs, **_EFFECT)


@_write_op("WriteSummary", "tensor: T, tag: string, summary_metadata: string", "T: type")
def write_summary(
    xp: Any, writer: Writer, step: Any, tensor: Any, tag: Any, summary_metadata: Any, *,
    T: dtypes.DType,
) -> None:  # fmt: skip
    event = _event(step)
    value = event.summary.value.add(tag=text_of(tag, "tag must be scalar"))
    fill_tensor(value.tensor, np.asarray(tensor), T)
    if metadata := _string(summary_metadata):
        value.metadata.ParseFromString(metadata)
    writer.opened().add_event(event)


@_write_op("WriteRawProtoSummary", "tensor: string")
def write_raw_proto_summary(xp: Any, writer: Writer, step: Any, tensor: Any) -> None:
    event = _event(step)
    for part in np.asarray(tensor, object).ravel():
        event.summary.MergeFromString(part)
    writer.opened().add_event(event)


@_write_op("WriteScalarSummary", "tag: string, value: T", f"T: {_REAL}")
def write_scalar_summary(xp: Any, writer: Writer, step: Any, tag: Any, value: Any) -> None:
    event = _event(step)
    number = float(np.float32(np.asarray(value).item()))
    event.summary.value.add(tag=text_of(tag, "tag must be scalar"), simple_value=number)
    writer.opened().add_event(event)


@_write_op("WriteHistogramSummary", "tag: string, values: T", f"T: {_REAL} = float")
def write_histogram_summary(xp: Any, writer: Writer, step: Any, tag: Any, values: Any) -> None:
    event = _event(step)
    name = text_of(tag, "tag must be scalar")
    fill_histogram(event.summary.value.add(tag=name).histo, np.asarray(values), name)
    writer.opened().add_event(event)


@_write_op(
    "WriteImageSummary", "tag: string, tensor: T, bad_color: uint8",
    "max_images: int >= 1 = 3, T: {uint8, float, half} = float",
)  # fmt: skip
def write_image_summary(
    xp: Any, writer: Writer, step: Any, tag: Any, tensor: Any, bad_color: Any, *, max_images: int
) -> None:
    event = _event(step)
    name = text_of(tag, "tag must be scalar")
    add_images(event.summary, name, np.asarray(tensor), max_images, np.asarray(bad_color))
    writer.opened().add_event(event)


@_write_op(
    "WriteAudioSummary", "tag: string, tensor: float, sample_rate: float",
    "max_outputs: int >= 1 = 3",
)  # fmt: skip
def write_audio_summary(
    xp: Any, writer: Writer, step: Any, tag: Any, tensor: Any, sample_rate: Any, *,
    max_outputs: int,
) -> None:  # fmt: skip
    event = _event(step)
    name = text_of(tag, "tag must be scalar")
    add_sounds(event.summary, name, np.asarray(tensor), float(sample_rate), max_outputs)
    writer.opened().add_event(event)


@_write_op("WriteGraphSummary", "tensor: string")
def write_graph_summary(xp: Any, writer: Writer, step: Any, tensor: Any) -> None:
    event = _event(step)
    event.graph_def = _string(tensor)
    writer.opened().add_event(event)


@op("ImportEvent", inputs="writer: resource, event: string", **_EFFECT)
def import_event(xp: Any, writer: Writer, event: Any) -> None:
    from tensorboard.compat.proto.event_pb2 import Event

    writer.opened().add_event(Event.FromString(_string(event)))
