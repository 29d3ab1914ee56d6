"""Samples of weft/ops/image/fused_conv.py: of one image, since TensorFlow convolves the
first of a batch again and again."""

from tests.ops.sample import Sample, i32, ramp

PADS = i32([[0, 0], [1, 2], [2, 1], [0, 0]])
IMAGE, FILTER = ramp("float32", (1, 4, 5, 3)), ramp("float32", (3, 2, 3, 2))
ONE = {"strides": [1, 1, 1, 1], "padding": "VALID"}

SAMPLES = [
    Sample("FusedPadConv2D", IMAGE, PADS, FILTER, mode="REFLECT", rtol=1e-4, grad=False, **ONE),
    Sample("FusedPadConv2D", IMAGE, PADS, FILTER, mode="SYMMETRIC", strides=[1, 2, 2, 1],
           padding="SAME", rtol=1e-4, grad=False),
    Sample("FusedResizeAndPadConv2D", IMAGE, i32([7, 6]), PADS, FILTER, mode="REFLECT", rtol=1e-4,
           grad=False, **ONE),
    Sample("FusedResizeAndPadConv2D", IMAGE, i32([3, 6]), PADS, FILTER, mode="SYMMETRIC",
           resize_align_corners=True, rtol=1e-4, grad=False, **ONE),
]  # fmt: skip
