"""The state that stores hold, as rows of a page: variables, queues, and memory by device."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from weft.core import machine
from weft.ops.queues.queue_objects import UNBOUNDED, Queue
from weft.runtime.devices.device import Device
from weft.runtime.resources import ResourceStore, Variable

Json = dict[str, Any]


def held(stores: Mapping[str, ResourceStore]) -> Iterable[tuple[str, str, str, Any]]:
    """(device, container, name, resource) of everything in the stores of devices."""
    for device, store in stores.items():
        with store.lock:
            containers = {name: dict(items) for name, items in store._containers.items()}
        for container, items in containers.items():
            for (_, name), resource in items.items():
                yield device, container, name, resource


def variables(stores: Mapping[str, ResourceStore]) -> list[Json]:
    """Every variable, the largest first."""
    found = [
        {"device": device, "container": container, **_variable(resource)}
        for device, container, _, resource in held(stores)
        if isinstance(resource, Variable)
    ]
    return sorted(found, key=lambda each: (-each["bytes"], each["name"]))


def _variable(cell: Variable) -> Json:
    value = cell.value
    dims = cell.dims if value is None else value.shape
    return {
        "name": cell.name,
        "dtype": cell.dtype.name,
        "shape": None if dims is None else list(dims),
        "bytes": int(getattr(value, "nbytes", 0)),
        "initialized": value is not None,
    }


def queues(stores: Mapping[str, ResourceStore]) -> list[Json]:
    """Every queue with its length."""
    return [
        {
            "device": device, "container": container, "name": queue.name, "kind": queue.kind,
            "length": queue.count(), "waiting": queue.waiting(), "closed": queue.closed,
            "capacity": None if queue.capacity >= UNBOUNDED else queue.capacity,
        }
        for device, container, _, queue in held(stores)
        if isinstance(queue, Queue)
    ]  # fmt: skip


def devices(found: Iterable[Device], stores: Mapping[str, ResourceStore]) -> list[Json]:
    """Every device with what variables take on it, and what XLA has taken, where it tells."""
    sizes: dict[str, int] = {}
    for each in variables(stores):
        sizes[each["device"]] = sizes.get(each["device"], 0) + each["bytes"]
    return [
        {
            "name": device.name, "description": device.description,
            "memory": device.memory_limit, "variables": sizes.get(device.name, 0),
            **_in_use(device),
        }
        for device in found
    ]  # fmt: skip


def _in_use(device: Device) -> Json:
    """XLA's account of a device, without loading jax for it."""
    stats = getattr(device.handle, "memory_stats", None) if "jax" in sys.modules else None
    try:
        told = stats() if stats is not None else None
    except Exception:  # a platform that has none
        told = None
    told = told or {}
    return {"in_use": told.get("bytes_in_use"), "peak": told.get("peak_bytes_in_use")}


def process() -> Json:
    """This process: its number, its memory, and what is free."""
    return {"pid": os.getpid(), "resident": _resident(), "free": machine.free()}


def _resident() -> int | None:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
