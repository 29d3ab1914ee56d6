"""The devices of this process, under TensorFlow's names."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import Any

_PREFIX = "/job:localhost/replica:0/task:0/device:"


@dataclass(frozen=True)
class Device:
    """One device that operations can be placed on."""

    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int = 0
    description: str = ""

    @property
    def memory_limit(self) -> int:
        return self.memory_limit_bytes


@functools.cache
def accelerators() -> tuple[tuple[str, Any], ...]:
    """(type, jax device) of every GPU and TPU that XLA sees."""
    from weft.runtime.compile import load

    jax = load()
    kinds = {"gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU"}
    found = []
    for device in jax.devices():
        kind = kinds.get(device.platform.lower())
        if kind is not None:
            found.append((kind, device))
    return tuple(found)


def host_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0


def local_devices() -> list[Device]:
    """Every device of this process: the host first, then accelerators."""
    found = [Device(f"{_PREFIX}CPU:0", "CPU", host_memory(), 1)]
    counts: dict[str, int] = {}
    for kind, device in accelerators():
        index = counts.get(kind, 0)
        counts[kind] = index + 1
        stats = device.memory_stats() if hasattr(device, "memory_stats") else None
        limit = int((stats or {}).get("bytes_limit", 0))
        name = f"{_PREFIX}{kind}:{index}"
        found.append(Device(name, kind, limit, index + 2, device.device_kind))
    return found


def session_devices() -> list[Device]:
    return local_devices()
