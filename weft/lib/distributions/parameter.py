"""The tensors a distribution is made of, and what follows from their shapes.

A class says `loc = Parameter("...")`; its constructor assigns `self.loc`. Batch and event shapes,
and the shapes that `param_shapes` tells, follow from these declarations (see described.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import reduce
from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.ops.array import array


class Parameter:
    """A tensor whose last `rank` axes belong to the event, the others to the batch.

    With rank None it says nothing about shapes, since another parameter does.
    """

    def __init__(self, doc: str, rank: int | None = 0) -> None:
        self.__doc__ = doc
        self.rank = rank

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = f"_{name}"

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else getattr(instance, self.name)

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance, self.name, value)


def declared(cls: type) -> dict[str, Parameter]:
    """The parameters of a class, those of its bases first."""
    found: dict[str, Parameter] = {}
    for each in reversed(cls.__mro__):
        found |= {name: value for name, value in vars(each).items() if isinstance(value, Parameter)}
    return found


def arguments(cls: type) -> list[str]:
    """The scalar parameters that a class is constructed with."""
    names = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
    return [name for name, each in declared(cls).items() if each.rank == 0 and name in names]


def tensors(distribution: Any) -> list[Tensor]:
    """Everything a distribution is made of."""
    return [getattr(distribution, name) for name in declared(type(distribution))]


def _known(distribution: Any) -> list[tuple[Tensor, int]]:
    """The parameters that say something about shapes, with how many axes are the event's."""
    found = declared(type(distribution)).items()
    return [(getattr(distribution, name), p.rank) for name, p in found if p.rank is not None]


def _batch(shape: Any, rank: int) -> Any:
    return shape[:-rank] if rank else shape


def batch_shape(distribution: Any) -> TensorShape:
    """The shape that all parameters broadcast to."""
    shapes = [_batch(tensor.shape, rank) for tensor, rank in _known(distribution)]
    return reduce(array.broadcast_static_shape, shapes) if shapes else TensorShape(None)


def batch_shape_tensor(distribution: Any, missing: Callable[[], Exception]) -> Tensor:
    shapes = [_batch(array.shape(tensor), rank) for tensor, rank in _known(distribution)]
    if not shapes:
        raise missing()
    return reduce(array.broadcast_dynamic_shape, shapes)


def event_parameter(distribution: Any) -> tuple[Tensor | None, int] | None:
    """The parameter that has the event's axes, and how many; None if nothing is known of them."""
    known = _known(distribution)
    if not known:
        return None
    tensor, rank = max(known, key=lambda pair: pair[1])
    return (tensor if rank else None), rank
