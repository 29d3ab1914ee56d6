"""Several recurrent cells, each fed by the one before, as one."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape, as_shape
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.layers.rnn_states import build_cell, output_size_of, zero_state_of
from weft.lib.keras.layers.serialization import deserialize, serialize
from weft.lib.keras.utils.generic import entry, has_arg
from weft.lib.platform import tf_logging as logging


class StackedRNNCells(Layer):
    """Cells on top of each other; the state is a tuple of theirs, the first one's first."""

    def __init__(self, cells: Any, **kwargs: Any) -> None:
        for cell in cells:
            if not hasattr(cell, "call"):
                raise ValueError("All cells must have a `call` method. received cells:", cells)
            if not hasattr(cell, "state_size"):
                raise ValueError(
                    "All cells must have a `state_size` attribute. received cells:", cells
                )
        reverse_state_order = kwargs.pop("reverse_state_order", False)
        if reverse_state_order:
            logging.warning(
                "reverse_state_order=True in StackedRNNCells will soon be deprecated. Please "
                "update the code to work with the natural order of states if you rely on the RNN "
                "states, eg RNN(return_state=True)."
            )
        super().__init__(**kwargs)
        self.cells = cells
        self.reverse_state_order = reverse_state_order

    def _in_state_order(self) -> list[Any]:
        return list(self.cells)[::-1] if self.reverse_state_order else list(self.cells)

    @property
    def state_size(self) -> tuple[Any, ...]:
        return tuple(cell.state_size for cell in self._in_state_order())

    @property
    def output_size(self) -> Any:
        return output_size_of(self.cells[-1])

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> tuple[Any, ...]:
        def first(cell: Any) -> Any:
            make = getattr(cell, "get_initial_state", None)
            if make:
                return make(inputs=inputs, batch_size=batch_size, dtype=dtype)
            return zero_state_of(cell, inputs, batch_size, dtype)

        return tuple(first(cell) for cell in self._in_state_order())

    def call(self, inputs: Any, states: Any, constants: Any = None, training: Any = None) -> Any:
        sizes = tuple(cell.state_size for cell in self.cells)
        new: list[Any] = []
        for cell, state in zip(
            self.cells, nest.pack_sequence_as(sizes, nest.flatten(states)), strict=True
        ):
            state = state if nest.is_nested(state) else [state]
            # The cells of tf.nn.rnn_cell take a single state as it is, not in a list.
            if len(state) == 1 and getattr(cell, "_is_tf_rnn_cell", None) is not None:
                state = state[0]
            more = {"constants": constants, "training": training}
            given = {name: value for name, value in more.items() if has_arg(cell.call, name)}
            inputs, state = cell.call(inputs, state, **given)
            new.append(state)
        return inputs, nest.pack_sequence_as(sizes, nest.flatten(new))

    def build(self, input_shape: Any) -> None:
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        shape = tuple(TensorShape(input_shape).as_list())
        for cell in self.cells:
            build_cell(cell, shape, self.dtype)
            shape = (shape[0], *as_shape(output_size_of(cell)).as_list())
        self.built = True

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "cells": [serialize(cell) for cell in self.cells]}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        cells = [deserialize(each, custom_objects) for each in entry(config, "cells")]
        return cls(cells, **{key: value for key, value in config.items() if key != "cells"})
