"""Samples of the ops behind weft/ops/math/indexing.py."""

from tests.ops.sample import Sample, b, bf16, c64, f16, f32, f64, i32, i64, ramp, s, u8

M23 = f32([[1, 2, 3], [4, 5, 6]])
CUBE = ramp("float32", (2, 3, 4))
WORDS = s([["a", "bc"], ["", "def"]])

SLICES = [
    *(
        Sample("Slice", *args)
        for args in (
            (M23, i32([0, 1]), i32([2, 2])),
            (M23, i64([1, 0]), i64([-1, -1])),
            (M23, i32([2, 0]), i32([0, 3])),
            (CUBE, i32([0, 1, 2]), i32([1, 2, -1])),
            (WORDS, i32([1, 0]), i32([1, 2])),
            (f32(3), i32([]), i32([])),
            (bf16([1, 2, 3]), i32([1]), i32([2])),
            (M23, i32([0, 1]), i32([2, 3])),
            (M23, i32([0, -1]), i32([2, 1])),
            (M23, i32([0]), i32([2])),
        )
    ),
    *(
        Sample("StridedSlice", x, i32(begin), i32(end), i32(strides), **masks)
        for x, begin, end, strides, masks in (
            (M23, [0], [1], [1], {}),
            (M23, [0], [1], [1], {"shrink_axis_mask": 1}),
            (M23, [-1, -2], [0, -1], [1, 1], {"shrink_axis_mask": 3}),
            (M23, [0, 0], [0, 0], [-1, -2], {"begin_mask": 3, "end_mask": 3}),
            (M23, [1, 2], [-3, -4], [-1, -1], {}),
            (M23, [5, -9], [9, 9], [1, 2], {}),
            (M23, [0, 2], [2, 1], [1, 1], {}),
            (M23, [], [], [], {}),
            (CUBE, [0, 1], [0, 2], [1, 1], {"ellipsis_mask": 1, "shrink_axis_mask": 2}),
            (CUBE, [1, 0, 0], [2, 0, 2], [1, 1, 1], {"ellipsis_mask": 2}),
            (CUBE, [1, 0, 0], [2, 0, 0], [1, 1, 1], {"new_axis_mask": 2, "end_mask": 4}),
            (CUBE, [0, 0, 0, 1], [0, 0, 0, 2], [1] * 4, {"ellipsis_mask": 1, "new_axis_mask": 6}),
            (CUBE, [0, 0, 1], [0, 3, 4], [1, 2, 3], {"begin_mask": 1, "end_mask": 1}),
            (CUBE, [-1, 0, 3], [0, 0, 0], [1, 1, -2], {"ellipsis_mask": 2, "shrink_axis_mask": 1}),
            (WORDS, [0, 1], [1, 2], [1, 1], {"shrink_axis_mask": 3}),
            (c64([1j, 2, 3]), [0], [3], [2], {}),
            (i32([1, 2, 3]), [2], [0], [-1], {}),
            (M23, [2], [3], [1], {"shrink_axis_mask": 1}),
            (M23, [0], [1], [0], {}),
            (M23, [0, 0, 0], [1, 1, 1], [1, 1, 1], {}),
            (M23, [0], [1], [-1], {"shrink_axis_mask": 1}),
            (CUBE, [0, 0], [0, 0], [1, 1], {"ellipsis_mask": 3}),
        )
    ),
    Sample("StridedSlice", M23, i64([0, 1]), i64([2, 3]), i64([1, 1])),
    Sample("StridedSliceGrad", i32([2, 3]), i32([0, 1]), i32([2, 3]), i32([1, 1]), M23[:, 1:]),
    Sample(
        "StridedSliceGrad",
        i32([2, 3]),
        i32([1]),
        i32([2]),
        i32([1]),
        f32([7, 8, 9]),
        shrink_axis_mask=1,
    ),
    Sample("StridedSliceGrad", i64([5]), i64([4]), i64([-6]), i64([-2]), f64([1, 2, 3])),
    Sample("StridedSliceGrad", i32([4]), i32([3]), i32([1]), i32([1]), f32([])),
]

