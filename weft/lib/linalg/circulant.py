"""Circulant operators: convolutions that come around, which the Fourier transform makes diagonal.

A spectrum of one, two or three axes belongs to a matrix whose rows, blocks, or blocks of blocks are
the same but for a shift.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Operation, Tensor, name_scope
from weft.graph.op_def import raw
from weft.lib.linalg.base import LinearOperator
from weft.lib.linalg.util import Hint, always
from weft.ops.array import array
from weft.ops.control import check
from weft.ops.linalg.linalg import adjoint as adjoint_of
from weft.ops.math import math

_SUFFIXES = {1: "", 2: "2D", 3: "3D"}


def _complex(x: Tensor) -> Tensor:
    if x.dtype.is_complex:
        return x
    return math.cast(x, dtypes.complex128 if x.dtype == dtypes.float64 else dtypes.complex64)


class _Circulant(LinearOperator):
    """The operator F^-1 diag(spectrum) F, with F the Fourier transform over `block_depth` axes."""

    def __init__(
        self, spectrum: Any, block_depth: int, input_output_dtype: Any, hints: dict[str, Hint],
        is_square: Hint, name: str,
    ) -> None:  # fmt: skip
        self._block_depth = block_depth
        with name_scope(name, values=[spectrum]):
            self._spectrum = convert_to_tensor(spectrum, name="spectrum")
            rank = self._spectrum.shape.ndims
            if rank is not None and rank < block_depth:
                raise ValueError(
                    f"Argument spectrum must have at least {block_depth} dimensions.  Found:"
                    f" {self._spectrum}"
                )
            adjoint = hints["is_self_adjoint"]
            if not self._spectrum.dtype.is_complex:
                message = "A real spectrum always corresponds to a self-adjoint operator."
                adjoint = always(True, adjoint, message)
            message = "A [[nested] block] circulant operator is always square."
            super().__init__(
                dtypes.as_dtype(input_output_dtype), [self._spectrum], hints["is_non_singular"],
                adjoint, hints["is_positive_definite"], always(True, is_square, message), name,
            )  # fmt: skip

    @property
    def block_depth(self) -> int:
        """How many axes of the spectrum make up the matrix."""
        return self._block_depth

    @property
    def block_shape(self) -> TensorShape:
        """The known shape of these axes."""
        return self._spectrum.shape[-self._block_depth :]

    def block_shape_tensor(self) -> Tensor:
        """The shape of these axes."""
        return array.shape(self._spectrum)[-self._block_depth :]

    @property
    def spectrum(self) -> Tensor:
        """The eigenvalues."""
        return self._spectrum

    def _shape(self) -> TensorShape:
        sizes = self.block_shape
        known = sizes.is_fully_defined()
        side = int(np.prod(sizes.as_list())) if known else None  # type: ignore[arg-type]
        return self._spectrum.shape[: -self._block_depth].concatenate([side, side])

    def _shape_tensor(self) -> Tensor:
        side = math.reduce_prod(self.block_shape_tensor())
        batch = array.shape(self._spectrum)[: -self._block_depth]
        return array.concat((batch, [side, side]), 0)

    def _transformed(self, x: Tensor, inverse: bool = False) -> Tensor:
        name = ("IFFT" if inverse else "FFT") + _SUFFIXES[self._block_depth]
        return getattr(raw, name)(_complex(x))

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """The first column, in the shape of the blocks."""
        with self._name_scope(name):
            return math.cast(self._transformed(_complex(self._spectrum), True), self.dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Operation:
        """Checks that the matrix is real."""
        with self._name_scope(name):
            tiny = np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps
            most = tiny * math.cast(self.domain_dimension_tensor(), self.dtype.real_dtype)
            imaginary = math.abs(math.imag(self.convolution_kernel()))
            return check.assert_less(imaginary, most, message="Spectrum was not Hermitian")

    def _assert_non_singular(self) -> Operation:
        size = math.abs(self._spectrum)
        message = "Singular operator:  Spectrum contained zero values."
        return check.assert_less(array.zeros([], size.dtype), size, message=message)

    def _assert_positive_definite(self) -> Operation:
        message = "Not positive definite:  Real part of spectrum was not all positive."
        return check.assert_positive(math.real(self._spectrum), message=message)

    def _assert_self_adjoint(self) -> Operation:
        imaginary = math.imag(_complex(self._spectrum))
        message = "Not self-adjoint:  The spectrum contained non-zero imaginary part."
        return check.assert_equal(array.zeros([], imaginary.dtype), imaginary, message=message)

    def _with_spectrum(self, x: Tensor, adjoint: bool, adjoint_arg: bool, combine: Any) -> Tensor:
        """F^-1 combine(F x, spectrum), of each column of `x`."""
        x = adjoint_of(x) if adjoint_arg else x
        spectrum = _complex(self._spectrum)
        spectrum = math.conj(spectrum) if adjoint else spectrum
        rows = array.matrix_transpose(math.cast(x, spectrum.dtype))
        shape = array.concat([array.shape(rows)[:-1], self.block_shape_tensor()], 0)
        waves = self._transformed(array.reshape(rows, shape))
        each = array.expand_dims(spectrum, -1 - self._block_depth)
        found = self._transformed(combine(waves, each), True)
        outer = array.shape(found)[: -self._block_depth]
        flat = array.reshape(found, array.concat([outer, [self._known_columns()]], 0))
        y = math.cast(array.matrix_transpose(flat), self.dtype)
        batch = array.broadcast_static_shape(self.batch_shape, x.shape[:-2])
        y.set_shape(batch.concatenate(x.shape[-2:]))
        return y

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._with_spectrum(x, adjoint, adjoint_arg, lambda waves, each: waves * each)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._with_spectrum(rhs, adjoint, adjoint_arg, lambda waves, each: waves / each)

    def _blocks(self) -> list[int]:
        return list(range(-self._block_depth, 0))

    def _determinant(self) -> Tensor:
        return math.cast(math.reduce_prod(self._spectrum, axis=self._blocks()), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        logs = math.log(math.abs(self._spectrum))
        return math.cast(math.reduce_sum(logs, axis=self._blocks()), self.dtype)

    def _trace(self) -> Tensor:
        total = math.reduce_sum(self._spectrum, axis=self._blocks())
        if total.dtype.is_complex and (not self.dtype.is_complex or self.is_self_adjoint):
            total = math.real(total)
        return math.cast(total, self.dtype)

    def _diag_part(self) -> Tensor:
        size = math.cast(self.domain_dimension_tensor(), self.dtype)
        each = (self._trace() / size)[..., None]
        found = each * array.ones(self.shape_tensor()[:-1], self.dtype)
        found.set_shape(self.shape[:-1])
        return found


def _hints(non_singular: Hint, self_adjoint: Hint, positive: Hint) -> dict[str, Hint]:
    return {
        "is_non_singular": non_singular, "is_self_adjoint": self_adjoint,
        "is_positive_definite": positive,
    }  # fmt: skip


class LinearOperatorCirculant(_Circulant):
    """A matrix whose every column is the one before it, moved down by one."""

    def __init__(
        self, spectrum: Any, input_output_dtype: DType = dtypes.complex64,
        is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:  # fmt: skip
        hints = _hints(is_non_singular, is_self_adjoint, is_positive_definite)
        super().__init__(spectrum, 1, input_output_dtype, hints, is_square, name)


class LinearOperatorCirculant2D(_Circulant):
    """A circulant matrix of circulant blocks."""

    def __init__(
        self, spectrum: Any, input_output_dtype: DType = dtypes.complex64,
        is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = True,
        name: str = "LinearOperatorCirculant2D",
    ) -> None:  # fmt: skip
        hints = _hints(is_non_singular, is_self_adjoint, is_positive_definite)
        super().__init__(spectrum, 2, input_output_dtype, hints, is_square, name)


class LinearOperatorCirculant3D(_Circulant):
    """A circulant matrix of circulant blocks of circulant blocks."""

    def __init__(
        self, spectrum: Any, input_output_dtype: DType = dtypes.complex64,
        is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = True,
        name: str = "LinearOperatorCirculant3D",
    ) -> None:  # fmt: skip
        hints = _hints(is_non_singular, is_self_adjoint, is_positive_definite)
        super().__init__(spectrum, 3, input_output_dtype, hints, is_square, name)
