"""Recording the process that asks, for a while."""

from __future__ import annotations

import time
from typing import Any

from weft.runtime.recording.control import CONTROL
from weft.runtime.recording.recorder import RECORDER
from weft.traces.merging import merged

_LOOK_SECONDS = 0.02


def record_here(steps: int = 0, seconds: float = 1.0, operations: bool = True) -> dict[str, Any]:
    """A trace of so many steps of this process, or as many as there are in so many seconds."""
    CONTROL.start(operations)
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if steps and max(RECORDER.steps.values(), default=0) >= steps:
            break
        time.sleep(min(left, _LOOK_SECONDS))
    return merged([CONTROL.stop()])
