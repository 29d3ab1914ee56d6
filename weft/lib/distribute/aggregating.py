"""A single variable that several replicas share, and that knows how to join what they assign."""

from __future__ import annotations

import weakref
from typing import Any

from weft.lib.distribute.variables import AssignedTogether
from weft.ops.state.resource_variable import BaseResourceVariable


def _shared(name: str) -> property:
    """An attribute of the wrapped variable, to be read and set."""

    def get(self: AggregatingVariable) -> Any:
        return getattr(self._wrapped, name)

    def put(self: AggregatingVariable, value: Any) -> None:
        setattr(self._wrapped, name, value)

    return property(get, put)


class AggregatingVariable(AssignedTogether, BaseResourceVariable):
    """The variable `wrapped`; what replicas assign to it becomes one value first."""

    def __init__(self, strategy: Any, wrapped: Any, aggregation: Any) -> None:
        self._distribute_strategy, self._wrapped = strategy, wrapped
        self._aggregation = aggregation
        wrapped._aggregating_container = weakref.ref(self)

    _handle = _shared("_handle")
    _dtype = _shared("_dtype")
    _shape = _shared("_shape")
    _trainable = _shared("_trainable")
    _synchronization = _shared("_synchronization")
    _constraint = _shared("_constraint")
    _save_slice_info = _shared("_save_slice_info")
    _initial_value = _shared("_initial_value")
    _initializer_op = _shared("_initializer_op")
    _cached_value = _shared("_cached_value")
    _graph_element = _shared("_graph_element")

    def get(self) -> Any:
        """The variable itself."""
        return self._wrapped

    @property
    def distribute_strategy(self) -> Any:
        return self._distribute_strategy

    def _set_save_slice_info(self, save_slice_info: Any) -> None:
        self._wrapped._set_save_slice_info(save_slice_info)
