"""Keyboard interrupts while the main thread is inside of XLA.

Python tells its main thread alone of a signal, and only when that is back in Python. But it also
writes to a file, at once, and another thread can read that: so programs that run are stopped. And
what cannot be stopped, as compiling, is done by another thread, for which the main one waits.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import functools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from weft.core import errors
from weft.core.waiting import NAP
from weft.runtime.limits import Step

T = TypeVar("T")
_MOMENT = 0.01  # seconds, for a callback to be over
_left: list[_Work] = []  # threads that somebody was to wait for and does not any more


def interruptible(work: Callable[[], T]) -> T:
    """The result of `work()`; an interrupt of the main thread does not wait for its end."""
    if threading.get_ident() != threading.main_thread().ident:
        return work()
    thread = _Work(work)
    try:
        thread.start()
        while not thread.done.wait(NAP):
            pass
        thread.join()
    except BaseException:
        _leave(thread)
        raise
    if thread.error is not None:
        raise thread.error
    found: T = thread.result
    return found


class _Work(threading.Thread):
    """A call on a thread of its own."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(name="weft-compile", daemon=True)
        self.done = threading.Event()
        self.result: Any = None
        self.error: BaseException | None = None
        self._work = work

    def run(self) -> None:
        try:
            self.result = self._work()
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()


def _leave(thread: _Work) -> None:
    """Lets a thread go on by itself: jax must not be taken from under it when Python ends."""
    api = sys.modules.get("jax._src.api")  # not there yet, if it is jax that is imported
    clean_up = getattr(api, "clean_up", None)
    if clean_up is not None:
        atexit.unregister(clean_up)
    _left.append(thread)


@atexit.register
def _end() -> None:
    """Ends a process that a thread is still busy in: at once if an interrupt is why it ends."""
    if not any(thread.is_alive() for thread in _left):
        return
    if isinstance(getattr(sys, "last_value", None), KeyboardInterrupt):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    for thread in _left:
        thread.join()


def heed_ignored_interrupts() -> None:
    """Interrupts again when Python has ignored an interrupt, as it does in some callbacks.

    jax has a callback that is called whenever garbage is collected, which is often while a step is
    compiled; destructors are others.
    """
    before = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            # By another thread: what is raised here would be ignored as well.
            threading.Thread(target=_interrupt_again, name="weft-interrupt", daemon=True).start()
        else:
            before(unraisable)

    sys.unraisablehook = hook


def _interrupt_again() -> None:
    time.sleep(_MOMENT)
    _thread.interrupt_main()


def tell_of_interrupts(step: Step | None) -> None:
    """From now on an interrupt aborts `step`, if this is the main thread, which would get it."""
    if threading.get_ident() == threading.main_thread().ident:
        _listener().step = step


class _Listener:
    """A thread that hears of signals. Made by the main thread: others may not ask for them."""

    def __init__(self) -> None:
        self.step: Step | None = None
        outlet, inlet = os.pipe()
        os.set_blocking(inlet, False)
        before = signal.set_wakeup_fd(inlet, warn_on_full_buffer=False)
        if before >= 0:  # somebody else listens, an event loop: it stays theirs
            signal.set_wakeup_fd(before)
            return
        name = "weft-interrupts"
        threading.Thread(target=self._listen, args=(outlet,), name=name, daemon=True).start()

    def _listen(self, outlet: int) -> None:
        while True:
            signals = os.read(outlet, 64)
            step = self.step
            heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
            if step is not None and heeded and signal.SIGINT in signals:
                step.abort(errors.CancelledError(None, None, "The step was interrupted"))


@functools.cache
def _listener() -> _Listener:
    return _Listener()


def _forget() -> None:
    """A forked process has the file of its parent, and no thread."""
    if _listener.cache_info().currsize:
        signal.set_wakeup_fd(-1)
        _listener.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
