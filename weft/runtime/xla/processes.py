"""The group of processes that compute together: joining it, and programs that reach across it.

A program with collectives is compiled once in every process, over one device of each, and started
there with arrays of that process alone. Its values differ from process to process; that they have
one shape is all that XLA needs to know.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.errors import FailedPreconditionError
from weft.core.processes import Place
from weft.ops.kit import process_group

# How long a process waits for the others to come, and for a sign of life from each.
_COME_SECONDS = 300
_ALIVE_SECONDS = 60
# Others may have work to do when this process is done: it waits at its end, while they live.
_LEAVE_SECONDS = 7 * 24 * 3600

_lock = threading.Lock()


def join(place: Place) -> None:
    """Makes this process one of the group; returns when all have come. Joining again is nothing."""
    from weft.runtime.xla.compile import load

    with _lock:
        if place.size == 1 or process_group.current() == place:
            return
        if process_group.current().size > 1:
            raise FailedPreconditionError(
                None, None, f"This process is in a group already: {process_group.current()}"
            )
        jax = load()
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.config.update("jax_enable_preemption_service", False)  # it keeps SIGTERM to itself
        jax.distributed.initialize(
            place.coordinator,
            place.size,
            place.rank,
            cluster_detection_method="deactivate",
            initialization_timeout=_COME_SECONDS,
            heartbeat_timeout_seconds=_ALIVE_SECONDS,
            shutdown_timeout_seconds=_LEAVE_SECONDS,
        )
        process_group.enter(place)
        atexit.register(_leave_at_exit)


def leave() -> None:
    """Waits until all are done, and goes."""
    from weft.runtime.xla.compile import load

    with _lock:
        if process_group.current().size > 1:
            process_group.enter(Place())
            load().distributed.shutdown()


def _leave_at_exit() -> None:
    """One that fails does not wait for the rest, which wait for it: they are to see that it ended.

    What is kept here is not destroyed; destroying it would be to wait.
    """
    if getattr(sys, "last_value", None) is None and not process_group.has_failed():
        leave()
        return
    from jax._src.distributed import global_state

    for kept in (global_state.client, global_state.service):
        if kept is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def mesh(device: Any) -> Any:
    """One device of each process: those with the number that `device` has in this one."""
    from weft.runtime.xla.compile import load

    jax = load()
    platform = None if device is None else device.platform
    mine = jax.local_devices(backend=platform)
    number = 0 if device is None else mine.index(device)
    everywhere = [
        [d for d in jax.devices(platform) if d.process_index == rank]
        for rank in range(process_group.current().size)
    ]
    chosen = [devices[number] for devices in everywhere]
    return jax.sharding.Mesh(np.array(chosen), (process_group.AXIS,))


def sharding(device: Any) -> Any:
    """The way an array of one process looks to a program over all of them."""
    from weft.runtime.xla.compile import load

    parts = load().sharding
    return parts.NamedSharding(mesh(device), parts.PartitionSpec())


def across(run: Callable[..., Any], device: Any) -> Callable[..., Any]:
    """`run` as a function whose collectives reach the other processes."""
    from weft.runtime.xla.compile import load

    jax = load()
    anywhere = jax.sharding.PartitionSpec()
    wrapped: Callable[..., Any] = jax.shard_map(
        run, mesh=mesh(device), in_specs=anywhere, out_specs=anywhere, check_vma=False
    )
    return wrapped


class GroupProgram:
    """A compiled program over all processes, called with arrays of this one.

    The call returns when the program is done: if another process has ended, it raises.
    """

    def __init__(self, compiled: Any, device: Any) -> None:
        from weft.runtime.xla.compile import load

        self._jax = load()
        self._executable = compiled.runtime_executable()
        self._outputs = compiled.out_tree
        self._device = device or self._jax.local_devices()[0]
        self.memory_analysis = compiled.memory_analysis
        self.as_text = compiled.as_text

    def __call__(self, *args: Any) -> Any:
        given = [self._placed(value) for value in self._jax.tree.leaves(args)]
        results = self._executable.execute_sharded(given)
        values = [each[0] for each in results.disassemble_into_single_device_arrays()]
        self._jax.block_until_ready(values)
        return self._jax.tree.unflatten(self._outputs, values)

    def _placed(self, value: Any) -> Any:
        if isinstance(value, self._jax.Array):
            return value
        # A copy, since the program may write its results there.
        return self._jax.device_put(np.array(value), self._device)
