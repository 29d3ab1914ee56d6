"""tf.contrib.input_pipeline: the elements of a list, one in each step."""

from __future__ import annotations

import random
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import colocate_with, control_dependencies
from weft.graph.tensor import Tensor
from weft.ops.array import array, gather
from weft.ops.math import casts
from weft.ops.state import updates
from weft.ops.state.get_variable import get_variable
from weft.ops.state.variable_scope import variable_scope


def obtain_next(string_list_tensor: Any, counter: Any) -> Tensor:
    """The element after that of the counter, which counts on, from the end to the start."""
    size = casts.cast(array.size(string_list_tensor), dtypes.int64)
    place = updates.assign(counter, (counter + 1) % size)
    return gather.gather(string_list_tensor, place)


def seek_next(
    string_list: list[Any], shuffle: bool = False, seed: Any = None, num_epochs: int | None = None
) -> Tensor:
    """The next of some strings in each step; at the end of the last epoch OutOfRangeError.

    The place and the list, as long as the epochs together, are variables.
    """
    if shuffle and seed:
        random.seed(seed)
    elements: list[Any] = []
    for _ in range(num_epochs or 1):
        if shuffle:
            random.shuffle(string_list)
        elements += string_list
    with variable_scope("obtain_next"):
        counter = _variable("obtain_next_counter", constant(-1, dtypes.int64))
        with colocate_with(counter):
            kept = _variable("obtain_next_expanded_list", constant(elements))
        if not num_epochs:
            return obtain_next(kept, counter)
        count = _variable("obtain_next_filename_counter", constant(0, dtypes.int64))
        with control_dependencies([count.count_up_to(len(elements))]):
            return obtain_next(kept, counter)


def _variable(name: str, value: Tensor) -> Any:
    return get_variable(name, dtype=value.dtype, initializer=value, trainable=False)
