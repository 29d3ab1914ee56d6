"""Values that differ, or are kept equal, from replica to replica, and ways into and out of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import nest
from weft.graph.constant_value import constant_value
from weft.graph.graph import control_dependencies, device
from weft.graph.tensor import Tensor
from weft.graph.tensor_util import is_tensor
from weft.lib.distribute import device_util
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.kit.replicas import current_mode, update_device
from weft.ops.math import math


class DistributedValues:
    """One value for each of some devices: replica i has the i-th, on the i-th device."""

    def __init__(self, devices: Sequence[str], values: Sequence[Any]) -> None:
        self._devices, self._values = tuple(devices), tuple(values)

    @property
    def devices(self) -> tuple[str, ...]:
        return self._devices

    @property
    def values(self) -> tuple[Any, ...]:
        return self._values

    @property
    def primary(self) -> Any:
        """The value of the first replica."""
        return self._values[0]

    @property
    def is_tensor_like(self) -> bool:
        return all(is_tensor(value) for value in self._values)

    def get(self, device: str | None = None) -> Any:
        """The value on `device`; by default, of the replica or update that the code belongs to."""
        if device is None:
            mode = current_mode()
            if mode is None or mode.replica is not None:
                return self._values[self._of_replica(mode)]
            device = update_device()
            if device is None:
                return self._get_cross_replica()
        return self._values[self._index(device)]

    def _of_replica(self, mode: Any) -> int:
        if mode is None or len(self._values) == 1:
            return 0
        number = mode.replica.replica_id_in_sync_group
        known = constant_value(number) if isinstance(number, Tensor) else number
        # Workers that do not share a graph count on; each holds its own part of the values.
        return 0 if known is None else int(known) % len(self._values)

    def _index(self, device: str) -> int:
        wanted = device_util.canonicalize(device)
        if wanted not in self._devices:
            raise ValueError(
                f"Device {wanted} not found in {self._devices} (current device"
                f" {device_util.current()})"
            )
        return self._devices.index(wanted)

    def _closest(self) -> Any:
        """The value of this replica, or on this device; the first one elsewhere."""
        mode = current_mode()
        if mode is not None and mode.replica is not None:
            return self._values[self._of_replica(mode)]
        where = update_device() or device_util.current()
        wanted = device_util.canonicalize(where)
        return dict(zip(self._devices, self._values, strict=True)).get(wanted, self.primary)

    def _get_cross_replica(self) -> Any:
        raise ValueError(
            f"{type(self).__name__} has a value for each replica; outside of them, use"
            " `strategy.experimental_local_results` or `strategy.reduce`."
        )

    def __repr__(self) -> str:
        pairs = enumerate(zip(self._devices, self._values, strict=True))
        lines = ",\n".join(f"  {i} {where}: {value!r}" for i, (where, value) in pairs)
        return f"{type(self).__name__}:{{\n{lines}\n}}"


class PerReplica(DistributedValues):
    """Values that need not be equal."""

    def _composite_components(self) -> list[Any]:
        return list(self._values)

    def _from_components(self, components: Sequence[Any]) -> PerReplica:
        return PerReplica(self._devices, components)


class Mirrored(DistributedValues):
    """Values that are equal: any of them stands for all. Arithmetic works on the closest one."""

    def _get_cross_replica(self) -> Any:
        return self._closest()

    def _as_graph_element(self) -> Any:
        value = self.get()
        convert = getattr(value, "_as_graph_element", None)
        return value if convert is None else convert()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_values", "_devices"):
            raise AttributeError(name)
        return getattr(self.get(), name)

    def __getitem__(self, key: Any) -> Any:
        return self.get()[key]


def _on_closest(name: str) -> Callable[..., Any]:
    def run(self: Mirrored, *args: Any) -> Any:
        return getattr(self.get(), name)(*args)

    return run


for _name in math.OPERATORS:
    setattr(Mirrored, _name, _on_closest(_name))


# ---- structures ----------------------------------------------------------------------------------


def regroup(
    devices: Sequence[str], values: Sequence[Any], wrap: Callable[..., Any] = PerReplica
) -> Any:
    """One structure whose leaves hold what the structures of all replicas have there."""
    first = values[0]
    if isinstance(first, (list, tuple)):
        for each in values[1:]:
            assert type(each) is type(first) and len(each) == len(first), (
                f"Replicas gave different structures: {first} and {each}"
            )
        parts = [regroup(devices, part, wrap) for part in zip(*values, strict=True)]
        if hasattr(first, "_make"):
            return first._make(parts)
        return parts if isinstance(first, list) else tuple(parts)
    if isinstance(first, dict):
        for each in values[1:]:
            assert isinstance(each, dict) and set(each) == set(first), (
                f"Replicas gave different structures: {first} and {each}"
            )
        return {key: regroup(devices, [each[key] for each in values], wrap) for key in first}
    return _one_leaf(devices, values, wrap)


def _one_leaf(devices: Sequence[str], values: Sequence[Any], wrap: Callable[..., Any]) -> Any:
    first = values[0]
    container = container_of(first)
    same = all(value is first for value in values[1:])
    if same and (container is None or isinstance(first, DistributedValues)):
        return first
    if container is not None and not isinstance(first, DistributedValues):
        assert all(container_of(value) is container for value in values), (
            f"Copies of different variables: {values}"
        )
        return container
    return wrap(devices, values)


def container_of(value: Any) -> Any:
    """The distributed variable that `value` is a copy in, or None."""
    reference = getattr(value, "_distributed_container", None)
    return None if reference is None else reference()


def select_replica(number: int, structure: Any) -> Any:
    """The structure as replica `number` sees it."""

    def of_replica(value: Any) -> Any:
        return value.values[number] if isinstance(value, DistributedValues) else value

    return nest.map_structure(of_replica, structure)


def select_device_mirrored(device: str, structure: Any) -> Any:
    """The structure as an update on `device` sees it."""

    def on_device(value: Any) -> Any:
        if isinstance(value, Mirrored):
            return value.get(device)
        if isinstance(value, DistributedValues):
            raise TypeError(
                f"Expected value to be mirrored across replicas: {value} in {structure}."
            )
        return value

    return nest.map_structure(on_device, structure)


def update_regroup(
    extended: Any, devices: Sequence[str], updates: Sequence[Any], group: bool
) -> Any:
    """The result of updates: one operation for all, or with `group` False the result of each."""
    if group:
        return regroup(devices, updates, _grouped)
    return nest.map_structure(extended._local_results, regroup(devices, updates, Mirrored))


def _grouped(devices: Sequence[str], values: Sequence[Any]) -> Any:
    """Each value, as it is once all updates are done."""
    if len(values) == 1:
        return Mirrored(devices, values)
    done = control.group(*values)

    def awaited(value: Any, where: str) -> Tensor:
        with device(where), control_dependencies([done]):
            return array.identity(value)

    if not all(map(is_tensor, values)):
        return done
    return Mirrored(devices, list(map(awaited, values, devices)))


def value_container(value: Any) -> Any:
    """The variable that `value` is a copy of, if it is one."""
    if isinstance(value, DistributedValues):
        return value
    container = container_of(value)
    return value if container is None else container
