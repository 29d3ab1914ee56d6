"""Compiled loops that can be stopped.

A program with a loop that may run for long looks, once an iteration, at a small array on its
device. Whoever wants the step to end writes to that array while the program runs: then every loop
ends, the program says that it was stopped, and its results are void.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from weft.core import errors
from weft.runtime.devices.memory import overwrite
from weft.runtime.limits import deadline_error, limits
from weft.runtime.xla.compile import load
from weft.runtime.xla.interrupts import tell_of_interrupts
from weft.runtime.xla.traced_state import SWITCH_SIZE

_MOST_IDLE = 8
_idle: dict[Any, list[Any]] = {}  # arrays not written to yet, by device
_lock = threading.Lock()


class _Call:
    """A call of a program that is under way and may be ended."""

    def __init__(self, device: Any) -> None:
        self.error: errors.OpError | None = None
        self.switch: Any = take_switch(device)
        self._device = device
        self._lock = threading.Lock()

    def abort(self, error: errors.OpError) -> None:
        with self._lock:
            if self.switch is not None and self.error is None:
                self.error = error
                overwrite(self.switch)

    def over(self) -> None:
        with self._lock:
            if self.error is None:
                _give_back(self._device, self.switch)
            self.switch = None


def take_switch(device: Any) -> Any:
    """An array for a program to look at."""
    with _lock:
        if _idle.get(device):
            return _idle[device].pop()
    jax = load()
    return jax.device_put(np.zeros(SWITCH_SIZE, np.int32), device).block_until_ready()


def _give_back(device: Any, switch: Any) -> None:
    with _lock:
        idle = _idle.setdefault(device, [])
        if len(idle) < _MOST_IDLE:
            idle.append(switch)


def call_stoppably(program: Any, args: tuple[Any, ...], device: Any) -> Any:
    """The outputs of the program; raises when the step is to end, with the reason."""
    limits.check()
    call = _Call(device)
    running, timer = limits.running, None
    try:
        if limits.deadline is not None:
            timer = _timer(limits.deadline, call)
        if running is not None:
            running.add(call)
        tell_of_interrupts(call)
        results = program.call(*args, call.switch)
        stopped = program.stopped(results).block_until_ready()
        if call.error is not None and stopped:
            raise call.error
        return results
    finally:
        tell_of_interrupts(None)
        if timer is not None:
            timer.cancel()
        if running is not None:
            running.remove(call)
        call.over()


def _timer(deadline: float, call: _Call) -> threading.Timer:
    left = max(0.0, deadline - time.monotonic())
    timer = threading.Timer(left, lambda: call.abort(deadline_error()))
    timer.daemon = True
    timer.start()
    return timer
