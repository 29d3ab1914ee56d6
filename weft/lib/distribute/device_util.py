"""Names of the devices that replicas run on."""

from __future__ import annotations

from typing import Any

from weft.client.process_config import list_logical_devices
from weft.core import device_name
from weft.core.device_name import DeviceSpec
from weft.graph.graph import get_default_graph

_DEFAULT = "/replica:0/task:0/device:CPU:0"


class _Probe:
    """Stands for the next operation, to find out which device scopes would give it."""

    type = name = ""
    inputs: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self._device = ""

    @property
    def device(self) -> str:
        return self._device

    @property
    def node_def(self) -> _Probe:
        return self

    op = ""

    def _set_device(self, device: Any) -> None:
        self._device = device_name.canonical_name(device)


def current() -> str:
    """The device that scopes ask for, or an empty string."""
    probe = _Probe()
    get_default_graph()._apply_devices(probe)  # type: ignore[arg-type]
    return probe._device


def canonicalize(device: str, default: str | None = None) -> str:
    """`device` with what it leaves open filled in, by `default` if that says it."""
    filled = device_name.merge(_DEFAULT, default) if default else _DEFAULT
    return device_name.merge(filled, device_name.canonical_name(device))


def resolve(device: str) -> str:
    """`device` as it is called inside of the scopes that are open."""
    return canonicalize(device, current())


def host_of(device: str) -> str:
    """The first CPU of the process that `device` belongs to."""
    spec = DeviceSpec.from_string(device)
    return spec.replace(device_type="CPU", device_index=0).to_string()


def is_gpu(device: str) -> bool:
    return DeviceSpec.from_string(device).device_type == "GPU"


def count_gpus() -> int:
    return len(list_logical_devices("GPU"))


def local_devices(num_gpus: int | None = None) -> tuple[str, ...]:
    """The first `num_gpus` GPUs of this process (by default all), else its CPU."""
    count = count_gpus() if num_gpus is None else num_gpus
    return tuple(f"/device:GPU:{i}" for i in range(count)) or ("/device:CPU:0",)
