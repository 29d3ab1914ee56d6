"""Initial states and constants of recurrent layers, which come as arguments or among the inputs.

Those that Keras layers made become inputs of the layer, so that models know of them.
"""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.lib.keras import backend as K
from weft.lib.keras.engine.input_spec import InputSpec


def _as_list(x: Any) -> Any:
    if x is None or isinstance(x, list):
        return x
    return list(x) if isinstance(x, tuple) else [x]


def separated(
    inputs: Any, initial_state: Any, constants: Any, num_constants: int | None
) -> tuple[Any, Any, Any]:
    """(inputs, states, constants), the last two as lists or None.

    A model made from a configuration passes everything in the list `inputs`.
    """
    if isinstance(inputs, list):
        assert initial_state is None and constants is None
        if num_constants:
            inputs, constants = inputs[:-num_constants], inputs[-num_constants:]
        if len(inputs) > 1:
            initial_state = inputs[1:]
        inputs = inputs[0]
    return inputs, _as_list(initial_state), _as_list(constants)


def specs_of(tensors: Any) -> Any:
    return nest.map_structure(lambda x: InputSpec(shape=K.int_shape(x)), tensors)


def made_by_keras(tensors: list[Any], whose: str) -> bool:
    """Whether Keras layers made `tensors`: all of them or none."""
    flat = nest.flatten(tensors)
    made = [K.is_keras_tensor(x) for x in flat]
    if any(each != made[0] for each in made):
        raise ValueError(
            f"The initial state{whose} cannot be specified with a mix of Keras tensors and "
            'non-Keras tensors (a "Keras tensor" is a tensor that was returned by a Keras layer, '
            "or by `Input`)"
        )
    return made[0]
