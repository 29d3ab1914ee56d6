"""Memory that a device and its host both reach.

The host writes to an array of the device while a program runs that reads it; a program leaves what
the host will ask for in memory of the host.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

_OF_HOST = "pinned_host"
_NON_BLOCKING = 1  # a stream of its own, which waits for no other


@functools.cache
def memory_for_host(device: Any) -> Any:
    """Where a program on a device of jax's leaves arrays for the host, as a sharding, or None."""
    from jax.sharding import SingleDeviceSharding

    if all(memory.kind != _OF_HOST for memory in device.addressable_memories()):
        return None
    return SingleDeviceSharding(device, memory_kind=_OF_HOST)


def is_left_for_host(array: Any) -> bool:
    """Whether an array of jax's lies where a program has left it for the host."""
    return bool(array.sharding.memory_kind == _OF_HOST)


def can_overwrite(device: Any) -> bool:
    """Whether `overwrite` works on a device of jax's; None is its default one."""
    if device is None or device.platform == "cpu":
        return True
    return device.platform in ("gpu", "cuda") and _driver() is not None


def overwrite(array: Any) -> None:
    """Sets every byte of an array of jax's to 1, at once, whatever the device is busy with."""
    device = array.device
    if device.platform == "cpu":
        ctypes.memset(array.unsafe_buffer_pointer(), 1, array.nbytes)
    else:
        _overwrite_on_gpu(array.unsafe_buffer_pointer(), array.nbytes, device.local_hardware_id)


@functools.cache
def _driver() -> Any:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def _overwrite_on_gpu(address: int, count: int, ordinal: int) -> None:
    driver = _driver()
    context, stream = ctypes.c_void_p(), ctypes.c_void_p()
    _check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), ordinal))
    try:
        _check(driver.cuCtxPushCurrent_v2(context))
        try:
            _check(driver.cuStreamCreate(ctypes.byref(stream), _NON_BLOCKING))
            _check(driver.cuMemsetD8Async(ctypes.c_uint64(address), 1, count, stream))
            _check(driver.cuStreamSynchronize(stream))
            _check(driver.cuStreamDestroy_v2(stream))
        finally:
            _check(driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p())))
    finally:
        # Valid in every release of the driver; the newer name only changes how devices reset.
        _check(driver.cuDevicePrimaryCtxRelease(ordinal))


def _check(status: int) -> None:
    if status:
        raise RuntimeError(f"The driver of the GPU answered {status}")
