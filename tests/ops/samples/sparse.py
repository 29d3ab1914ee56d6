"""Samples of the ops on sparse coordinates."""

from __future__ import annotations

from tests.ops.sample import Sample, f32, f64, i32, i64

SAMPLES = [
    Sample("SparseToDense", i32([[0, 1], [1, 2]]), i32([2, 3]), f32([5.0, 7.0]), f32(0.0)),
    Sample("SparseToDense", i32([[0, 1], [1, 2]]), i32([2, 3]), f32(4.0), f32(-1.0)),
    Sample("SparseToDense", i64([1, 3]), i64([5]), f64([1.5, 2.5]), f64(9.0)),
    Sample("SparseToDense", i32(2), i32([4]), i32(1), i32(0)),
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
]
