"""How much a split of a node gains, and what its children should add to the logits."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray
_LEAST = np.float32(1e-15)
LOWEST = float(np.finfo(np.float32).min)


def gains_are_equal(a: Any, b: Any) -> bool:
    return bool(np.abs(np.float32(a) - np.float32(b)) < _LEAST)


def is_larger(a: Any, b: Any) -> bool:
    with np.errstate(over="ignore"):
        return bool(np.float32(a) - np.float32(b) >= _LEAST)


def weights_and_gains(gradients: Array, hessians: Array, l1: Any, l2: Any) -> tuple[Array, Array]:
    """For rows of sums: what a leaf with them should have as logits, and how good that is.

    Hessians are one column, a diagonal, or whole matrices.
    """
    l1, l2 = np.float32(l1), np.float32(l2)
    dimension = gradients.shape[1]
    if dimension == 1:
        return _scalar(gradients, hessians, l1, l2)
    if hessians.shape[1] == dimension:
        weights = _divided(-gradients, hessians + l2)
    else:
        matrices = hessians.reshape(-1, dimension, dimension).transpose(0, 2, 1)
        weights = _solved(-gradients, matrices + l2 * np.eye(dimension, dtype=np.float32))
    return weights, -(gradients * weights).sum(axis=1, dtype=np.float32)


def _scalar(gradients: Array, hessians: Array, l1: Any, l2: Any) -> tuple[Array, Array]:
    shrunk = gradients
    if l1 > 0:
        shrunk = np.sign(gradients) * np.maximum(np.abs(gradients) - l1, np.float32(0))
    weights = _divided(-shrunk, hessians + l2, _LEAST)
    return weights, (-shrunk * weights)[:, 0]


def _divided(a: Array, b: Array, least: Any = None) -> Array:
    """a / b, and 0 where there is nothing to divide by."""
    usable = b != 0 if least is None else b > least
    return np.divide(a, b, out=np.zeros_like(a), where=usable)


def _solved(right: Array, matrices: Array) -> Array:
    rows = [np.linalg.lstsq(m, r, rcond=None)[0] for m, r in zip(matrices, right, strict=True)]
    return np.array(rows, np.float32).reshape(right.shape)


def first_best(gains: Array) -> int:
    """The place of the first largest gain; -1 if there is none."""
    best, found, least = LOWEST, -1, float(_LEAST)
    for i, gain in enumerate(gains.tolist()):
        if gain - best >= least:
            best, found = gain, i
    return found
