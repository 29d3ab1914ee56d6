"""The devices of this process, under TensorFlow's names."""

from __future__ import annotations

import functools
import logging
import os
from dataclasses import dataclass
from typing import Any

from weft.ops.kit import process_group
from weft.passes.devices import DeviceInfo, DeviceSet, describe
from weft.runtime.devices import kinds
from weft.runtime.devices.hosts import want_hosts
from weft.runtime.devices.present import has_nvidia, may_have_accelerators

LOCAL = "/job:localhost/replica:0/task:0"


@dataclass(frozen=True)
class Device:
    """One device that operations can be placed on. `handle` is jax's, None for the host."""

    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int = 0
    description: str = ""
    handle: Any = None

    @property
    def memory_limit(self) -> int:
        return self.memory_limit_bytes

    def __repr__(self) -> str:
        parts = self.name, self.device_type, self.memory_limit_bytes, self.incarnation
        return f"_DeviceAttributes({', '.join(map(str, parts))})"


@functools.cache
def accelerators() -> tuple[tuple[str, Any], ...]:
    """(type, jax device) of every GPU and TPU that XLA sees."""
    if not may_have_accelerators():
        return ()
    from weft.runtime.xla.compile import load

    found = [(kinds.kind_of(d), d) for d in load().local_devices()]
    usable = tuple((kind, device) for kind, device in found if kind is not None)
    if not usable and not os.environ.get("JAX_PLATFORMS") and has_nvidia():
        logging.getLogger("weft").warning(
            "weft: this machine has an NVIDIA GPU that jax cannot use (pip install 'weft[cuda]';"
            " WEFT_DEBUG=3 shows why); graphs run on the host"
        )
    return usable


def host_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0


def local_devices(config: Any = None, task: str = LOCAL) -> list[Device]:
    """Every device of this process that a ConfigProto leaves: hosts first, then accelerators."""
    counts = dict(config.device_count) if config is not None else {}
    if config is not None:
        set_memory_options(config.gpu_options)
    hosts = max(1, counts.get("CPU", 1))
    want_hosts(hosts)
    found = [
        Device(f"{task}/device:CPU:{i}", "CPU", host_memory(), i + 1, "", _host_handle())
        for i in range(hosts)
    ]
    numbers: dict[str, int] = {}
    for kind, device, limit in _divided(_visible(config), config):
        index = numbers.get(kind, 0)
        if index >= counts.get(kind, index + 1):
            continue
        numbers[kind] = index + 1
        name = f"{task}/device:{kind}:{index}"
        found.append(Device(name, kind, limit, len(found) + 1, device.device_kind, device))
    return found


def _divided(visible: list[tuple[str, Any]], config: Any) -> list[tuple[str, Any, int]]:
    """(type, jax device, memory) of each accelerator, several for a GPU that is to be divided."""
    parts = config.gpu_options.experimental.virtual_devices if config is not None else []
    limits = [list(part.memory_limit_mb) for part in parts]
    found: list[tuple[str, Any, int]] = []
    for kind, device in visible:
        mine = limits.pop(0) if limits and kind == "GPU" else []
        sizes = [int(megabytes * 2**20) for megabytes in mine] or [_memory(device)]
        found += [(kind, device, size) for size in sizes]
    return found


def _host_handle() -> Any:
    """jax's own device for the host, where it is not jax's default anyway."""
    if not accelerators():
        return None
    from weft.runtime.xla.compile import load

    try:
        return load().local_devices(backend="cpu")[0]
    except RuntimeError:
        return None  # JAX_PLATFORMS leaves the host out


def _memory(device: Any) -> int:
    stats = device.memory_stats() if hasattr(device, "memory_stats") else None
    return int((stats or {}).get("bytes_limit", 0))


def _visible(config: Any) -> list[tuple[str, Any]]:
    """Accelerators in the order of `visible_device_list`, which speaks of GPUs."""
    listed = config.gpu_options.visible_device_list if config is not None else ""
    gpus = [pair for pair in accelerators() if pair[0] == "GPU"]
    # One of several processes on a machine has its own GPU already, whichever number that has.
    if not listed or not gpus or process_group.current().local_size > 1:
        return list(accelerators())
    others = [pair for pair in accelerators() if pair[0] != "GPU"]
    return [gpus[i] for i in visible_numbers(listed, len(gpus))] + others


def visible_numbers(listed: str, count: int) -> list[int]:
    """The numbers in a `visible_device_list` such as "1,0"."""
    from weft.core.errors import InvalidArgumentError

    numbers = []
    for text in listed.split(","):
        try:
            number = int(text)
        except ValueError:
            raise InvalidArgumentError(
                None, None, f"Could not parse entry in 'visible_device_list': '{text}'."
                f" visible_device_list = {listed}",
            ) from None  # fmt: skip
        if not 0 <= number < count:
            raise InvalidArgumentError(
                None, None, f"'visible_device_list' listed an invalid GPU id '{number}' but visible"
                f" device count is {count}",
            )  # fmt: skip
        if number in numbers:
            raise InvalidArgumentError(
                None, None, f"'visible_device_list' contained a duplicate GPU id '{number}'"
            )
        numbers.append(number)
    return numbers


def set_memory_options(options: Any) -> None:
    """How much accelerator memory to take at once. Read by XLA when it starts: the first wins."""
    if options.allow_growth:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if options.per_process_gpu_memory_fraction:
        fraction = f"{options.per_process_gpu_memory_fraction:.4f}"
        os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", fraction)


def device_set(devices: list[Device]) -> DeviceSet:
    """The devices as placement sees them. All hosts of a process share its cores."""

    def info(device: Device) -> DeviceInfo:
        cores = device.name.split("/device:")[0] if device.device_type == "CPU" else device.name
        return describe(device.name, device.memory_limit, cores)

    return DeviceSet(tuple(info(device) for device in devices))
