"""Sums of operators, in the most special form that holds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from weft.graph.graph import name_scope
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.dense import LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from weft.lib.linalg.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from weft.lib.linalg.vectors import LinearOperatorDiag
from weft.ops.array.array import broadcast_static_shape, ones

_SCALED = (LinearOperatorIdentity, LinearOperatorScaledIdentity)
_DIAGONAL = (*_SCALED, LinearOperatorDiag)
_TRIANGULAR = (*_DIAGONAL, LinearOperatorLowerTriangular)


class _Form(NamedTuple):
    """A form that operators of some kinds, and their sums, can take."""

    scope: str
    kinds: tuple[type, ...]
    add: Callable[..., LinearOperator]


def add_operators(
    operators: Sequence[LinearOperator], operator_name: str | None = None, name: str | None = None
) -> list[LinearOperator]:
    """The sum of operators: a list of one, as special as the operators are.

    Args:
        operators: of one size, with batch shapes that go together.
        operator_name: of the sum; by default it tells what was added to what.
        name: of the scope of the operations.

    Raises:
        ValueError: there is none, or their sizes or batch shapes differ.
        TypeError: one is not an operator.
    """
    waiting = [*reversed(operators)]
    if not waiting:
        raise ValueError(
            f"Argument 'operators' must contain at least one operator.  Found: {waiting}"
        )
    if not all(isinstance(each, LinearOperator) for each in waiting):
        raise TypeError(
            f"Argument 'operators' must contain only LinearOperator instances.  Found: {waiting}"
        )
    _check_sizes(waiting)
    with name_scope(name or "add_operators"):
        for form in _FORMS:
            waiting = _summed(form, waiting, operator_name)
    return waiting


def _check_sizes(operators: list[LinearOperator]) -> None:
    shape = operators[0].batch_shape
    for each in operators[1:]:
        shape = broadcast_static_shape(shape, each.batch_shape)
    for side in ("domain", "range"):
        sizes = [(each.name, getattr(each, f"{side}_dimension").value) for each in operators]
        known = [pair for pair in sizes if pair[1] is not None]
        if len({size for _, size in known}) > 1:
            raise ValueError(f"Operators must have the same {side} dimension. Found: {known}")


def _summed(form: _Form, waiting: list[LinearOperator], name: str | None) -> list[LinearOperator]:
    """The operators, those among them that can take this form as one."""
    kept = []
    while waiting:
        first = waiting.pop()
        fitting = [i for i, each in enumerate(waiting) if isinstance(each, form.kinds)]
        if not fitting or not isinstance(first, form.kinds):
            kept.append(first)
            continue
        second = waiting.pop(fitting[-1])
        with name_scope(form.scope):
            called = name or f"Add/{first.name}__{second.name}/"
            waiting.append(form.add(first, second, name=called, **_facts(first, second)))
    return kept


def _facts(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    """What is known of the sum."""
    definite = a.is_positive_definite and b.is_positive_definite
    return {
        "is_non_singular": True if definite else None,
        "is_self_adjoint": a.is_self_adjoint and b.is_self_adjoint,
        "is_positive_definite": definite,
    }


def _add_scaled(a: Any, b: Any, **facts: Any) -> LinearOperator:
    return LinearOperatorScaledIdentity(
        a.range_dimension_tensor(), _multiplier(a) + _multiplier(b), **facts
    )


def _multiplier(operator: Any) -> Any:
    if isinstance(operator, LinearOperatorScaledIdentity):
        return operator.multiplier
    return ones(operator.batch_shape_tensor(), dtype=operator.dtype)


def _add_diagonals(a: Any, b: Any, **facts: Any) -> LinearOperator:
    return LinearOperatorDiag(a.diag_part() + b.diag_part(), **facts)


def _added_as(kind: Callable[..., LinearOperator]) -> Callable[..., LinearOperator]:
    """Adds by making one of the two dense: the one that has more than a diagonal."""

    def add(a: Any, b: Any, **facts: Any) -> LinearOperator:
        light, other = (a, b) if isinstance(a, _DIAGONAL) else (b, a)
        return kind(light.add_to_tensor(other.to_dense()), **facts)

    return add


# The most special first: each adds up all that it can.
_FORMS = [
    _Form("AddAndReturnScaledIdentity", _SCALED, _add_scaled),
    _Form("AddAndReturnDiag", _DIAGONAL, _add_diagonals),
    _Form("AddAndReturnTriL", _TRIANGULAR, _added_as(LinearOperatorLowerTriangular)),
    _Form("AddAndReturnMatrix", (LinearOperator,), _added_as(LinearOperatorFullMatrix)),
]
