"""Questions of tests about GPUs. The first one loads XLA, which knows of them."""

from __future__ import annotations

import re
from typing import Any


def _gpus() -> list[Any]:
    from weft.runtime.devices.device import local_devices

    return [device for device in local_devices() if device.device_type == "GPU"]


def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """Whether operations can be placed on a GPU.

    A compute capability can only be asked of a GPU that states one.
    """
    return any(
        min_cuda_compute_capability is None or _capability(gpu) >= min_cuda_compute_capability
        for gpu in _gpus()
    )


def _capability(gpu: Any) -> tuple[int, int]:
    from weft.runtime.devices.device import accelerators

    index = int(gpu.name.rpartition(":")[2])
    devices = [device for kind, device in accelerators() if kind == "GPU"]
    found = re.match(r"(\d+)\.(\d+)", str(getattr(devices[index], "compute_capability", "")))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def gpu_device_name() -> str:
    """`/device:GPU:0`, or "" without a GPU."""
    gpus = _gpus()
    return gpus[0].name[gpus[0].name.index("/device:") :] if gpus else ""


def _drives(maker: str) -> bool:
    from weft.runtime.devices.device import accelerators

    return any(maker in device.client.platform_version.lower() for _, device in accelerators())


def is_built_with_cuda() -> bool:
    """Whether XLA here drives NVIDIA GPUs. A plug-in that finds no GPU counts as absent.

    Returns:
        A bool.

    Example:
        >>> tf.test.is_built_with_cuda() in (True, False)
        True
    """
    return _drives("cuda")


def is_built_with_rocm() -> bool:
    """Whether XLA here drives AMD GPUs. A plug-in that finds no GPU counts as absent."""
    return _drives("rocm")


def is_built_with_gpu_support() -> bool:
    """Whether XLA here drives GPUs of any maker."""
    return is_built_with_cuda() or is_built_with_rocm()
