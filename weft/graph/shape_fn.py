"""The vocabulary that shape rules are written in.

A rule is a function of a `ShapeContext` and returns the dims of its one output, or a list with the
dims of each. Dims are `None` (rank unknown) or a tuple of `int | None`. A rule may know less than
the kernel but must never contradict it, and raises ValueError for inputs that can never fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.core.dtypes import DType

if TYPE_CHECKING:
    from weft.graph.operation import Operation

Dims = tuple[int | None, ...] | None
Rule = Callable[["ShapeContext"], Any]
MOST_READ = 1 << 16  # elements of a value
_MOST_SHOWN = 256  # elements of a value in an error


class ShapeContext:
    """The node that a rule is applied to, as the rule sees it. Inputs are numbered flat."""

    __slots__ = ("_op", "attrs")

    def __init__(self, op: Operation) -> None:
        self._op = op
        self.attrs = op.attrs

    @property
    def num_inputs(self) -> int:
        return len(self._op.inputs)

    @property
    def num_outputs(self) -> int:
        return len(self._op.outputs)

    @property
    def op(self) -> Operation:
        return self._op

    def dims(self, i: int) -> Dims:
        return self._op.inputs[i].dims

    def dtype(self, i: int) -> DType:
        return self._op.inputs[i].dtype

    def attr(self, name: str) -> Any:
        return self.attrs[name]

    def value(self, i: int) -> np.ndarray | None:
        """The value of input `i` if the graph alone determines it, and it is not too long to read.

        A few bytes of a graph may claim a thousand million equal numbers.
        """
        from weft.graph.constant_value import folded_value

        value: np.ndarray | None = folded_value(self._op.inputs[i])
        return None if value is None or value.size > MOST_READ else value

    def partial(self, i: int) -> Dims:
        """Input `i`, an integer vector, read as dims: None where a component is not known."""
        from weft.graph.constant_value import folded_dims

        return folded_dims(self._op.inputs[i])

    def shape_from(self, i: int) -> Dims:
        """The same, of an input that is to be a shape."""
        dims = self.partial(i)
        for dim in dims or ():
            if dim is not None and dim < 0:
                raise ValueError(f"Invalid value in tensor used for shape: {dim}")
        return dims


class AskedContext(ShapeContext):
    """A context that knows the values of some inputs only, and which of them a rule has asked for.

    As TensorFlow does it: a rule that fails before it knows any value has looked at none.
    """

    __slots__ = ("_asked", "_known")

    def __init__(self, op: Operation, known: Iterable[int] = ()) -> None:
        super().__init__(op)
        self._known = frozenset(known)
        self._asked: dict[int, np.ndarray | Dims] = {}

    @classmethod
    def of_failure(cls, op: Operation, rule: Rule) -> AskedContext:
        """The context in which `rule` fails."""
        context = cls(op)
        while True:
            try:
                rule(context)
            except Exception:
                return context
            if context._asked.keys() <= context._known:
                return context
            context = cls(op, context._known | context._asked.keys())

    def value(self, i: int) -> np.ndarray | None:
        found = super().value(i)
        if found is not None:
            self._asked.setdefault(i, found)
        return found if i in self._known else None

    def partial(self, i: int) -> Dims:
        dims, length = super().partial(i), self.dims(i)
        if dims is not None:
            self._asked[i] = dims
        if i in self._known or dims is None:
            return dims
        return None if length is None else (None,) * len(dims)

    def told(self) -> str:
        """The values, as they follow the shapes of the inputs in errors of TensorFlow's."""
        found = sorted((i, x) for i, x in self._asked.items() if i in self._known)
        arrays = [f"input[{i}] = <{_summary(x)}>" for i, x in found if isinstance(x, np.ndarray)]
        shapes = [f"input[{i}] = {show(x)}" for i, x in found if not isinstance(x, np.ndarray)]
        text = f" and with computed input tensors: {', '.join(arrays)}" if arrays else ""
        if shapes:
            text += f" and with input tensors computed as partial shapes: {','.join(shapes)}"
        return text


def _summary(value: np.ndarray) -> str:
    """The elements: "1 2", or "[1 2][3 4]" of a matrix."""
    if value.ndim > 1 and value.size:
        return "".join(f"[{_summary(row)}]" for row in value[:_MOST_SHOWN])
    shown = value.reshape(-1)[:_MOST_SHOWN].tolist()
    rest = ["..."] if value.size > _MOST_SHOWN else []
    return " ".join([*(_element(each) for each in shown), *rest])


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return str(int(value)) if isinstance(value, (bool, int)) else f"{value:g}"


# ---- helpers on dims --------------------------------------------------------------------------


def known(dims: Dims) -> bool:
    """Whether rank and every dimension are known."""
    return dims is not None and None not in dims


def size(dims: Dims) -> int | None:
    if dims is None or None in dims:
        return None
    total = 1
    for d in dims:
        total *= d  # type: ignore[operator]
    return total


def show(dims: Dims) -> str:
    """As TensorFlow's shape errors print it: [?,3]; <unknown> as such."""
    if dims is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in dims) + "]"


def merge_dim(a: int | None, b: int | None) -> int | None:
    if a is None:
        return b
    if b is None or a == b:
        return a
    raise ValueError(f"Dimensions must be equal, but are {a} and {b}")


