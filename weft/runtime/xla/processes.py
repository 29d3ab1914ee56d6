"""The group of processes that compute together: joining it, and programs that reach across it.

A program with collectives is compiled once in every process, over one device of each, and started
there with arrays of that process alone. Its values differ from process to process; that they have
one shape is all that XLA needs to know.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import sys
import threading
from typing import Any

import numpy as np

from weft.core.errors import FailedPreconditionError, UnknownError
from weft.core.processes import Place
from weft.ops.kit import process_group
from weft.runtime.devices.present import may_have_accelerators
from weft.runtime.xla.hush import import_hushed
from weft.runtime.xla.span import Span

# How long a process waits for the others to come, and for a sign of life from each.
_COME_SECONDS = 300
_ALIVE_SECONDS = 60
# Others may have work to do when this process is done: it waits at its end, while they live.
_LEAVE_SECONDS = 7 * 24 * 3600

_CARRIERS = ("Gloo", "NCCL")  # what errors between processes name

_lock = threading.Lock()


def join(place: Place) -> None:
    """Makes this process one of the group; returns when all have come. Joining again is nothing."""
    with _lock:
        if place.size == 1 or process_group.current() == place:
            return
        if process_group.current().size > 1:
            raise FailedPreconditionError(
                None, None, f"This process is in a group already: {process_group.current()}"
            )
        _initialize(import_hushed(), place)
        process_group.enter(place)
        atexit.register(_leave_at_exit)


def _initialize(jax: Any, place: Place) -> None:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.config.update("jax_enable_preemption_service", False)  # it keeps SIGTERM to itself
    try:
        if place.is_kept:
            _connect(jax, place)
            return
        jax.distributed.initialize(
            place.coordinator,
            place.size,
            place.rank,
            _own_devices(place),
            cluster_detection_method="deactivate",
            initialization_timeout=_COME_SECONDS,
            heartbeat_timeout_seconds=_ALIVE_SECONDS,
            shutdown_timeout_seconds=_LEAVE_SECONDS,
        )
    except RuntimeError as error:
        if "must be called before" not in str(error):
            raise
        raise FailedPreconditionError(
            None, None, "A process must join its group before it computes anything: make the"
            " strategy, or call hvd.init(), first."
        ) from error  # fmt: skip


def _connect(jax: Any, place: Place) -> None:
    """As `initialize`, but no process of the group listens for the others: another one does."""
    from jax._src import xla_bridge
    from jax._src.distributed import global_state
    from jaxlib import _jax

    if xla_bridge.backends_are_initialized():
        raise RuntimeError("must be called before")
    if devices := _own_devices(place):
        for kind in ("cuda", "rocm"):
            jax.config.update(f"jax_{kind}_visible_devices", ",".join(map(str, devices)))
    client = _jax.get_distributed_runtime_client(
        place.coordinator, place.rank, init_timeout=_COME_SECONDS, use_compression=True,
        heartbeat_timeout=_ALIVE_SECONDS,
    )  # fmt: skip
    client.connect()
    global_state.client, global_state.coordinator_address = client, place.coordinator
    global_state.process_id, global_state.num_processes = place.rank, place.size


def _own_devices(place: Place) -> list[int] | None:
    """Of several processes on a machine with GPUs, each has one; alone on it, all."""
    return [place.local_rank] if place.local_size > 1 and may_have_accelerators() else None


def _loaded() -> Any:
    """The jax module, which `join` or the compiler has set up."""
    return importlib.import_module("jax")


def leave() -> None:
    """Waits until all are done, and goes."""
    with _lock:
        place = process_group.current()
        if place.size > 1:
            process_group.enter(Place())
            if place.is_kept:
                _wait_for_others()
            _loaded().distributed.shutdown()


def _wait_for_others() -> None:
    """Where processes may come and go, XLA does not wait for those that have not left."""
    from jax._src.distributed import global_state

    assert global_state.client is not None
    try:
        global_state.client.wait_at_barrier("weft_leave", _LEAVE_SECONDS * 1000)
    except Exception as error:
        if "barrier" not in str(error).lower():
            raise


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
    jax = _loaded()
    platform = None if device is None else device.platform
    mine = jax.local_devices(backend=platform)
    number = 0 if device is None else mine.index(device)
    everywhere = [
        [d for d in jax.devices(platform) if d.process_index == rank]
        for rank in range(process_group.current().size)
    ]
    chosen = [devices[number] for devices in everywhere]
    return jax.sharding.Mesh(np.array(chosen), (process_group.AXIS,))


class ProcessSpan(Span):
    """One device of each process, which has arrays of its own there."""

    can_stop = True

    def __init__(self, device: Any) -> None:
        super().__init__(mesh(device))
        self._device = device

    def program(self, compiled: Any) -> Any:
        return GroupProgram(compiled, self._device)


class GroupProgram:
    """A compiled program over all processes, called with arrays of this one.

    The call returns when the program is done: if another process has ended, it raises.
    """

    def __init__(self, compiled: Any, device: Any) -> None:
        self._jax = _loaded()
        self._executable = compiled.runtime_executable()
        self._outputs = compiled.out_tree
        self._device = device or self._jax.local_devices()[0]
        self.memory_analysis = compiled.memory_analysis
        self.as_text = compiled.as_text

    def __call__(self, *args: Any) -> Any:
        given = [self._placed(value) for value in self._jax.tree.leaves(args)]
        try:
            results = self._executable.execute_sharded(given)
            values = [each[0] for each in results.disassemble_into_single_device_arrays()]
            self._jax.block_until_ready(values)
        except Exception as error:
            if not any(name in str(error) for name in _CARRIERS):
                raise
            raise UnknownError(None, None, f"{process_group.ENDED}: {error}") from error
        return self._jax.tree.unflatten(self._outputs, values)

    def _placed(self, value: Any) -> Any:
        if isinstance(value, self._jax.Array):
            return value
        # A copy, since the program may write its results there.
        return self._jax.device_put(np.array(value), self._device)
