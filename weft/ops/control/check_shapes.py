"""Assertions about ranks and sizes: made now where the shape is known, else `Assert` nodes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any

from weft.core import dtypes
from weft.graph.constant_value import get_static_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Operation, Tensor, control_dependencies, name_scope
from weft.ops.array import array
from weft.ops.control.check_types import assert_type
from weft.ops.control.control import Assert, group, no_op, with_dependencies
from weft.ops.math import math

# ---- ranks ------------------------------------------------------------------------------------


def _assert_ranks(
    x: Tensor,
    ranks: Sequence[Tensor],
    wanted: str,
    holds: Callable[[int, list[int]], bool],
    condition: Callable[[Tensor], Tensor],
    data: Any,
    summarize: Any,
    message: str | None,
) -> Operation:
    """Asserts that `holds` of the rank of x and `ranks`, now if all of these are known."""
    if data is None:
        what = f"Tensor {x.name} must have {wanted}"
        data = [message or "", what, *ranks, "Received shape: ", array.shape(x)]
    for rank in ranks:
        assert_type(rank, dtypes.int32)
    known = [get_static_value(rank) for rank in ranks]
    if not any(value is None for value in known):
        if any(value is not None and value.ndim != 0 for value in known):
            raise ValueError("Rank must be a scalar.")
        if x.dims is not None:
            values = [int(value) for value in known]  # type: ignore[arg-type]
            if not holds(len(x.dims), values):
                # As TensorFlow words it: a number, or the values of several.
                shown = values[0] if not wanted.endswith("in") else tuple(known)
                raise ValueError(
                    f"{message or ''}.  Tensor {x.name} must have {wanted} {shown}.  Received rank"
                    f" {len(x.dims)}, shape {x.get_shape()}"
                )
            return no_op(name="static_checks_determined_all_ok")
    found = condition(array.rank(x))
    for rank, value in zip(ranks, known, strict=True):
        if value is None:
            complaint = ["Rank must be a scalar. Received rank: ", rank]
            found = with_dependencies([assert_rank(rank, 0, data=complaint)], found)
    return Assert(found, data, summarize=summarize)


def _rank_check(
    function: str, wanted: str, holds: Callable[[int, int], bool], build: Callable[..., Tensor]
) -> Callable[..., Any]:
    """The assertion that the rank of x compares with a given one."""

    def check(
        x: Any,
        rank: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        with name_scope(name, function, (x, rank, *(data or ()))):
            x = convert_to_tensor(x, name="x")
            rank = convert_to_tensor(rank, name="rank")
            return _assert_ranks(
                x, (rank,), wanted, lambda actual, given: holds(actual, given[0]),
                lambda actual: build(actual, rank), data, summarize, message,
            )  # fmt: skip

    check.__name__ = check.__qualname__ = function
    return check


assert_rank = _rank_check("assert_rank", "rank", operator.eq, math.equal)
assert_rank.__doc__ = "Asserts that x has `rank` dimensions."
assert_rank_at_least = _rank_check(
    "assert_rank_at_least", "rank at least", operator.ge, math.greater_equal
)
assert_rank_at_least.__doc__ = "Asserts that x has `rank` dimensions or more."


def assert_rank_in(
    x: Any,
    ranks: Iterable[Any],
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts that the number of x's dimensions is one of `ranks`."""
    with name_scope(name, "assert_rank_in", (x, *ranks, *(data or ()))):
        x = convert_to_tensor(x, name="x")
        given = [convert_to_tensor(rank, name="rank") for rank in ranks]

        def among(actual: Tensor) -> Tensor:
            same = (math.equal(rank, actual) for rank in given)
            return reduce(math.logical_or, same) if given else convert_to_tensor(False)

        return _assert_ranks(
            x, given, "rank in", lambda actual, values: actual in values,
            among, data, summarize, message,
        )  # fmt: skip


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """`tensor`, which must be known to be a scalar."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        scalar = convert_to_tensor(tensor, name=scope)
        if scalar.dims == ():
            return scalar
        expected = f"Expected scalar shape for {scalar.name}, saw shape: {scalar.shape}."
        raise ValueError(f"{message or ''}{expected}")


# ---- sizes ------------------------------------------------------------------------------------


class _Sized:
    """A tensor, its dimensions, and the symbols that they are asked to match."""

    def __init__(self, tensor: Tensor, shape: Any, message: str) -> None:
        if not (hasattr(shape, "__iter__") or hasattr(shape, "__getitem__")):
            raise ValueError(
                f"{message}.  Tensor {tensor.name}.  Specified shape must be an iterable.  An"
                " iterable has the attribute `__iter__` or `__getitem__`.  Received specified"
                f" shape: {shape}"
            )
        symbols = tuple(shape)
        for i, symbol in enumerate(symbols):
            if i and (symbol is Ellipsis or symbol == "*"):
                raise ValueError(
                    f"{message}.  Tensor {tensor.name} specified shape index {i}.  Symbol `...` or"
                    " `*` for a variable number of unspecified dimensions is only allowed as the"
                    " first entry"
                )
        self.tensor = tensor
        self.open = bool(symbols) and (symbols[0] is Ellipsis or symbols[0] == "*")
        # A scalar counts as a vector of one element.
        self.symbols = (symbols[1:] if self.open else symbols) or (1,)
        self.sizes = _sizes(tensor)

    def dimensions(self) -> Iterable[tuple[int, Any]]:
        """(position, symbol) of each dimension; positions count from the end if any may lead."""
        first = -len(self.symbols) if self.open else 0
        return enumerate(self.symbols, first)


def _sizes(tensor: Tensor) -> Any:
    shape = array.shape(tensor)
    if tensor.dims is None:
        from weft.ops.control import control_flow

        is_scalar = math.equal(array.rank(tensor), 0)
        return control_flow.cond(is_scalar, lambda: convert_to_tensor([1]), lambda: shape)
    if not tensor.dims:
        return (1,)
    return [shape[i] if size is None else size for i, size in enumerate(tensor.dims)]


def _as_number(size: Any) -> int | None:
    if size is None or isinstance(size, Tensor):
        return None
    try:
        return int(size)
    except (TypeError, ValueError):
        return None


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Asserts that tensors have shapes given as symbols: equal symbols mean equal sizes.

    `shapes` is a dictionary or a list of (tensor, shape). A symbol is a number, a name, or None or
    "." for any size; a leading "..." or "*" stands for any number of dimensions.
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    message = message or ""
    with name_scope(name, "assert_shapes", [shapes, data]):
        sized = [_Sized(convert_to_tensor(x), s, message) for x, s in pairs if s is not None]
        options = {"data": data, "summarize": summarize, "message": message, "name": name}
        ranks = [check for each in sized if (check := _assert_rank_of(each, options)) is not None]
        checks: list[Any] = []
        first: dict[Any, tuple[Any, Tensor, int]] = {}
        for each in sized:
            for position, symbol in each.dimensions():
                if symbol in (None, "."):
                    continue
                number = _as_number(symbol)
                if number is None and symbol not in first:
                    first[symbol] = (each.sizes[position], each.tensor, position)
                    continue
                why, wanted = "Specified explicitly", number
                if number is None:
                    wanted, source, where = first[symbol]
                    why = f"Specified by tensor {source.name} dimension {where}"
                check = _assert_size(each, position, wanted, why, data, summarize, message)
                checks += [] if check is None else [check]
        with control_dependencies(ranks):
            return group(checks)


def _assert_rank_of(each: _Sized, options: dict[str, Any]) -> Any:
    count = len(each.symbols)
    if each.open:
        return None if count == 1 else assert_rank_at_least(each.tensor, count, **options)
    if count == 1:
        return assert_rank_in(each.tensor, [0, 1], **options)
    return assert_rank(each.tensor, count, **options)


def _assert_size(
    each: _Sized, position: int, wanted: Any, why: str, data: Any, summarize: Any, message: str
) -> Any:
    actual, x = each.sizes[position], each.tensor
    have, want = _as_number(actual), _as_number(wanted)
    if have is not None and want is not None:
        if have != want:
            raise ValueError(
                f"{message}.  {why}.  Tensor {x.name} dimension {position} must have size {want}."
                f"  Received size {have}, shape {x.get_shape()}"
            )
        return None
    condition = math.equal(convert_to_tensor(actual), convert_to_tensor(wanted))
    if data is None:
        data = [
            message, why, f"Tensor {x.name} dimension", position, "must have size", wanted,
            "Received shape: ", array.shape(x),
        ]  # fmt: skip
    return Assert(condition, data, summarize=summarize)
