"""Layers that make one tensor of several."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.keras import backend
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.layers.settings import record
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.math import moments as nn_moments

Dims = tuple[Any, ...]


def _dims(shape: Any) -> Dims | None:
    shape = TensorShape(shape)
    return None if shape.ndims is None else tuple(shape.as_list())


def _all_dims(input_shape: Any) -> list[Dims | None] | None:
    """The shapes of a list of inputs; None for what is a single one's."""
    if isinstance(input_shape, list):
        several = not any(isinstance(each, int | None) for each in input_shape)
        return [_dims(shape) for shape in input_shape] if several else None
    return None


def _broadcast(a: Dims | None, b: Dims | None) -> Dims | None:
    """The shape of `a + b`, without the batch."""
    if a is None or b is None:
        return None
    if len(a) < len(b):
        return _broadcast(b, a)
    together = list(a[: len(a) - len(b)])
    for i, j in zip(a[len(a) - len(b) :], b, strict=True):
        if None not in (i, j) and i != j and 1 not in (i, j):
            raise ValueError(f"Operands could not be broadcast together with shapes {a} {b}")
        together.append(None if None in (i, j) else j if i == 1 else i)
    return tuple(together)


class _Merge(Layer):
    """The base of those that combine element by element."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self._reshape_required = False

    def _merge_function(self, inputs: list[Any]) -> Any:
        raise NotImplementedError

    def build(self, input_shape: Any) -> None:
        shapes = _all_dims(input_shape)
        if shapes is None:
            raise ValueError("A merge layer should be called on a list of inputs.")
        if len(shapes) < 2:
            raise ValueError(
                "A merge layer should be called on a list of at least 2 inputs. Got "
                f"{len(shapes)} inputs."
            )
        if len({shape[0] for shape in shapes if shape} - {None}) > 1:
            raise ValueError(
                "Can not merge tensors with different batch sizes. Got tensors with shapes : "
                f"{shapes}"
            )
        functools.reduce(_broadcast, [None if s is None else s[1:] for s in shapes])
        ranks = {None if shape is None else len(shape) for shape in shapes}
        self._reshape_required = None in ranks or len(ranks) > 1
        self.built = True

    def call(self, inputs: Any) -> Any:
        if not isinstance(inputs, list):
            raise ValueError("A merge layer should be called on a list of inputs.")
        if not self._reshape_required:
            return self._merge_function(inputs)
        ranks = [x.shape.ndims for x in inputs]
        if None in ranks:
            # With the batch last, the other axes line up from the end.
            return _moved(self._merge_function([_moved(x, to_end=True) for x in inputs]))
        padded = []
        for x, rank in zip(inputs, ranks, strict=True):
            for _ in range(max(ranks) - rank):
                x = array.expand_dims(x, axis=1)
            padded.append(x)
        return self._merge_function(padded)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shapes = [_dims(shape) for shape in input_shape]
        inner = functools.reduce(_broadcast, [None if s is None else s[1:] for s in shapes])
        if inner is None:
            return TensorShape(None)
        batches = {shape[0] for shape in shapes if shape} - {None}
        return TensorShape([batches.pop() if len(batches) == 1 else None, *inner])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        given = [m for m in _masks(inputs, mask) if m is not None]
        rows = [array.expand_dims(m, axis=0) for m in given]
        return backend.all(array.concat(rows, axis=0), axis=0) if rows else None


def _moved(x: Tensor, to_end: bool = False) -> Tensor:
    """The batch, which is the first axis or the last one, at the other end."""
    rank = x.shape.ndims
    if rank is not None:
        order: Any = [*range(1, rank), 0] if to_end else [rank - 1, *range(rank - 1)]
        return array.transpose(x, order)
    count = array.rank(x)
    order = array.concat([math.range(1, count), [0]], axis=0)
    if not to_end:
        order = array.concat([[count - 1], math.range(0, count - 1)], axis=0)
    return array.transpose(x, order)


def _masks(inputs: Any, mask: Any) -> list[Any]:
    """A mask or None for each of the inputs; nothing if there are no masks."""
    if mask is None:
        return []
    for name, value in (("mask", mask), ("inputs", inputs)):
        if not isinstance(value, list):
            raise ValueError(f"`{name}` should be a list.")
    if len(mask) != len(inputs):
        raise ValueError("The lists `inputs` and `mask` should have the same length.")
    return mask


def _mask_like(x: Any, mask: Any) -> Tensor:
    """A mask of the rank of `x`; without one, all of it counts."""
    if mask is None:
        return array.ones_like(x, dtype="bool")
    return array.expand_dims(mask, axis=-1) if mask.shape.ndims < x.shape.ndims else mask


class Add(_Merge):
    """The sum of the inputs."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return functools.reduce(operator.add, inputs)


