"""Samples of weft/ops/image/crop_resize.py and image_glimpse.py."""

from tests.ops.sample import Sample, f32, i32, ramp, u8

IMAGES = ramp("float32", (2, 4, 5, 2), 0, 9) % 4
BOXES = f32([[0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], [0.9, 0.7, 0.23, 0.1], [-0.3, 0.2, 1.2, 0.6]])
WHICH = i32([0, 1, 1, 0])
GLIMPSES = {"uniform_noise": False, "noise": "zero"}

SAMPLES = [
    *(
        Sample("CropAndResize", IMAGES, BOXES, WHICH, size, **attrs)
        for size in (i32([3, 4]), i32([1, 2]), i32([7, 1]))
        for attrs in ({}, {"extrapolation_value": -1.5}, {"method": "nearest"})
    ),
    Sample("CropAndResize", IMAGES.astype("float64"), BOXES, WHICH, i32([3, 2]), rtol=1e-5),
    Sample("CropAndResize", IMAGES.astype("float16"), BOXES, WHICH, i32([3, 2])),
    Sample("CropAndResize", u8([[[[1], [200]], [[30], [4]]]]), BOXES, i32([0] * 4), i32([3, 2])),
    Sample("CropAndResize", IMAGES, BOXES, i32([0, 1, 2, 0]), i32([3, 2]), grad=False),
    Sample("CropAndResize", IMAGES, BOXES, WHICH, i32([0, 2])),
    Sample("CropAndResize", IMAGES, BOXES, i32([0, 1]), i32([3, 2])),
    Sample("CropAndResize", IMAGES, f32([], (0, 4)), i32([]), i32([3, 2]), grad=False),
    *(
        Sample(
            "CropAndResizeGradImage",
            ramp("float32", (4, 3, 2, 2)),
            BOXES,
            WHICH,
            i32([2, 4, 5, 2]),
            T=T,
            method=method,
            rtol=1e-6 if T == "float64" else None,
            grad=False,
        )
        for T, method in (("float32", "bilinear"), ("float64", "bilinear"), ("float32", "nearest"))
    ),
    *(
        Sample("CropAndResizeGradBoxes", ramp("float32", crops), IMAGES, BOXES, WHICH, grad=False)
        for crops in ((4, 3, 2, 2), (4, 1, 4, 2))
    ),
    Sample("ExtractGlimpse", IMAGES, i32([2, 3]), f32([[0, 0.1], [0.3, -0.2]]), **GLIMPSES),
    Sample("ExtractGlimpse", IMAGES, i32([3, 3]), f32([[-1, 0.9], [2, 2]]), **GLIMPSES),
    Sample(
        "ExtractGlimpse",
        IMAGES,
        i32([2, 2]),
        f32([[1, 1], [3, 2]]),
        normalized=False,
        centered=False,
        **GLIMPSES,
    ),
]
