"""Samples of ops on ragged tensors."""

from __future__ import annotations

from tests.ops.sample import Sample, bf16, f32, f64, i32, i64, s, skip

SPLITS, INNER = i64([0, 2, 2, 5]), i64([0, 1, 3, 3, 4, 6])
VALUES = f32([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]])

SAMPLES = [
    Sample("RaggedRange", i32([0, 5, 8]), i32([3, 5, 12]), i32(2)),
    Sample("RaggedRange", i64(0), i64([3, -1, 0]), i64(1), Tsplits="int32"),
    Sample("RaggedRange", f32([0.5, 3.0]), f32([2.0, -1.0]), f32([0.4, -1.5])),
    Sample("RaggedRange", f64([], (0,)), f64([], (0,)), f64(1)),
    Sample("RaggedRange", bf16(0), bf16([2, 3]), bf16(0.5)),
    Sample("RaggedGather", [SPLITS], f32([1, 2, 3, 4, 5]), i32([2, 0, 2, 1]),
           OUTPUT_RAGGED_RANK=1),
    Sample("RaggedGather", [SPLITS, INNER], VALUES, i64([[2, 1], [0, 0]]), OUTPUT_RAGGED_RANK=3),
    Sample("RaggedGather", [i32([0, 1, 3])], s(["a", "b", "c"]), i32(1), OUTPUT_RAGGED_RANK=0),
    Sample("RaggedGather", [SPLITS], f32([1, 2, 3, 4, 5]), i32([], (0,)), OUTPUT_RAGGED_RANK=1),
    Sample("RaggedTensorToSparse", [SPLITS], f32([1, 2, 3, 4, 5])),
    Sample("RaggedTensorToSparse", [SPLITS, INNER], VALUES),
    Sample("RaggedTensorToSparse", [i32([0, 0])], s([])),
    # TensorFlow has had a gradient since 2.1.
    Sample("RaggedTensorToTensor", i64([-1, -1]), f32([1, 2, 3, 4, 5]), f32(9), [SPLITS],
           row_partition_types=["ROW_SPLITS"], grad=False),
    Sample("RaggedTensorToTensor", i32([4, 2, 1, 2]), VALUES, f32([-1, -2]), [SPLITS, INNER],
           row_partition_types=["ROW_SPLITS", "ROW_SPLITS"], grad=False),
    Sample("RaggedTensorToTensor", i64([-1, 3]), s(["a", "b", "c"]), s("-"),
           [i64(4), i64([0, 0, 2])], row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"],
           grad=False),
    skip("RaggedTensorToVariant", "a variant is no value; tests/ragged/test_tensor.py"),
    skip("RaggedTensorFromVariant", "a variant is no value; tests/ragged/test_tensor.py"),
]  # fmt: skip
