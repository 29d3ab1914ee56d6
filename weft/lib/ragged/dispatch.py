"""Ordinary functions that also take ragged tensors.

A dispatched function is called as it is. Only when it raises, because a ragged tensor cannot become
a Tensor, are its arguments looked at; so ordinary calls cost one more Python call and nothing else.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.lib.ragged.broadcast import broadcast
from weft.lib.ragged.rows import check_same_splits
from weft.lib.ragged.tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)

F = TypeVar("F", bound=Callable[..., Any])


def also(function: F, with_ragged: Callable[..., Any]) -> F:
    """`function`, except that calls with a ragged argument that it refuses go to the other."""

    @functools.wraps(function)
    def either(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            if not _has_ragged(args) and not _has_ragged(tuple(kwargs.values())):
                raise
        return with_ragged(*args, **kwargs)

    return cast(F, either)


def _has_ragged(values: Any) -> bool:
    return any(
        is_ragged(value) or (isinstance(value, (list, tuple)) and any(map(is_ragged, value)))
        for value in values
    )


def _named(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any, count: int) -> Any:
    """(the first `count` arguments by name, the other positional ones, the other named ones)"""
    names = list(inspect.signature(function).parameters)
    rest = dict(kwargs)
    first = {name: rest.pop(name) for name in names[len(args) : count] if name in rest}
    first = dict(zip(names, args[:count], strict=False)) | first
    return first, args[count:], rest


def unary(function: F) -> F:
    """A function of each value of its first argument."""

    def with_ragged(*args: Any, **kwargs: Any) -> Any:
        first, rest, named = _named(function, args, kwargs, 1)
        (x,) = first.values()
        x = convert_to_tensor_or_ragged_tensor(x)
        return x.with_flat_values(function(x.flat_values, *rest, **named))

    return also(function, with_ragged)


def of_list(function: F) -> F:
    """A function of the values at one place in each tensor of a list."""

    def with_ragged(*args: Any, **kwargs: Any) -> Any:
        first, rest, named = _named(function, args, kwargs, 1)
        (inputs,) = first.values()
        tensors = [convert_to_tensor_or_ragged_tensor(t) for t in inputs]
        match_row_splits_dtypes(*tensors)
        nested = [t.nested_row_splits for t in tensors if isinstance(t, RaggedTensor)]
        flat = [t.flat_values if isinstance(t, RaggedTensor) else t for t in tensors]
        with control_dependencies(check_same_splits(nested)):
            values = function(flat, *rest, **named)
            return RaggedTensor.from_nested_row_splits(values, nested[0], validate=False)

    return also(function, with_ragged)


def binary(function: F) -> F:
    """A function of each pair of values of its first two arguments, which are broadcast."""

    def with_ragged(*args: Any, **kwargs: Any) -> Any:
        first, rest, named = _named(function, args, kwargs, 2)
        x, y = _operands(first)
        flat = [t.flat_values if isinstance(t, RaggedTensor) else t for t in (x, y)]
        result = function(*flat, *rest, **named)
        return (x if isinstance(x, RaggedTensor) else y).with_flat_values(result)

    return also(function, with_ragged)


def _operands(named: dict[str, Any]) -> tuple[Any, Any]:
    """Both operands, with the same splits unless one has inner dimensions only."""
    hints = [convert_to_tensor_or_ragged_tensor(v) for v in named.values() if is_ragged(v)]
    x, y = (
        convert_to_tensor_or_ragged_tensor(value)
        if is_ragged(value)
        else convert_to_tensor(value, name=name, preferred_dtype=hints[0].dtype)
        for name, value in named.items()
    )
    dtype, _ = match_row_splits_dtypes(x, y)
    ragged = [t for t in (x, y) if isinstance(t, RaggedTensor)]
    if len(ragged) == 1:
        rank = (y if ragged[0] is x else x).shape.ndims
        inner = ragged[0].flat_values.shape.ndims
        if rank == 0 or (rank is not None and inner is not None and inner > rank):
            return x, y
    return broadcast(x, y, dtype)
