"""tf.profiler.experimental: profiles for TensorBoard, by TensorFlow 2's names."""

from __future__ import annotations

from time import perf_counter
from types import TracebackType
from typing import Any, NamedTuple

from weft.core import errors
from weft.lib.summary import profile
from weft.runtime.recording.recorder import RECORDER


class ProfilerOptions(NamedTuple):
    """How much is recorded. weft records all of its steps and all that XLA tells at any level."""

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _State:
    logdir: Any = None


def start(logdir: Any, options: ProfilerOptions | None = None) -> None:
    """Begins a profile of this process, to be written to `logdir`.

    Args:
        logdir: the folder that TensorBoard reads.
        options: accepted for programs that give them.

    Raises:
        AlreadyExistsError: if one is being taken.
    """
    try:
        profile.start()
    except profile.ProfilerAlreadyRunningError:
        message = "Another profiler is running."
        raise errors.AlreadyExistsError(None, None, message) from None
    _State.logdir = logdir


def stop(save: bool = True) -> None:
    """Ends the profile, and writes it unless `save` is False.

    Args:
        save: whether it is kept.

    Raises:
        UnavailableError: if none is being taken.
    """
    try:
        result = profile.stop()
    except profile.ProfilerNotRunningError:
        message = "Cannot export profiling results. No profiler is running."
        raise errors.UnavailableError(None, None, message) from None
    if save:
        profile.save(_State.logdir, result)


class Profile:
    """A profile of what happens inside of `with`, written to `logdir`."""

    def __init__(self, logdir: Any, options: ProfilerOptions | None = None) -> None:
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        stop()


class Trace:
    """A named interval of the program, on the time axis of a profile or of `weft trace`.

    Args:
        name: the name of the bar.
        kwargs: what a click on it tells; `step_num` makes it a step.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name, self._metadata = name, kwargs
        self._start = 0.0

    def __enter__(self) -> Trace:
        self._start = perf_counter()
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """Adds to what a click tells."""
        self._metadata.update(kwargs)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        RECORDER.add("python", self._name, self._start, self._metadata)


class server:
    """Profiles on demand: TensorBoard asks a running program for them."""

    start = staticmethod(profile.start_profiler_server)
