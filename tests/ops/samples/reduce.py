"""Samples of reduce.py, segment.py and bins.py."""

from __future__ import annotations

import numpy as np

from tests.ops.sample import Sample, Skip, b, bf16, c128, f16, f32, f64, i8, i32, i64, u8

nan, inf = float("nan"), float("inf")
CUBE = np.arange(12).reshape(2, 3, 2) * 0.5 - 2.25
TABLE = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])
REDUCTIONS = ("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm")

REDUCED: list[Sample] = [
    *[Sample(op, make(TABLE), i32([0])) for op in REDUCTIONS for make in (f32, f64, f16, bf16)],
    *[
        Sample(op, f32(CUBE), i32(axes), keep_dims=keep)
        for op in REDUCTIONS
        for axes in ([0, 2], [-1], [], [0, 1, 2], 1)
        for keep in (False, True)
    ],
    *[Sample(op, f64(CUBE), i64([1, -1])) for op in REDUCTIONS],
    *[Sample(op, make([[4, -7], [9, 2]]), i32([0])) for op in REDUCTIONS for make in (i32, i64)],
    *[Sample(op, u8([[4, 7], [9, 2]]), i32([1])) for op in ("Sum", "Mean", "Max", "Prod")],
    *[Sample(op, i8([[4, 7], [9, 2]]), i32([1])) for op in ("Sum", "Max", "Min")],
    *[Sample(op, c128([[1j, 2], [3, 4 - 1j]]), i32([0])) for op in ("Sum", "Mean", "Prod")],
    *[Sample(op, f32(3.5), i32([])) for op in REDUCTIONS],
    *[Sample(op, f32([], (0, 2)), i32([0]), grad=False) for op in REDUCTIONS],
    *[Sample(op, f32([], (0, 2)), i32([1]), grad=False) for op in REDUCTIONS],
    *[Sample(op, i32([], (0, 2)), i32([0])) for op in ("Sum", "Mean", "Prod", "Max", "Min")],
    *[Sample(op, f32([1, nan, 2]), i32([0]), grad=False) for op in ("Max", "Min", "Sum")],
    *[Sample(op, f32([[2, 2, 1], [0, 0, 0]]), i32([1])) for op in ("Max", "Min", "Prod")],
    *[Sample(op, f32([1, 2]), i32([1])) for op in REDUCTIONS],
    Sample("Sum", f16(np.full(3000, 0.125)), i32([0]), grad=False),
    Sample("Mean", i32([-3, -4]), i32([0])),
    *[
        Sample(op, b([[True, False], [True, True]]), i32(axes), keep_dims=keep)
        for op in ("All", "Any")
        for axes in ([0], [1], [0, 1], [], -1)
        for keep in (False, True)
    ],
    *[Sample(op, b([], (0, 2)), i32([0])) for op in ("All", "Any")],
]

POSITIONS: list[Sample] = [
    *[
        Sample(op, make([[1, 5, 5], [7, 2, 1]]), i32(axis))
        for op in ("ArgMax", "ArgMin")
        for make in (f32, f64, f16, bf16, i32, i64, u8)
        for axis in (0, -1)
    ],
    *[
        sample
        for op in ("ArgMax", "ArgMin")
        for sample in (
            Sample(op, f32(CUBE), i64(1), output_type="int32"),
            Sample(op, f32([1, nan, 2]), i32(0)),
            Sample(op, f32([3, 1]), i32(0)),
            Sample(op, f32([], (0, 2)), i32(1)),
            Sample(op, f32([], (0, 2)), i32(0)),
            Sample(op, f32([[1, 2]]), i32(2)),
        )
    ],
]

RUNNING: list[Sample] = [
    *[
        Sample(op, f32(CUBE), i32(axis), exclusive=exclusive, reverse=reverse)
        for op in ("Cumsum", "Cumprod")
        for axis in (0, 1, -1)
        for exclusive in (False, True)
        for reverse in (False, True)
    ],
    *[
        Sample(op, make([[1, 2, 3], [2, 1, 2]]), i32(1))
        for op in ("Cumsum", "Cumprod")
        for make in (f64, f16, i32, i64, u8, c128)
    ],
    *[
        Sample("CumulativeLogsumexp", make(TABLE), i32(1), exclusive=exclusive, reverse=reverse)
        for make in (f32, f64)
        for exclusive in (False, True)
        for reverse in (False, True)
    ],
    *[Sample(op, f32([], (0, 2)), i32(0)) for op in ("Cumsum", "Cumprod")],
    *[Sample(op, f32([], (0, 2)), i32(0), exclusive=True) for op in ("Cumsum", "Cumprod")],
    Sample("Cumsum", f32([1, 2]), i64(0)),
    Sample("Cumsum", f32([1, 2]), i32(1)),
]

