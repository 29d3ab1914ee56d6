"""Takes events as they come, and sees to it that they are in the file in time.

What is written waits in the file's buffer; a thread makes sure that it can be read by others
`flush_secs` after it was added, also when no more comes.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from typing import Any

from weft.core import compat
from weft.storage import file_io
from weft.storage.events import EventsWriter


class EventFileWriter:
    """Writes events to a file in `logdir`. Not `watched`, it does so without a thread.

    `max_queue` bounds what waits in TensorFlow; here the size of the file's buffer does.
    """

    def __init__(
        self,
        logdir: Any,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = None,
        watched: bool = True,
    ) -> None:
        self._logdir = compat.as_str_any(compat.path_to_str(logdir))
        if not file_io.isdir(self._logdir):
            file_io.makedirs(self._logdir)
        self._file = EventsWriter(os.path.join(self._logdir, "events"))
        if filename_suffix:
            self._file.InitWithSuffix(filename_suffix)
        self._flush_secs, self._watched = flush_secs, watched
        self._flushed = True
        self._due = 0.0  # the first event can be read at once
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None
        _open_writers.add(self)

    def get_logdir(self) -> str:
        return self._logdir

    def reopen(self) -> None:
        """After `close`: further events go to a new file."""
        with self._changed:
            self._closed = False
        _open_writers.add(self)

    def add_event(self, event: Any) -> None:
        """Adds an `Event` message; nothing happens if the writer is closed."""
        data = event.SerializeToString()
        with self._changed:
            if self._closed:
                return
            self._file.WriteSerializedEvent(data)
            if time.monotonic() >= self._due:
                self._flush()
            elif self._flushed:
                self._flushed = False
                self._watch()

    def _watch(self) -> None:
        if self._watched and self._thread is None:
            self._thread = threading.Thread(
                target=_flush_when_due, args=(weakref.ref(self),), daemon=True, name="event-writer"
            )
            self._thread.start()

    def _flush(self) -> None:
        self._file.Flush()
        self._flushed = True
        self._due = time.monotonic() + self._flush_secs

    def flush(self) -> None:
        """Makes everything added so far readable by others."""
        with self._changed:
            if not self._closed:
                self._flush()

    def close(self) -> None:
        """Flushes and ends the file."""
        with self._changed:
            if self._closed:
                return
            self._flush()
            self._file.Close()
            self._closed = True
            thread, self._thread = self._thread, None
            self._changed.notify_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        _open_writers.discard(self)

    def __del__(self) -> None:
        if getattr(self, "_closed", True) is False:
            self.close()


def _flush_when_due(reference: weakref.ref[EventFileWriter]) -> None:
    """Flushes a writer when a flush is due; ends with the writer."""
    thread = threading.current_thread()
    while (writer := reference()) is not None:
        with writer._changed:
            if writer._closed or writer._thread is not thread:
                return
            left = writer._due - time.monotonic()
            if left <= 0 and not writer._flushed:
                writer._flush()
            # Short naps, so that a writer without other references is let go.
            changed, nap = writer._changed, max(0.01, min(left, 1.0))
            changed.wait(nap)
        del writer


_open_writers: weakref.WeakSet[EventFileWriter] = weakref.WeakSet()


@atexit.register
def _flush_all() -> None:
    """A program need not close its writers for their events to be kept."""
    for writer in list(_open_writers):
        writer.flush()
