"""What both ends of a call share: names of methods, and messages in and out of bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.cluster import wire
from weft.cluster.interfaces import Caller
from weft.protos.cluster import message
from weft.runtime.device import Device

Message = bytes | list[wire.Chunk]
Handler = Callable[[wire.Chunk, Caller], Message]
SERVICE = "/tensorflow.{}Service/{}"
# Not of TensorFlow, whose servers refuse it, which does no harm.
HOLD = "/weft.Presence/Hold"


def methods_of(service: str, owner: Any, names: str) -> dict[str, Handler]:
    """The methods of a service by their path; `owner` has one of each name, after a `_`."""
    return {SERVICE.format(service, name): getattr(owner, f"_{name}") for name in names.split()}


def parse(name: str, data: wire.Chunk) -> Any:
    """The request of a method."""
    return message(f"{name}Request").FromString(bytes(data))


def pack(name: str, **fields: Any) -> bytes:
    """The response of a method."""
    data: bytes = message(f"{name}Response")(**fields).SerializeToString()
    return data


def to_device(attributes: Any) -> Device:
    return Device(
        attributes.name, attributes.device_type, attributes.memory_limit, attributes.incarnation,
        attributes.physical_device_desc,
    )  # fmt: skip


def from_device(device: Device) -> Any:
    return message("DeviceAttributes")(
        name=device.name, device_type=device.device_type, memory_limit=device.memory_limit,
        incarnation=device.incarnation % (1 << 64), physical_device_desc=device.description,
    )  # fmt: skip
