"""The end of the process: threads that work ahead are let out of XLA before it is taken down.

They are daemons, for nobody has to wait for what they make. But jax gives up its devices when
Python ends, and a thread that is inside of a program then takes the process down with it.
"""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from typing import Any

# Seconds to wait for threads that do not notice, as one inside of a user's function.
PATIENCE = 5.0

_owners: weakref.WeakSet[Any] = weakref.WeakSet()
_threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def watch(owner: Any, thread: threading.Thread) -> None:
    """From now on the end of the process calls `owner.close()` and waits for the thread."""
    _owners.add(owner)
    _threads.add(thread)


def end_threads() -> None:
    """To be called at exit, before jax's own end: ends all threads that are watched."""
    for owner in list(_owners):
        with contextlib.suppress(Exception):
            owner.close()
    until = time.monotonic() + PATIENCE
    for thread in list(_threads):
        thread.join(max(0.0, until - time.monotonic()))
