"""Samples of weft/ops/image/color.py."""

from tests.ops.sample import Sample, bf16, f16, f32, f64

COLORS = f32(
    [[0.1, 0.5, 0.9], [0.9, 0.2, 0.4], [0.3, 0.8, 0.2], [0.5, 0.5, 0.5], [0, 0, 0], [1, 0, 0],
     [0.2, 0.2, 0.7], [0.6, 0.6, 0.1], [0.7, 0.4, 0.4], [0.25, 1, 0.5]]
)  # fmt: skip
HSV = f32([[0.1, 0.5, 0.9], [0, 0.2, 0.4], [1, 0.8, 0.2], [0.5, 0, 0.5], [0.7, 1, 1]])
IMAGE = COLORS.reshape(1, 2, 5, 3)

SAMPLES = [
    Sample("RGBToHSV", COLORS),
    Sample("RGBToHSV", IMAGE * 255),
    *(Sample("RGBToHSV", kind(COLORS[:4]), grad=False) for kind in (f16, bf16, f64)),
    Sample("RGBToHSV", f32([[1, 2, 3, 4]])),
    Sample("RGBToHSV", f32([], (0, 3)), grad=False),
    Sample("HSVToRGB", HSV),
    # Between two operations, a program may keep more digits of halves than they have.
    Sample("HSVToRGB", f16(HSV), rtol=5e-3),
    *(Sample("HSVToRGB", kind(HSV)) for kind in (bf16, f64)),
    Sample("HSVToRGB", f32(3)),
    *(Sample("AdjustContrastv2", IMAGE, f32(factor), grad=False) for factor in (0, 0.3, 2.5)),
    Sample("AdjustContrastv2", IMAGE[0], f32(2)),
    Sample("AdjustContrastv2", IMAGE[0], f32([2])),
    Sample("AdjustContrastv2", COLORS, f32(2)),
    *(Sample("AdjustHue", IMAGE, f32(delta), grad=False) for delta in (0, 0.1, -0.3, 0.5, 1, -2)),
    Sample("AdjustHue", IMAGE[..., :2], f32(0.1)),
    Sample("AdjustHue", IMAGE, f32([0.1])),
    *(Sample("AdjustSaturation", IMAGE, f32(x), grad=False) for x in (0, 0.1, 1, 2.5, -1)),
    Sample("AdjustSaturation", IMAGE * 255, f32(0.5), grad=False),
    Sample("AdjustSaturation", IMAGE[..., :2], f32(0.1)),
]
