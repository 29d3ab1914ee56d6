"""Static shapes: `Dimension` and `TensorShape`, with TensorFlow 1.15's rules for unknown sizes.

Inside weft a static shape is plain data ("dims"): None when even the rank is unknown, otherwise a
tuple with an int or None per dimension. `dims_of` turns anything shape-like into it, and a
`TensorShape` is a thin object around it for users.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from weft.core import dtypes

Dims = tuple[int | None, ...] | None


MAX_RANK = 254  # no tensor has more dimensions; a longer vector is no shape
_SHOWN = 16


def sizes_of(sizes: Iterable[int]) -> tuple[int, ...]:
    """Those of a shape that was read. ValueError if there are more than any tensor has."""
    found = tuple(itertools.islice(sizes, MAX_RANK + 1))
    if len(found) > MAX_RANK:
        shown = ",".join(map(str, found[:_SHOWN]))
        raise ValueError(f"Shape [{shown},...] has too many dimensions")
    return found


def sizes_in(message: Any) -> tuple[int, ...]:
    """The same of a TensorShapeProto."""
    return sizes_of(dim.size for dim in message.dim)


def _size(value: Any) -> int | None:
    """The size meant by one entry of a shape: an int, or None when unknown."""
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value._value
    if isinstance(value, dtypes.DType):
        raise TypeError(f"Cannot convert {value} to Dimension")
    size = int(value)
    if not isinstance(value, (str, bytes)) and size != value:
        raise ValueError(f"Ambiguous dimension: {value}")
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def dims_of(shape: Any) -> Dims:
    """Plain dims of a TensorShape, a sequence of sizes, one size, a TensorShapeProto, or None."""
    if shape is None:
        return None
    if isinstance(shape, TensorShape):
        return shape._dims_tuple
    if isinstance(shape, (tuple, list)):
        return tuple([d if d is None or (type(d) is int and d >= 0) else _size(d) for d in shape])
    if isinstance(shape, (str, bytes)):
        raise TypeError(
            "A string has ambiguous TensorShape, please wrap in a list or convert to an int: "
            f"{shape!s}"
        )
    if hasattr(shape, "unknown_rank"):
        if shape.unknown_rank:
            return None
        return tuple([None if size == -1 else _size(size) for size in sizes_in(shape)])
    try:
        sizes = iter(shape)
    except TypeError:
        return (_size(shape),)
    return tuple([_size(d) for d in sizes])


class Dimension:
    """The size of one dimension, possibly unknown.

    Arithmetic with an unknown size is unknown; comparing with one gives None (neither true nor
    false).

    Args:
        value: a number, another dimension, or None.

    Raises:
        ValueError: the number is negative.
        TypeError: it is no integer.

    Example:
        >>> tf.Dimension(3) * 2, tf.Dimension(None) + 1
        (Dimension(6), Dimension(None))
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = _size(value)

    @property
    def value(self) -> int | None:
        """The size, or None when unknown."""
        return self._value

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __int__(self) -> int:
        # Python itself raises TypeError when this returns None.
        return self._value  # type: ignore[return-value]

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self._value,)

    # Comparisons. `==` and `!=` leave strangers to Python; the ordered ones refuse them.

    def __eq__(self, other: Any) -> Any:
        return _or_not_implemented(_compare, operator.eq, self, other)

    def __ne__(self, other: Any) -> Any:
        return _or_not_implemented(_compare, operator.ne, self, other)

    def __lt__(self, other: Any) -> bool | None:
        return _compare(operator.lt, self, other)

    def __le__(self, other: Any) -> bool | None:
        return _compare(operator.le, self, other)

    def __gt__(self, other: Any) -> bool | None:
        return _compare(operator.gt, self, other)

    def __ge__(self, other: Any) -> bool | None:
        return _compare(operator.ge, self, other)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether one size could be meant by both."""
        size = _size(other)
        return self._value is None or size is None or self._value == size

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError when the two sizes are known and differ."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """The most specific size that `self` and `other` allow together."""
        self.assert_is_compatible_with(other)
        return Dimension(other if self._value is None else self._value)

    # Arithmetic.

    def __add__(self, other: Any) -> Any:
        return _or_not_implemented(_calculate, operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return _or_not_implemented(_calculate, operator.sub, self, other)

    def __rsub__(self, other: Any) -> Dimension:
        return _calculate(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return _or_not_implemented(_calculate, operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __floordiv__(self, other: Any) -> Any:
        return _or_not_implemented(_calculate, operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Dimension:
        return _calculate(operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Dimension:
        return _calculate(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Dimension:
        return _calculate(operator.mod, other, self)

    def __truediv__(self, other: Any) -> Any:
        raise TypeError(_no_true_division("Dimension", type(other).__name__))

    def __rtruediv__(self, other: Any) -> Any:
        raise TypeError(_no_true_division(type(other).__name__, "Dimension"))


def _compare(relation: Callable[[Any, Any], bool], left: Any, right: Any) -> bool | None:
    a, b = _size(left), _size(right)
    return None if a is None or b is None else relation(a, b)


def _calculate(operation: Callable[[Any, Any], int], left: Any, right: Any) -> Dimension:
    a, b = _size(left), _size(right)
    return Dimension(None if a is None or b is None else operation(a, b))


def _or_not_implemented(
    evaluate: Callable[..., Any], operation: Callable[[Any, Any], Any], left: Any, right: Any
) -> Any:
    """`evaluate`, or NotImplemented when `right` is not a size (so its own operator may try)."""
    try:
        right = as_dimension(right)
    except (TypeError, ValueError):
        return NotImplemented
    return evaluate(operation, left, right)


def _no_true_division(left: str, right: str) -> str:
    return f"unsupported operand type(s) for /: '{left}' and '{right}', please use // instead"


def as_dimension(value: Any) -> Dimension:
    """`value` as a Dimension; None means unknown."""
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension: Any) -> Any:
    """The plain int (or None) of a Dimension; anything else comes back as it is."""
    return dimension._value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Dimension `index` of `shape`, unknown when the rank is."""
    dims = shape._dims_tuple
    return Dimension(None if dims is None else dims[index])


