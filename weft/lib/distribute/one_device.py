"""OneDeviceStrategy: everything on one device, with the ways of a strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant
from weft.graph.graph import colocate_with, device
from weft.lib.distribute import device_util
from weft.lib.distribute.extended import StrategyExtended
from weft.lib.distribute.mirrored import ReplicatedExtended
from weft.lib.distribute.numpy_dataset import SingleDevice
from weft.lib.distribute.one_copy import OneCopy
from weft.lib.distribute.replica_context import ReplicaContext
from weft.lib.distribute.strategy import Strategy
from weft.ops.kit.replicas import updating


class OneDeviceStrategy(Strategy):
    """One replica on `device`. A program that runs so can be tried without several devices."""

    def __init__(self, device: str) -> None:
        super().__init__(OneDeviceExtended(self, device))


class OneDeviceExtended(OneCopy, ReplicatedExtended):
    """The implementation of a OneDeviceStrategy."""

    def __init__(self, container_strategy: Any, device: str) -> None:
        super().__init__(container_strategy)
        self._device = device_util.canonicalize(device)
        self._devices, self._host = (self._device,), device_util.host_of(self._device)

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        beside = kwargs.pop("colocate_with", None)
        if beside is None or isinstance(beside, SingleDevice):
            with device(self._device if beside is None else beside.device):
                return next_creator(**kwargs)
        with colocate_with(beside):
            return next_creator(**kwargs)

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        context = ReplicaContext(self._container_strategy(), constant(0, dtype=dtypes.int32))
        with device(self._device), context:
            return fn(*args, **kwargs)

    # One by one, each by `_reduce_to`.
    _batch_reduce_to = StrategyExtended._batch_reduce_to

    @contextmanager
    def _place(self, colocate: Any) -> Iterator[None]:
        with device(self._device), updating(self._device):
            yield

    def non_slot_devices(self, var_list: Any) -> Any:
        return (self._device,)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return self._devices
