"""Samples of the summary ops: the serialized message must be TensorFlow's, byte by byte."""

import numpy as np

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
    u64,
)

# Written out, not made by the op under test: tag "a" with 1.0, tag "b" with 2.0, a node name.
ONE_A, ONE_B = b"\n\x08\n\x01a\x15\x00\x00\x80?", b"\n\x08\n\x01b\x15\x00\x00\x00@"
NAMED = b"\n\x05:\x03abc"

EDGES = f64([0.0, -0.0, 1e-12, -1e-12, 1e-13, 1.1e-12, 1.0, -1.0, 1e19, 1e21, -1e21, 1e300])
SPREAD = (np.sin(np.arange(300.0)) ** 5 * np.exp(np.arange(300.0) / 40)).reshape(30, 10)

SAMPLES = [
    Sample("ScalarSummary", s("loss"), f32(0.25)),
    Sample("ScalarSummary", s(["a", "b"]), f64([1e40, -2.5])),
    Sample("ScalarSummary", s("one"), i32([7])),
    Sample("ScalarSummary", s(["one"]), bf16(1.5)),
    Sample("ScalarSummary", s("nan"), f16(np.nan)),
    Sample("ScalarSummary", s("big"), i64(2**53 + 1)),
    Sample("ScalarSummary", s("bigger"), u64(2**64 - 1)),
    Sample("ScalarSummary", s([]), f32([])),
    Sample("ScalarSummary", s(["a", "b"]), f32([1.0])),
    Sample("ScalarSummary", s("a"), f32([[1.0]])),
    Sample("HistogramSummary", s("h"), SPREAD.astype(np.float32)),
    # Squares of these are exact: TensorFlow may or may not round them before it adds.
    Sample("HistogramSummary", s("h"), SPREAD.astype(np.float32).astype(np.float64)),
    Sample("HistogramSummary", s("edges"), EDGES),
    Sample("HistogramSummary", s("h"), i32([[1, 2], [3, 3]])),
    Sample("HistogramSummary", s("h"), u8(200)),
    Sample("HistogramSummary", s("h"), i8([-128, 127])),
    Sample("HistogramSummary", s("h"), bf16([0.1, 0.2, 100])),
    Sample("HistogramSummary", s("h"), f16([0.1, -0.2, 100])),
    Sample("HistogramSummary", s("none"), f32([])),
    Sample("HistogramSummary", s("h"), f32([1, np.inf, np.nan])),
    Sample("HistogramSummary", s("h"), f32([np.nan, 1])),
    Sample("HistogramSummary", s(["a", "b"]), f32([1])),
    skip(
        "ImageSummary",
        "pixels are compared in tests/ops/files/test_summary.py: PNG files may differ",
    ),
    skip("AudioSummary", "TensorFlow no longer runs it; it shares its kernel with AudioSummaryV2"),
    Sample("AudioSummaryV2", s("a"), ramp("float32", (2, 5)), f32(8000)),
    Sample("AudioSummaryV2", s("a"), ramp("float32", (2, 4, 2), -1.5, 1.5), f32(0.3)),
    Sample("AudioSummaryV2", s("a"), ramp("float32", (4, 3, 1)), f32(44100.5)),
    Sample("AudioSummaryV2", s("a"), f32([[0.5 / 32768, -0.5 / 32768]]), f32(1), max_outputs=1),
    Sample("AudioSummaryV2", s("a"), f32([0.0]), f32(1)),
    Sample("AudioSummaryV2", s("a"), f32([[0.0]]), f32(0)),
    Sample("AudioSummaryV2", s("a"), f32([[]]), f32(8)),
    Sample("TensorSummary", f32([[1, 2], [3, 4]])),
    Sample("TensorSummary", s("a"), description="{}", labels=["x"], display_name="y"),
    Sample("TensorSummaryV2", s("t"), f32([[1, 2], [3, 4]]), s("")),
    Sample("TensorSummaryV2", s("t"), f32(1), s("")),
    Sample("TensorSummaryV2", s("t"), s([["a", b"\xff"]]), s(b"\n\x06\n\x04text")),
    Sample("TensorSummaryV2", s("t"), b([True, False]), s(b"\x12\x04name")),
    Sample("TensorSummaryV2", s("t"), c64([1 + 2j]), s("")),
    Sample("TensorSummaryV2", s("t"), bf16([1, 2]), s("")),
    Sample("TensorSummaryV2", s("t"), i64([]), s("")),
    Sample("TensorSummaryV2", s(["t", "u"]), i64([]), s("")),
    Sample("MergeSummary", [s(ONE_A)]),
    Sample("MergeSummary", [s(ONE_A), s(ONE_B)]),
    Sample("MergeSummary", [s([ONE_A, ONE_B]), s([b""]), s(NAMED), s(NAMED)]),
    Sample("MergeSummary", [s(ONE_A), s(ONE_A)]),
    Sample("MergeSummary", [s(b"\xff\xff")]),
    *(
        skip(name, "writes files: tests/summary/test_summary_ops_v2.py")
        for name in (
            "SummaryWriter CreateSummaryDbWriter CreateSummaryFileWriter FlushSummaryWriter "
            "CloseSummaryWriter "
            "WriteSummary WriteRawProtoSummary WriteScalarSummary WriteHistogramSummary "
            "WriteImageSummary WriteAudioSummary WriteGraphSummary ImportEvent"
        ).split()
    ),
]
