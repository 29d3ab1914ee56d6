"""Triangular and tridiagonal matrices from vectors, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.checks import checked
from weft.lib.distributions.sample_shapes import static_rank
from weft.ops.array import array
from weft.ops.array.diag import matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from weft.ops.array.reverse import reverse
from weft.ops.control.check import assert_equal
from weft.ops.math import math


def matrix_size(count: Any, validate_args: bool, name: str | None = None) -> Any:
    """n with n (n + 1) / 2 = count."""
    message = "Vector length is not a triangular number"
    if isinstance(count, float | int | np.generic | np.ndarray):
        size: Any = (-1 + np.sqrt(1 + 8.0 * np.asarray(count))) / 2.0
        if float(int(size)) != size:
            raise ValueError(f"{message}.")
        return int(size)
    with name_scope(name, "vector_size_to_square_matrix_size", [count]):
        size = (-1.0 + math.sqrt(1 + 8.0 * math.cast(count, dtypes.float32))) / 2.0
        whole = math.cast(math.cast(size, dtypes.int32), dtypes.float32)
        size = checked(validate_args, size, lambda: [assert_equal(whole, size, message=message)])
        return math.cast(size, count.dtype)


def _known_size(count: int) -> int:
    size = np.sqrt(0.25 + 2.0 * count) - 0.5
    if size != np.floor(size):
        raise ValueError(
            f"Input right-most shape ({count}) does not correspond to a triangular matrix."
        )
    return int(size)


def fill_triangular(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """[..., n (n + 1) / 2] -> [..., n, n], filled in a spiral from the last row (or the first)."""
    with name_scope(name, "fill_triangular", values=[x]):
        x = convert_to_tensor(x, name="x")
        last = None if x.dims is None else x.shape.with_rank_at_least(1).dims[-1].value
        if last is not None:
            n: Any = _known_size(last)
        else:
            twice = math.cast(2 * array.shape(x)[-1], dtypes.float32)
            n = math.cast(math.sqrt(0.25 + twice), dtypes.int32)
        axis = [static_rank(x) - 1]
        if upper:
            parts = [x, reverse(x[..., n:], axis=axis)]
        else:
            parts = [x[..., n:], reverse(x, axis=axis)]
        shape = array.concat([array.shape(x)[:-1], [n, n]], axis=0)
        square = array.reshape(array.concat(parts, axis=-1), shape)
        filled = matrix_band_part(square, *((0, -1) if upper else (-1, 0)))
        if x.dims is not None:
            known = None if last is None else n
            filled.set_shape([*x.dims[:-1], known, known])
        return filled


def fill_triangular_inverse(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """The vector that `fill_triangular` made a matrix of."""
    with name_scope(name, "fill_triangular_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        last = None if x.dims is None else x.shape.with_rank_at_least(2).dims[-1].value
        n = array.shape(x)[-1] if last is None else last
        count, rank = n * (n + 1) // 2, static_rank(x)
        full, rest = (0, slice(1, None)) if upper else (-1, slice(None, -1))
        row = x[..., full, :]
        row = row if upper else reverse(row, axis=[rank - 2])
        rest = x[..., rest, :]
        # Turned by 180 degrees, the triangle falls on what it left empty.
        turned = reverse(reverse(rest, axis=[rank - 1]), axis=[rank - 2])
        flat = array.concat([array.shape(x)[:-2], [n * (n - 1)]], axis=0)
        others = array.reshape(rest + turned, flat)[..., : count - n]
        y = array.concat([row, others], axis=-1)
        if x.dims is not None:
            y.set_shape([*x.dims[:-2], None if last is None else count])
        return y


def matrix_diag_transform(
    matrix: Any, transform: Callable[[Tensor], Any] | None = None, name: str | None = None
) -> Tensor:
    """`matrix` with its diagonal transformed."""
    with name_scope(name, "matrix_diag_transform", [matrix]):
        found = convert_to_tensor(matrix, name="matrix")
        if transform is not None:
            found = matrix_set_diag(found, transform(matrix_diag_part(found)))
        return found


def tridiag(
    below: Any = None, diag: Any = None, above: Any = None, name: str | None = None
) -> Tensor:
    """The matrix with these numbers on, below and above its diagonal."""
    with name_scope(name, "tridiag", [below, diag, above]):

        def shifted(x: Any, label: str) -> Tensor:
            x = convert_to_tensor(x, name=label)
            zero = array.zeros_like(x[..., :1])
            return matrix_diag(array.concat([zero, x, zero], axis=-1))

        parts = []
        if below is not None:
            parts.append(shifted(below, "below")[..., :-1, 1:])
        if diag is not None:
            parts.append(matrix_diag(convert_to_tensor(diag, name="diag")))
        if above is not None:
            parts.append(shifted(above, "above")[..., 1:, :-1])
        if not parts:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        return math.add_n(parts) if len(parts) > 1 else parts[0]