GATHERS = [
    Sample("Gather", M23, i32([1, 0, 1])),
    Sample("Gather", M23, i64([[1], [0]])),
    Sample("Gather", f32([1, 2, 3]), i32(2)),
    Sample("Gather", WORDS, i32([1])),
    Sample("Gather", M23, i32([2])),
    *(
        Sample("GatherV2", params, indices, axis, batch_dims=batch)
        for params, indices, axis, batch in (
            (M23, i32([1, 0, 1]), i32(0), 0),
            (M23, i32([2, 0]), i32(1), 0),
            (M23, i64([[2], [0]]), i32(-1), 0),
            (CUBE, i32([1, 1]), i64(1), 0),
            (CUBE, i32([[0, 2], [1, 1]]), i32(1), 1),
            (CUBE, i32([[3], [0]]), i32(2), 1),
            (CUBE, i32([[[0, 3], [1, 1], [2, 0]], [[3, 0], [0, 0], [1, 2]]]), i32(2), 2),
            (CUBE, i32([[0, 2], [1, 1]]), i32(1), -1),
            (f32([1, 2, 3]), i32(1), i32(0), 0),
            (f32([1, 2, 3]), i32([], (0,)), i32(0), 0),
            (f32([], (0, 2)), i32([], (0,)), i32(0), 0),
            (s(["a", "b"]), i32([1, 0]), i32(0), 0),
            (bf16([1, 2]), i32([1, 0]), i32(0), 0),
            (M23, i32([0, -1]), i32(0), 0),
            (M23, i32([[0, 3]]), i32(1), 0),
            (M23, i32([0]), i32(2), 0),
        )
    ),
    *(
        Sample("GatherNd", *args)
        for args in (
            (M23, i32([[0, 1], [1, 2]])),
            (M23, i64([[1], [0], [1]])),
            (M23, i32([1])),
            (M23, i32([1, 2])),
            (CUBE, i32([[[0, 1]], [[1, 2]]])),
            (CUBE, i32([], (0, 2))),
            (WORDS, i32([[0, 1]])),
            (f64([1, 2]), i32([[1], [1]])),
            (M23, i32([[0, 3]])),
            (M23, i32([[-1]])),
            (M23, i32([[0, 0, 0]])),
        )
    ),
]

SCATTERS = [
    *(
        Sample("ScatterNd", *args)
        for args in (
            (i32([[4], [3], [1], [7]]), f32([9, 10, 11, 12]), i32([8])),
            (i32([[0], [2], [0]]), M23[[0, 1, 0]], i32([4, 3])),
            (i64([[0, 1], [1, 2]]), f64([5, 6]), i64([2, 3])),
            (i32([[0], [0]]), i32([1, 2]), i32([2])),
            (i32([], (0, 1)), f32([], (0,)), i32([3])),
            (i32([[1]]), c64([1j]), i32([2])),
            (i32([[1]]), f16([1.5]), i32([2])),
            (i32([[8]]), f32([9]), i32([8])),
            (i32([[0]]), f32([9, 8]), i32([8])),
            (i32([[0]]), M23[:1, :2], i32([4, 3])),
        )
    ),
    *(
        Sample(op, *args)
        for op in (
            "ScatterNdNonAliasingAdd",
            "TensorScatterUpdate",
            "TensorScatterAdd",
            "TensorScatterSub",
            "TensorScatterMax",
            "TensorScatterMin",
        )
        for args in (
            (f32([1, 2, 3, 4]), i32([[0], [2]]), f32([10, 20])),
            (M23, i64([[1]]), f32([[7, 8, 9]])),
            (M23, i32([[0, 1], [1, 2]]), f32([7, 8])),
            (i32([1, 2]), i32([[1]]), i32([5])),
            (f32([1, 2]), i32([[2]]), f32([5])),
        )
    ),
    Sample("TensorScatterAdd", f32([1, 2]), i32([[1], [1]]), f32([5, 6])),
    Sample("TensorScatterMax", f32([1, 7]), i32([[1], [1], [0]]), f32([5, 9, 3])),
    Sample("TensorScatterMin", f32([1, 7]), i32([[1], [1], [0]]), f32([5, 9, 3])),
    *(
        Sample(op, M23, i32(rows), f32([[10, 20, 30]] * len(rows)), grad=False)
        for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub")
        for rows in ([1], [0, 1], [])
    ),
]

