"""How many insertions, deletions and replacements turn one sequence into another."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import is_sparse
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import invalid


def _distances(c: ShapeContext) -> Dims:
    for first in (0, 3):
        rows, rank = s.with_rank(c.dims(first), 2)
        (count,) = s.with_rank(c.dims(first + 1), 1)
        (length,) = s.with_rank(c.dims(first + 2), 1)
        s.merge_dim(rows, count)
        s.merge_dim(rank, length)
    ours, theirs = c.value(2), c.value(5)
    if ours is None or theirs is None:
        return None
    if len(ours) != len(theirs):
        raise ValueError(
            f"Num elements of hypothesis_shape does not match truth_shape: {len(ours)} vs."
            f" {len(theirs)}"
        )
    return tuple(max(int(a), int(b)) for a, b in zip(ours[:-1], theirs[:-1], strict=True))


def _check(what: str, indices: Any, values: Any, shape: Any) -> None:
    for name, array, rank, kind in (
        ("indices", indices, 2, "matrix"),
        ("values", values, 1, "vector"),
        ("shape", shape, 1, "vector"),
    ):
        if array.ndim != rank:
            raise invalid(f"{what}_{name} should be a {kind}, but got shape: {s.show(array.shape)}")
    if len(values) != indices.shape[0]:
        raise invalid(
            f"Expected {what}_values.NumElements == #rows({what}_indices), their shapes are:"
            f" {s.show(values.shape)} and {s.show(indices.shape)}"
        )
    if len(shape) != indices.shape[1]:
        raise invalid(
            f"Expected {what}_shape.NumElements == #cols({what}_indices), their shapes are:"
            f" {s.show(shape.shape)} and {s.show(indices.shape)}"
        )


def _sequences(indices: Any, values: Any) -> dict[tuple[int, ...], list[Any]]:
    """The values of each sequence, by its place in all dimensions but the last."""
    found: dict[tuple[int, ...], list[Any]] = {}
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        found.setdefault(tuple(place), []).append(value)
    return found


def levenshtein(a: list[Any], b: list[Any]) -> int:
    """The edit distance of two lists."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            change = diagonal + (x != y)
            diagonal, row[j] = row[j], min(change, row[j] + 1, row[j - 1] + 1)
    return row[-1]


@op(
    "EditDistance",
    inputs="hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64,"
    " truth_indices: int64, truth_values: T, truth_shape: int64",
    outputs="output: float",
    attrs="normalize: bool = true, T: type",
    shape=_distances,
    traits=HOST | NO_GRADIENT,
)
def edit_distance_(
    xp: Any,
    hypothesis_indices: Any,
    hypothesis_values: Any,
    hypothesis_shape: Any,
    truth_indices: Any,
    truth_values: Any,
    truth_shape: Any,
    *,
    normalize: bool,
) -> Any:
    _check("hypothesis", hypothesis_indices, hypothesis_values, hypothesis_shape)
    if len(truth_shape) < 2:
        raise invalid(
            "Input SparseTensors must have rank at least 2, but truth_shape rank is:"
            f" {len(truth_shape)}"
        )
    _check("truth", truth_indices, truth_values, truth_shape)
    if len(truth_shape) != len(hypothesis_shape):
        raise invalid(
            "Expected truth and hypothesis to have matching ranks, but their shapes are:"
            f" {s.show(truth_shape.shape)} and {s.show(hypothesis_shape.shape)}"
        )
    dims = tuple(np.maximum(hypothesis_shape, truth_shape)[:-1].tolist())
    if 0 in dims:
        raise invalid(f"Got output shape {s.show(dims)} which has 0 elements")
    guesses = _sequences(hypothesis_indices, hypothesis_values)
    truths = _sequences(truth_indices, truth_values)
    out = np.zeros(dims, np.float32)
    strides = np.cumprod([1, *dims[:0:-1]])[::-1].tolist()
    for place in sorted(guesses.keys() | truths.keys()):
        number = sum(i * stride for i, stride in zip(place, strides, strict=True))
        if not 0 <= number < out.size:
            raise errors.InternalError(
                None,
                None,
                f"Got an inner product {number} which would require writing to outside of the"
                f" buffer for the output tensor (max elements {out.size})",
            )
        guess, truth = guesses.get(place, []), truths.get(place, [])
        distance = levenshtein(truth, guess)
        if normalize:
            # Without a truth to compare with, any guess is infinitely wrong.
            out.flat[number] = distance / len(truth) if truth else np.inf
        else:
            out.flat[number] = distance
    return out


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str | None = "edit_distance"
) -> Tensor:
    """The edit distances of the sequences in the last dimension of two sparse tensors."""
    for what, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not is_sparse(value):
            raise TypeError(f"{what} must be a SparseTensor.")
    return edit_distance_(
        hypothesis.indices,
        hypothesis.values,
        hypothesis.dense_shape,
        truth.indices,
        truth.values,
        truth.dense_shape,
        normalize=normalize,
        name=name,
    )
