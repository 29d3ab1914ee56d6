"""Samples of the ops on sparse coordinates."""

from __future__ import annotations

import numpy as np

from tests.ops.sample import Sample, f32, f64, i32, i64

_AT = i64([[0, 1], [1, 2]])
_OTHER = i64([[0, 1], [1, 0]])

SAMPLES = [
    Sample("SparseToDense", i32([[0, 1], [1, 2]]), i32([2, 3]), f32([5.0, 7.0]), f32(0.0)),
    Sample("SparseToDense", i32([[0, 1], [1, 2]]), i32([2, 3]), f32(4.0), f32(-1.0)),
    Sample("SparseToDense", i64([1, 3]), i64([5]), f64([1.5, 2.5]), f64(9.0)),
    Sample("SparseToDense", i32(2), i32([4]), i32(1), i32(0)),
    Sample("SparseToDense", i32([1, 3]), i32([5]), i32([[5], [3]]), i32(-1)),
    Sample("SparseToDense", i32([1, 3]), i32([5]), i32([1, 2, 3]), i32(-1)),
    Sample("SparseToDense", i32([1, 3]), i32([5]), i32([1, 2]), i32([0])),
    Sample("SparseToDense", i32([[1, 3]]), i32([5]), i32([1]), i32(0)),
    Sample("SparseToDense", i32([[1, 2], [0, 1]]), i32([2, 3]), f32([5.0, 7.0]), f32(0.0)),
    Sample(
        "SparseToDense",
        i32([[1, 2], [0, 1]]),
        i32([2, 3]),
        f32([5.0, 7.0]),
        f32(0.0),
        validate_indices=False,
    ),
    Sample("SparseToDense", i32([[2, 2]]), i32([2, 3]), f32([5.0]), f32(0.0)),
    Sample(
        "SparseAdd",
        _AT,
        f32([1.0, 2.0]),
        i64([2, 3]),
        _OTHER,
        f32([-1.0, 5.0]),
        i64([2, 3]),
        f32(0.0),
    ),
    Sample(
        "SparseAdd",
        _AT,
        f32([1.0, 2.0]),
        i64([2, 3]),
        _OTHER,
        f32([-1.0, 5.0]),
        i64([2, 3]),
        f32(0.5),
    ),
    Sample("SparseAdd", _AT, i32([1, 2]), i64([2, 3]), _OTHER, i32([4, 5]), i64([2, 4]), i32(0)),
    Sample("SparseAddGrad", f32([1.0, 2.0, 3.0]), _AT, _OTHER, i64([[0, 1], [1, 0], [1, 2]])),
    Sample("SparseAddGrad", f64([3.0]), _AT, _OTHER, i64([[1, 2]])),
    Sample("SparseTensorDenseAdd", _AT, f32([1.0, 2.0]), i64([2, 3]), f32(np.ones([2, 3]))),
    Sample("SparseTensorDenseAdd", i32([[1], [1]]), i32([4, 5]), i32([3]), i32([1, 2, 3])),
]
