"""States that are kept from one batch to the next, so that windows go on where others ended."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.lib.contrib.timeseries.keys import TIMES, VALUES, ModelOutputs
from weft.lib.contrib.timeseries.models import FilteringOnlyStateManager, replicate_state
from weft.lib.train.checkpoint.mutable_tables import MutableDenseHashTable
from weft.ops.array import array
from weft.ops.array.one_hot_search import where
from weft.ops.control.control import group
from weft.ops.math import casts, math


class _TensorTable:
    """A table from integers to tensors of one shape, kept as vectors."""

    def __init__(self, default: Any, name: str, checkpoint: bool) -> None:
        given = convert_to_tensor(default)
        self._shape = array.shape(given)
        self._table = MutableDenseHashTable(
            dtypes.int64,
            given.dtype.base_dtype,
            array.reshape(given, [-1]),
            empty_key=-1,
            deleted_key=-2,
            name=name,
            checkpoint=checkpoint,
        )

    def lookup(self, keys: Tensor) -> Tensor:
        found = self._table.lookup(array.reshape(keys, [-1]))
        return array.reshape(found, array.concat([array.shape(keys), self._shape], 0))

    def insert(self, keys: Tensor, values: Tensor) -> Any:
        count = array.size(keys)
        rows = array.reshape(values, [count, -1])
        return self._table.insert(array.reshape(keys, [count]), rows)


class ChainingStateManager(FilteringOnlyStateManager):
    """Keeps the states that windows end with, for windows that begin there.

    Args:
        state_saving_interval: how many times share a state; one is kept for each.
        checkpoint_state: whether states are saved with the model.
    """

    def __init__(self, state_saving_interval: int = 20, checkpoint_state: bool = False) -> None:
        self._interval, self._checkpoint_state = state_saving_interval, checkpoint_state
        self._tables: list[_TensorTable] | None = None
        self._start_state: Any = None
        self._input_statistics: Any = None

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        """Makes the tables of states."""
        self._input_statistics, self._start_state = input_statistics, model.get_start_state()
        self._tables = [
            _TensorTable(each, f"cached_states_{number}", self._checkpoint_state)
            for number, each in enumerate(nest.flatten(self._start_state))
        ]

    def _define_loss(self, model: Any, features: Any, mode: str) -> ModelOutputs:
        if self._tables is None:
            raise ValueError(
                "ChainingStateManager requires initialize_graph() to be called before use."
            )
        times = features[TIMES]
        start = self._kept_states(times[:, 0])
        loss, states, outputs = model.per_step_batch_loss(features, mode, start)
        with control_dependencies([self._keep(times, states)]):
            loss = array.identity(loss)
        end = nest.map_structure(lambda each: each[:, -1][-1][None], states)
        outputs["observed"] = features[VALUES]
        return ModelOutputs(loss, end, outputs, times)

    def _kept_states(self, times: Tensor) -> Any:
        """States to begin with at these times: at the start of the series, its start state."""
        chunks = times // self._interval
        first: Any = 0 if self._input_statistics is None else self._input_statistics.start_time
        at_start = math.equal(chunks, first // self._interval)
        fresh = nest.flatten(replicate_state(self._start_state, array.shape(times)[0]))
        found = []
        for table, begin in zip(self._tables or (), fresh, strict=True):
            state = where(at_start, begin, table.lookup(casts.cast(chunks, dtypes.int64)))
            state.set_shape(begin.shape)
            found.append(state)
        return nest.pack_sequence_as(self._start_state, found)

    def _keep(self, times: Tensor, states: Any) -> Any:
        """Keeps each state for the chunk of times after it, which the next time may begin."""
        following = array.concat([times[:, 1:], times[:, -1:] + 1], axis=1)
        chunks = math.maximum(following // self._interval, times // self._interval + 1)
        ready = [array.identity(each) for each in nest.flatten(states)]
        with control_dependencies(ready):
            kept = [
                table.insert(chunks, each)
                for table, each in zip(self._tables or (), ready, strict=True)
            ]
        return group(*kept)
