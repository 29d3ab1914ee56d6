"""Samples of weft/ops/image/boxes.py and image_nms.py."""

import numpy as np

from tests.ops.sample import Sample, f16, f32, i32, ramp, skip

BOXES = f32(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [1, 11.1, 0, 10.1],
     [0, 100, 1, 101], [5, 5, 5, 5]]
)  # fmt: skip
SCORES = f32([0.9, 0.75, 0.6, 0.95, 0.5, 0.3, 0.2])
SIZES = i32(3), i32(30), i32(0)
OVERLAPS = np.tri(4, dtype=np.float32) * f32([0.2, 0.9, 0.4, 0.6])
FRAMES = f32([[[0.1, 0.1, 0.8, 0.9], [-0.2, 0.4, 0.5, 1.4], [0.9, 0.9, 0.1, 0.1], [2, 2, 3, 3]]])
OUTSIDE = "draws are compared in tests/ops/image/test_image.py"

# Two images, three boxes, two classes; the same boxes for all classes, and not.
ONE_BOX = np.stack([BOXES[:3, None], BOXES[2:5, None]])
TWO_BOXES = np.concatenate([ONE_BOX, ONE_BOX * f32(0.5)], axis=2)
CLASSES = f32([0.9, 0.3, 0.8, 0.7, 0.1, 0.95, 0.2, 0.85, 0.4, 0.55, 0.6, 0.05], (2, 3, 2))

SAMPLES = [
    *(Sample("NonMaxSuppression", BOXES, SCORES, size) for size in SIZES),
    Sample("NonMaxSuppression", BOXES, SCORES, i32(9), iou_threshold=0.85),
    Sample("NonMaxSuppression", BOXES, SCORES[:3], i32(9)),
    Sample("NonMaxSuppression", BOXES[:, :3], SCORES, i32(9)),
    Sample("NonMaxSuppressionV2", BOXES, SCORES, i32(5), f32(0.5)),
    Sample("NonMaxSuppressionV2", BOXES, SCORES, i32(5), f32(1.5)),
    Sample("NonMaxSuppressionV2", f16(BOXES), f16(SCORES), i32(5), f16(0.5)),
    Sample("NonMaxSuppressionV3", BOXES, SCORES, i32(5), f32(0.5), f32(0.4)),
    Sample("NonMaxSuppressionV3", BOXES, SCORES, i32(-1), f32(0.5), f32(0.4)),
    *(
        Sample(
            "NonMaxSuppressionV4",
            BOXES,
            SCORES,
            i32(5),
            f32(0.5),
            f32(0.4),
            pad_to_max_output_size=pad,
        )
        for pad in (False, True)
    ),
    *(
        Sample(
            "NonMaxSuppressionV5",
            BOXES,
            SCORES,
            i32(6),
            f32(limit),
            f32(0.1),
            f32(sigma),
            pad_to_max_output_size=pad,
            grad=False,
        )
        for limit, sigma, pad in ((0.5, 0, False), (0.9, 0.5, True), (0.85, 0.2, False))
    ),
    Sample("NonMaxSuppressionWithOverlaps", OVERLAPS, SCORES[:4], i32(9), f32(0.5), f32(0.1)),
    Sample("NonMaxSuppressionWithOverlaps", OVERLAPS[1:], SCORES[:4], i32(9), f32(0.5), f32(0.1)),
    *(
        Sample(
            "CombinedNonMaxSuppression",
            boxes,
            CLASSES,
            i32(2),
            i32(5),
            f32(0.5),
            f32(0.15),
            **attrs,
        )
        for boxes in (ONE_BOX, TWO_BOXES)
        for attrs in ({}, {"pad_per_class": True}, {"clip_boxes": False})
    ),
    Sample("CombinedNonMaxSuppression", ONE_BOX, CLASSES, i32(0), i32(5), f32(0.5), f32(0.1)),
    *(Sample("DrawBoundingBoxes", ramp("float32", (1, 7, 9, n)), FRAMES) for n in (1, 3, 4)),
    Sample("DrawBoundingBoxes", ramp("float16", (1, 7, 9, 3)), FRAMES),
    Sample("DrawBoundingBoxes", ramp("float32", (1, 7, 9, 2)), FRAMES),
    Sample("DrawBoundingBoxes", ramp("float32", (2, 7, 9, 3)), FRAMES),
    Sample(
        "DrawBoundingBoxesV2",
        ramp("float32", (1, 7, 9, 3)),
        FRAMES,
        f32([[1, 0, 0, 1], [0, 0.5, 1, 1]]),
    ),
    *(skip(f"SampleDistortedBoundingBox{version}", OUTSIDE) for version in ("", "V2")),
]
