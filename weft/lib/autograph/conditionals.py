"""if statements and expressions, and what `and`, `or` and `not` come to, over tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from weft.core import nest
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import get_default_graph
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.autograph.values import (
    NothingReturned,
    Undefined,
    as_tensor,
    can_be_one,
    check_structure,
    dtype_of,
    is_same,
    is_symbolic,
    is_traceable,
    leaves,
)
from weft.ops.control.cond import cond as tf_cond
from weft.ops.lists.tensor_array import TensorArray

Values = tuple[Any, ...]


def if_stmt(
    test: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get_state: Callable[[], Values],
    set_state: Callable[[Values], None],
    names: Sequence[str],
) -> None:
    """Does `body` or `orelse`; over a tensor, both are traced.

    `names` are of the first values of the state, those that are needed afterwards.
    """
    if not is_symbolic(test):
        if test:
            body()
        else:
            orelse()
        return
    before = get_state()

    def branch(block: Callable[[], None]) -> Callable[[], Values]:
        def run() -> Values:
            set_state(before)
            block()
            return get_state()[: len(names)]

        return run

    try:
        after = choose(convert_to_tensor(test), branch(body), branch(orelse), names)
    except BaseException:
        set_state(before)
        raise
    set_state((*after, *before[len(names) :]))


def choose(
    test: Tensor, on_true: Callable[[], Values], on_false: Callable[[], Values],
    names: Sequence[str],
) -> Values:  # fmt: skip
    """The values of the branch that is taken; those that are the same in both stay as they are."""
    settled: list[_Settled] = []
    if get_default_graph().functional_control_flow:
        from weft.ops.functions.branch_functions import cond_of_functions

        def settle(graphs: list[Any], results: list[Any]) -> list[Any]:
            filled = _fill_in(graphs, results[0], results[1], names)
            settled.append(_Settled(*filled, names))
            return settled[0].tensors()

        found = cond_of_functions(test, on_true, on_false, None, settle)
        return settled[0].merged(found)
    return _choose_by_switches(test, on_true, on_false, names)


def _choose_by_switches(
    test: Tensor, on_true: Callable[[], Values], on_false: Callable[[], Values],
    names: Sequence[str],
) -> Values:  # fmt: skip
    results: list[Values] = []

    def true_fn() -> list[Any]:
        results.append(on_true())
        # What turns out to be the same in the other branch is left unused.
        return [constant(0), *(as_tensor(x) for x in leaves(results[0]) if is_traceable(x))]

    def false_fn() -> list[Any]:
        results.append(on_false())
        _Settled(results[0], results[1], names)
        return [constant(0), *(as_tensor(x) for x in leaves(results[1]) if is_traceable(x))]

    _, *found = tf_cond(test, true_fn, false_fn, strict=True)
    tensors = iter(found)
    both = [next(tensors) if is_traceable(x) else x for x in leaves(results[0])]
    merged = nest.pack_sequence_as(results[0], both, expand_composites=True)
    pairs = zip(merged, *results, strict=True)
    return tuple(a if is_same(a, b) else m for m, a, b in pairs)


class _Settled:
    """The values of two branches, compared; which of them are results of the conditional."""

    def __init__(self, on_true: Values, on_false: Values, names: Sequence[str]) -> None:
        self.on_true, self.on_false = on_true, on_false
        self.differ = [not is_same(a, b) for a, b in zip(on_true, on_false, strict=True)]
        for name, a, b, differs in zip(names, on_true, on_false, self.differ, strict=True):
            if differs:
                _check(name, a, b)

    def _chosen(self, values: Values) -> list[Any]:
        return [value for value, differs in zip(values, self.differ, strict=True) if differs]

    def tensors(self) -> list[Any]:
        return [
            [x for x in leaves(self._chosen(values)) if is_traceable(x)]
            for values in (self.on_true, self.on_false)
        ]

    def merged(self, found: list[Any]) -> Values:
        tensors = iter(found)
        chosen = self._chosen(self.on_true)
        flat = [next(tensors) if is_traceable(x) else x for x in leaves(chosen)]
        packed = iter(nest.pack_sequence_as(chosen, flat, expand_composites=True))
        return tuple(
            next(packed) if differs else value
            for value, differs in zip(self.on_true, self.differ, strict=True)
        )


def _check(name: str, a: Any, b: Any) -> None:
    if all(x is None or isinstance(x, NothingReturned) for x in (a, b)):
        return
    for value, branch in ((a, "TRUE"), (b, "FALSE")):
        if isinstance(value, NothingReturned):
            raise ValueError(
                f"A value must also be returned from the {branch} branch. If a value is returned"
                " from one branch of a conditional a value must be returned from all branches."
            )
        if isinstance(value, Undefined) and not (
            isinstance(a, Undefined) and isinstance(b, Undefined)
        ):
            raise ValueError(
                f"The following symbols must also be initialized in the {branch} branch:"
                f" {(name,)}. Alternatively, you may initialize them before the if statement."
            )
    check_structure(name, a, b, "in the TRUE and FALSE branches")
    for x, y in zip(leaves(a), leaves(b), strict=True):
        _check_leaf(name, x, y)


def _check_leaf(name: str, x: Any, y: Any) -> None:
    if not can_be_one(x, y):
        if isinstance(x, Undefined) and isinstance(y, Undefined):
            return
        shown = [type(each).__name__ for each in (x, y)]
        raise TypeError(
            f'"{name}" is {shown[0]} in the TRUE branch, but {shown[1]} in the FALSE branch.'
            " TensorFlow control flow requires that both can be tensors, or are the same object."
        )
    if is_traceable(x) and dtype_of(x) != dtype_of(y):
        raise TypeError(
            f'"{name}" has dtype {dtype_of(x).name} in the TRUE branch, but'
            f" dtype={dtype_of(y).name} in the FALSE branch. TensorFlow control flow requires that"
            " they are the same."
        )


def _fill_in(
    graphs: list[Any], on_true: Values, on_false: Values, names: Sequence[str]
) -> tuple[Values, Values]:
    """Values that will not be used, for variables that only one branch has.

    These are the result, where only one branch returns from the function, and variables of the
    code that a branch jumps over when it returns or leaves the loop.
    """
    sides = [list(on_true), list(on_false)]
    leaves_by = [_leaves(side, names) for side in sides]
    for i in range(len(names)):
        missing = [isinstance(side[i], Undefined) for side in sides]
        if missing[0] == missing[1]:
            continue
        empty = missing.index(True)
        jumps = leaves_by[empty] and not leaves_by[1 - empty]
        if jumps or isinstance(sides[empty][i], NothingReturned):
            with graphs[empty].as_default():
                sides[empty][i] = zeros_like_structure(sides[1 - empty][i])
    return tuple(sides[0]), tuple(sides[1])


def _leaves(values: Sequence[Any], names: Sequence[str]) -> bool:
    """Whether a branch has raised a flag that what comes after it looks at."""
    return any(
        value is True and name.startswith(("do_return", "break_", "continue_"))
        for name, value in zip(names, values, strict=True)
    )


def zeros_like_structure(value: Any) -> Any:
    """Zeros of the types and shapes of a value's tensors; unknown dimensions are 0."""
    flat = [_zeros(x) if is_traceable(x) else x for x in leaves(value)]
    return nest.pack_sequence_as(value, flat, expand_composites=True)


