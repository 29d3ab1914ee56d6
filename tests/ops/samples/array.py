"""Samples of the ops behind weft/ops/array/array.py."""

from tests.ops.sample import (
    Sample,
    b,
    bf16,
    c64,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    ramp,
    s,
    skip,
    u8,
)

M23 = f32([[1, 2, 3], [4, 5, 6]])
CUBE = ramp("float32", (2, 3, 4))
EMPTY = f32([], (0, 3))
SCALAR = f32(2.5)
WORDS = s([["a", "bc"], ["", "def"]])
NAN, INF = float("nan"), float("inf")


def fed(op: str) -> object:
    return skip(op, "computes nothing; feeding is tested in tests/client/test_session.py")


SHAPES = [
    *(Sample("Shape", x) for x in (M23, EMPTY, SCALAR, WORDS, b([True]))),
    Sample("Shape", CUBE, out_type="int64"),
    Sample("ShapeN", [M23, f32([1]), SCALAR]),
    Sample("ShapeN", [i32([[1]]), i32([])], out_type="int64"),
    *(Sample("Rank", x) for x in (CUBE, SCALAR, WORDS)),
    *(Sample("Size", x) for x in (CUBE, SCALAR, EMPTY, WORDS)),
    Sample("Size", CUBE, out_type="int64"),
]

PASSED_THROUGH = [
    *(Sample("Identity", x) for x in (M23, SCALAR, EMPTY, WORDS, bf16([1, 2]), c64([1 + 2j]))),
    Sample("IdentityN", [M23, f32([7]), f64(3)]),
    Sample("IdentityN", [i32([1]), s(["x"])]),
    Sample("StopGradient", M23),
    Sample("PreventGradient", M23, message="no", grad=False),
    Sample("GuaranteeConst", M23, grad=False),
    Sample("DeepCopy", M23, grad=False),
    Sample("Snapshot", M23, grad=False),
    Sample("RefIdentity", M23, grad=False),
    Sample("CheckNumerics", M23, message="checked"),
    Sample("CheckNumerics", f32([1, NAN]), message="checked"),
    Sample("CheckNumerics", f64([INF, 1]), message="checked"),
    Sample("CheckNumerics", f32([INF, NAN]), message="checked"),
    Sample("EnsureShape", M23, shape=[2, 3]),
    Sample("EnsureShape", M23, shape=[None, 3]),
    Sample("EnsureShape", M23, shape=[2, 4]),
    Sample("EnsureShape", M23, shape=[6]),
    Sample("PlaceholderWithDefault", M23, shape=[2, 3]),
    Sample("PlaceholderWithDefault", M23, shape=[None, None]),
    fed("Placeholder"),
    fed("PlaceholderV2"),
]

FILLED = [
    Sample("Fill", i32([2, 3]), f32(1.5)),
    Sample("Fill", i64([4]), c64(1 + 2j)),
    Sample("Fill", i32([]), i32(7)),
    Sample("Fill", i32([0, 2]), f64(1)),
    Sample("Fill", i32([2]), s("ab")),
    Sample("Fill", i32([2]), b(True)),
    Sample("Fill", i32([2, -1]), f32(1), note="negative"),
    Sample("Fill", i32([2]), f32([1, 2]), note="not a scalar"),
    *(Sample("ZerosLike", x) for x in (M23, SCALAR, WORDS, i8([1]), bf16([2]), b([True]))),
    *(Sample("OnesLike", x) for x in (M23, EMPTY, i64([[3]]), c64([2]), b([False]), f16([4]))),
    Sample("Empty", i32([2, 3]), dtype="float32", init=True),
    Sample("Empty", i32([2]), dtype="int32", init=True),
    *(
        Sample("BroadcastTo", *args)
        for args in (
            (f32([1, 2, 3]), i32([2, 3])),
            (f32([[1], [2]]), i64([3, 2, 4])),
            (SCALAR, i32([2, 2])),
            (SCALAR, i32([])),
            (f32([1]), i32([0])),
            (f64([[1, 2]]), i32([1, 2])),
            (i32([1, 2]), i32([2, 2])),
            (c64([1j]), i32([2])),
            (f32([1, 2, 3]), i32([2])),
            (M23, i32([3])),
        )
    ),
]

