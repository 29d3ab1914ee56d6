"""The beginning of most public functions: a name scope, and their arguments as tensors in it."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.slices import IndexedSlices, SparseTensor
from weft.graph.tensor import Tensor


class operands:
    """Opens a scope for `values`, and converts them in it under the names of their keywords.

    `as` gives the name of the scope and then the tensors. `others` have a say in which graph it is,
    and stay as they are.
    """

    def __init__(self, name: str | None, default: str, /, *others: Any, **values: Any) -> None:
        self.scope = name_scope(name, default, [*values.values(), *others])
        self.values = values

    def __enter__(self) -> tuple[Any, ...]:
        scope = self.scope.__enter__()
        try:
            return scope, *tensors(**self.values)
        except BaseException:
            self.scope.__exit__(None, None, None)
            raise

    def __exit__(self, *exc: Any) -> None:
        self.scope.__exit__(*exc)


def tensors(**values: Any) -> list[Tensor]:
    """Values as tensors, each under the name of its keyword."""
    return [convert_to_tensor(value, name=name) for name, value in values.items()]


def tensors_of(dtype: Any, **values: Any) -> list[Tensor]:
    """Values as tensors of one type, each under the name of its keyword."""
    return [convert_to_tensor(value, dtype, name) for name, value in values.items()]


def as_type_of(other: Any, name: str, value: Any) -> Tensor:
    """`value` as a tensor of the type that `other` has."""
    return convert_to_tensor(value, dtype=other.dtype.base_dtype, name=name)


def values_of(x: Any) -> Any:
    """The values of a SparseTensor or IndexedSlices; all else as it is."""
    return x.values if isinstance(x, SparseTensor | IndexedSlices) else x


def with_values(x: Any, values: Any) -> Any:
    """`values` at the places of `x`, if that is a SparseTensor or IndexedSlices."""
    kinds: tuple[Any, ...] = (SparseTensor, IndexedSlices)
    for kind in kinds:
        if isinstance(x, kind):
            return kind(values=values, indices=x.indices, dense_shape=x.dense_shape)
    return values