def _zeros(leaf: Any) -> Any:
    if isinstance(leaf, TensorArray):
        return TensorArray(leaf.dtype, size=0, element_shape=leaf.element_shape)
    dims = leaf.dims if isinstance(leaf, Tensor) else convert_to_tensor(leaf).dims
    from weft.ops.array.array import zeros

    made = zeros([n or 0 for n in dims or ()], dtype_of(leaf))
    if dims is None or None in dims:
        found = raw.PlaceholderWithDefault(made, shape=dims)
        return found
    return made


# ---- expressions --------------------------------------------------------------------------------


def if_exp(test: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], text: str) -> Any:
    """`a if test else b`."""
    if not is_symbolic(test):
        return if_true() if test else if_false()

    def branch(function: Callable[[], Any]) -> Callable[[], Values]:
        return lambda: (function(),)

    (found,) = choose(convert_to_tensor(test), branch(if_true), branch(if_false), [text])
    return found


def and_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    first = a()
    if is_symbolic(first):
        return tf_cond(convert_to_tensor(first), lambda: _truth(b()), lambda: _truth(first))
    return first and b()


def or_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    first = a()
    if is_symbolic(first):
        return tf_cond(convert_to_tensor(first), lambda: _truth(first), lambda: _truth(b()))
    return first or b()


def _truth(value: Any) -> Any:
    return raw.Identity(convert_to_tensor(value))


def not_(value: Any) -> Any:
    return raw.LogicalNot(value) if is_symbolic(value) else not value


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne, "is": operator.is_, "is not": operator.is_not,
    "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip


def compare(first: Any, parts: list[tuple[str, Callable[[], Any]]], by_value: bool) -> Any:
    """`first < a() < b() ...`; `by_value`: == and != of tensors compare their values."""
    (symbol, second), rest = parts[0], parts[1:]
    value = second()
    result = _compared(symbol, first, value, by_value)
    if not rest:
        return result
    return and_(lambda: result, lambda: compare(value, rest, by_value))


def _compared(symbol: str, a: Any, b: Any, by_value: bool) -> Any:
    if by_value and symbol in ("==", "!=") and (is_symbolic(a) or is_symbolic(b)):
        return (raw.Equal if symbol == "==" else raw.NotEqual)(a, b)
    return _COMPARE[symbol](a, b)