ROWS = [[1.0, 2], [3, -4], [5, 6], [7, 8]]
SEGMENTS: list[Sample] = [
    *[
        Sample(f"Segment{how}", make(ROWS), ids)
        for how in ("Sum", "Mean", "Prod", "Max", "Min")
        for make, ids in (
            (f32, i32([0, 0, 1, 1])),
            (f64, i64([0, 0, 0, 2])),
            (i32, i32([1, 1, 1, 2])),
        )
    ],
    *[Sample(f"Segment{how}", f32([]), i32([])) for how in ("Sum", "Mean", "Max")],
    Sample("SegmentSum", f16(ROWS), i32([0, 0, 1, 1])),
    Sample("SegmentSum", bf16(ROWS), i32([0, 0, 1, 1])),
    Sample("SegmentMean", i32([-1, -2, 3]), i32([0, 0, 1])),
    Sample("SegmentMax", f32([2, 2, 1]), i32([0, 0, 0])),
    Sample("SegmentSum", f32([1, 2]), i32([1, 0])),
    Sample("SegmentSum", f32([1, 2]), i32([-1, 0])),
    Sample("SegmentSum", f32([1, 2]), i32([0])),
    *[
        Sample(f"UnsortedSegment{how}", make(ROWS), ids, count)
        for how in ("Sum", "Prod", "Max", "Min")
        for make, ids, count in (
            (f32, i32([2, 0, 2, 0]), i32(3)),
            (f64, i64([1, -1, 1, 0]), i64(2)),
            (i32, i32([1, 1, 1, 0]), i32(2)),
            (f32, i32([[0, 1], [1, 0], [2, 2], [0, 0]]), i32(3)),
        )
    ],
    Sample("UnsortedSegmentProd", f32([0, 2, 3, 0, 0, 4]), i32([0, 0, 0, 1, 1, 1]), i32(2)),
    Sample("UnsortedSegmentMax", f32([2, 2, 1]), i32([0, 0, 0]), i32(1)),
    Sample("UnsortedSegmentSum", f32([]), i32([]), i32(2)),
    Sample("UnsortedSegmentSum", f32(3), i32(1), i32(2), grad=False),
    Sample("UnsortedSegmentSum", f32([1, 2]), i32([0, 3]), i32(2)),
    Sample("UnsortedSegmentSum", bf16(ROWS), i32([0, 0, 1, 1]), i32(2)),
]

GATHERED: list[Sample] = [
    *[
        sample
        for how in ("Sum", "Mean", "SqrtN")
        for make, index in ((f32, i32), (f64, i64))
        for sample in (
            Sample(f"SparseSegment{how}", make(ROWS), index([0, 3, 3]), i32([0, 0, 1])),
            Sample(f"SparseSegment{how}", make(ROWS), index([0, 3, 3]), i32([0, 0, 2])),
            Sample(
                f"SparseSegment{how}WithNumSegments",
                make(ROWS),
                index([0, 3, 1]),
                i32([0, 0, 2]),
                i32(4),
            ),
        )
    ],
    *[
        Sample(f"SparseSegment{how}Grad", make([[1, 2], [3, 4]]), index([0, 2, 2]), ids, i32(4))
        for how in ("Mean", "SqrtN")
        for make, index in ((f32, i32), (f64, i64))
        for ids in (i32([0, 0, 1]),)
    ],
    # Its gradient in TensorFlow is memory that was never written.
    Sample("SparseSegmentSum", f32(ROWS), i32([]), i32([]), grad=False),
    Sample("SparseSegmentSum", f32(ROWS), i32([0, 9]), i32([0, 0])),
    Sample("SparseSegmentSumWithNumSegments", f32(ROWS), i32([0, 1]), i32([0, 5]), i32(3)),
    Sample("SparseSegmentSum", i32([1, 2, 3]), i32([0, 2]), i32([0, 0])),
]

BINS: list[Sample] = [
    Sample("Bincount", i32([1, 2, 2, 5]), i32(4), f32([])),
    Sample("Bincount", i32([[1, 2], [2, 5]]), i32(4), f32([[1, 0.5], [2, 4]])),
    Sample("Bincount", i32([1, 1]), i32(4), i32([])),
    Sample("Bincount", i32([1, 1]), i32(4), i64([5, 6])),
    Sample("Bincount", i32([]), i32(2), f64([])),
    Sample("Bincount", i32([1, -1]), i32(2), f64([])),
    *[
        Sample("Bucketize", make([-5, 0, 1, 3, 100]), boundaries=[0.0, 3.0, 10.0])
        for make in (f32, f64, i32, i64)
    ],
    Sample("Bucketize", f32([[0.5, 11]]), boundaries=[]),
    *[
        Sample("HistogramFixedWidth", make([-1, 0, 1, 2, 5, 15]), make([0, 5]), i32(5))
        for make in (f32, f64, i32, i64)
    ],
    Sample("HistogramFixedWidth", f32([[0.5, 0.1]]), f32([0, 1]), i32(3), dtype="int64"),
    Sample("HistogramFixedWidth", f32([1]), f32([1, 0]), i32(3)),
    *[
        Sample("CompareAndBitpack", make([[1, 9, 3, 7, 2, 8, 0, 6]]), make(4))
        for make in (f32, f64, f16, i8, i32, i64)
    ],
    Sample("CompareAndBitpack", b([[True] * 3 + [False] * 5]), b(False)),
]

SAMPLES: list[Sample | Skip] = [*REDUCED, *POSITIONS, *RUNNING, *SEGMENTS, *GATHERED, *BINS]
