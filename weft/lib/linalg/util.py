"""Shared parts of linear operators: hints, checks, batches that broadcast, solving with them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Operation, Tensor, name_scope
from weft.graph.op_def import raw
from weft.lib.platform.module import Module
from weft.ops.array import array
from weft.ops.array.diag import matrix_diag_part
from weft.ops.control import check, control
from weft.ops.math import math
from weft.ops.state.variables import Variable

Hint = bool | None
Hints = dict[str, Any]  # argument -> Hint, to be passed on

# ---- hints ------------------------------------------------------------------------------------


def always(fact: bool, hint: Hint, message: str) -> bool:
    """`fact`, unless the caller's hint says otherwise."""
    if hint is not None and bool(hint) is not fact:
        raise ValueError(message)
    return fact


def agreed(known: Hint, given: Hint, message: str) -> Hint:
    """The joint hint of an operator and its caller, which must not contradict each other."""
    said = {bool(hint) for hint in (known, given) if hint is not None}
    if len(said) == 2:
        raise ValueError(message)
    return said.pop() if said else None


def hints_from(
    is_non_singular: Hint, is_self_adjoint: Hint, is_positive_definite: Hint, is_square: Hint
) -> Hints:
    return {
        "is_non_singular": is_non_singular,
        "is_self_adjoint": is_self_adjoint,
        "is_positive_definite": is_positive_definite,
        "is_square": is_square,
    }


def hints_of(operator: Any, **others: Hint) -> Hints:
    """The hints of a square operator as arguments for one that has the same, except `others`."""
    return {
        "is_non_singular": operator.is_non_singular,
        "is_self_adjoint": operator.is_self_adjoint,
        "is_positive_definite": operator.is_positive_definite,
        "is_square": True,
        **others,
    }


# ---- arguments --------------------------------------------------------------------------------


def is_reference(x: Any) -> bool:
    """Whether the value of `x` can change between steps: it is kept, and read where it is used."""
    return isinstance(x, Variable) or (
        isinstance(x, Module) and hasattr(x, "dtype") and hasattr(x, "shape")
    )


def as_tensor_or_variable(value: Any, name: str) -> Any:
    return value if value is None or is_reference(value) else convert_to_tensor(value, name=name)


def with_rank_at_least(x: Any, rank: int, what: str) -> Any:
    if x.shape.ndims is not None and x.shape.ndims < rank:
        plural = "s" if rank > 1 else ""
        raise ValueError(
            f"Argument {what} must have at least {rank} dimension{plural}.  Found: {x}"
        )
    return x


def shape_tensor(shape: Any, name: str | None = None) -> Tensor:
    empty = isinstance(shape, tuple | list) and not shape
    return convert_to_tensor(shape, dtype=dtypes.int32 if empty else None, name=name)


def size_argument(value: Any, what: str, rank: int, asserts: bool, name: str) -> tuple[Tensor, Any]:
    """A size (`rank` 0) or a shape (`rank` 1) as a tensor, and its value if that is known."""
    if is_reference(value):
        raise TypeError(f"Argument {what} cannot be reference type. Found: {type(value)}")
    tensor = shape_tensor(value, name=name)
    known = constant_value(tensor)
    wrong_rank = f"Argument {what} must be a {rank}-D Tensor."
    negative = f"Argument {what} must be non-negative."
    if asserts:
        checks = [
            check.assert_rank(tensor, rank, message=wrong_rank),
            check.assert_non_negative(tensor, message=negative),
        ]
        tensor = control.with_dependencies(checks, tensor)
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument {what} must be integer type.  Found: {tensor}")
    if known is not None:
        if known.ndim != rank:
            raise ValueError(f"{wrong_rank}  Found: {known}")
        if np.any(known < 0):
            raise ValueError(f"{negative}  Found: {known}")
    return tensor, known


# ---- checks in the graph ----------------------------------------------------------------------


def assert_no_zeros(x: Any, message: str) -> Operation:
    with name_scope("assert_no_entries_with_modulus_zero", values=[x]):
        size = math.abs(convert_to_tensor(x, name="x"))
        return check.assert_less(convert_to_tensor(0, dtype=size.dtype), size, message=message)


