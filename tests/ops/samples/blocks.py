"""Samples of weft/ops/array/blocks.py."""

from tests.ops.sample import Sample, bf16, f16, f32, i32, i64, ramp

IMAGE = ramp("float32", (1, 4, 4, 1))
IMAGES = ramp("float32", (2, 4, 6, 3))
WINDOW = {"ksizes": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1]}

SAMPLES = [
    *(
        Sample("SpaceToBatchND", *args)
        for args in (
            (IMAGE, i32([2, 2]), i32([[0, 0], [0, 0]])),
            (IMAGES, i64([2, 3]), i64([[1, 1], [0, 3]])),
            (f32([[1, 2, 3]]), i32([2]), i32([[1, 0]])),
            (IMAGES, i32([], (0,)), i32([], (0, 2))),
            (bf16([[1, 2]]), i32([2]), i32([[0, 0]])),
            (IMAGE, i32([3, 2]), i32([[0, 0], [0, 0]])),
            (IMAGE, i32([2, 2]), i32([[-1, 1], [0, 0]])),
        )
    ),
    *(
        Sample("BatchToSpaceND", *args)
        for args in (
            (ramp("float32", (4, 2, 2, 1)), i32([2, 2]), i32([[0, 0], [0, 0]])),
            (ramp("float32", (12, 2, 3, 2)), i64([2, 3]), i64([[1, 0], [2, 1]])),
            (ramp("float64", (2, 3)), i32([2]), i32([[1, 0]])),
            (ramp("float32", (3, 2, 2, 1)), i32([2, 2]), i32([[0, 0], [0, 0]])),
            (ramp("float32", (4, 1, 1, 1)), i32([2, 2]), i32([[2, 1], [0, 0]])),
        )
    ),
    Sample("SpaceToBatch", IMAGE, i32([[0, 0], [0, 0]]), block_size=2),
    Sample("SpaceToBatch", IMAGES, i32([[1, 1], [0, 0]]), block_size=2),
    Sample("BatchToSpace", ramp("float32", (4, 2, 2, 3)), i32([[0, 0], [1, 0]]), block_size=2),
    Sample("SpaceToDepth", IMAGES, block_size=2),
    Sample("SpaceToDepth", i32([[[[1], [2]], [[3], [4]]]]), block_size=2),
    Sample("SpaceToDepth", ramp("float32", (1, 3, 4, 1)), block_size=2),
    Sample(
        "SpaceToDepth",
        ramp("float32", (1, 2, 4, 6)),
        block_size=2,
        data_format="NCHW",
        note="TensorFlow has it on the GPU only",
    ),
    Sample("DepthToSpace", ramp("float32", (2, 2, 3, 8)), block_size=2),
    Sample("DepthToSpace", f16([[[[1, 2, 3, 4]]]]), block_size=2),
    Sample("DepthToSpace", ramp("float32", (1, 2, 2, 6)), block_size=2),
    Sample("DepthToSpace", ramp("float32", (1, 8, 2, 3)), block_size=2, data_format="NCHW"),
    Sample("ExtractImagePatches", IMAGES, padding="VALID", **WINDOW),
    Sample("ExtractImagePatches", IMAGES, padding="SAME", **WINDOW),
    Sample(
        "ExtractImagePatches",
        IMAGES,
        padding="SAME",
        ksizes=[1, 3, 2, 1],
        strides=[1, 2, 3, 1],
        rates=[1, 2, 1, 1],
    ),
    Sample("ExtractImagePatches", i32([[[[1], [2]], [[3], [4]]]]), padding="SAME", **WINDOW),
    Sample(
        "ExtractVolumePatches",
        ramp("float32", (1, 3, 3, 3, 2)),
        ksizes=[1, 2, 2, 2, 1],
        strides=[1, 1, 1, 1, 1],
        padding="VALID",
    ),
    Sample(
        "ExtractVolumePatches",
        ramp("float32", (2, 3, 3, 3, 1)),
        ksizes=[1, 2, 2, 2, 1],
        strides=[1, 2, 2, 1, 1],
        padding="SAME",
    ),
]
