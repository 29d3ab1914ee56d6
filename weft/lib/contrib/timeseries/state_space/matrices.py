"""Matrices of state space models: covariances, blocks and powers."""

from __future__ import annotations

import math as numbers
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.lib.contrib.layers.dense import fully_connected
from weft.ops.array import array
from weft.ops.array.diag import (
    matrix_band_part,
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
)
from weft.ops.array.one_hot_search import where
from weft.ops.array.pad import pad
from weft.ops.control.while_loop import while_loop
from weft.ops.linalg.linalg import matrix_determinant, matrix_triangular_solve
from weft.ops.linalg.matrices import eye
from weft.ops.math import math
from weft.ops.nn.activations import softsign
from weft.ops.state.get_variable import get_variable
from weft.ops.state.initializers import zeros_initializer

# ---- covariances -------------------------------------------------------------------------------


def sign_magnitude_positive_definite(
    raw: Any, off_diagonal_scale: Any = 0.0, overall_scale: Any = 0.0
) -> Tensor:
    """Covariances out of any matrices.

    Above the diagonal a matrix has the magnitudes of the factor's entries, below it their signs.
    Scales are logarithms, one for each matrix.
    """
    raw = convert_to_tensor(raw)

    def widened(scale: Any, rank: int) -> Tensor:
        given: Any = convert_to_tensor(scale, dtype=raw.dtype.base_dtype)
        for _ in range(rank - given.shape.ndims):
            given = array.expand_dims(given, -1)
        return given

    rank = raw.shape.ndims
    scales = widened(off_diagonal_scale, rank) + widened(overall_scale, rank)
    entries = math.exp((raw + scales) / 2.0) * softsign(array.matrix_transpose(raw))
    entries.set_shape(raw.shape)
    diagonal = math.exp((matrix_diag_part(raw) + widened(overall_scale, rank - 1)) / 2.0)
    factor = matrix_set_diag(matrix_band_part(entries, 0, -1), diagonal)
    return math.matmul(factor, factor, transpose_a=True)


def variable_covariance_matrix(
    size: int,
    name: str,
    dtype: Any,
    initial_diagonal_values: Any = None,
    initial_overall_scale_log: Any = 0.0,
) -> Tensor:
    """A covariance that is learned: diagonal at first, with these values and this scale."""
    zeros = zeros_initializer()
    raw = get_variable(f"{name}_pre_transform", [size, size], dtype, zeros)
    if initial_diagonal_values is not None:
        raw = raw + matrix_diag(math.log(initial_diagonal_values))
    off_diagonal = get_variable(
        f"{name}_off_diagonal_scale", dtype=dtype, initializer=constant(-5.0, dtype=dtype)
    )
    scale = convert_to_tensor(initial_overall_scale_log, dtype=dtype)
    scale = scale + get_variable(f"{name}_overall_scale", [], dtype, zeros)
    return array.identity(sign_magnitude_positive_definite(raw, off_diagonal, scale), name=name)


def transform_to_covariance_matrices(input_vectors: Any, matrix_size: int) -> Tensor:
    """A covariance for each vector, by a layer."""
    values = fully_connected(input_vectors, matrix_size**2 + 2, activation_fn=None)
    batch = array.shape(values)[:-1]
    raw = array.reshape(values[..., :-2], array.concat([batch, [matrix_size, matrix_size]], 0))
    raw.set_shape(values.shape[:-1].concatenate([matrix_size, matrix_size]))
    return sign_magnitude_positive_definite(raw, values[..., -2], values[..., -1])


def clip_covariance(covariance: Any, maximum_variance_ratio: Any, minimum_variance: Any) -> Tensor:
    """A covariance whose variances are not too different, and not too small."""
    limits = maximum_variance_ratio, minimum_variance
    return matrix_set_diag(covariance, _raised(matrix_diag_part(covariance), *limits))


def _raised(variances: Tensor, ratio: Any, minimum: Any) -> Tensor:
    largest = math.reduce_max(variances, axis=-1, keepdims=True)
    return math.maximum(variances, math.maximum(largest / ratio, minimum))


def log_noninformative_covariance_prior(covariance: Any) -> Tensor:
    """The logarithm of a prior for small covariances, up to a constant."""
    size = array.shape(covariance)[0]
    steady = covariance + matrix_diag(1e-8 * array.ones([size], covariance.dtype))
    power = -(math.cast(size + 1, covariance.dtype) / 2.0)
    return power * math.log(matrix_determinant(steady))


