"""The strategy that is in force where a program has none: one replica, and nothing to do."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from weft.graph.graph import colocate_with
from weft.lib.distribute.context import has_strategy
from weft.lib.distribute.extended import StrategyExtended
from weft.lib.distribute.input_context import InputContext
from weft.lib.distribute.numpy_dataset import numpy_dataset
from weft.lib.distribute.one_copy import OneCopy
from weft.lib.distribute.replica_context import ReplicaContext
from weft.lib.distribute.strategy import Strategy
from weft.ops.kit.replicas import Mode, updating


@functools.cache
def default_mode() -> Mode:
    """The mode of code outside of every strategy's scope: the one replica."""
    return _DefaultStrategy().mode


class _DefaultStrategy(Strategy):
    def __init__(self) -> None:
        super().__init__(_DefaultExtended(self))
        self.mode = Mode(self, ReplicaContext(self, 0))

    def __deepcopy__(self, memo: Any) -> Strategy:
        raise RuntimeError("Should only create a single instance of _DefaultDistributionStrategy")


class _DefaultExtended(OneCopy, StrategyExtended):
    _num_replicas_in_sync = 1  # type: ignore[assignment]

    def _scope(self, strategy: Any) -> AbstractContextManager[Any]:
        if has_strategy():
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")
        return nullcontext(strategy)

    def colocate_vars_with(self, colocate_with_variable: Any) -> AbstractContextManager[Any]:
        return colocate_with(colocate_with_variable)

    def variable_created_in_scope(self, v: Any) -> bool:
        return v._distribute_strategy is None

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        return dataset

    def _experimental_distribute_datasets_from_function(self, dataset_fn: Any) -> Any:
        return dataset_fn(InputContext())

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return DefaultInputIterator(dataset)

    def _make_input_fn_iterator(self, input_fn: Any, replication_mode: Any = None) -> Any:
        return DefaultInputIterator(input_fn(InputContext()))

    def _experimental_make_numpy_dataset(self, numpy_input: Any, session: Any) -> Any:
        return numpy_dataset(numpy_input, session)

    def _call_for_each_replica(self, fn: Any, args: Any, kwargs: Any) -> Any:
        with default_mode().replica:
            return fn(*args, **kwargs)

    def _place(self, colocate: Any) -> AbstractContextManager[Any]:
        return updating(colocate)

    def non_slot_devices(self, var_list: Any) -> Any:
        return min(var_list, key=lambda variable: variable.name)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        raise RuntimeError("worker_devices() method unsupported by default tf.distribute.Strategy.")

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        raise RuntimeError(
            "parameter_devices() method unsupported by default tf.distribute.Strategy."
        )


class DefaultInputIterator:
    """The elements of a dataset as they are."""

    def __init__(self, dataset: Any) -> None:
        from weft.lib.data.make_iterator import make_initializable_iterator

        self._iterator = make_initializable_iterator(dataset)

    def get_next(self) -> Any:
        return self._iterator.get_next()

    def initialize(self) -> list[Any]:
        """The operations that start it."""
        return [self._iterator.initializer]
