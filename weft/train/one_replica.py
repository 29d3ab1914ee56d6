"""Distribution strategies that have one replica: a device that models are built on.

Programs that choose a strategy by the number of GPUs run unchanged where there is one, or none.
Several copies of a model, kept in step, are not there.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from weft.client.process_config import list_logical_devices
from weft.core import nest
from weft.graph.graph import device

_scopes = threading.local()


class Strategy:
    """One replica on `device`."""

    num_replicas_in_sync = 1

    def __init__(self, device: str) -> None:
        self._device = device

    @property
    def extended(self) -> Strategy:
        """What strategies offer to libraries: the same object."""
        return self

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Operations and variables made inside belong to the replica."""
        before = get_strategy()
        _scopes.current = self
        try:
            with device(self._device):
                yield self
        finally:
            _scopes.current = before

    def experimental_run_v2(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """What `fn` gives on the replica."""
        with self.scope():
            return fn(*args, **(kwargs or {}))

    call_for_each_replica = experimental_run_v2

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """`fn` of the iterator's next element."""
        args = () if input_iterator is None else (input_iterator.get_next(),)
        return self.experimental_run_v2(fn, args)

    def reduce(self, reduce_op: Any, value: Any, axis: Any = None) -> Any:
        """The value of the one replica."""
        return value

    def unwrap(self, value: Any) -> list[Any]:
        """The values of the replicas."""
        return [value]

    experimental_local_results = unwrap

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator over all of the dataset."""
        from weft.data.make_iterator import make_initializable_iterator

        return make_initializable_iterator(dataset)

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        return dataset

    def update(self, var: Any, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """`fn(var, ...)`, where the variable is."""
        return nest.map_structure(lambda each: each, fn(var, *args, **kwargs))

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return (self._device,)

    parameter_devices = worker_devices


class OneDeviceStrategy(Strategy):
    """Everything on one device."""


class MirroredStrategy(Strategy):
    """A copy of the model on each of several devices; here on one, the only one that it may be."""

    def __init__(
        self, devices: Any = None, num_gpus: int | None = None, num_gpus_per_worker: Any = None,
        cross_device_ops: Any = None, auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
    ) -> None:  # fmt: skip
        count = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is None:
            gpus = [each.name for each in list_logical_devices("GPU")]
            devices = (gpus if count is None else gpus[:count]) or ["/device:CPU:0"]
            if count is not None and count > len(gpus):
                raise ValueError(f"{count} GPUs were asked for, but there are {len(gpus)}")
        if len(devices) != 1:
            raise NotImplementedError(
                f"MirroredStrategy on {len(devices)} devices: weft has strategies of one replica."
                " Use devices=[...] with one of them, or parameter servers (TF_CONFIG)."
            )
        super().__init__(devices[0])


def get_strategy() -> Strategy | None:
    """The strategy whose scope is open on this thread."""
    return getattr(_scopes, "current", None)


def has_strategy() -> bool:
    """Whether the scope of a strategy is open."""
    return get_strategy() is not None
