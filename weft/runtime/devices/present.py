"""Signs of accelerators in this machine, found without loading jax."""

from __future__ import annotations

import glob
import os

_NVIDIA = "/dev/nvidia[0-9]*"
_DEVICE_FILES = (_NVIDIA, "/dev/kfd", "/dev/accel[0-9]*", "/dev/vfio/[0-9]*")


def may_have_accelerators() -> bool:
    """Whether asking jax, which takes a while to load, could find more than the host."""
    platforms = os.environ.get("JAX_PLATFORMS", "")
    if platforms:
        return platforms != "cpu"
    return any(glob.glob(pattern) for pattern in _DEVICE_FILES)


def has_nvidia() -> bool:
    """Whether the machine has a GPU of NVIDIA's, whatever jax can make of it."""
    return bool(glob.glob(_NVIDIA))
