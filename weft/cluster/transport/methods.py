"""Names of methods, and messages in and out of bytes, for both ends of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.message import DecodeError

from weft.cluster.guard.limits import COMPLAINTS
from weft.cluster.interfaces import Caller
from weft.cluster.transport import wire
from weft.core import errors
from weft.protos.cluster import message
from weft.runtime.devices.device import Device

Message = bytes | list[wire.Chunk]
Handler = Callable[[wire.Chunk, Caller], Message]
PromptHandler = Callable[[wire.Chunk, Caller, Callable[..., None]], None]
SERVICE = "/tensorflow.{}Service/{}"
# Not of TensorFlow, whose servers refuse them, which does no harm: a client holds its session on a
# master, a master its session on each worker.
HOLD = "/weft.Presence/Hold"
HOLD_WORKER = "/weft.Presence/HoldWorker"


def methods_of(service: str, owner: Any, names: str) -> dict[str, Handler]:
    """The methods of a service by their path; `owner` has one of each name, after a `_`."""
    return {SERVICE.format(service, name): getattr(owner, f"_{name}") for name in names.split()}


def prompt_methods_of(service: str, owner: Any, names: str) -> dict[str, PromptHandler]:
    """As `methods_of`, for methods that never wait: they pass their answer to a function."""
    return {
        SERVICE.format(service, name): getattr(owner, f"_prompt_{name}") for name in names.split()
    }


def parse(name: str, data: wire.Chunk) -> Any:
    """The request of a method."""
    return message(f"{name}Request").FromString(bytes(data))


def pack(name: str, **fields: Any) -> bytes:
    """The response of a method."""
    data: bytes = message(f"{name}Response")(**fields).SerializeToString()
    return data


def status_of(path: str, error: BaseException) -> tuple[int, str]:
    """Code and text that a failed call is answered with. What is no error of a step is logged."""
    if isinstance(error, DecodeError):
        status = errors.INVALID_ARGUMENT, f"A request could not be parsed: {error}"
    elif isinstance(error, MemoryError):
        status = errors.RESOURCE_EXHAUSTED, f"There is not enough memory: {error}"
    else:
        status = wire.to_status(error)
    refused = isinstance(error, (wire.Malformed, errors.ResourceExhaustedError))
    if refused or not isinstance(error, errors.OpError):
        COMPLAINTS.say(f"{path} {type(error).__name__}", f"{path}: {status[1]}")
    return status


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
