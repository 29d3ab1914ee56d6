"""Samples of weft/ops/image/resample.py."""

from tests.ops.sample import Sample, f32, i32, ramp, u8

IMAGES = ramp("float32", (2, 5, 6, 2), 0, 9) % 4
KERNELS = "lanczos1 lanczos3 lanczos5 gaussian box triangle keyscubic mitchellcubic".split()
UP, DOWN, STILL = f32([1.7, 1.4]), f32([0.6, 0.45]), f32([0, 0])

SAMPLES = [
    *(
        Sample("ScaleAndTranslate", IMAGES, i32([4, 7]), scale, f32([0.3, -0.8]), kernel_type=kind)
        for kind in KERNELS
        for scale in (UP, DOWN)
    ),
    Sample("ScaleAndTranslate", IMAGES, i32([3, 3]), DOWN, STILL, antialias=False),
    Sample("ScaleAndTranslate", u8(IMAGES * 50), i32([8, 8]), UP, STILL),
    Sample("ScaleAndTranslate", IMAGES, i32([8, 8]), UP, f32([20, 0]), grad=False),
    Sample("ScaleAndTranslate", IMAGES, i32([8, 8]), f32([0, 1]), STILL, grad=False),
    Sample("ScaleAndTranslate", IMAGES, i32([8, 8]), UP, STILL, kernel_type="none"),
    Sample("ScaleAndTranslateGrad", ramp("float32", (2, 4, 7, 2)), IMAGES, DOWN, STILL, grad=False),
]
