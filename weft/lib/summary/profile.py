"""Profiles for TensorBoard's profile plugin: all that this process does between start and stop."""

from __future__ import annotations

import socket
import threading
import time
from types import TracebackType
from typing import Any

from weft.core import compat
from weft.lib.platform import tf_logging as logging
from weft.storage import file_io
from weft.storage.events import EventsWriter

_EMPTY = ".profile-empty"  # an event file that only says: here are profiles


class ProfilerAlreadyRunningError(Exception):
    """A profile is begun while another one is taken."""


class ProfilerNotRunningError(Exception):
    """A profile is ended, and none was begun."""


class _State:
    """Whether a profile is taken. One that a trace of weft's is in the way of stays empty."""

    is_on = False
    is_empty = False
    lock = threading.Lock()
    server: Any = None


def start() -> None:
    """Begins a profile.

    Raises:
        ProfilerAlreadyRunningError: if one is being taken.
    """
    from weft.runtime.recording.control import CONTROL
    from weft.runtime.recording.recorder import RECORDER

    with _State.lock:
        if _State.is_on:
            raise ProfilerAlreadyRunningError("Another profiler is running.")
        _State.is_on, _State.is_empty = True, RECORDER.is_on
        if _State.is_empty:
            logging.warning("A trace of this process is being recorded: its profile stays empty.")
        else:
            CONTROL.start(whole=True)


def stop() -> bytes:
    """Ends the profile.

    Returns:
        What `save` writes: a serialized XSpace.

    Raises:
        ProfilerNotRunningError: if none is being taken.
    """
    from weft.runtime.recording.control import CONTROL
    from weft.runtime.recording.xplane import to_profile

    with _State.lock:
        if not _State.is_on:
            raise ProfilerNotRunningError("Cannot stop profiling. No profiler is running.")
        _State.is_on = False
        return b"" if _State.is_empty else to_profile(*CONTROL.stop_with_profiles())


def save(logdir: Any, result: bytes) -> None:
    """Writes a profile to a folder that TensorBoard reads, as a run of its own."""
    folder = compat.as_str_any(logdir)
    runs = f"{folder}/plugins/profile/{time.strftime('%Y-%m-%d_%H-%M-%S')}"
    run, again = runs, 1
    while file_io.exists(run):  # two of one second
        again += 1
        run = f"{runs}_{again}"
    file_io.makedirs(run)
    maybe_create_event_file(folder)
    with file_io.open_binary(f"{run}/{socket.gethostname()}.xplane.pb", "wb") as file:
        file.write(result)


def maybe_create_event_file(logdir: Any) -> None:
    """Writes an event file without events, by which TensorBoard knows the folder, if needed."""
    folder = compat.as_str_any(logdir)
    if not any(name.endswith(_EMPTY) for name in file_io.listdir(folder)):
        writer = EventsWriter(f"{folder}/events")
        writer.InitWithSuffix(_EMPTY)
        writer.Close()


def start_profiler_server(port: int) -> None:
    """Lets TensorBoard's *capture profile* ask this process, at a port, for what XLA does."""
    import jax

    with _State.lock:
        _State.server = jax.profiler.start_server(port)


class Profiler:
    """A profile of what happens inside of `with`, written to `logdir`."""

    def __init__(self, logdir: Any) -> None:
        self._logdir = logdir

    def __enter__(self) -> None:
        start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        save(self._logdir, stop())
