"""Keyboard interrupts while the main thread is inside of XLA.

Python tells its main thread alone of a signal, and only when that is back in Python. But it also
writes to a file, at once, and another thread can read that.
"""

from __future__ import annotations

import functools
import os
import signal
import threading

from weft.core import errors
from weft.runtime.limits import Step


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
