"""Results of calls as `Deferred`s."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from weft.cluster.interfaces import Worker
from weft.core import errors, flags
from weft.core.deferred import Deferred
from weft.core.waiting import take


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


def gathered(found: Sequence[Any]) -> Deferred:
    """A list of results, of which some are promises, as one promise. The first error is its."""
    results, lock = list(found), threading.Lock()
    awaited = [i for i, item in enumerate(results) if isinstance(item, Deferred)]
    left = len(awaited)

    def cancel() -> None:
        for i in awaited:
            found[i].cancel()

    whole = Deferred(cancel)

    def arrived(i: int, value: Any, error: BaseException | None) -> None:
        nonlocal left
        if error is not None:
            whole.fail(error)
            return
        with lock:
            results[i] = value
            left -= 1
            is_last = not left
        if is_last:
            whole.complete(results)

    for i in awaited:
        found[i].deliver_to(partial(arrived, i))
    if not awaited:
        whole.complete(results)
    return whole


def wait_watching(
    result: Deferred, seconds: float, check: Callable[[], None], deadline: float | None = None
) -> Any:
    """Blocks until the result is there; after so many seconds, again and again, calls `check`.

    DeadlineExceededError at `deadline` (time.monotonic).
    """
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
    result.deliver_to(lambda *pair: arrived.put(pair))
    try:
        if result.help_until is not None and deadline is None:
            until = time.monotonic() + seconds
            result.help_until(lambda: not arrived.empty() or time.monotonic() > until)
        while True:
            left = seconds if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                value, error = arrived.get(timeout=min(seconds, left))
                break
            except queue.Empty:
                if left <= seconds and deadline is not None:
                    raise _too_late() from None
                check()
    except BaseException:
        result.cancel()
        raise
    if error is not None:
        raise error
    return value


def _too_late() -> errors.OpError:
    return errors.DeadlineExceededError(None, None, "Timed out waiting for notification")


def wait_for_worker(
    result: Deferred, worker: Worker, task: str, deadline: float | None = None
) -> Any:
    """Blocks until a worker has answered; UnavailableError if it gives no sign of life."""
    limit = float(flags.HEALTH.value)

    def check() -> None:
        try:
            wait(worker.get_status(limit), time.monotonic() + limit)
        except (errors.UnavailableError, errors.DeadlineExceededError) as error:
            raise silent(task, error) from None

    return wait_watching(result, limit, check, deadline)


def silent(task: str, error: errors.OpError) -> errors.OpError:
    """The error of a step that a worker took part in which does not answer."""
    return errors.UnavailableError(
        None, None, f"From {task}:\nThe worker does not answer: {error.message}"
    )


def wait(result: Deferred, deadline: float | None = None) -> Any:
    """Blocks until the result is there. DeadlineExceededError at `deadline` (time.monotonic)."""
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
    result.deliver_to(lambda *pair: arrived.put(pair))
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    try:
        value, error = take(arrived, left)
    except queue.Empty:
        result.cancel()
        raise _too_late() from None
    except BaseException:
        result.cancel()  # a keyboard interrupt: the result is not wanted any more
        raise
    if error is not None:
        raise error
    return value
