"""Readers as objects: names of files in, records out.

A reader takes its next file name from a queue, and waits there if it must. Of several reads that
find no file open one gets the next, the others wait for their turn.
"""

from __future__ import annotations

import threading
from typing import Any, BinaryIO

import numpy as np

from weft.core import dtypes, errors
from weft.core.deferred import Deferred
from weft.ops.control.mutex import Lock, Mutex
from weft.ops.kit.shared import invalid
from weft.ops.queues.queue_objects import Queue
from weft.storage import lmdb
from weft.storage.file_io import open_binary, read_whole
from weft.storage.tf_record import RecordReader, open_records, read_up_to

Record = tuple[bytes, bytes]


class Read:
    """One read request: up to `limit` records of one file."""

    def __init__(self, queue: Queue, limit: int, single: bool) -> None:
        self.queue, self.limit, self.single = queue, limit, single
        self.records: list[Record] = []

    def outputs(self) -> list[np.ndarray]:
        columns = list(zip(*self.records, strict=True)) or [(), ()]
        if self.single:
            return [string_scalar(column[0]) for column in columns]
        return [string_vector(column) for column in columns]


class Reader:
    """Counts work and records; subclasses open a file, and give its records one by one.

    `one_record`: the whole of the work is one record.
    """

    kind = "Reader"
    one_record = False

    def __init__(self, name: str) -> None:
        self.name = f"{self.kind} '{name}'"
        self.turn = Mutex()
        self.state = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        self.started = self.finished = self.produced = 0
        self.work: bytes | None = None
        self.last = b""

    # ---- what subclasses do ----

    def open(self, work: bytes) -> None:
        """Begins a file."""

    def next(self) -> Record | None:
        """The next record's key and value, or None at the end of the file."""
        raise NotImplementedError

    def released(self) -> None:
        """The session that it belongs to is over."""
        self.close()

    def close(self) -> None:
        """Ends the file, if one is open."""

    # ---- reading ----

    def read(self, queue: Queue) -> Any:
        """The next record: [key, value], or a `Deferred`."""
        record = None
        if self.work is not None:
            with self.state:
                record = self._next_of_file()
        if record is None:
            return self._start(Read(queue, 1, single=True))
        return [string_scalar(record[0]), string_scalar(record[1])]

    def read_up_to(self, queue: Queue, count: int) -> Any:
        """Up to `count` records, as vectors; fewer at the end of a file."""
        return self._start(Read(queue, count, single=False))

    def _start(self, request: Read) -> Any:
        if self.work is not None and self._read_some(request):
            return request.outputs()
        lock = Lock(self.turn)
        got = self.turn.submit(0, lock)
        if not isinstance(got, Deferred):
            return self._go_on(lock, request)
        got.then = lambda _: self._go_on(lock, request)
        got.at_end = lock.release
        return got

    def _go_on(self, lock: Lock, request: Read, element: Any = None) -> Any:
        """Reads until the request is met or a file name is missing. Holds, then releases `lock`."""
        try:
            while True:
                if element is not None:
                    self._begin(request.queue, element)
                    element = None
                if self.work is None and len(request.records) < request.limit:
                    got = request.queue.dequeue()
                    if isinstance(got, Deferred):
                        return self._wait_for_name(got, lock, request)
                    element = got
                elif self._read_some(request):
                    break
        except BaseException:
            lock.release()
            raise
        lock.release()
        return request.outputs()

    def _wait_for_name(self, got: Deferred, lock: Lock, request: Read) -> Deferred:
        finish = got.then
        assert finish is not None
        got.then = lambda outputs: self._go_on(lock, request, finish(outputs))
        got.at_end = lock.release
        return got

    def _begin(self, queue: Queue, element: Any) -> None:
        if len(element) != 1:
            raise invalid("Expected single component queue")
        if queue.dtypes[0] is not dtypes.string:
            raise invalid("Expected queue with single string component")
        if element[0].size != 1:
            raise invalid("Expected to dequeue a one-element string tensor")
        with self.state:
            work = element[0].ravel()[0]
            self.open(work)
            self.work = self.last = work
            self.started += 1

    def _read_some(self, request: Read) -> bool:
        """Reads from the file under way; True when the request is met."""
        with self.state:
            while len(request.records) < request.limit:
                record = self._next_of_file()
                if record is not None:
                    request.records.append(record)
                if self.work is None:  # the file is over
                    return bool(request.records)
        return True

    def _next_of_file(self) -> Record | None:
        """The next record of the file under way, if there is one. With `state` held."""
        if self.work is None:
            return None
        record = self.next()
        if record is not None:
            self.produced += 1
        if record is None or self.one_record:
            self._finish()
        return record

    def _finish(self) -> None:
        self.close()
        self.work = None
        self.finished = self.started

    def reset(self) -> None:
        with self.state:
            self.close()
            self._clear()

    # ---- state ----

    def serialize(self) -> bytes:
        if not self.one_record:
            raise errors.UnimplementedError(None, None, "Reader SerializeState")
        from weft.protos.queues import ReaderBaseState

        with self.state:
            return ReaderBaseState(
                work_started=self.started, work_finished=self.finished,
                num_records_produced=self.produced, current_work=self.last,
            ).SerializeToString()  # fmt: skip

    def restore(self, state: bytes) -> None:
        if not self.one_record:
            raise errors.UnimplementedError(None, None, "Reader RestoreState")
        from google.protobuf.message import DecodeError

        from weft.protos.queues import ReaderBaseState

        try:
            found = ReaderBaseState.FromString(state)
        except DecodeError as error:
            raise invalid(f"Could not parse state for {self.name}: {state!r}") from error
        if min(found.work_started, found.work_finished, found.num_records_produced) < 0:
            raise invalid(f"Unexpected negative value when restoring in {self.name}: {found}")
        if found.work_started > found.work_finished:
            raise invalid(
                f"Inconsistent work started vs. finished when restoring in {self.name}: {found}"
            )
        with self.state:
            self._clear()
            self.started, self.finished = found.work_started, found.work_finished
            self.produced, self.last = found.num_records_produced, found.current_work


