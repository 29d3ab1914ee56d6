"""Samples of TensorArray operations."""

from tests.ops.sample import skip

SAMPLES = [
    skip(
        "TensorArrayGradWithShape",
        "takes a handle made in the same step: see tests/ops/lists/test_tensor_array.py",
    ),
]
