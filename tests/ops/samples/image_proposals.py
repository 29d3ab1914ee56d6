"""Samples of weft/ops/image/proposals.py."""

from tests.ops.sample import skip

SAMPLES = [
    skip(
        "GenerateBoundingBoxProposals",
        "TensorFlow has it on GPUs only; tests/ops/image/test_image_proposals.py",
    ),
]
