"""Tensors whose axes have names, and may have a label for each place along them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from weft.core.shapes import Dimension
from weft.graph.convert import convert_to_tensor, register_tensor_conversion_function
from weft.graph.graph import get_collection_ref, name_scope
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.math import math

_ORDER_KEY: Any = ("__axis_order",)


class Axis:
    """A name, and a size or a label for each place."""

    def __init__(self, name: str, value: Any) -> None:
        is_size = value is None or isinstance(value, int | Dimension)
        self.name, self.dimension = name, Dimension(value if is_size else len(value))
        labels = None if is_size else tuple(value)
        self.labels: Any = () if self.dimension.value == 0 else labels
        if self.labels is not None and len(set(self.labels)) != len(self.labels):
            raise ValueError(f"Tick labels must be unique, but got {self.labels}")

    @property
    def size(self) -> int | None:
        """The number of places, if it is known."""
        found: int | None = self.dimension.value
        return found

    @property
    def value(self) -> Any:
        """The labels; without them, the size."""
        return self.dimension if self.labels is None else self.labels

    def index(self, value: Any) -> int:
        """The place of a label."""
        if self.labels is None:
            raise ValueError("Axis does not have tick labels")
        places = {label: place for place, label in enumerate(self.labels)}
        return places[value]

    def _key(self) -> tuple[Any, ...]:
        return self.name, self.size, self.labels

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}', {self.value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axis) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __len__(self) -> int:
        if self.size is None:
            raise ValueError(f"axis {self.name!r} has unknown length")
        return self.size


def as_axis(axis_data: Any) -> Axis:
    """An `Axis`, of itself or of (name, value)."""
    return axis_data if isinstance(axis_data, Axis) else Axis(*axis_data)


class Axes(Mapping[str, Axis]):
    """Axes by name, in order."""

    def __init__(self, axes: Any) -> None:
        self._axes: dict[str, Axis] = {}
        for axis in map(as_axis, axes):
            if axis.name in self._axes:
                raise ValueError(f"Duplicate axis name: {axis.name}")
            self._axes[axis.name] = axis

    def __getitem__(self, name: str) -> Axis:
        return self._axes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._axes)

    def __len__(self) -> int:
        return len(self._axes)

    def __hash__(self) -> int:
        return hash(tuple(self.items()))

    def __repr__(self) -> str:
        name = type(self).__name__
        gap = ",\n" + " " * (len(name) + 2)
        return f"{name}([{gap.join(_shown(self))}])"

    def remove(self, axis_name: str) -> Axes:
        """All axes but one."""
        if axis_name not in self:
            raise KeyError(axis_name)
        return Axes([axis for name, axis in self.items() if name != axis_name])


def _shown(axes: Axes) -> list[str]:
    return [f"('{name}', {axis.value!r})" for name, axis in axes.items()]


class LabeledTensor:
    """A tensor with names of its axes; a name alone takes the size of the tensor there."""

    def __init__(self, tensor: Tensor, axes: Any) -> None:
        shape = tensor.shape
        if not isinstance(axes, Axes):
            axes = Axes(
                (each, shape[place]) if isinstance(each, str) else each
                for place, each in enumerate(axes)
            )
        if len(shape) != len(axes):
            raise ValueError(
                f"Tensor rank was not equal to the number of axes: {shape!r}, {axes!r}"
            )
        for size, axis in zip(shape.as_list(), axes.values(), strict=True):
            if size != axis.size:
                raise ValueError(
                    f"Provided axis size {axis.size} does not match tensor dimension size {size}in "
                    f"tensor {tensor!r}"
                )
        self.tensor: Tensor = tensor
        self.axes: Axes = axes

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self.tensor.dtype

    @property
    def shape(self) -> Any:
        """The shape of the tensor."""
        return self.tensor.shape

    @property
    def name(self) -> str:
        """The name of the tensor."""
        return self.tensor.name

    def get_shape(self) -> Any:
        """The shape of the tensor."""
        return self.tensor.shape

    def _as_graph_element(self) -> Tensor:
        return self.tensor

    def __repr__(self) -> str:
        inner = (",\n" + " " * 7).join(_shown(self.axes))
        told = f"'{self.name}' shape={self.shape} dtype={self.dtype.name}"
        return f"<{type(self).__name__} {told}\n axes=[{inner}]>"

    def __getitem__(self, key: Any) -> LabeledTensor:
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != len(self.axes):
            raise ValueError(
                f"indexer {keys!r} must have the same length as the Tensor rank "
                f"({len(self.axes)!r})"
            )
        return slice_function(self, dict(zip(self.axes, keys, strict=True)))

    def __pos__(self) -> LabeledTensor:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabeledTensor):
            return False
        return self.tensor is other.tensor and self.axes == other.axes

    def __hash__(self) -> int:
        return hash((id(self.tensor), self.axes))


def _to_tensor(
    value: LabeledTensor, dtype: Any = None, name: Any = None, as_ref: bool = False
) -> Any:
    return convert_to_tensor(value.tensor, dtype=dtype, name=name)


register_tensor_conversion_function(LabeledTensor, _to_tensor)


def convert_to_labeled_tensor(
    value: Any, dtype: Any = None, name: str | None = None
) -> LabeledTensor:
    """A labeled tensor as it is, or a number."""
    axes = value.axes if isinstance(value, LabeledTensor) else Axes([])
    given = value.tensor if isinstance(value, LabeledTensor) else value
    tensor = convert_to_tensor(given, dtype=dtype, name=name)
    if len(tensor.shape) != len(axes):
        raise ValueError(
            "cannot automatically convert unlabeled arrays or tensors with rank>0 into "
            f"LabeledTensors: {value!r}"
        )
    return LabeledTensor(tensor, axes)


def concat_axes(axes: list[Any]) -> Axis:
    """The axis of tensors joined along axes of one name."""
    if not axes:
        raise ValueError("axes must not be empty")
    for each in axes:
        if not isinstance(each, Axis):
            raise ValueError(f"Expected an Axis, but got {each!r} of type {type(each)!r}")
    names = {axis.name for axis in axes}
    if len(names) > 1:
        raise ValueError(f"axes do not all have the same name: {names!r}")
    value: Any = None
    if all(axis.labels is not None for axis in axes):
        value = tuple(label for axis in axes for label in axis.labels)
    elif all(axis.size is not None for axis in axes):
        value = sum(map(len, axes))
    return Axis(names.pop(), value)


def identity(labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
    """The same values."""
    with name_scope(name, "lt_identity") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(array.identity(given.tensor, name=scope), given.axes)


def slice_function(
    labeled_tensor: Any, selection: Mapping[str, Any], name: str | None = None
) -> LabeledTensor:
    """A part by places: an integer removes its axis, a slice keeps it."""
    with name_scope(name, "lt_slice") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        keys = {axis: selection.get(axis, slice(None)) for axis in given.axes}
        part = given.tensor[tuple(keys.values())]
        kept = [
            axis if given.axes[axis].labels is None else (axis, given.axes[axis].labels[key])
            for axis, key in keys.items()
            if isinstance(key, slice)
        ]
        return LabeledTensor(array.identity(part, name=scope), kept)


def transpose(
    labeled_tensor: Any, axis_order: Any = None, name: str | None = None
) -> LabeledTensor:
    """The axes in another order, by default the other way round."""
    with name_scope(name, "lt_transpose") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        before = list(given.axes)
        order = before[::-1] if axis_order is None else list(axis_order)
        if sorted(order) != sorted(before):
            raise ValueError(
                "The new axis order must have the same names as the original axes, but the new "
                f"order is {order!r} while the original order is {before!r}"
            )
        turned = array.transpose(given.tensor, list(map(before.index, order)), name=scope)
        return LabeledTensor(turned, [given.axes[axis] for axis in order])


def expand_dims(labeled_tensor: Any, axes: Any, name: str | None = None) -> LabeledTensor:
    """With axes of size 1 among the others: `axes` are names, or (name, label) of new ones."""
    with name_scope(name, "lt_expand_dims") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        check_axis_order(given, [each if isinstance(each, str) else each[0] for each in axes])
        made: list[Any] = []
        for each in axes:
            if isinstance(each, str):
                made.append(given.axes.get(each, Axis(each, 1)))
            else:
                made.append(Axis(each[0], (each[1],)))
        sizes = [-1 if axis.size is None else axis.size for axis in made]
        return LabeledTensor(array.reshape(given.tensor, sizes, name=scope), made)


# ---- orders --------------------------------------------------------------------------------------


class AxisOrderError(ValueError):
    """Axes that are not in the order that they must have."""


def get_axis_order() -> Any:
    """The order of axes that is in force, or None."""
    kept = get_collection_ref(_ORDER_KEY)
    return kept[0] if kept else None


@contextmanager
def axis_order_scope(axis_order: Any = None) -> Iterator[Any]:
    """Axes must be in this order inside."""
    kept, before = get_collection_ref(_ORDER_KEY), get_axis_order()
    kept[:] = [axis_order]
    try:
        yield axis_order
    finally:
        kept[:] = [before]


def _order(axis_order: Any) -> Any:
    found = get_axis_order() if axis_order is None else axis_order
    if found is None:
        raise AxisOrderError(
            "an explicit axis order must be provided with the axis_order argument or by using an "
            "axis_order_scope"
        )
    return found


def check_axis_order(labeled_tensor: Any, axis_order: Any = None) -> None:
    """AxisOrderError where axes are in another order, or not in it."""
    given, order = convert_to_labeled_tensor(labeled_tensor), _order(axis_order)
    known = [axis for axis in order if axis in given.axes]
    if len(known) < len(given.axes):
        raise AxisOrderError(
            f"not all axis names appear in the required axis order {order!r}: {given!r}"
        )
    if known != list(given.axes):
        raise AxisOrderError(
            "axes on a labeled tensor do not appear in the same order as the required axis order "
            f"{order!r}: {given!r}"
        )


def impose_axis_order(
    labeled_tensor: Any, axis_order: Any = None, name: str | None = None
) -> LabeledTensor:
    """The axes in the order that is in force, or given."""
    with name_scope(name, "lt_impose_axis_order") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        kept = [axis for axis in _order(axis_order) if axis in given.axes]
        return transpose(given, kept, name=scope)


def _merged(a: list[str], b: list[str]) -> list[str] | None:
    """An order of all names in which both lists are in order, or None."""
    common = [name for name in a if name in b]
    if common != [name for name in b if name in a]:
        return None
    merged: list[str] = []
    rest = list(b)
    for name in a:
        if name in common:
            place = rest.index(name)
            merged += rest[:place]
            rest = rest[place + 1 :]
        merged.append(name)
    return merged + rest


def align(
    labeled_tensor_0: Any, labeled_tensor_1: Any, name: str | None = None
) -> tuple[LabeledTensor, LabeledTensor, Axes]:
    """Both tensors with all axes of both, of size 1 where they are new; and these axes."""
    with name_scope(name, "lt_align") as scope:
        both = [convert_to_labeled_tensor(each) for each in (labeled_tensor_0, labeled_tensor_1)]
        first, second = (each.axes for each in both)
        for axis in first:
            if axis in second and first[axis] != second[axis]:
                raise ValueError(
                    f"Mismatched {axis!r} axis on input tensors: {first[axis]!r} and "
                    f"{second[axis]!r}"
                )
        required = get_axis_order()
        if required is not None:
            for each in both:
                check_axis_order(each, required)
            names: Any = [axis for axis in required if axis in first or axis in second]
        else:
            names = _merged(list(first), list(second))
        if names is None:
            raise AxisOrderError(
                "No consistent axis order allows for aligning tensors with axis orders "
                f"{first.keys()!r} and {second.keys()!r} without copying data. Use transpose or "
                "impose_axis_order to reorder axes on one of more of the inputs."
            )
        left, right = (expand_dims(each, names, name=f"{scope}{i}") for i, each in enumerate(both))
        return left, right, Axes([first.get(axis) or second[axis] for axis in names])


# ---- operations on each element ------------------------------------------------------------------


def _alone(labeled_tensor: Any) -> tuple[LabeledTensor, Any]:
    given = convert_to_labeled_tensor(labeled_tensor)
    return given, given.axes


def _by_element(
    op_name: str, function: Callable[..., Any], name: str | None, aligned: Callable[[], Any]
) -> LabeledTensor:
    """`function` of tensors that `aligned` gives, with the axes that they share."""
    with name_scope(name, f"lt_{op_name}") as scope:
        *operands, axes = aligned()
        return LabeledTensor(function(*(each.tensor for each in operands), name=scope), axes)


def define_unary_op(
    op_name: str, elementwise_function: Callable[..., Any]
) -> Callable[..., LabeledTensor]:
    """An operation on each element of a labeled tensor."""

    def op(labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
        return _by_element(op_name, elementwise_function, name, lambda: _alone(labeled_tensor))

    op.__name__, op.__doc__ = op_name, f"`tf.{op_name}` of each element of a labeled tensor."
    return op


def define_binary_op(
    op_name: str, elementwise_function: Callable[..., Any]
) -> Callable[..., LabeledTensor]:
    """An operation on the elements of two labeled tensors, which are aligned by names."""

    def op(labeled_tensor_0: Any, labeled_tensor_1: Any, name: str | None = None) -> LabeledTensor:
        both = functools.partial(align, labeled_tensor_0, labeled_tensor_1)
        return _by_element(op_name, elementwise_function, name, both)

    op.__name__, op.__doc__ = op_name, f"`tf.{op_name}` of two labeled tensors, aligned by names."
    return op


UNARY = {
    name: define_unary_op(name, getattr(math, {"neg": "negative"}.get(name, name)))
    for name in (
        "abs neg sign reciprocal square round sqrt rsqrt exp log ceil floor cos sin tan acos asin "
        "atan lgamma digamma erf erfc logical_not tanh sigmoid"
    ).split()
}
_LONG = {"sub": "subtract", "mul": "multiply"}
BINARY = {
    name: define_binary_op(name, getattr(math, _LONG.get(name, name)))
    for name in (
        "add sub mul div mod pow equal greater greater_equal not_equal less less_equal logical_and "
        "logical_or logical_xor maximum minimum squared_difference igamma igammac zeta polygamma"
    ).split()
}
# Operators of Python -> operations.
_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "mod": "mod", "pow": "pow",
    "and": "logical_and", "or": "logical_or", "xor": "logical_xor", "lt": "less",
    "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}  # fmt: skip


def _add_operators() -> None:
    for name, kind in (("abs", "abs"), ("neg", "neg"), ("invert", "logical_not")):
        setattr(LabeledTensor, f"__{name}__", lambda self, op=UNARY[kind]: op(self))
    for name, kind in _OPERATORS.items():
        own = BINARY[kind]
        setattr(LabeledTensor, f"__{name}__", lambda self, other, op=own: op(self, other))
        if name in ("add", "sub", "mul", "truediv", "mod", "pow"):
            setattr(LabeledTensor, f"__r{name}__", lambda self, other, op=own: op(other, self))


_add_operators()
