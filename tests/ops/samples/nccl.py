"""Samples of weft/ops/devices/nccl.py."""

from tests.ops.sample import skip

SAMPLES = [
    skip(name, "TensorFlow has kernels for GPUs only; checked in tests/ops/devices/test_nccl.py")
    for name in ("NcclAllReduce", "NcclReduce", "NcclBroadcast")
]
