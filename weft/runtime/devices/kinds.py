"""What jax's devices are: the host, or an accelerator. Nothing else looks at their platforms."""

from __future__ import annotations

from typing import Any

_KINDS = {"gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU"}


def is_host(device: Any) -> bool:
    """Whether a device of jax's computes in the memory of the host; None is its default one."""
    return device is None or device.platform == "cpu"


def kind_of(device: Any) -> str | None:
    """TensorFlow's name for the kind of an accelerator; None for what is none."""
    return _KINDS.get(device.platform.lower())
