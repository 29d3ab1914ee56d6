"""Results that come later, and do not stay longer than they are wanted."""

from __future__ import annotations

import gc
import weakref

import numpy as np

from weft.core.deferred import Deferred


def delivered() -> weakref.ref[np.ndarray]:
    """An array that was promised, and delivered to a sink that knows the promise, as most do."""
    promise = Deferred()
    promise.deliver_to(lambda outputs, error: promise.cancel())
    array = np.ones(3)
    promise.complete([array])
    return weakref.ref(array)


def test_a_result_goes_with_the_last_who_uses_it() -> None:
    gc.disable()
    try:
        assert delivered()() is None
    finally:
        gc.enable()


def test_who_asks_late_gets_the_result_too() -> None:
    promise = Deferred()
    got: list[object] = []
    promise.deliver_to(lambda outputs, error: got.append(outputs))
    assert promise.complete(5) and not promise.complete(6)
    promise.deliver_to(lambda outputs, error: got.append(outputs))
    assert got == [5, 5] and promise.wait() == 5