class IdentityReaderObject(Reader):
    kind = "IdentityReader"
    one_record = True

    def next(self) -> Record:
        assert self.work is not None
        return self.work, self.work


class WholeFileReaderObject(Reader):
    kind = "WholeFileReader"
    one_record = True

    def next(self) -> Record:
        assert self.work is not None
        return self.work, read_whole(self.work)


class FileReader(Reader):
    """A reader that keeps a file open between records."""

    file: BinaryIO | None = None

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None


class TextLineReaderObject(FileReader):
    kind = "TextLineReader"

    def __init__(self, name: str, skip_header_lines: int) -> None:
        super().__init__(name)
        if skip_header_lines < 0:
            raise invalid(f"skip_header_lines must be >= 0 not {skip_header_lines}")
        self.skip = skip_header_lines

    def open(self, work: bytes) -> None:
        self.file = open_binary(work)
        self.line = 0
        while self.line < self.skip and self.file.readline():
            self.line += 1

    def next(self) -> Record | None:
        assert self.file is not None
        line = self.file.readline()
        self.line += 1
        if not line:
            return None
        return b"%s:%d" % (self.work, self.line), line.removesuffix(b"\n").replace(b"\r", b"")


class TFRecordReaderObject(Reader):
    kind = "TFRecordReader"

    def __init__(self, name: str, compression: str) -> None:
        super().__init__(name)
        self.compression = compression
        self.records: RecordReader | None = None

    def open(self, work: bytes) -> None:
        self.records = RecordReader(work, self.compression)

    def next(self) -> Record | None:
        assert self.records is not None
        offset = self.records.offset
        record = self.records.read()
        return None if record is None else (b"%s:%d" % (self.work, offset), record)

    def close(self) -> None:
        if self.records is not None:
            self.records.close()
            self.records = None


class FixedLengthRecordReaderObject(FileReader):
    """Records of one length between a header and a footer; each `hop` bytes after the last."""

    kind = "FixedLengthRecordReader"

    def __init__(
        self, name: str, header: int, record: int, footer: int, hop: int, encoding: str
    ) -> None:
        super().__init__(name)
        lengths = {"header": header, "record": record, "footer": footer, "hop": hop}
        for what, length in lengths.items():
            if length < 0:
                raise invalid(f"{what}_bytes must be >= 0 not {length}")
        self.header, self.record, self.footer = header, record, footer
        self.hop, self.encoding = hop or record, encoding

    def open(self, work: bytes) -> None:
        self.file = open_records(work, self.encoding)
        read_up_to(self.file, self.header, "The header of a file")
        self.number = 0
        self.ahead = b""  # the record before, and what was read of the footer

    def next(self) -> Record | None:
        assert self.file is not None
        if self.number:
            over = self.hop - len(self.ahead)
            self.ahead = self.ahead[self.hop :]
            if over > 0 and len(read_up_to(self.file, over, "A record")) < over:
                return None
        wanted = self.record + self.footer - len(self.ahead)
        self.ahead += read_up_to(self.file, wanted, "A record")
        if len(self.ahead) < self.record + self.footer:
            return None
        self.number += 1
        return b"%s:%d" % (self.work, self.number - 1), self.ahead[: self.record]


class LMDBReaderObject(Reader):
    kind = "LMDBReader"

    def open(self, work: bytes) -> None:
        self.found = lmdb.records(work)

    def next(self) -> Record | None:
        return next(self.found, None)


def string_scalar(value: bytes) -> np.ndarray:
    cell = np.empty((), object)
    cell[()] = value
    return cell


def string_vector(values: Any) -> np.ndarray:
    vector = np.empty(len(values), object)
    vector[:] = values
    return vector