def assert_real(x: Any, message: str) -> Operation:
    with name_scope("assert_zero_imag_part", values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_floating:
            return control.no_op()
        imaginary = math.imag(x)
        zero = convert_to_tensor(0, dtype=imaginary.dtype)
        return check.assert_equal(zero, imaginary, message=message)


def with_matching_rows(operator: Any, x: Tensor) -> Tensor:
    """`x`, once it has been checked that `operator` can be multiplied with it."""
    same = check.assert_equal(
        array.shape(x)[-2],
        operator.domain_dimension_tensor(),
        message="Dimensions are not compatible.  shape[-2] of argument to be the same as this"
        " operator",
    )
    return control.with_dependencies([same], x)


# ---- batches ----------------------------------------------------------------------------------


def adjoint_if(wanted: bool, x: Tensor) -> Tensor:
    return array.matrix_transpose(x, conjugate=True) if wanted else x


def total(values: Iterable[Any]) -> Any:
    return functools.reduce(lambda a, b: a + b, values)


def product(values: Iterable[Any]) -> Any:
    return functools.reduce(lambda a, b: a * b, values)


def static_batch(operators: Sequence[Any]) -> TensorShape:
    """The shape that the batch shapes of several operators broadcast to."""
    shapes = [operator.batch_shape for operator in operators]
    return functools.reduce(array.broadcast_static_shape, shapes)


def dynamic_batch(operators: Sequence[Any]) -> Tensor:
    shapes = [operator.batch_shape_tensor() for operator in operators]
    return functools.reduce(array.broadcast_dynamic_shape, shapes)


def same_batches(matrices: Sequence[Any]) -> list[Tensor]:
    """Matrices whose leading dimensions have been broadcast to each other's."""
    with name_scope("broadcast_matrix_batch_dims", values=list(matrices)):
        tensors = [convert_to_tensor(matrix) for matrix in matrices]
        for tensor in tensors:
            if tensor.shape.ndims is not None and tensor.shape.ndims < 2:
                raise ValueError(
                    f"Expected [batch] matrix to have at least two dimensions.  Found: {tensor}"
                )
        if len(tensors) < 2:
            return tensors
        batches = [tensor.shape[:-2] for tensor in tensors]
        static = functools.reduce(array.broadcast_static_shape, batches)
        if static.is_fully_defined():
            batch: Any = static.as_list()
        else:
            shapes = [array.shape(tensor)[:-2] for tensor in tensors]
            batch = functools.reduce(array.broadcast_dynamic_shape, shapes)
        return [_in_batch(tensor, batch, static) for tensor in tensors]


def _in_batch(x: Tensor, batch: Any, static: TensorShape) -> Tensor:
    if static.is_fully_defined() and x.shape[:-2].as_list() == static.as_list():
        return x
    if static.is_fully_defined() and x.shape[-2:].is_fully_defined():
        return array.broadcast_to(x, batch + x.shape[-2:].as_list())
    batch = shape_tensor(batch)
    return array.broadcast_to(x, array.concat([batch, array.shape(x)[-2:]], axis=0))


def sizes_of(x: Tensor) -> list[Any]:
    """The size of each dimension: a number where it is known, else a tensor. Needs the rank."""
    assert x.dims is not None
    nodes = None if None not in x.dims else array.shape(x)
    return [nodes[i] if d is None else d for i, d in enumerate(x.dims)]  # type: ignore[index]


# ---- solving ----------------------------------------------------------------------------------

Solver = Callable[[Tensor, Tensor], Tensor]


def solve_in_batches(solver: Solver, matrix: Any, rhs: Any) -> Tensor:
    """`solver(matrix, rhs)` where either may lack leading dimensions that the other has.

    Systems that share a matrix become columns of one right-hand side, so that each matrix is
    factored once.
    """
    matrix = convert_to_tensor(matrix, name="matrix")
    rhs = convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype)
    known = matrix.dims is not None and rhs.dims is not None
    extra = len(rhs.dims) - len(matrix.dims) if known else 0  # type: ignore[arg-type]
    if extra <= 0:
        return solver(*same_batches([matrix, rhs]))
    sizes = sizes_of(rhs)
    last = [*range(extra, len(sizes)), *range(extra)]
    columns = product([sizes[-1], *sizes[:extra]])
    folded = array.reshape(array.transpose(rhs, last), [*sizes[extra:-1], columns])
    solution = solver(*same_batches([matrix, folded]))
    unfolded = array.reshape(solution, [*sizes_of(solution)[:-1], sizes[-1], *sizes[:extra]])
    return array.transpose(unfolded, np.argsort(last).tolist())


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Tensor:
    with name_scope(None, "MatrixSolveWithBroadcast", [matrix, rhs]):
        return solve_in_batches(lambda a, b: raw.MatrixSolve(a, b, adjoint), matrix, rhs)


def triangular_solve(matrix: Any, rhs: Any, adjoint: bool = False) -> Tensor:
    """With lower triangular matrices."""
    with name_scope(None, "MatrixTriangularSolve", [matrix, rhs]):

        def solver(a: Tensor, b: Tensor) -> Tensor:
            return raw.MatrixTriangularSolve(a, b, True, adjoint)

        return solve_in_batches(solver, matrix, rhs)


def log_determinant_from(factor: Any) -> Tensor:
    """The logarithm of the determinant of the matrix that `factor` is the Cholesky factor of."""
    return 2 * math.reduce_sum(math.log(matrix_diag_part(factor)), axis=[-1])


def cholesky_solve(factor: Any, rhs: Any) -> Tensor:
    """With positive definite matrices whose lower triangular factors are given."""
    from weft.ops.linalg.solve import cholesky_solve as solver

    with name_scope(None, "CholeskySolveWithBroadcast", [factor, rhs]):
        return solve_in_batches(solver, factor, rhs)
