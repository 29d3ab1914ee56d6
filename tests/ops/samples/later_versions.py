"""Samples of operations that TensorFlow gained after 1.15."""

from __future__ import annotations

import numpy as np

from tests.ops.sample import Sample, f32, f64, i32, i64, ramp, s, skip, u64
from tests.ops.samples.image_codec import file

INPUT, ROWS = i32([0, 3, 1, 3, 7]), i32([[0, 1, 1], [2, 9, 2]])
COUNTS = [
    *(
        Sample("DenseBincount", values, i32(4), weights, binary_output=binary)
        for values, weights in (
            (INPUT, f32([])), (INPUT, i64([])), (INPUT, f32([1, 2, 3, 4, 5])), (ROWS, i32([])),
            (ROWS, f64([[1, 2, 3], [4, 5, 6]])),
        )
        for binary in (False, True)
    ),
    Sample("DenseBincount", i64([5, 5]), i64(6), i32([])),
    Sample("DenseBincount", i32([[], []], (2, 0)), i32(3), f32([])),
    Sample("DenseBincount", i32([-1]), i32(3), f32([])),
    *(
        Sample("RaggedBincount", i64([0, 2, 2, 5]), INPUT, i32(4), weights, binary_output=binary)
        for weights in (f32([]), f32([1, 2, 3, 4, 5]))
        for binary in (False, True)
    ),
    *(
        Sample(
            "SparseBincount", i64([[0, 0], [0, 2], [2, 1]]), i32([1, 1, 3]), i64([3, 3]), i32(4),
            weights, binary_output=binary,
        )
        for weights in (f32([]), f32([2, 3, 4]))
        for binary in (False, True)
    ),
    Sample("SparseBincount", i64([[0], [2]]), i32([1, 1]), i64([3]), i32(2), f32([])),
]  # fmt: skip
POINTS = [
    *(
        Sample("SobolSample", i32(dim), i32(count), i32(skipped), dtype=dtype)
        for dim, count, skipped in ((1, 5, 0), (3, 9, 0), (7, 4, 11), (40, 6, 100))
        for dtype in ("float32", "float64")
    ),
    Sample("SobolSample", i32(0), i32(1), i32(0)),
    Sample("SobolSample", i32(2), i32(0), i32(0)),
]
IMAGES = [
    *(
        Sample("DecodeImage", file(name), channels=channels, dtype=dtype, grad=False)
        for name in ("rgb.png", "animation.gif", "wide_3.png", "rgb.bmp")
        for channels in (0, 3)
        for dtype in ("uint8", "uint16", "float32")
    ),
    Sample("DecodeImage", file("animation.gif"), expand_animations=False, grad=False),
    Sample("DecodeImage", s(b"nothing"), grad=False),
    Sample("DecodeImage", file("rgb.png"), channels=2, grad=False),
]
SPARSE_COUNTS = [
    *(
        Sample(
            "DenseCountSparseOutput", values, weights, binary_output=binary, minlength=least,
            maxlength=most, grad=False,
        )
        for values, weights in (
            (INPUT, f32([])), (INPUT, i64([])), (ROWS, i32([])),
            (ROWS, f64([[1, 2, 3], [4, 5, 6]])),
        )
        for binary, least, most in ((False, -1, -1), (True, 12, -1), (False, 2, 3))
    ),
    Sample("DenseCountSparseOutput", i32([-1]), f32([]), binary_output=False, grad=False),
    Sample("DenseCountSparseOutput", INPUT, f32([1]), binary_output=False, grad=False),
    *(
        Sample("SparseCountSparseOutput", indices, i32([1, 1, 3]), shape, weights,
               binary_output=binary, grad=False)
        for indices, shape in (
            (i64([[0, 0], [0, 2], [2, 1]]), i64([3, 3])), (i64([[0], [2], [5]]), i64([6])),
        )
        for weights in (f32([]), f32([2, 3, 4]))
        for binary in (False, True)
    ),
    *(
        Sample("RaggedCountSparseOutput", i64([0, 2, 2, 5]), INPUT, weights, binary_output=binary,
               maxlength=most, grad=False)
        for weights, most in ((i32([]), -1), (f32([1, 2, 3, 4, 5]), 5))
        for binary in (False, True)
    ),
]  # fmt: skip
SLICES = [
    Sample("XlaDynamicUpdateSlice", ramp("float32", (3, 4), 0, 1), f32([[8, 9]]), i32([1, 1]),
           grad=False),
    Sample("XlaDynamicUpdateSlice", i32([1, 2, 3]), i32([7, 8]), i64([5]), grad=False),
    Sample("XlaDynamicSlice", ramp("float32", (3, 4), 0, 1), i32([1, 9]), i32([2, 2]), grad=False),
]  # fmt: skip
MATRIX = ramp("float32", (3, 4), -2, 3)
BITS = [
    *(
        Sample("QuantizeAndDequantizeV4", make(MATRIX), make(-1.5), make(2.0), **attrs)
        for make in (f32, f64)
        for attrs in (
            {}, {"range_given": True}, {"range_given": True, "num_bits": 3, "narrow_range": True},
            {"signed_input": False, "range_given": True, "round_mode": "HALF_UP"},
        )
    ),
    *(
        Sample(
            "QuantizeAndDequantizeV4", MATRIX, f32([-1, -2, -0.5, 0][:size]),
            f32([1, 2, 2.5, 3][:size]), axis=axis, range_given=given, grad=False,
        )
        for axis, size in ((0, 3), (1, 4))
        for given in (False, True)
    ),
    Sample("QuantizeAndDequantizeV4Grad", ramp("float32", (3, 4), 1, 2), MATRIX, f32(-1), f32(2),
           grad=False),
    Sample("QuantizeAndDequantizeV4Grad", ramp("float32", (3, 4), 1, 2), MATRIX, f32([-1, -2, -1]),
           f32([0, 1, 2]), axis=0, grad=False),
]  # fmt: skip
SEED = i64([3, 5])
DRAWS = [
    *(
        Sample("StatelessRandomUniformFullInt", i32([3, 5]), SEED, dtype=dtype)
        for dtype in ("int32", "int64", "uint32", "uint64")
    ),
    *(
        Sample("StatelessRandomGammaV2", i32([4, 2, 3]), SEED, alpha, rtol=1e-5, grad=False)
        for alpha in (f32([[0.05, 0.5, 0.99], [1.0, 1.5, 30.0]]), f64([0.3, 1, 7]), f32(2.5))
    ),
    Sample("StatelessRandomGammaV2", i32([4, 2]), SEED, f32([1, 2, 3])),
    Sample("StatelessRandomGammaV3", i32([4, 3]), u64([9]), u64([1, 2]), i32(1), f32([0.5, 1, 4]),
           rtol=1e-5),
    *(
        Sample("StatelessRandomPoisson", i32([6, 4]), SEED, lam, dtype=dtype)
        for lam in (f32([0.5, 3.0, 25.0, 100.0]), f64(7.5))
        for dtype in ("float32", "int64")
    ),
    Sample("RngReadAndSkip", np.array([1, 2, 3]), i32(1), u64(5)),
    skip("StatelessRandomBinomial", "tests/ops/random/test_random_binomial.py: TensorFlow's draws "
         "depend on its number of threads"),
]  # fmt: skip
CROSSES = [
    Sample(
        "RaggedCross", [s(["a", "b", "c"])], [i64([0, 2, 3])], [i64([[0, 0], [1, 0], [1, 1]])],
        [i64([1, 2, 3])], [i64([2, 2])], [s([["x"], ["y"]])], input_order=order,
        hashed_output=hashed, num_buckets=buckets, hash_key=956888297470,
        out_values_type="int64" if hashed else "string", out_row_splits_type="int64",
    )
    for order in ("RSD", "DRS")
    for hashed, buckets in ((False, 0), (True, 0), (True, 100))
]  # fmt: skip
# Segments by int64, which TensorFlow 1.15 does not take.
SEGMENTS = [
    Sample(f"SparseSegment{kind}", ramp("float32", (3, 2)), i32([2, 0, 2]), i64([0, 0, 1]))
    for kind in ("Mean", "SqrtN", "Sum")
]
SAMPLES = [
    *COUNTS, *SPARSE_COUNTS, *SLICES, *POINTS, *IMAGES, *BITS, *DRAWS, *CROSSES, *SEGMENTS,
    *(
        skip(name, "makes a dataset: tests/data/test_newer_graphs.py")
        for name in (
            "DatasetFromGraph", "DatasetToGraph", "LegacyParallelInterleaveDatasetV2",
            "RewriteDataset",
        )
    ),
    skip("DisableCopyOnRead", "does nothing: tests/contrib/test_slices.py"),
    skip("CTCLossV2", "only cuDNN has it: tests/train/test_last_names.py"),
]  # fmt: skip
