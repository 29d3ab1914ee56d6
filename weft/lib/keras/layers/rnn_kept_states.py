"""The states that a stateful recurrent layer keeps from batch to batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import nest
from weft.core.shapes import TensorShape, as_shape
from weft.lib.keras import backend as K
from weft.lib.keras.engine.tracking import no_automatic_dependency_tracking
from weft.lib.keras.layers.rnn_states import size_list


class KeptStates:
    """The part of the layer that makes, moves and resets its states."""

    cell: Any
    name: str
    stateful: bool
    time_major: bool
    input_spec: Any
    add_update: Callable[..., None]
    _states: Any

    @property
    def states(self) -> Any:
        """The variables of a stateful layer; None for each state otherwise."""
        if self._states is None:
            return nest.map_structure(lambda _: None, size_list(self.cell.state_size))
        return self._states

    # States are no weights: they are neither trained nor saved.
    @states.setter
    @no_automatic_dependency_tracking
    def states(self, states: Any) -> None:
        self._states = states

    def _update_states(self, states: Any) -> None:
        pairs = zip(nest.flatten(self.states), nest.flatten(states), strict=True)
        self.add_update([K.update(variable, state) for variable, state in pairs])

    def _batch_size(self) -> int:
        spec = None if self.input_spec is None else nest.flatten(self.input_spec)[0]
        shape = None if spec is None else spec.shape
        batch_size = None if shape is None else shape[1 if self.time_major else 0]
        if not batch_size:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of "
                "your input tensors: \n"
                "- If using a Sequential model, specify the batch size by passing a "
                "`batch_input_shape` argument to your first layer.\n"
                "- If using the functional API, specify the batch size by passing a `batch_shape` "
                "argument to your Input layer."
            )
        return batch_size

    def _state_shapes(self) -> Any:
        """The shape of every state, in the structure of the cell's sizes."""
        batch_size = self._batch_size()

        def shape(size: Any) -> TensorShape:
            return TensorShape([batch_size, *as_shape(size).as_list()])

        return nest.map_structure(shape, size_list(self.cell.state_size))

    def reset_states(self, states: Any = None) -> None:
        """Zeros, or the given arrays, become the states from which the next batch starts."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        shapes = self._state_shapes()
        if nest.flatten(self.states)[0] is None:
            self.states = nest.map_structure(lambda shape: K.zeros(shape.as_list()), shapes)
            return
        flat, flat_shapes = nest.flatten(self.states), nest.flatten(shapes)
        if states is None:
            values: list[Any] = [np.zeros(shape.as_list()) for shape in flat_shapes]
        else:
            values = self._checked_values(nest.flatten(states), flat_shapes, states)
        K.batch_set_value(list(zip(flat, values, strict=True)))

    def _checked_values(
        self, values: list[Any], shapes: list[TensorShape], given: Any
    ) -> list[Any]:
        if len(values) != len(shapes):
            raise ValueError(
                f"Layer {self.name} expects {len(shapes)} states, but it received {len(values)} "
                f"state values. Input received: {given}"
            )
        for i, (value, shape) in enumerate(zip(values, shapes, strict=True)):
            if tuple(value.shape) != tuple(shape.as_list()):
                raise ValueError(
                    f"State {i} is incompatible with layer {self.name}: expected "
                    f"shape={tuple(shape.as_list())}, found shape={value.shape}"
                )
        return values
