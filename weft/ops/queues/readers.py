"""tf.ReaderBase and its kinds, and whole files: operations and classes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op, raw
from weft.graph.shape_fn import ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import BLOCKING, HOST, HOST_STATE, NO_GRADIENT
from weft.ops.kit.declare import public
from weft.ops.kit.eager import refuse_when_eager
from weft.ops.kit.resource_names import find_or_make
from weft.ops.kit.shared import invalid
from weft.ops.queues.queue_objects import Queue
from weft.ops.queues.reader_objects import (
    FixedLengthRecordReaderObject,
    IdentityReaderObject,
    LMDBReaderObject,
    Reader,
    TextLineReaderObject,
    TFRecordReaderObject,
    WholeFileReaderObject,
    string_scalar,
    string_vector,
)
from weft.storage import file_io
from weft.storage.tf_record import TFRecordOptions

_SHARED = 'container: string = "", shared_name: string = ""'


def _reader_op(name: str, attrs: str = _SHARED, more: str = "") -> Callable[..., OpDef]:
    """Declares `nameV2` (with the attrs `more`), which makes a resource, and the older `name`.

    The decorated function makes the reader from a name and the node's attrs.
    """

    def declare(make: Callable[[str, dict[str, Any]], Reader]) -> OpDef:
        def kernel(xp: Any, ctx: Any, *, container: str, shared_name: str) -> Reader:
            reader, _ = find_or_make(
                ctx, "reader", container, shared_name, lambda _: make(ctx.node.name, ctx.node.attrs)
            )
            return reader

        old, new = "reader_handle: ref(string)", "reader_handle: resource"
        op(name, outputs=old, attrs=attrs, shape=lambda c: (2,), traits=HOST_STATE | NO_GRADIENT)(
            kernel
        )
        return op(f"{name}V2", outputs=new, attrs=attrs + more, shape=s.scalar, traits=HOST_STATE)(
            kernel
        )

    return declare


@_reader_op("WholeFileReader")
def _(name: str, attrs: dict[str, Any]) -> Reader:
    return WholeFileReaderObject(name)


@_reader_op("IdentityReader")
def _(name: str, attrs: dict[str, Any]) -> Reader:
    return IdentityReaderObject(name)


@_reader_op("TextLineReader", f"skip_header_lines: int = 0, {_SHARED}")
def _(name: str, attrs: dict[str, Any]) -> Reader:
    return TextLineReaderObject(name, attrs["skip_header_lines"])


@_reader_op("TFRecordReader", f'{_SHARED}, compression_type: string = ""')
def _(name: str, attrs: dict[str, Any]) -> Reader:
    return TFRecordReaderObject(name, attrs["compression_type"])


@_reader_op(
    "FixedLengthRecordReader",
    "header_bytes: int = 0, record_bytes: int, footer_bytes: int = 0, hop_bytes: int = 0, "
    + _SHARED,
    ', encoding: string = ""',
)
def _(name: str, attrs: dict[str, Any]) -> Reader:
    header, record, footer, hop = (
        attrs[f"{part}_bytes"] for part in ("header", "record", "footer", "hop")
    )
    encoding = attrs.get("encoding", "")
    return FixedLengthRecordReaderObject(name, header, record, footer, hop, encoding)


@op(
    "LMDBReader",
    outputs="reader_handle: ref(string)",
    attrs=_SHARED,
    shape=lambda c: (2,),
    traits=HOST_STATE | NO_GRADIENT,
)
def lmdb_reader(xp: Any, ctx: Any, *, container: str, shared_name: str) -> Reader:
    reader, _ = find_or_make(
        ctx, "reader", container, shared_name, lambda _: LMDBReaderObject(ctx.node.name)
    )
    return reader


# ---- what is done with readers -------------------------------------------------------------------


def _access(
    name: str, inputs: str = "", outputs: str = "", takes_queue: bool = False,
    shape: Callable[[ShapeContext], Any] = s.scalar,
) -> Callable[[Callable[..., Any]], OpDef]:  # fmt: skip
    """Declares `nameV2` and `name`, which take a reader (and a queue)."""

    def declare(kernel: Callable[..., Any]) -> OpDef:
        made, traits = None, HOST_STATE | BLOCKING if takes_queue else HOST_STATE
        for version, handle in (("", "ref(string)"), ("V2", "resource")):
            queue = f", queue_handle: {handle}" if takes_queue else ""
            made = op(
                name + version, inputs=f"reader_handle: {handle}{queue}{inputs}", outputs=outputs,
                shape=shape, traits=traits if version else traits | NO_GRADIENT,
            )(kernel)  # fmt: skip
        assert made is not None
        return made

    return declare


@_access("ReaderRead", "", "key: string, value: string", True)
def reader_read(xp: Any, ctx: Any, reader_handle: Reader, queue_handle: Queue) -> Any:
    return reader_handle.read(queue_handle)


def _up_to_shape(c: ShapeContext) -> Any:
    s.with_rank(c.dims(2), 0)
    return [(None,), (None,)]


@_access(
    "ReaderReadUpTo", ", num_records: int64", "keys: string, values: string", True, _up_to_shape
)
def reader_read_up_to(
    xp: Any, ctx: Any, reader_handle: Reader, queue_handle: Queue, num_records: Any
) -> Any:
    return reader_handle.read_up_to(queue_handle, int(num_records))


@_access("ReaderNumRecordsProduced", outputs="records_produced: int64")
def reader_num_records_produced(xp: Any, ctx: Any, reader_handle: Reader) -> Any:
    return np.array(reader_handle.produced, np.int64)


@_access("ReaderNumWorkUnitsCompleted", outputs="units_completed: int64")
def reader_num_work_units_completed(xp: Any, ctx: Any, reader_handle: Reader) -> Any:
    return np.array(reader_handle.finished, np.int64)


@_access("ReaderSerializeState", outputs="state: string")
def reader_serialize_state(xp: Any, ctx: Any, reader_handle: Reader) -> Any:
    return string_scalar(reader_handle.serialize())


def _state_shape(c: ShapeContext) -> list[Any]:
    s.with_rank(c.dims(1), 0)
    return []


@_access("ReaderRestoreState", ", state: string", shape=_state_shape)
def reader_restore_state(xp: Any, ctx: Any, reader_handle: Reader, state: Any) -> None:
    if np.ndim(state):
        raise invalid(f"Reader state must be scalar, but had shape: {s.show(np.shape(state))}")
    reader_handle.restore(state[()])


@_access("ReaderReset", shape=s.none)
def reader_reset(xp: Any, ctx: Any, reader_handle: Reader) -> None:
    reader_handle.reset()


# ---- whole files ---------------------------------------------------------------------------------


def _name_of(filename: Any) -> str:
    if np.ndim(filename):
        raise invalid(
            f"Input filename tensor must be scalar, but had shape: {s.show(np.shape(filename))}"
        )
    return os.fsdecode(filename[()])


def _scalars(c: ShapeContext) -> Any:
    for i in range(c.num_inputs):
        s.with_rank(c.dims(i), 0)
    return () if c.num_outputs else []


# Files change: although TensorFlow calls these two pure, they take `ctx` so as to run every time.


@op(
    "ReadFile", inputs="filename: string", outputs="contents: string", shape=_scalars,
    traits=HOST,
)  # fmt: skip
def read_file_(xp: Any, ctx: Any, filename: Any) -> Any:
    return string_scalar(file_io.read_whole(_name_of(filename)))


def _matching_shape(c: ShapeContext) -> Any:
    s.with_rank_at_most(c.dims(0), 1)
    return (None,)


@op(
    "MatchingFiles", inputs="pattern: string", outputs="filenames: string", shape=_matching_shape,
    traits=HOST,
)  # fmt: skip
def matching_files_(xp: Any, ctx: Any, pattern: Any) -> Any:
    if np.ndim(pattern) > 1:
        raise invalid(
            "Input patterns tensor must be scalar or vector, but had shape:"
            f" {s.show(np.shape(pattern))}"
        )
    found = file_io.glob([os.fsdecode(each) for each in np.ravel(pattern)])
    return string_vector(sorted(os.fsencode(name) for name in found))


@op("WriteFile", inputs="filename: string, contents: string", shape=_scalars, traits=HOST_STATE)
def write_file_(xp: Any, ctx: Any, filename: Any, contents: Any) -> None:
    name = _name_of(filename)
    if np.ndim(contents):
        raise invalid(
            f"Contents tensor must be scalar, but had shape: {s.show(np.shape(contents))}"
        )
    directory = os.path.dirname(name)
    if directory and not file_io.exists(directory):
        file_io.makedirs(directory)
    file_io.write_string_to_file(name, contents[()])


read_file = public("read_file", "ReadFile", "The content of a file, as one string.", "filename")
matching_files = public(
    "matching_files",
    "MatchingFiles",
    "The names of the files that match any of the shell patterns, sorted.",
    "pattern",
)
write_file = public(
    "write_file",
    "WriteFile",
    "Makes a file with this content, and its directory if need be.",
    "filename, contents",
)


# ---- classes -------------------------------------------------------------------------------------


class ReaderBase:
    """Turns strings from a queue, such as file names, into records (key, value)."""

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        refuse_when_eager(
            "Readers are not supported when eager execution is enabled. Instead, please use"
            " tf.data to get data into your model."
        )
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        """Whether the reader's state can be saved and restored."""
        return self._supports_serialize

    def _call(self, op_name: str, *args: Any, name: str | None) -> Any:
        version = "V2" if self._reader_ref.dtype == dtypes.resource else ""
        return getattr(raw, op_name + version)(self._reader_ref, *args, name=name)

    def _queue_ref(self, queue: Any) -> Tensor:
        ref = queue if isinstance(queue, Tensor) else queue.queue_ref
        if self._reader_ref.dtype != dtypes.resource and ref.dtype == dtypes.resource:
            return raw.FakeQueue(ref)  # the same queue, as a reference
        return ref

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next record, as (key, value). Takes the next work from `queue` when it needs to."""
        return self._call("ReaderRead", self._queue_ref(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """Up to `num_records` records as (keys, values); fewer where a file ends."""
        return self._call("ReaderReadUpTo", self._queue_ref(queue), num_records, name=name)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        return self._call("ReaderNumRecordsProduced", name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many strings from the queue have been dealt with."""
        return self._call("ReaderNumWorkUnitsCompleted", name=name)

    def serialize_state(self, name: str | None = None) -> Tensor:
        return self._call("ReaderSerializeState", name=name)

    def restore_state(self, state: Any, name: str | None = None) -> Any:
        """The operation that puts the reader into a state that `serialize_state` gave."""
        return self._call("ReaderRestoreState", state, name=name)

    def reset(self, name: str | None = None) -> Any:
        """The operation that makes the reader as new."""
        return self._call("ReaderReset", name=name)