RESHAPED = [
    *(
        Sample("Reshape", *args)
        for args in (
            (M23, i32([3, 2])),
            (M23, i32([-1])),
            (M23, i64([2, -1, 3])),
            (SCALAR, i32([1, 1])),
            (f32([[5]]), i32([])),
            (EMPTY, i32([3, 0])),
            (EMPTY, i32([-1, 3])),
            (EMPTY, i32([-1, 0])),
            (WORDS, i32([4])),
            (f64([1, 2]), i32([2, 1])),
            (M23, i32([4])),
            (M23, i32([4, -1])),
            (M23, i32([-1, -1])),
            (M23, i32([-2, 3])),
            (M23, i32([[6]])),
        )
    ),
    Sample("Squeeze", f32([[[1], [2]]])),
    Sample("Squeeze", f32([[[1], [2]]]), squeeze_dims=[0]),
    Sample("Squeeze", f32([[[1], [2]]]), squeeze_dims=[-1, 0]),
    Sample("Squeeze", f32([[1]])),
    Sample("Squeeze", M23),
    Sample("Squeeze", s([["x"]])),
    Sample("Squeeze", M23, squeeze_dims=[1]),
    Sample("Squeeze", M23, squeeze_dims=[2]),
    *(
        Sample("ExpandDims", *args)
        for args in (
            (M23, i32(0)),
            (M23, i32(-1)),
            (M23, i64(1)),
            (M23, i32([2])),
            (SCALAR, i32(0)),
            (s("x"), i32(0)),
            (M23, i32(3)),
            (M23, i32(-4)),
        )
    ),
    *(
        Sample("Transpose", *args)
        for args in (
            (M23, i32([1, 0])),
            (CUBE, i32([2, 0, 1])),
            (CUBE, i64([0, 2, 1])),
            (f32([1, 2]), i32([0])),
            (SCALAR, i32([])),
            (EMPTY, i32([1, 0])),
            (WORDS, i32([1, 0])),
            (c64([[1 + 2j, 3]]), i32([1, 0])),
            (bf16([[1, 2]]), i32([1, 0])),
            (M23, i32([0])),
            (M23, i32([0, 0])),
            (M23, i32([0, 2])),
        )
    ),
    Sample("ConjugateTranspose", c64([[1 + 2j, 3 - 1j]]), i32([1, 0])),
    Sample("ConjugateTranspose", M23, i32([1, 0])),
    Sample("InvertPermutation", i32([2, 0, 1, 3])),
    Sample("InvertPermutation", i64([0])),
    Sample("InvertPermutation", i32([])),
    Sample("InvertPermutation", i32([0, 0])),
    Sample("InvertPermutation", i32([0, 2])),
]

