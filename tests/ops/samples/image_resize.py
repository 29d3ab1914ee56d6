"""Samples of weft/ops/image/resize.py."""

import itertools

from tests.ops.sample import Sample, bf16, f16, f32, f64, i32, i64, ramp, u8

IMAGES = ramp("float32", (2, 3, 4, 2), 0, 9) % 4
GRADS = ramp("float32", (2, 5, 3, 2))
CENTERS = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
SIZES = [i32([5, 3]), i32([6, 9]), i32([1, 2]), i32([3, 4]), i32([1, 1])]
RTOL = {"float64": 1e-6, "float32": None, "float16": None, "uint8": None, "int64": None}
KINDS = "ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor"

SAMPLES = [
    *(
        Sample(kind, IMAGES, size, **centers)
        for kind, size, centers in itertools.product(KINDS, SIZES, CENTERS)
    ),
    *(
        # TensorFlow multiplies the weights of a double's gradient in single precision.
        Sample(kind, image, i32([3, 4]), half_pixel_centers=True, rtol=RTOL[image.dtype.name])
        for kind in KINDS
        for image in (
            u8([[[[1], [255]], [[30], [4]]]]),
            i64([[[[1], [-255]], [[30], [4]]]]),
            f16([[[[1], [-2.5]], [[30], [4]]]]),
            f64([[[[1], [-2.5]], [[30], [4]]]]),
        )
    ),
    Sample("ResizeBilinear", bf16([[[[1], [-2.5]], [[30], [4]]]]), i32([4, 3]), grad=False),
    *(
        Sample(kind, IMAGES, size, **centers)
        for kind, size, centers in (
            ("ResizeBilinear", i32([4]), {}),
            ("ResizeBilinear", i32([0, 4]), {}),
            ("ResizeBicubic", i32([4, 4]), {"align_corners": True, "half_pixel_centers": True}),
            ("ResizeNearestNeighbor", i32([[4, 4]]), {}),
            ("ResizeArea", i32([-1, 4]), {}),
        )
    ),
    Sample("ResizeBilinear", f32([], (0, 2, 2, 1)), i32([3, 3]), grad=False),
    *(
        Sample("ResizeArea", IMAGES, size, align_corners=align)
        for size in (*SIZES, i32([2, 3]), i32([7, 7]))
        for align in (False, True)
    ),
    Sample("ResizeArea", u8(range(36), (1, 6, 6, 1)), i32([4, 3])),
    *(
        Sample(kind, GRADS, image, grad=False, rtol=RTOL[image.dtype.name], **centers)
        for kind in ("ResizeBilinearGrad", "ResizeBicubicGrad")
        for image in (IMAGES, IMAGES.astype("float64"))
        for centers in CENTERS
    ),
    Sample("ResizeBilinearGrad", GRADS, IMAGES.astype("float16"), grad=False, rtol=2e-3),
    Sample("ResizeBilinearGrad", ramp("float32", (1, 90, 2, 1)), IMAGES[:1, :2, :, :1], grad=False),
    *(Sample("ResizeNearestNeighborGrad", GRADS, i32([3, 4]), grad=False, **c) for c in CENTERS),
    Sample("ResizeNearestNeighborGrad", u8([200] * 16, (1, 4, 4, 1)), i32([2, 2])),
]