CHOSEN = [
    *(
        Sample("OneHot", indices, i32(depth), on, off, axis=axis)
        for indices, depth, on, off, axis in (
            (i64([0, 2, -1, 1]), 3, f32(5), f32(0), -1),
            (i32([0, 2, -1, 1]), 3, f32(1), f32(0), 0),
            (u8([[0, 1], [2, 9]]), 4, i32(1), i32(-1), 1),
            (i64(1), 3, b(True), b(False), -1),
            (i64([1]), 2, s("on"), s("off"), -1),
            (i64([0]), 0, f64(1), f64(0), -1),
            (i64([], (0,)), 2, f32(1), f32(0), -1),
            (i64([0]), -1, f32(1), f32(0), -1),
            (i64([0]), 2, f32(1), f32(0), 2),
        )
    ),
    *(
        Sample("Where", x, grad=False)
        for x in (
            b([[True, False], [True, True]]),
            b(True),
            b([], (0, 2)),
            f32([0, 1.5, float("nan"), -0.0]),
            i32([[1, 0], [0, 2]]),
            c64([0, 1j]),
        )
    ),
    *(
        Sample(op, *args, out_type=kind, grad=False)
        for op in ("LowerBound", "UpperBound")
        for args, kind in (
            ((f32([[0, 3, 9, 9, 10], [1, 2, 3, 4, 5]]), f32([[2, 4, 9], [0, 2, 6]])), "int32"),
            ((i64([[1, 1, 2]]), i64([[1, 0]])), "int64"),
            ((i32([[]]), i32([[1]])), "int32"),
        )
    ),
]

NUMBERED = [
    Sample("UnravelIndex", i32(1621), i32([6, 7, 8, 9])),
    Sample("UnravelIndex", i64([22, 41, 37]), i64([7, 6])),
    Sample("UnravelIndex", i32([3]), i32([7, 0])),
]

PARTITIONS = [
    Sample("DynamicPartition", f32([10, 20, 30, 40, 50]), i32([0, 0, 1, 1, 0]), num_partitions=2),
    Sample("DynamicPartition", M23, i32([1, 1]), num_partitions=3),
    Sample("DynamicPartition", CUBE, i32([[0, 1, 0], [1, 1, 0]]), num_partitions=2),
    Sample("DynamicPartition", s(["a", "b"]), i32([1, 0]), num_partitions=2),
    Sample("DynamicPartition", f32([1]), i32([2]), num_partitions=2),
    Sample("DynamicPartition", M23, i32([0, 0, 1]), num_partitions=2),
    *(
        Sample(op, indices, data)
        for op in ("DynamicStitch", "ParallelDynamicStitch")
        for indices, data in (
            ([i32([0, 4, 7]), i32([1, 6, 2, 3, 5])], [f32([0, 40, 70]), f32([10, 60, 20, 30, 50])]),
            ([i32(1), i32([[0, 2]])], [f32([1, 2]), f32([[[3, 4], [5, 6]]])]),
            ([i32([1, 0])], [s(["a", "b"])]),
            ([i32([]), i32([0])], [i32([]), i32([7])]),
        )
    ),
    Sample("DynamicStitch", [i32([0, 1]), i32([1])], [f32([1, 2]), f32([3])], note="later wins"),
    Sample("DynamicStitch", [i32([0])], [f32([1, 2])]),
    Sample("DynamicStitch", [i32([0]), i32([1])], [M23[:1], f32([[1, 2]])]),
]

SAMPLES = [*SLICES, *GATHERS, *SCATTERS, *CHOSEN, *NUMBERED, *PARTITIONS]
