"""The parts of alternating least squares: normal equations, and products at some places."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.op_def import op
from weft.graph.traits import HOST
from weft.ops.kit.shared import invalid

Array = np.ndarray
_KINDS = {0: "scalar", 1: "vector", 2: "matrix"}


def _check_ranks(ranks: dict[str, tuple[Array, int]]) -> None:
    """Each input by name, with the rank that it must have."""
    for name, (value, rank) in ranks.items():
        if np.ndim(value) != rank:
            raise invalid(f"Input {name} should be a {_KINDS[rank]}.")


@op(
    "WALSComputePartialLhsAndRhs",
    inputs="factors: float, factor_weights: float, unobserved_weights: float, "
    "input_weights: float, input_indices: int64, input_values: float, entry_weights: float, "
    "input_block_size: int64, input_is_transpose: bool",
    outputs="partial_lhs: float, partial_rhs: float",
    shape=lambda c: [None, None],
    traits=HOST,
)
def wals_compute_partial_lhs_and_rhs_(
    xp: Any,
    factors: Array,
    factor_weights: Array,
    unobserved_weights: Array,
    input_weights: Array,
    input_indices: Array,
    input_values: Array,
    entry_weights: Array,
    input_block_size: Array,
    input_is_transpose: Array,
) -> list[Array]:
    """What the entries that were observed add to both sides of each row's normal equations."""
    _check_ranks(
        {
            "factors": (factors, 2),
            "factor_weights": (factor_weights, 1),
            "unobserved_weights": (unobserved_weights, 0),
            "input_weights": (input_weights, 1),
            "input_indices": (input_indices, 2),
            "input_values": (input_values, 1),
            "entry_weights": (entry_weights, 1),
            "input_block_size": (input_block_size, 0),
            "input_is_transpose": (input_is_transpose, 0),
        }
    )
    _check_entries(
        factors, factor_weights, input_weights, input_indices, input_values, entry_weights
    )
    order = [1, 0] if input_is_transpose else [0, 1]
    rows, columns = input_indices[:, order].T
    if len(entry_weights):
        weights = entry_weights
    else:
        weights = input_weights[rows] * factor_weights[columns]
    seen, size = factors[columns], factors.shape[1]
    lhs = np.zeros((int(input_block_size), size, size), np.float32)
    rhs = np.zeros((int(input_block_size), size), np.float32)
    np.add.at(lhs, rows, weights[:, None, None] * seen[:, :, None] * seen[:, None, :])
    np.add.at(rhs, rows, (input_values * (unobserved_weights + weights))[:, None] * seen)
    return [lhs, rhs]


def _check_entries(
    factors: Array,
    factor_weights: Array,
    input_weights: Array,
    input_indices: Array,
    input_values: Array,
    entry_weights: Array,
) -> None:
    if input_indices.shape[1] != 2:
        raise invalid("Input input_indices should have shape (?, 2).")
    count = len(input_indices)
    if len(input_values) != count:
        raise invalid(
            "Input input_values' length should match the first dimension of Input input_indices "
        )
    by_axis = len(input_weights) > 0 and len(factor_weights) == len(factors)
    by_entry = len(input_weights) == len(factor_weights) == 0 and len(entry_weights) == count
    if not (by_axis and len(entry_weights) == 0) and not by_entry:
        raise invalid(
            "To specify the weights for observed entries, either (1) entry_weights must be set or "
            "(2) input_weights and factor_weights must be set, but not both."
        )


@op(
    "MaskedMatmul",
    inputs="a: float, b: float, mask_indices: int64, transpose_a: bool, transpose_b: bool",
    outputs="prod_values: float",
    shape=lambda c: None,
    traits=HOST,
)
def masked_matmul_(
    xp: Any, a: Array, b: Array, mask_indices: Array, transpose_a: Array, transpose_b: Array
) -> Array:
    """The entries of the product of two matrices at some places alone."""
    _check_ranks(
        {
            "a": (a, 2),
            "b": (b, 2),
            "mask_indices": (mask_indices, 2),
            "transpose_a": (transpose_a, 0),
            "transpose_b": (transpose_b, 0),
        }
    )
    left, right = a.T if transpose_a else a, b if transpose_b else b.T
    if left.shape[1] != right.shape[1]:
        raise invalid(
            f"Matrix shapes are incompatible: a has shape {_shown(a)}, while b has shape "
            f"{_shown(b)}."
        )
    if mask_indices.shape[1] != 2:
        raise invalid(
            "mask_indices should be a matrix of shape [nnz 2], where nnz is the number of non-zero "
            "elements."
        )
    for axis, (name, size) in enumerate((("row", len(left)), ("column", len(right)))):
        _check_places(mask_indices[:, axis], name, size)
    rows, columns = mask_indices.T
    return np.einsum("ij,ij->i", left[rows], right[columns]).astype(np.float32)


def _shown(array: Array) -> str:
    return f"[{','.join(map(str, array.shape))}]"


def _check_places(places: Array, name: str, size: int) -> None:
    wrong = np.flatnonzero((places < 0) | (places >= size))
    if len(wrong):
        raise invalid(
            f"In mask_indices[{wrong[0]}, :], the {name} index {places[wrong[0]]} is out of bounds "
            f"[0, {size})."
        )
