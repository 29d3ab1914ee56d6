"""Samples of the graph's own ops: constants, checks; and why control flow has none."""

from __future__ import annotations

from tests.ops.sample import Sample, b, bf16, c64, f16, f32, f64, i8, i32, i64, s, skip, u8

_FRAMES = "only means something inside a running loop or branch: see tests/parity/programs.py"
_HANDLE = "works on a handle that lives for one step: see tests/parity/programs.py"

SAMPLES = [
    *[
        Sample("Const", value=value, dtype=dtype)
        for dtype, value in (
            ("float32", f32([[1.5, -2.0], [0.0, 3.25]])),
            ("float32", f32(7.0)),
            ("float64", f64([0.1, 1e300])),
            ("float16", f16([0.5, 65504.0])),
            ("bfloat16", bf16([0.5, 3.0])),
            ("complex64", c64([1 + 2j])),
            ("int32", i32([])),
            ("int64", i64([[2**40], [-1]])),
            ("int8", i8(-3)),
            ("uint8", u8([0, 255])),
            ("bool", b([True, False])),
            ("string", s(["warp", b"\xff"])),
        )
    ],
    Sample("NoOp"),
    Sample("ControlTrigger"),
    Sample("Assert", b(True), [f32([1.0, 2.0]), s("fine")]),
    Sample("Assert", b(False), [f32([1.0, 2.0]), s("not fine")], summarize=1),
    Sample("Assert", b(False), [i32([[1, 2], [3, 4]])], summarize=-1),
    skip(
        "Print", "hands its input on and writes to the log: see tests/ops/control/test_control.py"
    ),
    skip("PrintV2", "has no result, only writes to the log: see tests/ops/control/test_control.py"),
    skip("EagerPyFunc", "calls a Python function of the process that built the graph"),
    skip("PyFunc", "calls a Python function of the process that built the graph"),
    skip("PyFuncStateless", "calls a Python function of the process that built the graph"),
    *[
        skip(op, _FRAMES)
        for op in (
            *("Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch"),
            *("RefEnter", "RefExit", "RefMerge", "RefNextIteration", "RefSelect", "RefSwitch"),
        )
    ],
    *[
        skip(op, _HANDLE)
        for op in (
            *("Stack", "StackClose", "StackPop", "StackPush"),
            *("StackCloseV2", "StackPopV2", "StackPushV2", "StackV2"),
            *("TensorArrayCloseV3", "TensorArrayConcatV3", "TensorArrayGatherV3"),
            *("TensorArrayGradV3", "TensorArrayReadV3", "TensorArrayScatterV3"),
            *("TensorArraySizeV3", "TensorArraySplitV3", "TensorArrayV3", "TensorArrayWriteV3"),
        )
    ],
]