JOINED = [
    Sample("Concat", i32(0), [M23, f32([[7, 8, 9]])]),
    Sample("Concat", i32(1), [M23, f32([[7], [8]])]),
    Sample("ConcatV2", [M23, f32([[7, 8, 9]])], i32(0)),
    Sample("ConcatV2", [M23, f32([[7], [8]]), f32([], (2, 0))], i32(-1)),
    Sample("ConcatV2", [i64([1]), i64([2, 3])], i64(0)),
    Sample("ConcatV2", [WORDS, s([["x", "y"]])], i32(0)),
    Sample("ConcatV2", [c64([1j]), c64([2])], i32(0)),
    Sample("ConcatV2", [bf16([1]), bf16([2])], i32(0)),
    Sample("ConcatV2", [f32([i]) for i in range(18)], i32(0), note="more pieces than slices pay"),
    Sample("ConcatV2", [SCALAR, SCALAR], i32(0)),
    Sample("ConcatV2", [M23, f32([1, 2, 3])], i32(0)),
    Sample("ConcatV2", [M23, f32([[1, 2]])], i32(0)),
    Sample("ConcatV2", [M23, M23], i32(2)),
    Sample("ConcatOffset", i32(1), [i32([2, 3, 4]), i32([2, 5, 4]), i32([2, 1, 4])]),
    Sample("ConcatOffset", i32(-1), [i32([2, 3]), i32([2, 4])]),
    Sample("ConcatOffset", i32(0), [i32([2, 3]), i32([2, 4])]),
    Sample("ConcatOffset", i32(2), [i32([2, 3]), i32([2, 3])]),
    Sample("Pack", [M23, M23 + 1]),
    Sample("Pack", [M23, M23 + 1], axis=1),
    Sample("Pack", [M23, M23 + 1], axis=-1),
    Sample("Pack", [SCALAR]),
    Sample("Pack", [i32(1), i32(2)]),
    Sample("Pack", [s("a"), s("bc")]),
    Sample("Pack", [EMPTY, EMPTY], axis=2),
    Sample("Pack", [M23, M23], axis=3),
    Sample("Pack", [M23, f32([[1, 2]])]),
    Sample("Unpack", M23, num=2),
    Sample("Unpack", M23, num=3, axis=1),
    Sample("Unpack", M23, num=3, axis=-1),
    Sample("Unpack", i32([1, 2]), num=2),
    Sample("Unpack", WORDS, num=2),
    Sample("Unpack", s(["a", "b"]), num=2),
    Sample("Unpack", M23, num=3),
    Sample("Unpack", M23, num=2, axis=2),
    Sample("Split", i32(0), M23, num_split=2),
    Sample("Split", i32(-1), M23, num_split=3),
    Sample("Split", i32(1), M23, num_split=1),
    Sample("Split", i32(0), s(["a", "b"]), num_split=2),
    Sample("Split", i32(1), M23, num_split=2),
    Sample("Split", i32(2), M23, num_split=2),
    Sample("SplitV", M23, i32([1, 2]), i32(1), num_split=2),
    Sample("SplitV", M23, i64([-1, 1]), i32(-1), num_split=2),
    Sample("SplitV", M23, i32([0, 2, 0]), i32(0), num_split=3),
    Sample("SplitV", M23, i32([2]), i32(0), num_split=1),
    Sample("SplitV", M23, i32([1, 1]), i32(1), num_split=2),
    Sample("SplitV", M23, i32([-1, -1]), i32(1), num_split=2),
    Sample("SplitV", M23, i32([4, -1]), i32(1), num_split=2),
    Sample("ParallelConcat", [f32([[1, 2]]), f32([[3, 4]])], shape=[2, 2], grad=False),
]

