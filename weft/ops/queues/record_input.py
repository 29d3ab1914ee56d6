"""RecordInput: records of many files in random order, epoch after epoch."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import Any

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.traits import HOST_STATE
from weft.ops.array.shape import reshape
from weft.ops.array.split import split
from weft.ops.kit.resource_names import named_or_node
from weft.ops.queues.reader_objects import string_vector
from weft.storage import file_io
from weft.storage.tf_record import TFRecordOptions, tf_record_iterator


class RecordYielder:
    """Gives records at random out of a buffer that it keeps full.

    Files are read in a new order in every epoch, `parallelism` of them in turns; an epoch ends
    before the next begins.
    """

    def __init__(self, attrs: dict[str, Any]) -> None:
        self.attrs = attrs
        self.lock = threading.Lock()
        self.random = random.Random(attrs["file_random_seed"])
        self.stream = self._epochs()

    def take(self, count: int) -> list[bytes]:
        with self.lock:
            try:
                return [next(self.stream) for _ in range(count)]
            except errors.OpError:
                self.stream = self._epochs()  # the files may be there next time
                raise

    def _epochs(self) -> Iterator[bytes]:
        while True:
            buffer: list[bytes] = []
            found = False
            for record in self._records():
                found = True
                buffer.append(record)
                if len(buffer) >= self.attrs["file_buffer_size"]:
                    yield self._pick(buffer)
            while buffer:
                yield self._pick(buffer)
            if not found:
                raise errors.OutOfRangeError(
                    None, None, f"No records in files at {self.attrs['file_pattern']}"
                )

    def _pick(self, buffer: list[bytes]) -> bytes:
        i = self.random.randrange(len(buffer))
        buffer[i], buffer[-1] = buffer[-1], buffer[i]
        return buffer.pop()

    def _records(self) -> Iterator[bytes]:
        waiting = [iter(tf_record_iterator(name, self._compression)) for name in self._files()]
        width = max(1, self.attrs["file_parallelism"])
        reading, waiting = waiting[:width], waiting[width:]
        while reading:
            for i, records in enumerate(reading):
                record = next(records, None)
                if record is not None:
                    yield record
                    continue
                reading[i : i + 1] = [waiting.pop(0)] if waiting else []
                break  # the list has changed: start over

    @property
    def _compression(self) -> str:
        return self.attrs["compression_type"]

    def _files(self) -> list[str]:
        pattern = self.attrs["file_pattern"]
        files = file_io.glob(pattern.split(","))
        if not files:
            raise errors.NotFoundError(None, None, f"Found no files at {pattern}")
        self.random.shuffle(files)
        ratio = self.attrs["file_shuffle_shift_ratio"]
        shift = int(ratio * len(files)) if 0 <= ratio < 1 else 0
        return files[shift:] + files[:shift]


@op(
    "RecordInput", outputs="records: string",
    attrs="file_pattern: string, file_random_seed: int = 301, file_shuffle_shift_ratio: float = 0,"
    " file_buffer_size: int = 10000, file_parallelism: int = 16, batch_size: int = 32,"
    ' compression_type: string = ""',
    shape=s.unknown, traits=HOST_STATE,
)  # fmt: skip
def record_input(xp: Any, ctx: Any, *, batch_size: int) -> Any:
    attrs = ctx.node.attrs
    yielder = named_or_node(ctx, "records", "", "", lambda: RecordYielder(attrs))
    return string_vector(yielder.take(batch_size))


class RecordInput:
    """Records of the files that match a pattern, shuffled, in batches."""

    def __init__(
        self,
        file_pattern: str,
        batch_size: int = 1,
        buffer_size: int = 1,
        parallelism: int = 1,
        shift_ratio: float = 0,
        seed: int = 0,
        name: str | None = None,
        batches: int | None = None,
        compression_type: Any = None,
    ) -> None:
        self._batch_size = batch_size if batches is None else batch_size * batches
        self._batches, self._name = batches, name
        self._attrs = {
            "file_pattern": file_pattern,
            "file_buffer_size": buffer_size,
            "file_parallelism": parallelism,
            "file_shuffle_shift_ratio": shift_ratio,
            "file_random_seed": seed,
            "compression_type": TFRecordOptions.get_compression_type_string(compression_type),
        }

    def get_yield_op(self) -> Any:
        """The records of a step: a vector, or with `batches` a list of lists of scalars."""
        records = raw.RecordInput(batch_size=self._batch_size, name=self._name, **self._attrs)
        if self._batches is None:
            return records
        with name_scope(self._name):
            scalars = [reshape(record, []) for record in split(records, self._batch_size, 0)]
            return [scalars[i :: self._batches] for i in range(self._batches)]