def merge(a: Dims, b: Dims) -> Dims:
    """The most specific shape that `a` and `b` allow together."""
    if a is None:
        return b
    if b is None:
        return a
    if len(a) != len(b):
        raise ValueError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        if x is not None and y is not None and x != y:
            raise ValueError(
                f"Dimension {i} in both shapes must be equal, but are {x} and {y}. Shapes are"
                f" {show(a)} and {show(b)}."
            )
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))


def merge_prefix(dims: Dims, prefix: Dims) -> None:
    """ValueError unless `dims` may begin with `prefix`."""
    if dims is None or prefix is None:
        return
    with_rank_at_least(dims, len(prefix))
    for size, wanted in zip(dims, prefix, strict=False):
        merge_dim(size, wanted)


def with_rank(dims: Dims, rank: int) -> tuple[int | None, ...]:
    """`dims` if its rank may be `rank`; unknown dimensions when the rank was unknown."""
    if dims is None:
        return (None,) * rank
    if len(dims) != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {len(dims)}")
    return dims


def with_rank_at_least(dims: Dims, rank: int) -> Dims:
    if dims is not None and len(dims) < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {len(dims)}")
    return dims


def with_rank_at_most(dims: Dims, rank: int) -> Dims:
    if dims is not None and len(dims) > rank:
        raise ValueError(f"Shape must be at most rank {rank} but is rank {len(dims)}")
    return dims


def concat(a: Dims, b: Dims) -> Dims:
    return None if a is None or b is None else a + b


def broadcast_dims(a: Dims, b: Dims) -> Dims:
    """The shape two operands broadcast to."""
    if a == b and a is not None and None not in a:
        return a
    if a is None or b is None:
        return None
    if len(a) < len(b):
        a = (1,) * (len(b) - len(a)) + a
    elif len(b) < len(a):
        b = (1,) * (len(a) - len(b)) + b
    out: list[int | None] = []
    for x, y in zip(a, b, strict=True):
        if x == y and x is not None:
            out.append(x)
        elif x is None or y is None:
            # A dimension above 1 wins: the unknown one must be 1 or equal to it. TensorFlow does
            # not say that of 0.
            fixed = y if x is None else x
            out.append(fixed if fixed is not None and fixed > 1 else None)
        elif x == 1:
            out.append(y)
        elif y == 1:
            out.append(x)
        else:
            raise ValueError(f"Dimensions must be equal, but are {x} and {y}")
    return tuple(out)


def reduced_dims(dims: Dims, axes: Sequence[int] | None, keep_dims: bool) -> Dims:
    """`axes` None: not known which axes go."""
    if dims is None:
        return None
    if axes is None:
        return (None,) * len(dims) if keep_dims else None
    rank = len(dims)
    for axis in axes:
        if not -rank <= axis < rank:
            raise ValueError(
                f"Invalid reduction dimension {axis} for input with {rank} dimensions."
            )
    gone = {axis % rank for axis in axes} if rank else set()
    if keep_dims:
        return tuple(1 if i in gone else d for i, d in enumerate(dims))
    return tuple(d for i, d in enumerate(dims) if i not in gone)


# ---- rules ------------------------------------------------------------------------------------


def unchanged(c: ShapeContext) -> Dims:
    return c.dims(0)


def each_unchanged(c: ShapeContext) -> list[Dims]:
    """Output i has the shape of input i."""
    return [c.dims(i) for i in range(c.num_outputs)]


def all_merged(c: ShapeContext) -> Dims:
    """The shape that all inputs have; the last is the first to be looked at."""
    dims = c.dims(c.num_inputs - 1)
    for i in reversed(range(c.num_inputs - 1)):
        try:
            dims = merge(c.dims(i), dims)
        except ValueError as error:
            raise ValueError(f"{error}\n\tFrom merging shape {i} with other shapes.") from None
    return dims


def scalar(c: ShapeContext) -> Any:
    return () if c.num_outputs == 1 else [()] * c.num_outputs


def vector(c: ShapeContext) -> Any:
    return (None,) if c.num_outputs == 1 else [(None,)] * c.num_outputs


def unknown(c: ShapeContext) -> Any:
    return [None] * c.num_outputs


def none(c: ShapeContext) -> list[Dims]:
    return []


def broadcast(c: ShapeContext) -> Dims:
    return broadcast_dims(c.dims(0), c.dims(1))


def reduced(c: ShapeContext) -> Dims:
    axes = c.value(1)
    listed = None if axes is None else [int(a) for a in np.ravel(axes)]
    return reduced_dims(c.dims(0), listed, bool(c.attrs.get("keep_dims", False)))


def from_attr(name: str) -> Rule:
    def rule(c: ShapeContext) -> Any:
        dims = c.attr(name)
        return dims if c.num_outputs == 1 else [dims] * c.num_outputs

    return rule


def from_value(i: int) -> Rule:
    """The output's shape is the value of input `i`."""

    def rule(c: ShapeContext) -> Any:
        dims = c.shape_from(i)
        return dims if c.num_outputs == 1 else [dims] * c.num_outputs

    return rule


def like_first(c: ShapeContext) -> Dims:
    """All inputs have one shape; the output has what is known of the first."""
    merged(c)
    return c.dims(0)


def merged(c: ShapeContext) -> Dims:
    """All inputs and the output have one shape."""
    dims = c.dims(0)
    for i in range(1, c.num_inputs):
        dims = merge(dims, c.dims(i))
    return dims
