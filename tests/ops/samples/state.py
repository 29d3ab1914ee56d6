"""Samples of the ops on variables."""

from __future__ import annotations

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
    uninitialized,
)

SAMPLES = [
    skip("Variable", "a variable by itself: tests/ops/state/test_variables.py"),
    skip("VariableV2", "a variable by itself: tests/ops/state/test_variables.py"),
    skip("TemporaryVariable", "a variable by itself: tests/ops/state/test_variables.py"),
    skip(
        "DestroyTemporaryVariable", "needs a TemporaryVariable: tests/ops/state/test_variables.py"
    ),
    skip("VarHandleOp", "a variable by itself: tests/ops/state/test_variables.py"),
    skip("DestroyResourceOp", "leaves nothing to compare: tests/ops/state/test_variables.py"),
    Sample("IsVariableInitialized", f32([1, 2])),
    Sample("IsVariableInitialized", uninitialized("float32", (2,))),
    Sample("VarIsInitializedOp", f32([1, 2])),
    Sample("VarIsInitializedOp", uninitialized("int32", (2,))),
    Sample("ReadVariableOp", f32([[1, 2], [3, 4]]), dtype="float32"),
    Sample("ReadVariableOp", s(["a", "bc"]), dtype="string"),
    Sample("VariableShape", f32([[1, 2, 3]])),
    Sample("VariableShape", i32(1), out_type="int64"),
    Sample("Assign", f32([1, 2]), f32([3, 4])),
    Sample("Assign", uninitialized("float32", (2,)), f32([3, 4])),
    Sample("Assign", f32([1, 2]), f32([[3, 4, 5]]), validate_shape=False),
    Sample("Assign", s(["a"]), s(["b"])),
    Sample("AssignVariableOp", f32([1, 2]), f32([3, 4])),
    Sample("AssignVariableOp", uninitialized("bool", (2,)), b([True, False])),
    Sample("AssignVariableOp", s(["a"]), s(["b"])),
]

for _value in (
    f32([1, -2.5]),
    f64(3),
    f16([0.5, 2]),
    bf16([0.5, 2]),
    i32([7, -7]),
    c64([1 + 2j, 3]),
):
    _delta = (_value * 2).astype(_value.dtype)
    SAMPLES += [
        Sample(_op, _value, _delta)
        for _op in ("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp")
    ]
SAMPLES += [
    Sample("CountUpTo", i32(3), limit=5),
    Sample("CountUpTo", i64(0), limit=1),
    Sample("ResourceCountUpTo", i32(3), limit=5, T="int32"),
    Sample("ResourceCountUpTo", i64(0), limit=1, T="int64"),
    Sample("ResourceGather", ramp("float32", (4, 2)), i32([3, 0, 3]), dtype="float32"),
    Sample("ResourceGather", ramp("float64", (4, 2)), i64([[3], [0]]), dtype="float64"),
    Sample("ResourceGather", ramp("float32", (4,)), i32(2), dtype="float32"),
    Sample(
        "ResourceGather",
        ramp("float32", (2, 3, 2)),
        i32([[2, 0], [1, 1]]),
        dtype="float32",
        batch_dims=1,
        grad=False,
    ),
    Sample("ResourceGatherNd", ramp("float32", (4, 2)), i32([[3], [0]]), dtype="float32"),
    Sample("ResourceGatherNd", ramp("float32", (4, 2)), i64([[3, 1], [0, 0]]), dtype="float32"),
]

# ---- scatters ----

_SCATTERS = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")
for _how in _SCATTERS:
    for _form in ("Scatter", "ResourceScatter"):
        _op = _form + _how
        SAMPLES += [
            Sample(_op, ramp("float32", (4, 2)), i32([3, 0]), f32([[0.5, 2], [-3, 4]])),
            Sample(_op, ramp("float64", (5,)), i64([[1, 4], [0, 2]]), f64([[3, -1], [2, 0.5]])),
            Sample(_op, ramp("float32", (3, 2)), i32([2, 1]), f32(2.5), note="one scalar for all"),
            Sample(_op, ramp("float32", (3,)), i32([]), f32([])),
            Sample(_op, i32([7, -9, 5]), i32([1, 0]), i32([2, 4])),
        ]
        if _how != "Update":
            SAMPLES.append(
                Sample(_op, f32([1, 2, 3]), i32([1, 1, 0]), f32([4, 2, 5]), note="repeated row")
            )
for _form in ("Scatter", "ResourceScatter"):
    SAMPLES += [
        Sample(_form + "Update", b([True, False, True]), i32([0]), b([False])),
        Sample(_form + "Update", s(["a", "b"]), i32([1]), s(["c"])),
        Sample(_form + "Add", u8([250, 3]), i32([0]), u8([10])),
        Sample(_form + "Sub", i8([3, 4]), i32([1, 1]), i8([1, 2])),
        Sample(_form + "Mul", c64([1j, 2]), i32([0]), c64([2j])),
        Sample(_form + "Add", f16([1, 2]), i32([1]), f16([0.5])),
        Sample(_form + "Add", bf16([1, 2]), i32([1]), bf16([0.5])),
    ]

for _how in ("Update", "Add", "Sub"):
    for _form in ("ScatterNd", "ResourceScatterNd"):
        _op = _form + _how
        SAMPLES += [
            Sample(_op, ramp("float32", (4, 2)), i32([[3], [0]]), f32([[0.5, 2], [-3, 4]])),
            Sample(_op, ramp("float32", (4, 2)), i64([[3, 1], [0, 0]]), f32([0.5, 2])),
            Sample(
                _op,
                ramp("float64", (2, 3, 2)),
                i32([[[1, 2]], [[0, 0]]]),
                f64([[[1, 2]], [[3, 4]]]),
            ),
            Sample(_op, i32([7, -9, 5]), i32([[1], [0]]), i32([2, 4])),
        ]
        if _how != "Update":
            SAMPLES.append(
                Sample(_op, f32([1, 2, 3]), i32([[1], [1], [0]]), f32([4, 2, 5]), note="repeated")
            )

# ---- slices ----

for _op in ("StridedSliceAssign", "ResourceStridedSliceAssign"):
    SAMPLES += [
        Sample(_op, ramp("float32", (5,)), i32([1]), i32([4]), i32([2]), f32([8, 9])),
        Sample(_op, ramp("float32", (5,)), i32([4]), i32([-6]), i32([-2]), f32([7, 8, 9])),
        Sample(
            _op,
            ramp("float32", (3, 4)),
            i32([1, 0]),
            i32([2, 2]),
            i32([1, 1]),
            f32([8, 9]),
            shrink_axis_mask=1,
        ),
        Sample(
            _op,
            ramp("float64", (3, 4)),
            i64([0, 1]),
            i64([0, 3]),
            i64([1, 1]),
            ramp("float64", (3, 2), 5, 6),
            ellipsis_mask=1,
        ),
        Sample(
            _op,
            i32([1, 2, 3]),
            i32([0, 0]),
            i32([0, 2]),
            i32([1, 1]),
            i32([[8, 9]]),
            new_axis_mask=1,
        ),
        Sample(
            _op, i32([1, 2, 3]), i32([0]), i32([2]), i32([1]), i32([8, 9]), begin_mask=1, end_mask=0
        ),
    ]
