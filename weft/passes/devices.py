"""Devices as placement sees them: names, how fast they are, how fast data moves between them.

A `DeviceSet` describes a session's devices, or a cluster that exists only on paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from weft.core import device_name

HOST_TYPE = "CPU"
# All else being equal, an operation runs on the first of these types that has a kernel for it.
PREFERENCE = ("TPU", "GPU", HOST_TYPE)


@dataclass(frozen=True)
class DeviceInfo:
    """One device. Rates are per microsecond; devices with one `processor` compute in turn."""

    name: str
    flops: float = 2e4
    bytes: float = 5e3
    memory: int = 0
    processor: str = ""

    @property
    def device_type(self) -> str:
        return device_name.parse(self.name).device_type or HOST_TYPE

    @property
    def worker(self) -> str:
        """The task the device belongs to, as a device name without the device."""
        return device_name.unparse(device_name.parse(self.name)._replace(device_type=None))


@dataclass(frozen=True)
class Link:
    """The cost of moving a tensor: `latency` microseconds, then `bytes` per microsecond."""

    latency: float
    bytes: float

    def time(self, size: float) -> float:
        return self.latency + size / self.bytes


# Orders of magnitude, until something was measured.
SAME_HOST = Link(50.0, 1e4)
ACCELERATOR = Link(100.0, 1e4)
NETWORK = Link(500.0, 1e3)
RATES = {HOST_TYPE: (2e4, 5e3), "GPU": (3e7, 1e6), "TPU": (5e7, 1e6)}


def describe(name: str, memory: int = 0, processor: str = "") -> DeviceInfo:
    """A device of which only the type is known."""
    kind = device_name.parse(name).device_type or HOST_TYPE
    flops, moved = RATES.get(kind, RATES[HOST_TYPE])
    return DeviceInfo(name, flops, moved, memory, processor or name)


@dataclass(frozen=True)
class DeviceSet:
    """Devices in the order of preference, and the links between them.

    `links` holds what is known better than the defaults, by (source, destination).
    """

    devices: tuple[DeviceInfo, ...]
    links: dict[tuple[str, str], Link] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Iterable[str]) -> DeviceSet:
        return cls(tuple(describe(name) for name in names))

    def __iter__(self) -> Iterator[DeviceInfo]:
        return iter(self.devices)

    def __len__(self) -> int:
        return len(self.devices)

    @property
    def names(self) -> list[str]:
        return [device.name for device in self.devices]

    @property
    def by_preference(self) -> list[DeviceInfo]:
        rank = {kind: i for i, kind in enumerate(PREFERENCE)}
        return sorted(self.devices, key=lambda d: rank.get(d.device_type, len(rank)))

    @property
    def host(self) -> DeviceInfo:
        """The default device of nodes that run anywhere: the first CPU."""
        return next((d for d in self.devices if d.device_type == HOST_TYPE), self.devices[0])

    def link(self, source: DeviceInfo, destination: DeviceInfo) -> Link:
        known = self.links.get((source.name, destination.name))
        if known is not None:
            return known
        if source.worker != destination.worker:
            return NETWORK
        on_host = source.device_type == destination.device_type == HOST_TYPE
        return SAME_HOST if on_host else ACCELERATOR

    def matching(self, partial: str) -> list[DeviceInfo]:
        """The devices that a whole or partial device name allows."""
        return [d for d in self.by_preference if device_name.matches(partial, d.name)]
