"""Event files: records of `Event` messages, named after when and on which machine they began."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event

from weft.core import compat
from weft.storage import file_io
from weft.storage.tf_record import TFRecordWriter, tf_record_iterator

_VERSION = "brain.Event:2"


class EventsWriter:
    """Writes one event file, `<prefix>.out.tfevents.<seconds>.<host>`, made at the first event.

    After `Close` the next event begins a new file.
    """

    def __init__(self, file_prefix: Any) -> None:
        self._prefix = compat.as_str_any(file_prefix)
        self._suffix = ""
        self._name = ""
        self._writer: TFRecordWriter | None = None

    def InitWithSuffix(self, suffix: Any) -> None:
        """Begins the file now; `suffix` ends its name."""
        self._suffix = compat.as_str_any(suffix)
        self._open()

    def FileName(self) -> bytes:
        """The path of the file."""
        self._open()
        return self._name.encode()

    def _open(self) -> TFRecordWriter:
        if self._writer is None:
            second = int(time.time())
            # A program that was stopped and started again within a second must not lose its file.
            while file_io.exists(self._path(second)):
                second += 1
            self._name = self._path(second)
            self._writer = TFRecordWriter(self._name)
            first = Event(wall_time=second, file_version=_VERSION)
            self._writer.write(first.SerializeToString())
            self._writer.flush()
        return self._writer

    def _path(self, second: int) -> str:
        return f"{self._prefix}.out.tfevents.{second:010d}.{socket.gethostname()}{self._suffix}"

    def WriteEvent(self, event: Any) -> None:
        """Adds an `Event` message."""
        if not isinstance(event, Event):
            raise TypeError(f"Expected an event_pb2.Event proto, but got {type(event)}")
        self.WriteSerializedEvent(event.SerializeToString())

    def WriteSerializedEvent(self, event: bytes) -> None:
        (self._writer or self._open()).write(event)

    def Flush(self) -> None:
        """Makes everything written so far readable by others."""
        if self._writer is not None:
            self._writer.flush()

    def Close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def summary_iterator(path: Any) -> Iterator[Any]:
    """The `Event` messages of an event file."""
    for record in tf_record_iterator(path):
        yield Event.FromString(record)
