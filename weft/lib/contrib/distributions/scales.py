"""Linear operators as scales of vectors: how they are made, what shapes they give, how they act."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.checks import checked
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.dense import LinearOperatorLowerTriangular
from weft.lib.linalg.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from weft.lib.linalg.low_rank import LinearOperatorLowRankUpdate
from weft.lib.linalg.vectors import LinearOperatorDiag
from weft.ops.array import array
from weft.ops.array.diag import matrix_band_part, matrix_diag_part, matrix_set_diag
from weft.ops.control.check import assert_none_equal, assert_positive
from weft.ops.math import math


def optional_tensor(x: Any, name: str) -> Tensor | None:
    return None if x is None else convert_to_tensor(x, name=name)


def size_of(x: Tensor, axis: int) -> Any:
    """The size of an axis, as a number if it is known."""
    known = None if x.dims is None else x.dims[axis]
    return array.shape(x)[axis] if known is None else known


def _diagonal_checked(
    x: Tensor, validate: bool, positive: bool, diagonal_of: Callable[[Tensor], Tensor] = lambda x: x
) -> Tensor:
    def checks() -> list[Any]:
        diagonal = diagonal_of(x)
        if positive:
            return [assert_positive(diagonal, message="diagonal part must be positive")]
        zero = array.zeros([], x.dtype)
        return [assert_none_equal(diagonal, zero, message="diagonal part must be non-zero")]

    return checked(validate, x, checks)


def identity_scale(size: Any, dtype: Any, validate_args: bool) -> LinearOperator:
    """One, of a size."""
    return LinearOperatorIdentity(
        num_rows=size, dtype=dtype, is_self_adjoint=True, is_positive_definite=True,
        assert_proper_shapes=validate_args,
    )  # fmt: skip


def lower_scale(tril: Tensor, positive: bool) -> LinearOperator:
    """A lower triangle, whose diagonal may be known to be positive."""
    return LinearOperatorLowerTriangular(
        tril, is_non_singular=True, is_self_adjoint=False, is_positive_definite=positive
    )


def make_tril_scale(
    loc: Any = None, scale_tril: Any = None, scale_diag: Any = None,
    scale_identity_multiplier: Any = None, shape_hint: Any = None, validate_args: bool = False,
    assert_positive: bool = False, name: str | None = None,
) -> LinearOperator:  # fmt: skip
    """The sum of a triangle, a diagonal and a multiple of one, whichever are given."""
    tril = optional_tensor(scale_tril, "scale_tril")
    if tril is None:
        return make_diag_scale(
            loc, scale_diag, scale_identity_multiplier, shape_hint, validate_args,
            assert_positive, name,
        )  # fmt: skip
    with name_scope(name, "make_tril_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        diag = optional_tensor(scale_diag, "scale_diag")
        multiple = optional_tensor(scale_identity_multiplier, "scale_identity_multiplier")
        tril = matrix_band_part(tril, -1, 0)
        diagonal = matrix_diag_part(tril)
        diagonal = diagonal if diag is None else diagonal + diag
        diagonal = diagonal if multiple is None else diagonal + multiple[..., None]
        tril = matrix_set_diag(tril, diagonal)
        tril = _diagonal_checked(tril, validate_args, assert_positive, matrix_diag_part)
        return lower_scale(tril, assert_positive)


def make_diag_scale(
    loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
    shape_hint: Any = None, validate_args: bool = False, assert_positive: bool = False,
    name: str | None = None,
) -> LinearOperator:  # fmt: skip
    """The sum of a diagonal and a multiple of one, or one, in the size of `loc`."""
    with name_scope(name, "make_diag_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        loc = optional_tensor(loc, "loc")
        diag = optional_tensor(scale_diag, "scale_diag")
        multiple = optional_tensor(scale_identity_multiplier, "scale_identity_multiplier")
        if diag is not None:
            diag = diag if multiple is None else diag + multiple[..., None]
            return LinearOperatorDiag(
                _diagonal_checked(diag, validate_args, assert_positive),
                is_non_singular=True, is_self_adjoint=True, is_positive_definite=assert_positive,
            )  # fmt: skip
        if loc is None and shape_hint is None:
            raise ValueError(
                "Cannot infer `event_shape` unless `loc` or `shape_hint` is specified."
            )
        size = size_of(loc, -1) if shape_hint is None else shape_hint
        if multiple is None:
            return identity_scale(size, loc.dtype.base_dtype, validate_args)
        return LinearOperatorScaledIdentity(
            num_rows=size,
            multiplier=_diagonal_checked(multiple, validate_args, assert_positive),
            is_non_singular=True, is_self_adjoint=True, is_positive_definite=assert_positive,
            assert_proper_shapes=validate_args,
        )  # fmt: skip


def low_rank_update(
    scale: LinearOperator, factor: Tensor | None, diagonal: Tensor | None
) -> LinearOperator:
    """scale + factor diagonal factor^T, which is positive where no diagonal is given."""
    hints: dict[str, Any] = dict.fromkeys(("is_non_singular", "is_self_adjoint", "is_square"), True)
    if diagonal is None:
        hints["is_positive_definite"] = True
    hints["is_diag_update_positive"] = diagonal is None
    return LinearOperatorLowRankUpdate(scale, u=factor, diag_update=diagonal, **hints)


def is_diagonal(scale: Any) -> bool:
    if not isinstance(scale, LinearOperator):
        raise TypeError(
            f"Expected argument 'scale' to be instance of LinearOperator. Found: {scale}"
        )
    kinds = (LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorDiag)
    return isinstance(scale, kinds)


def shapes_of(loc: Tensor | None, scale: LinearOperator) -> tuple[Any, Any]:
    """(batch shape, event shape) of scale x + loc; arrays where they are known."""
    with name_scope("shapes_from_loc_and_scale", values=[loc, *scale.graph_parents]):
        size = scale.range_dimension_tensor()
        known = constant_value(size)
        event = size[None] if known is None else known.reshape([1])
        have = None if loc is None or loc.dims is None else loc.dims[-1]
        if have is not None and known is not None and have not in (1, known):
            raise ValueError(
                f"Event size of 'scale' ({have}) could not be broadcast up to that of 'loc'"
                f" ({known})."
            )
        return _batch_of(loc, scale), event


def _batch_of(loc: Tensor | None, scale: LinearOperator) -> Any:
    batch = scale.batch_shape_tensor()
    known = scale.batch_shape
    if loc is not None:
        outer = loc.shape[:-1]
        if outer.is_fully_defined():
            others: Any = constant(np.array(outer.as_list(), np.int32), name="loc_batch_shape")
        else:
            others = array.shape(loc)[:-1]
        known = array.broadcast_static_shape(known, outer)
    if known.is_fully_defined():
        return np.array(known.as_list(), np.int32)
    if loc is None:
        return batch
    with name_scope("prefer_static_broadcast_shape", values=[batch, others]):
        return array.broadcast_dynamic_shape(batch, others)


def on_events(function: Callable[[Tensor], Tensor], x: Tensor, batch_rank: Any) -> Tensor:
    """A function of matrices [batch, event, n], of `x` [samples, batch, event].

    Samples become columns, so that an operator is applied to all of them at once.
    """
    rank = None if x.dims is None else len(x.dims)
    if rank is None or not isinstance(batch_rank, int) or rank - batch_rank - 1 < 1:
        return array.squeeze(function(x[..., None]), axis=[-1])
    outer = rank - batch_rank - 1
    shape = array.shape(x)
    rows = array.reshape(x, array.concat([[-1], shape[outer:]], 0))
    inner = batch_rank + 1
    found = function(array.transpose(rows, [*range(1, inner + 1), 0]))
    last = len(found.shape) - 1
    back = array.transpose(found, [last, *range(last)])
    whole = array.reshape(back, array.concat([shape[:outer], array.shape(back)[1:]], 0))
    if back.dims is not None:
        whole.set_shape([*x.dims[:outer], *back.dims[1:]])  # type: ignore[index]
    return whole


def squared_diagonal(scale: LinearOperator) -> Tensor:
    """The diagonal of scale scale^T: variances."""
    if is_diagonal(scale):
        return math.square(scale.diag_part())
    if isinstance(scale, LinearOperatorLowRankUpdate) and scale.is_self_adjoint:
        return matrix_diag_part(scale.matmul(scale.to_dense()))
    return matrix_diag_part(scale.matmul(scale.to_dense(), adjoint_arg=True))
