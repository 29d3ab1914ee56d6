"""Results of calls as `Deferred`s."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from typing import Any

from weft.core import errors
from weft.core.deferred import Deferred


def known(value: Any) -> Deferred:
    """A result that is there."""
    result = Deferred()
    result.complete(value)
    return result


def attempt(function: Callable[[], Any]) -> Deferred:
    """The result of `function`, called now; an error is a result, too."""
    result = Deferred()
    try:
        result.complete(function())
    except Exception as error:
        result.fail(error)
    return result


def wait_watching(result: Deferred, seconds: float, check: Callable[[], None]) -> Any:
    """Blocks until the result is there; after so many seconds, again and again, calls `check`."""
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
    result.deliver_to(lambda *pair: arrived.put(pair))
    try:
        while True:
            try:
                value, error = arrived.get(timeout=seconds)
                break
            except queue.Empty:
                check()
    except BaseException:
        result.cancel()
        raise
    if error is not None:
        raise error
    return value


def wait(result: Deferred, deadline: float | None = None) -> Any:
    """Blocks until the result is there. DeadlineExceededError at `deadline` (time.monotonic)."""
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
    result.deliver_to(lambda *pair: arrived.put(pair))
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    try:
        value, error = arrived.get(timeout=left)
    except queue.Empty:
        result.cancel()
        raise errors.DeadlineExceededError(
            None, None, "Timed out waiting for notification"
        ) from None
    except BaseException:
        result.cancel()  # a keyboard interrupt: nobody wants the result any more
        raise
    if error is not None:
        raise error
    return value