REPEATED = [
    *(
        Sample("Tile", *args)
        for args in (
            (M23, i32([2, 1])),
            (M23, i64([1, 3])),
            (f32([1, 2]), i32([0])),
            (SCALAR, i32([])),
            (WORDS, i32([1, 2])),
            (b([True, False]), i32([2])),
            (bf16([1, 2]), i32([2])),
            (M23, i32([2])),
            (M23, i32([2, -1])),
        )
    ),
    skip("TileGrad", "TensorFlow refuses to build it (deprecated); Tile's gradient is sampled"),
    *(
        Sample("Pad", *args)
        for args in (
            (M23, i32([[1, 0], [0, 2]])),
            (M23, i64([[0, 0], [1, 1]])),
            (f32([1]), i32([[0, 0]])),
            (SCALAR, i32([], (0, 2))),
            (EMPTY, i32([[1, 1], [0, 0]])),
            (i32([1, 2]), i32([[1, 1]])),
            (b([True]), i32([[1, 1]])),
            (c64([1j]), i32([[1, 0]])),
            (bf16([1]), i32([[1, 0]])),
            (s(["a"]), i32([[1, 0]])),
            (M23, i32([[1, 1]])),
            (M23, i32([[1, -1], [0, 0]])),
        )
    ),
    Sample("PadV2", M23, i32([[1, 0], [0, 2]]), f32(9)),
    Sample("PadV2", i64([1, 2]), i64([[1, 1]]), i64(-3)),
    Sample("PadV2", bf16([1]), i32([[1, 0]]), bf16(2)),
    *(
        Sample("MirrorPad", x, paddings, mode=mode)
        for mode in ("REFLECT", "SYMMETRIC")
        for x, paddings in (
            (M23, i32([[1, 1], [2, 2]])),
            (M23, i32([[0, 0], [1, 0]])),
            (f32([1, 2, 3, 4]), i64([[3, 1]])),
            (CUBE, i32([[0, 1], [2, 0], [1, 2]])),
            (i32([1, 2, 3]), i32([[1, 2]])),
            (M23, i32([[2, 0], [0, 0]])),
            (M23, i32([[3, 0], [0, 0]])),
        )
    ),
    *(
        Sample("MirrorPadGrad", x, paddings, mode=mode)
        for mode in ("REFLECT", "SYMMETRIC")
        for x, paddings in (
            (ramp("float32", (4, 7)), i32([[1, 1], [2, 2]])),
            (ramp("float64", (8,)), i64([[3, 1]])),
            (ramp("float32", (4,)), i32([[0, 0]])),
        )
    ),
    Sample("Reverse", M23, b([True, False])),
    Sample("Reverse", CUBE, b([True, False, True])),
    Sample("Reverse", M23, b([False, False])),
    *(
        Sample("ReverseV2", *args)
        for args in (
            (M23, i32([0])),
            (M23, i64([-1, 0])),
            (M23, i32([])),
            (WORDS, i32([1])),
            (b([True, False]), i32([0])),
            (bf16([1, 2]), i32([0])),
            (M23, i32([0, -2])),
            (M23, i32([2])),
        )
    ),
    Sample("ReverseSequence", M23, i32([2, 3]), seq_dim=1),
    Sample("ReverseSequence", M23, i64([0, 2, 1]), seq_dim=0, batch_dim=1),
    Sample("ReverseSequence", CUBE, i64([1, 4]), seq_dim=2, batch_dim=0),
    Sample("ReverseSequence", s([["a", "b", "c"]]), i64([2]), seq_dim=1),
    Sample("ReverseSequence", M23, i64([2, 4]), seq_dim=1),
    Sample("ReverseSequence", M23, i64([2, -1]), seq_dim=1),
    Sample("ReverseSequence", M23, i64([2]), seq_dim=1),
    *(
        Sample("Roll", *args)
        for args in (
            (M23, i32(1), i32(0)),
            (M23, i32([1, -1]), i32([0, 1])),
            (M23, i64([5]), i32([1])),
            (M23, i32([1, 1]), i32([1, 1])),
            (CUBE, i32([-1, 2]), i64([0, -1])),
            (i32([1, 2, 3]), i32(4), i32(0)),
            (M23, i32([1, 1]), i32([0])),
            (M23, i32(1), i32(2)),
        )
    ),
]

SETS = [
    Sample("Unique", i32([1, 1, 2, 4, 4, 1, 7])),
    Sample("Unique", f32([2, 1, 2]), out_idx="int64", grad=False),
    Sample("Unique", s(["b", "a", "b"])),
    Sample("Unique", i32([])),
    Sample("Unique", i32([[1, 2]])),
    Sample("UniqueV2", i32([[1, 0, 0], [1, 0, 0], [2, 0, 0]]), i32([0])),
    Sample("UniqueV2", i32([[1, 0, 0], [1, 0, 0], [2, 0, 0]]), i64([1])),
    Sample("UniqueV2", i64([3, 3, 1]), i64([])),
    Sample("UniqueWithCounts", i32([1, 1, 2, 4, 4, 1, 7])),
    Sample("UniqueWithCounts", s(["b", "a", "b"]), out_idx="int64"),
    Sample("UniqueWithCountsV2", i32([[1, 0], [1, 0], [2, 0]]), i32([0])),
    Sample("UniqueWithCountsV2", u8([3, 3, 1]), i64([])),
    Sample("ListDiff", i32([1, 2, 3, 4, 5, 6]), i32([1, 3, 5])),
    Sample("ListDiff", s(["a", "b", "a"]), s(["b"]), out_idx="int64"),
    Sample("ListDiff", f32([1, 2]), f32([]), grad=False),
    Sample("ListDiff", i32([]), i32([1])),
]

SAMPLES = [*SHAPES, *PASSED_THROUGH, *FILLED, *RESHAPED, *JOINED, *REPEATED, *SETS]
