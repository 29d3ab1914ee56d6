"""Samples of weft/ops/image/transform.py and image_match.py."""

from tests.ops.sample import Sample, f32, i32, ramp, skip, u8

IMAGES = ramp("float32", (2, 4, 5, 2), 0, 9) % 4
ONE = f32([[1, 0.2, -0.7, 0.1, 0.9, 0.4, 0.02, 0.03]])
TWO = f32([[0.8, -0.6, 1.1, 0.6, 0.8, -0.9, 0, 0], [1, 0, -1, 0, 1, 2, 0, 0]])

SAMPLES = [
    *(
        Sample("ImageProjectiveTransformV2", images, moves, size, interpolation=how, grad=False)
        for images in (IMAGES, u8(IMAGES * 20))
        for moves, size in ((ONE, i32([4, 5])), (TWO, i32([3, 7])))
        for how in ("NEAREST", "BILINEAR")
    ),
    Sample("ImageProjectiveTransformV2", IMAGES, TWO[1:], i32([4, 5]), interpolation="NEAREST"),
    *(
        Sample("ImageProjectiveTransformV3", images, moves, i32([6, 7]), f32(2), interpolation=how,
               fill_mode=mode, grad=False)
        for images, moves in ((IMAGES, ONE), (u8(IMAGES * 20), TWO))
        for how in ("NEAREST", "BILINEAR")
        for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST")
    ),
    *(
        skip(name, "TensorFlow has it no more: tests/contrib/test_slices.py")
        for name in (
            "BytesInUse", "BytesLimit", "MaxBytesInUse", "PeriodicResample",
            "PeriodicResampleOpGrad", "ReduceSliceMax", "ReduceSliceMin",
            "ReduceSliceProd", "ReduceSliceSum",
        )
    ),
    skip("BipartiteMatch", "TensorFlow has it no more: tests/contrib/test_image.py"),
    skip("ImageProjectiveTransform", "the same kernel as V2, for output of the input's size"),
]  # fmt: skip