def mvn_tril_log_prob(loc: Any, scale_tril: Any, x: Any) -> Tensor:
    """The logarithm of the density of a Gaussian, by the factor of its covariance."""
    away = array.expand_dims(x - loc, -1)
    independent = array.squeeze(matrix_triangular_solve(scale_tril, away), [-1])
    widths = math.log(matrix_diag_part(scale_tril)) + 0.5 * numbers.log(2.0 * numbers.pi)
    return -math.reduce_sum(0.5 * math.square(independent) + widths, axis=-1)


def entropy_matched_cauchy_scale(covariance: Any) -> Tensor:
    """The widths of Cauchy distributions of as much entropy as the Gaussians of a covariance."""
    return math.sqrt(numbers.e / (8.0 * numbers.pi) * matrix_diag_part(covariance))


# ---- blocks ------------------------------------------------------------------------------------


def block_diagonal(matrices: Any, dtype: Any, name: str = "block_diagonal") -> Tensor:
    """(Batches of) matrices along the diagonal of larger ones."""
    blocks: list[Any] = [convert_to_tensor(matrix, dtype=dtype) for matrix in matrices]
    widths = [array.shape(block)[-1] for block in blocks]
    rows = []
    for i, block in enumerate(blocks):
        before, after = (math.add_n(each) if each else 0 for each in (widths[:i], widths[i + 1 :]))
        none = array.zeros([block.shape.ndims - 1, 2], dtypes.int32)
        rows.append(pad(block, array.concat([none, [[before, after]]], 0)))
    joined = array.concat(rows, -2, name=name)
    joined.set_shape(_joined_shape([block.shape for block in blocks]))
    return joined


def _joined_shape(shapes: list[Any]) -> Any:
    batch: Any = TensorShape(None)
    for shape in shapes:
        batch = batch.merge_with(shape[:-2])
    sizes = []
    for axis in (-2, -1):
        parts = [shape.as_list()[axis] for shape in shapes]
        sizes.append(None if None in parts else sum(parts))
    return batch.concatenate(sizes)


# ---- powers ------------------------------------------------------------------------------------


def powers_and_sums(matrix: Any, multiplier: Any, counts: Any) -> tuple[Tensor, Tensor]:
    """(`P^n`, the sum of `P^i M P^i'` over all `i < n`) for each `n` of a vector.

    Both double in each step, `S(2n) = S(n) + P^n S(n) P^n'`: shapes do not depend on how large
    the numbers are.
    """
    count, size = array.size(counts), matrix.shape.as_list()[0]
    power = eye(size, batch_shape=array.expand_dims(count, 0), dtype=matrix.dtype)
    power.set_shape([counts.shape.num_elements(), size, size])

    def after(so_far: Any, base: Any, base_total: Any) -> tuple[Any, Any]:
        """Powers and sums, as many steps of the base later."""
        power, total = so_far
        moved = math.matmul(math.tensordot(power, base_total, 1), power, adjoint_b=True)
        return math.tensordot(power, base, 1), total + moved

    def double(left: Any, base: Any, base_total: Any, *so_far: Any) -> tuple[Any, ...]:
        is_odd = math.equal(left % 2, 1)
        later = after(so_far, base, base_total)
        found = [where(is_odd, new, old) for new, old in zip(later, so_far, strict=True)]
        # No power is computed that is not needed: it might be too large.
        twice = math.matmul(base, base), base_total + _moved(base, base_total)
        goes_on = math.reduce_any(left > 1)
        bases = [where(goes_on, *pair) for pair in zip(twice, (base, base_total), strict=True)]
        for new, old in zip((*bases, *found), (base, base_total, *so_far), strict=True):
            new.set_shape(old.shape)
        return left // 2, *bases, *found

    loop = (counts, matrix, multiplier, power, array.zeros_like(power))
    *_, power, total = while_loop(
        lambda left, *_: math.reduce_any(left > 0), double, loop, maximum_iterations=63
    )
    return power, total


def _moved(matrix: Any, covariance: Any) -> Tensor:
    return math.matmul(math.matmul(matrix, covariance), matrix, adjoint_b=True)
