"""tf.train.Coordinator: threads that stop together, and the first error among them."""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from weft.core import compat, errors
from weft.lib.platform import tf_logging as logging

_LONGEST_NAP = 0.05


def _reraise(info: Any) -> NoReturn:
    """Raises the exception of an `exc_info` tuple, with its traceback."""
    _, error, trace = info
    raise error.with_traceback(trace)


class Coordinator:
    """Lets any of several threads ask all to stop, and the main thread wait for them.

    A thread asks `should_stop()` from time to time. `join()` raises the first exception that a
    thread reported, unless it is one of `clean_stop_exception_types` (by default: the end of the
    input).

    Args:
        clean_stop_exception_types: exceptions that mean an ordinary end.

    Example:
        >>> import threading
        >>> coordinator = tf.train.Coordinator()
        >>> def work():
        ...     coordinator.request_stop()
        >>> thread = threading.Thread(target=work)
        >>> thread.start()
        >>> coordinator.join([thread])
        >>> coordinator.should_stop()
        True
    """

    _exc_info_to_raise: Any

    def __init__(self, clean_stop_exception_types: Iterable[type] | None = None) -> None:
        clean = clean_stop_exception_types
        self._clean = (errors.OutOfRangeError,) if clean is None else tuple(clean)
        self._lock, self._stop_event = threading.Lock(), threading.Event()
        self._registered_threads: set[threading.Thread] = set()
        self.clear_stop()

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop. `ex` is why: an exception, or an `exc_info` tuple.

        After `join()` it would go unseen: it is raised here.
        """
        error = ex[1] if isinstance(ex, tuple) else ex
        failed = ex and not isinstance(error, self._clean)
        with self._lock:
            if failed and self._joined:
                _reraise(ex if isinstance(ex, tuple) else _current(ex))
            if failed and not self._stop_event.is_set():
                self._exc_info_to_raise = _reported(ex)
            self._stop_event.set()

    def clear_stop(self) -> None:
        """Forgets that a stop was asked for, and why."""
        with self._lock:
            self._joined = False
            self._exc_info_to_raise = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """An exception inside the `with` block goes to `request_stop` and no further."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is asked for, at most `timeout` seconds; whether it was."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """`join()` waits for this thread, too."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for the threads to end.

        Once a stop was asked for they have `stop_grace_period_secs`; if one still runs after that,
        it is a RuntimeError, unless `ignore_live_threads`. Raises what a thread reported.
        """
        with self._lock:
            waited = list(self._registered_threads | set(threads or ()))
        while any(t.is_alive() for t in waited) and not self.wait_for_stop(_LONGEST_NAP):
            pass
        until = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            if thread.is_alive():
                thread.join(max(0.0, until - time.monotonic()))
        stragglers = " ".join(t.name for t in waited if t.is_alive())
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._exc_info_to_raise:
                _reraise(self._exc_info_to_raise)
            message = f"Coordinator stopped with threads still running: {stragglers}"
            if stragglers and not ignore_live_threads:
                raise RuntimeError(message)
        if stragglers:
            logging.info(message)

    @property
    def joined(self) -> bool:
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises what was passed to `request_stop`, if anything."""
        with self._lock:
            if self._exc_info_to_raise:
                _reraise(self._exc_info_to_raise)


def _current(error: BaseException) -> Any:
    """The `exc_info` of an exception: the one being handled, if there is one."""
    info = sys.exc_info()
    return info if info[1] is not None else (type(error), error, error.__traceback__)


def _reported(ex: Any) -> Any:
    """The `exc_info` to raise later for what was passed to `request_stop`."""
    error = ex[1] if isinstance(ex, tuple) and len(ex) == 3 else ex
    logging.info("Error reported to Coordinator: %s, %s", type(error), compat.as_str_any(error))
    info = ex if isinstance(ex, tuple) else sys.exc_info()
    if len(info) == 3 and info[0] and info[1]:
        return info
    try:
        raise ValueError(
            f"ex must be a tuple or sys.exc_info must return the current exception: {info}"
        )
    except ValueError:
        return sys.exc_info()


class LooperThread(threading.Thread):
    """A thread that calls `target` again and again until the coordinator stops it.

    `timer_interval_secs` is the time from call to call; None: without a pause. Subclasses may
    override `run_loop`, `start_loop` and `stop_loop` instead of giving a target.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Any = None,
        kwargs: Any = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        if not target and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        super().__init__(daemon=True)
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._call = target
        self._call_args, self._call_kwargs = args or (), kwargs or {}
        coord.register_thread(self)

    def isAlive(self) -> bool:
        """Whether the thread runs."""
        return self.is_alive()

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:
        """Makes and starts such a thread."""
        thread = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        thread.start()
        return thread

    def run(self) -> None:
        with self._coord.stop_on_exception():
            self.start_loop()
            for seconds in self._waits():
                if self._coord.wait_for_stop(seconds):
                    break
                self.run_loop()
            self.stop_loop()

    def _waits(self) -> Iterator[float]:
        """Until the next call, which is due by the clock, however long the last one took."""
        for due in itertools.count(time.monotonic(), self._timer_interval_secs or 0.0):
            yield max(0.0, due - time.monotonic())

    def start_loop(self) -> None:
        """Called when the thread starts."""

    def stop_loop(self) -> None:
        """Called when the thread stops."""

    def run_loop(self) -> None:
        """Called at every turn."""
        if self._call:
            self._call(*self._call_args, **self._call_kwargs)
