"""Recording a process from its first session or server to its end, if WEFT_TRACE says so.

The recording is left in the directory that the switch names, also when the process is told to
terminate, as servers are.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from weft.core import flags

SUFFIX = ".weft-recording"
_begun: set[int] = set()  # processes: a child that was forked records for itself


def begin() -> None:
    """Starts to record this process, once, if that is wanted."""
    if not flags.TRACE:
        return
    from weft.runtime.recording.control import CONTROL
    from weft.runtime.recording.recorder import RECORDER

    if os.getpid() in _begun:
        RECORDER.complete()
        return
    _begun.add(os.getpid())
    which = flags.TRACE_OPS.value
    CONTROL.start(operations=which != "none", whole=which == "all")
    atexit.register(_leave)
    if threading.current_thread() is threading.main_thread():
        with contextlib.suppress(ValueError, OSError):
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                signal.signal(signal.SIGTERM, _terminate)


def _terminate(number: int, frame: FrameType | None) -> Any:
    _leave()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _leave() -> None:
    """Writes the recording."""
    if os.getpid() not in _begun:
        return
    _begun.discard(os.getpid())
    from weft.runtime.recording.control import CONTROL, packed

    folder = Path(flags.TRACE.value)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{os.getpid()}{SUFFIX}").write_bytes(packed(CONTROL.stop()))