class WholeFileReader(ReaderBase):
    """Each file is a record; its name is the key."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(raw.WholeFileReaderV2(name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """Each line of a file is a record, without its line feed."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(raw.TextLineReaderV2(skip_header_lines=skip_header_lines or 0, name=name))


class FixedLengthRecordReader(ReaderBase):
    """Each record has the same number of bytes."""

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        reader_ref = raw.FixedLengthRecordReaderV2(
            record_bytes=record_bytes,
            header_bytes=header_bytes or 0,
            footer_bytes=footer_bytes or 0,
            hop_bytes=hop_bytes or 0,
            encoding=encoding or "",
            name=name,
        )
        super().__init__(reader_ref)


class TFRecordReader(ReaderBase):
    """The records of record files.

    Args:
        name: of the operation.
        options: a `TFRecordOptions`, for compressed files.

    Example:
        >>> with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
        ...     writer.write(b"first")
        >>> files = tf.FIFOQueue(1, tf.string)
        >>> session.run(files.enqueue("data.tfrecord"))
        >>> session.run(tf.TFRecordReader().read(files).value)
        b'first'
    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(raw.TFRecordReaderV2(name=name, compression_type=compression))


class LMDBReader(ReaderBase):
    """The records of LMDB files."""

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        super().__init__(raw.LMDBReader(name=name))


class IdentityReader(ReaderBase):
    """Each string from the queue is a record, key and value both."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(raw.IdentityReaderV2(name=name), supports_serialize=True)
