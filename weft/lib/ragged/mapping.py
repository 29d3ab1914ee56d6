"""tf.ragged.map_flat_values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import control_dependencies
from weft.lib.ragged.rows import MISMATCH, check_same_splits
from weft.lib.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls `op` with the innermost values in place of ragged arguments, also those in lists.

    All ragged arguments must have the same splits; so has the result.
    """
    found: list[tuple[Any, ...]] = []
    flat_args, flat_kwargs = _flat(args, found), _flat(kwargs, found)
    if not found:
        return op(*args, **kwargs)
    if len({splits[0].dtype for splits in found}) > 1:
        raise ValueError(MISMATCH)
    with control_dependencies(check_same_splits(found)):
        values = op(*flat_args, **flat_kwargs)
        return RaggedTensor.from_nested_row_splits(values, found[0], validate=False)


def _flat(value: Any, found: list[tuple[Any, ...]]) -> Any:
    if is_ragged(value):
        value = convert_to_tensor_or_ragged_tensor(value)
        found.append(value.nested_row_splits)
        return value.flat_values
    if isinstance(value, (list, tuple)):
        return type(value)([_flat(each, found) for each in value])
    if isinstance(value, dict):
        return {key: _flat(each, found) for key, each in value.items()}
    return value