class TensorShape:
    """A static shape: complete, with unknown sizes, or unknown altogether (`TensorShape(None)`).

    Args:
        dims: sizes (None for unknown ones), a number, another shape, or None for no idea at all.

    Raises:
        TypeError: a size is no number.
        ValueError: a size is negative.

    Example:
        >>> shape = tf.TensorShape([None, 3])
        >>> shape.as_list(), shape.is_compatible_with([5, 3]), shape.is_fully_defined()
        ([None, 3], True, False)
    """

    __slots__ = ("_dims_tuple",)

    _dims_tuple: Dims

    # Whether sizes are plain numbers (`tf.enable_v2_tensorshape`) instead of `Dimension`s.
    plain_sizes: ClassVar[bool] = False

    def __init__(self, dims: Any) -> None:
        self._dims_tuple = dims_of(dims)

    @classmethod
    def from_dims(cls, dims: Dims) -> TensorShape:
        """Wraps plain dims, unchecked."""
        shape = object.__new__(cls)
        shape._dims_tuple = dims
        return shape

    # What is known.

    @property
    def dims(self) -> list[Dimension] | None:
        """A Dimension for each dimension, or None when the rank is unknown."""
        dims = self._dims_tuple
        return None if dims is None else [Dimension(d) for d in dims]

    _dims = dims  # libraries reach for the attribute behind the property

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None when unknown."""
        return None if self._dims_tuple is None else len(self._dims_tuple)

    @property
    def ndims(self) -> int | None:
        """Older name of `rank`."""
        return self.rank

    def as_list(self) -> list[int | None]:
        """The sizes, with None where unknown; ValueError when the rank is unknown."""
        if self._dims_tuple is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims_tuple)

    def as_proto(self) -> Any:
        """This shape as a TensorShapeProto, with -1 for unknown sizes."""
        from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

        if self._dims_tuple is None:
            return TensorShapeProto(unknown_rank=True)
        sizes = (-1 if d is None else d for d in self._dims_tuple)
        return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])

    def num_elements(self) -> int | None:
        """The product of all sizes, or None unless all are known."""
        dims = self._dims_tuple
        if dims is None or None in dims:
            return None
        return math.prod(dims)  # type: ignore[arg-type]

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return self._dims_tuple is not None and None not in self._dims_tuple

    # As a sequence.

    def __len__(self) -> int:
        if self._dims_tuple is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims_tuple)

    def __bool__(self) -> bool:
        return self._dims_tuple is not None

    def __iter__(self) -> Iterator[Any]:
        if self._dims_tuple is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims_tuple if self.plain_sizes else self.dims or ())

    def __getitem__(self, key: Any) -> Any:
        dims = self._dims_tuple
        if isinstance(key, slice):
            return TensorShape.from_dims(_slice_unknown(key) if dims is None else dims[key])
        try:
            size = None if dims is None else dims[key]
        except IndexError:
            raise IndexError("list index out of range") from None
        return size if self.plain_sizes else Dimension(size)

    def concatenate(self, other: Any) -> TensorShape:
        """The dimensions of `self`, then those of `other`; unknown when either rank is."""
        left, right = self._dims_tuple, dims_of(other)
        return TensorShape.from_dims(None if left is None or right is None else left + right)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    # Against another shape.

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some complete shape is described by both."""
        left, right = self._dims_tuple, dims_of(other)
        if left is None or right is None:
            return True
        return len(left) == len(right) and all(
            a is None or b is None or a == b for a, b in zip(left, right, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError when no complete shape is described by both."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {as_shape(other)} are incompatible")

    def merge_with(self, other: Any) -> TensorShape:
        """The most specific shape that `self` and `other` allow together."""
        other = as_shape(other)
        left, right = self._dims_tuple, other._dims_tuple
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        if left is None:
            return other  # type: ignore[no-any-return]
        if right is None:
            return TensorShape.from_dims(left)
        return TensorShape.from_dims(
            tuple([b if a is None else a for a, b in zip(left, right, strict=True)])
        )

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The shape that keeps only what `self` and `other` agree on."""
        left, right = self._dims_tuple, dims_of(other)
        if left is None or right is None or len(left) != len(right):
            return TensorShape.from_dims(None)
        return TensorShape.from_dims(
            tuple([a if a == b else None for a, b in zip(left, right, strict=True)])
        )

    def assert_same_rank(self, other: Any) -> None:
        """Raises ValueError when both ranks are known and differ."""
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError when the rank is known and is not `rank`."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to have `rank` dimensions."""
        self.assert_has_rank(rank)
        return unknown_shape(rank) if self._dims_tuple is None else self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError when it is known to have fewer than `rank` dimensions."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError when it is known to have more than `rank` dimensions."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless every size is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    # Equality. An unknown size equals no other unknown size, so two shapes that have some are
    # equal only when they are one object. Programs branch on this ("project the shortcut when
    # shapes differ"), so being more helpful here would build different graphs.

    def __eq__(self, other: Any) -> Any:
        if self is other:
            return True
        try:
            right = dims_of(other)
        except TypeError:
            return NotImplemented
        left = self._dims_tuple
        return left == right and (left is None or None not in left)

    def __ne__(self, other: Any) -> Any:
        try:
            right = dims_of(other)
        except TypeError:
            return NotImplemented
        if self._dims_tuple is None or right is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not self == other

    def __hash__(self) -> int:
        return hash(self._dims_tuple)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self.dims,)

    def __repr__(self) -> str:
        return f"TensorShape({self.dims!r})"

    def __str__(self) -> str:
        dims = self._dims_tuple
        if dims is None:
            return "<unknown>"
        sizes = ["?" if d is None and not self.plain_sizes else str(d) for d in dims]
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def _slice_unknown(key: slice) -> Dims:
    """Dims of a slice of a shape of unknown rank: only a slice with both ends tells its length."""
    if key.step is not None:
        raise ValueError("Steps are not yet handled")
    start: int = 0 if key.start is None else key.start
    stop: int | None = key.stop
    if stop is None or start < 0 or stop < 0:
        return None
    return (None,) * (stop - start)


def as_shape(shape: Any) -> TensorShape:
    """`shape` as a TensorShape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None, ndims: int | None = None) -> TensorShape:
    """A shape of which only the rank, if that, is known. `ndims` is the older name of `rank`."""
    if rank is None:
        rank = ndims
    return TensorShape.from_dims(None if rank is None else (None,) * rank)


def scalar() -> TensorShape:
    """The shape of a scalar."""
    return TensorShape.from_dims(())


def vector(length: Any) -> TensorShape:
    """The shape of a vector of `length` elements (None: unknown)."""
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> TensorShape:
    """The shape of a matrix with `rows` and `cols` (None: unknown)."""
    return TensorShape([rows, cols])