class Subtract(_Merge):
    """The first of two inputs minus the second."""

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")

    def _merge_function(self, inputs: list[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")
        return inputs[0] - inputs[1]


class Multiply(_Merge):
    """The product of the inputs, element by element."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return functools.reduce(operator.mul, inputs)


class Average(_Merge):
    """The mean of the inputs, element by element."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return functools.reduce(operator.add, inputs) / len(inputs)


class Maximum(_Merge):
    """The largest of the inputs, element by element."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return functools.reduce(math.maximum, inputs)


class Minimum(_Merge):
    """The smallest of the inputs, element by element."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return functools.reduce(math.minimum, inputs)


class Concatenate(_Merge):
    """The inputs one after the other along `axis`."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        shapes = _all_dims(input_shape)
        if shapes is None or len(shapes) < 2:
            raise ValueError(
                "A `Concatenate` layer should be called on a list of at least 2 inputs"
            )
        rest = set()
        for shape in shapes:
            if shape is not None:
                dims = list(shape)
                del dims[self.axis]
                rest.add(tuple(dims))
        if len(rest) > 1:
            raise ValueError(
                "A `Concatenate` layer requires inputs with matching shapes except for the concat "
                f"axis. Got inputs shapes: {shapes}"
            )
        self.built = True

    def _merge_function(self, inputs: list[Any]) -> Any:
        return backend.concatenate(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shapes = _all_dims(input_shape)
        if shapes is None:
            raise ValueError("A `Concatenate` layer should be called on a list of inputs.")
        if None in shapes:
            return TensorShape(None)
        sizes = [shape[self.axis] for shape in shapes if shape is not None]
        dims = list(shapes[0] or ())
        dims[self.axis] = None if None in sizes else sum(sizes)
        return TensorShape(dims)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        masks = _masks(inputs, mask)
        if all(m is None for m in masks):
            return None
        alike = [_mask_like(x, m) for x, m in zip(inputs, masks, strict=True)]
        return backend.all(backend.concatenate(alike, axis=self.axis), axis=-1)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "axis")}


class Dot(_Merge):
    """Products of the examples of two inputs, summed over one axis of each."""

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axes, self.normalize = axes, normalize
        if isinstance(axes, (list, tuple)):
            if len(axes) != 2:
                raise ValueError("Invalid format for `axes` - should contain two elements.")
            if {isinstance(axis, int) for axis in axes} != {True}:
                raise ValueError('Invalid format for `axes` - list elements should be "int".')
        elif not isinstance(axes, int):
            raise TypeError("Invalid type for `axes` - should be a list or an int.")

    def _axes_of(self, ranks: list[int]) -> list[int]:
        axes = [self.axes] * 2 if isinstance(self.axes, int) else self.axes
        return [a % rank if a < 0 else a for a, rank in zip(axes, ranks, strict=True)]

    def _two(self, input_shape: Any) -> list[Dims | None]:
        shapes = _all_dims(input_shape)
        if shapes is None or len(shapes) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        return shapes

    def build(self, input_shape: Any) -> None:
        first, second = self._two(input_shape)
        if first is not None and second is not None:
            i, j = self._axes_of([len(first), len(second)])
            if first[i] != second[j]:
                raise ValueError(
                    f"Dimension incompatibility {first[i]} != {second[j]}. Layer shapes: {first}, "
                    f"{second}"
                )
        self.built = True

    def _merge_function(self, inputs: list[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError("A `Dot` layer should be called on exactly 2 inputs")
        axes = self._axes_of([x.shape.ndims for x in inputs])
        if self.normalize:
            inputs = [
                nn_moments.l2_normalize(x, axis=axis) for x, axis in zip(inputs, axes, strict=True)
            ]
        return backend.batch_dot(inputs[0], inputs[1], axes)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        first, second = (list(shape or ()) for shape in self._two(input_shape))
        i, j = self._axes_of([len(first), len(second)])
        del first[i], second[j]
        dims = first + second[1:]
        return TensorShape(dims if len(dims) > 1 else [*dims, 1])

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        return None

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "axes normalize")}


# ---- the same as functions ----


def _function(layer: type, name: str) -> Callable[..., Any]:
    def apply(inputs: Any, **kwargs: Any) -> Any:
        return layer(**kwargs)(inputs)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"A layer `{layer.__name__}` applied to the list `inputs`."
    return apply


add = _function(Add, "add")
subtract = _function(Subtract, "subtract")
multiply = _function(Multiply, "multiply")
average = _function(Average, "average")
maximum = _function(Maximum, "maximum")
minimum = _function(Minimum, "minimum")


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """The list `inputs`, one after the other along `axis`."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs: Any, axes: Any, normalize: bool = False, **kwargs: Any) -> Any:
    """Products of the examples of two inputs, summed over one axis of each."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
