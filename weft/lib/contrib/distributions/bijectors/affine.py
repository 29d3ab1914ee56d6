"""y = scale x + shift, of vectors, with a scale that is a matrix of some form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.contrib.distributions.bijectors.base import Bijector
from weft.lib.contrib.distributions.event_axes import EventAxes
from weft.lib.contrib.distributions.scales import (
    low_rank_update,
    make_tril_scale,
    on_events,
    optional_tensor,
    size_of,
)
from weft.lib.distributions.checks import checked, checking
from weft.lib.linalg.base import LinearOperator
from weft.ops.array import array
from weft.ops.control.check import assert_none_equal
from weft.ops.math import math


def _same_kind(shift: Any, scale: Any) -> None:
    if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
        raise TypeError(
            f"shift.dtype({shift.dtype}) is incompatible with scale.dtype({scale.dtype})."
        )


def _batch_rank(scale: LinearOperator) -> Any:
    rank = scale.tensor_rank
    return scale.tensor_rank_tensor() - 2 if rank is None else rank - 2


class _Affine(Bijector):
    """A shift and a scale, either of which may be missing (None)."""

    shift: Any
    scale: Any

    _axes: EventAxes | None = None

    def _name_axes(self) -> None:
        """Once the scale is known."""
        rank = _batch_rank(self.scale)
        self._axes = EventAxes(rank) if isinstance(rank, int) else None

    def _on_columns(self, function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        """A function of matrices [batch, event, n], of vectors."""
        if self._axes is None or not self._axes.fits(x):
            return on_events(function, x, _batch_rank(self.scale))
        columns, samples = self._axes.as_columns(x)
        return self._axes.as_samples(function(columns), samples)

    def _checks(self) -> list[Any]:
        try:
            return [self.scale.assert_non_singular()]
        except NotImplementedError:
            return []

    def _forward(self, x: Any) -> Tensor:
        y = x
        if self.scale is not None:
            with checking(self.validate_args, self._checks):
                y = self._on_columns(self.scale.matmul, y)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Tensor:
        x = y if self.shift is None else y - self.shift
        if self.scale is None:
            return x
        return self._on_columns(self.scale.solve, x)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        if self.scale is None:
            return constant(0.0, x.dtype.base_dtype)
        with checking(self.validate_args, self._checks):
            return self.scale.log_abs_determinant()


class AffineLinearOperator(_Affine):
    """With a `LinearOperator` for a scale."""

    def __init__(
        self, shift: Any = None, scale: Any = None, validate_args: bool = False,
        name: str = "affine_linear_operator",
    ) -> None:  # fmt: skip
        super().__init__(
            forward_min_event_ndims=1, is_constant_jacobian=True, dtype=dtypes.float32,
            validate_args=validate_args, name=name,
        )  # fmt: skip
        with self._name_scope("init", values=[shift]):
            self.shift, self.scale = optional_tensor(shift, "shift"), scale
            if scale is not None:
                _same_kind(self.shift, scale)
                if not isinstance(scale, LinearOperator):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                self._graph_parents += scale.graph_parents
                self._dtype = scale.dtype.base_dtype
                self._name_axes()
            elif self.shift is not None:
                self._dtype = self.shift.dtype.base_dtype
            self._graph_parents += [] if self.shift is None else [self.shift]


class Affine(_Affine):
    """With a scale that is the sum of a multiple of one, a diagonal, a triangle and a low rank."""

    def __init__(
        self, shift: Any = None, scale_identity_multiplier: Any = None, scale_diag: Any = None,
        scale_tril: Any = None, scale_perturb_factor: Any = None, scale_perturb_diag: Any = None,
        validate_args: bool = False, name: str = "affine",
    ) -> None:  # fmt: skip
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError(
                "When scale_perturb_diag is specified, scale_perturb_factor must be specified."
            )
        super().__init__(
            forward_min_event_ndims=1, is_constant_jacobian=True, dtype=dtypes.float32,
            validate_args=validate_args, name=name,
        )  # fmt: skip
        others = [scale_diag, scale_tril, scale_perturb_factor]
        self._is_multiple = all(each is None for each in others)
        values = [shift, scale_identity_multiplier, *others, scale_perturb_diag]
        with self._name_scope("init", values=values):
            self.shift = optional_tensor(shift, "shift")
            if self._is_multiple:
                self.scale = self._multiple(scale_identity_multiplier)
            else:
                self.scale = self._operator(
                    scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_factor,
                    scale_perturb_diag,
                )  # fmt: skip
                _same_kind(self.shift, self.scale)
                self._name_axes()
            self._dtype = self.scale.dtype.base_dtype

    def _multiple(self, given: Any) -> Tensor:
        kind = None if given is not None else dtypes.float32
        if given is None and self.shift is not None:
            kind = self.shift.dtype.base_dtype
        value = convert_to_tensor(1.0 if given is None else given, dtype=kind)
        message = "identity_multiplier should be non-zero."
        zero = array.zeros([], value.dtype)
        return checked(
            self.validate_args, value, lambda: [assert_none_equal(value, zero, [message])]
        )

    def _operator(
        self, multiple: Any, diag: Any, tril: Any, factor: Any, diagonal: Any
    ) -> LinearOperator:
        factor = optional_tensor(factor, "perturb_factor")
        scale = make_tril_scale(
            loc=self.shift, scale_tril=tril, scale_diag=diag, scale_identity_multiplier=multiple,
            validate_args=self.validate_args, assert_positive=False,
            shape_hint=None if factor is None else size_of(factor, -2),
        )  # fmt: skip
        if factor is None:
            return scale
        return low_rank_update(scale, factor, optional_tensor(diagonal, "perturb_diag"))

    def _forward(self, x: Any) -> Tensor:
        if not self._is_multiple:
            return super()._forward(x)
        y = x * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Tensor:
        if not self._is_multiple:
            return super()._inverse(y)
        return (y if self.shift is None else y - self.shift) / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        if not self._is_multiple:
            return self.scale.log_abs_determinant()
        size = math.cast(array.shape(x)[-1], self.scale.dtype)
        return math.log(math.abs(self.scale)) * size
