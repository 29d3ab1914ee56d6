"""Samples of elementwise.py, casts.py and special.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tests.ops.sample import (
    Sample,
    Skip,
    b,
    bf16,
    c64,
    c128,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    s,
    u8,
    u16,
    u32,
    u64,
)

nan, inf = float("nan"), float("inf")
Make = Callable[..., np.ndarray]

REAL = [0.3, -0.7, 0.05, 0.9]
ABOVE_ONE = [1.0, 1.5, 2.25, 7.0]
POSITIVE = [0.1, 0.5, 1.0, 3.25]
WIDE = [-30.0, -2.5, -0.5, 0.0, 0.5, 1.5, 30.0]
COMPLEX = [[0.5 + 1j, -0.25 - 0.5j], [1 - 0.5j, 0.1j]]

FLOATS: list[Make] = [f32, f64, f16, bf16]


def each(op: str, values: Any, makers: Iterable[Make] = FLOATS, **options: Any) -> list[Sample]:
    """A sample of the op in each dtype, and one each of a scalar and an empty array."""
    makers = list(makers)
    sizes = [makers[0](np.ravel(values)[0]), makers[0]([], (0, 3))]
    return [Sample(op, make(values), **options) for make in makers] + [
        Sample(op, x, **options) for x in sizes
    ]


UNARY: list[Sample] = [
    *each("Abs", [-2, 0.5, -0.25, 3], [f32, f64, f16, bf16, i8, i16, i32, i64]),
    *each("Neg", [-2, 0.5, 0, 3], [f32, f64, f16, bf16, i32, i64]),
    *each("Sign", [-2, 0.5, 0, nan], [f32, f64, f16, bf16]),
    Sample("Sign", i32([-7, 0, 9])),
    Sample("Sign", c128([3 + 4j, 0, -2])),
    *each("Exp", WIDE[1:-1]),
    Sample("Exp", f32([-200, 88, 100, nan, inf, -inf]), grad=False),
    *each("Expm1", [-2, -1e-3, 0, 1e-3, 2]),
    *each("Log", POSITIVE),
    Sample("Log", f32([0, -1, inf, nan]), grad=False),
    *each("Log1p", [-0.5, 1e-3, 0, 2]),
    *each("Sqrt", POSITIVE),
    Sample("Sqrt", f32([0, -1, inf]), grad=False),
    *each("Rsqrt", POSITIVE),
    Sample("Rsqrt", f32([0, inf]), grad=False),
    *each("Square", REAL, [f32, f64, f16, bf16]),
    Sample("Square", i32([-3, 0, 40000])),
    *each("Reciprocal", [-2, 0.5, 4]),
    Sample("Reciprocal", f32([0, -0.0, inf]), grad=False),
    *each("Inv", [-2, 0.5, 4]),
    *each("Sigmoid", [-2.5, -0.5, 0.0, 1.5, 8]),
    Sample("Sigmoid", f32([-60, 60, inf, -inf, nan]), grad=False),
    *each("Sin", WIDE[1:-1]),
    *each("Cos", WIDE[1:-1]),
    *each("Tan", [-1.2, 0, 0.5, 1]),
    *each("Asin", REAL),
    *each("Acos", REAL),
    *each("Atan", WIDE[1:-1]),
    *each("Sinh", WIDE[1:-1]),
    *each("Cosh", WIDE[1:-1]),
    *each("Tanh", WIDE[1:-1]),
    Sample("Tanh", f32([-40, 40, inf, nan]), grad=False),
    *each("Asinh", WIDE[1:-1]),
    *each("Acosh", ABOVE_ONE[1:]),
    *each("Atanh", REAL),
    *each("Floor", [-1.5, -0.5, 0.5, 2]),
    *each("Ceil", [-1.5, -0.5, 0.5, 2]),
    *each("Rint", [-2.5, -1.5, 0.5, 1.5, 2.6]),
    *each("Round", [-2.5, -1.5, 0.5, 1.5, 2.6], [f32, f64, f16, bf16]),
    *each("IsNan", [nan, inf, -inf, 1]),
    *each("IsInf", [nan, inf, -inf, 1]),
    *each("IsFinite", [nan, inf, -inf, 1]),
    *each("LogicalNot", [True, False], [b]),
    *each("Invert", [0, 1, 100], [i8, i16, i32, i64, u8, u16, u32, u64]),
    *each("PopulationCount", [0, 1, 100], [i8, i16, i32, i64, u8, u16, u32, u64]),
    Sample("PopulationCount", i32([-1, -2, 2**31 - 1])),
    *[
        Sample(op, make(COMPLEX))
        for op in (
            "Neg Exp Log Sqrt Rsqrt Square Reciprocal Sigmoid Sin Cos Tanh Sinh Cosh Expm1 Log1p"
        ).split()
        for make in (c64, c128)
    ],
    *[Sample(op, c128(COMPLEX)) for op in "Tan Asinh Acosh Atanh Asin Acos Atan Inv".split()],
]

SPECIAL: list[Sample] = [
    *each("Erf", WIDE),
    *each("Erfc", WIDE[1:]),
    Sample("Erf", f32([nan, inf, -inf]), grad=False),
    *each("Lgamma", [0.1, 0.5, 1, 3.25, 20, -1.5]),
    Sample("Lgamma", f32([0, -1, inf, -inf, nan]), grad=False),
    *each("Digamma", [0.1, 0.5, 1, 3.25, 20, -1.5]),
    Sample("Digamma", f32([0, -1, inf, nan]), grad=False),
    *each("BesselI0e", [-3, -0.5, 0.25, 1, 9]),
    *each("BesselI1e", [-3, -0.5, 0.25, 1, 9]),
    Sample("BesselI1e", f32([0, inf]), grad=False),
    *[
        Sample(op, make([0.5, 1, 3, 6]), make([0.25, 2, 3, 1.5]), rtol=1e-4)
        for op in ("Igamma", "Igammac", "IgammaGradA")
        for make in (f32, f64)
    ],
    Sample("Igamma", f32([[0.5], [2]]), f32([0.25, 2, 3]), rtol=1e-4),
    Sample("Igamma", f32([0, -1, 1, 1, 0, 1]), f32([1, 1, -1, 0, 0, nan]), grad=False),
    Sample("Igammac", f32([0, -1, 1, 1, 0, 1]), f32([1, 1, -1, 0, 0, nan]), grad=False),
    *[Sample("Zeta", m([2, 3.5, 1.5]), m([1, 0.5, 4])) for m in (f32, f64)],
    Sample("Zeta", f32([2, 1, 0.5, 2, 2, 2.5]), f32([1, 1, 1, 0, -1, -1.5]), grad=False),
    *[Sample("Polygamma", m([0, 1, 2, 4]), m([1, 0.5, 4, 2.5])) for m in (f32, f64)],
    Sample("Polygamma", f32([1.5, -1, 1, 2]), f32([1, 1, 0, -1]), grad=False),
    *[Sample("Betainc", m([1.5, 2, 0.5]), m([4, 3, 2]), m([0.5, 0.2, 0.9])) for m in (f32, f64)],
    Sample("Betainc", f32(2), f32(3), f32([0.5, 0.2, 0.9])),
    Sample("Betainc", f32([2, 4]), f32([3, 2]), f32(0.5)),
    Sample("Betainc", f32([2, 1]), f32([3, 1]), f32([0.5, 1, 2])),
    Sample("Betainc", f32([0, -1, 1, 1]), f32(1), f32([0.5, 0.5, 0, 2]), grad=False),
]

OF_OUTPUT: list[Sample] = [
    Sample(op, make([0.5, -0.25, 0.75]), make([1, 2, -3]))
    for op in "SigmoidGrad TanhGrad SqrtGrad RsqrtGrad ReciprocalGrad InvGrad".split()
    for make in (f32, f64, f16, bf16, c128)
]


def pairs(op: str, x: Any, y: Any, makers: Iterable[Make], **options: Any) -> list[Sample]:
    """Same shapes in each dtype; then broadcasts, scalars, empties and a misfit in the first."""
    makers = list(makers)
    first, flat_x, flat_y = makers[0], np.ravel(x), np.ravel(y)
    return [
        *[Sample(op, make(x), make(y), **options) for make in makers],
        Sample(op, first(flat_x[:2], (2, 1)), first(flat_y[:3], (1, 3)), **options),
        Sample(op, first(flat_x[0]), first(flat_y[:3]), **options),
        Sample(op, first(flat_x[:3]), first(flat_y[0]), **options),
        Sample(op, first(flat_x[0]), first(flat_y[0]), **options),
        Sample(op, first([], (0, 2)), first(flat_y[:2]), **options),
        Sample(op, first(flat_x[:2]), first(flat_y[:3]), **options),
    ]


X, Y = [1.5, -2, 0.5, 3], [0.5, 4, -1.25, 2]
INT_X, INT_Y = [7, -7, 9, -9], [2, 2, -4, -4]
ARITHMETIC: list[Make] = [f32, f64, f16, bf16]

BINARY: list[Sample] = [
    *pairs("Add", X, Y, ARITHMETIC),
    *[Sample("Add", m([1, 100, 7]), m([3, 100, 2])) for m in (u8, i8, i16, i32, i64)],
    Sample("Add", c64(COMPLEX), c64([1j, 2])),
    Sample("Add", s(["a", "b"]), s("c")),
    Sample("Add", s("x"), s("y")),
    *pairs("AddV2", X, Y, ARITHMETIC),
    *[Sample("AddV2", m([1, 100, 7]), m([3, 100, 2])) for m in (u8, i8, i16, i32, i64)],
    Sample("AddV2", i32([2**31 - 1]), i32([1])),
    Sample("AddV2", c64(COMPLEX), c64([1j, 2])),
    *pairs("Sub", X, Y, ARITHMETIC),
    *[Sample("Sub", m([1, 100, 7]), m([3, 100, 2])) for m in (u8, i8, u16, i16, i32, i64)],
    Sample("Sub", c64(COMPLEX), c64([1j, 2])),
    *pairs("Mul", X, Y, ARITHMETIC),
    *[Sample("Mul", m([1, 100, 7]), m([3, 100, 2])) for m in (u8, i8, u16, i16, i32, i64)],
    Sample("Mul", c64(COMPLEX), c64([1j, 2])),
    Sample("Mul", c128([1 + 2j]), c128([3 - 1j])),
    *pairs("MulNoNan", X, Y, [f32, f64, f16]),
    Sample("MulNoNan", f32([nan, inf, 1, 2]), f32([0, 0, nan, 3]), grad=False),
    *pairs("SquaredDifference", X, Y, ARITHMETIC),
    Sample("SquaredDifference", i32([1, -2]), i32([4, 5])),
    Sample("SquaredDifference", c128([1 + 2j]), c128([3j]), grad=False),
    *pairs("Div", X, Y, ARITHMETIC),
    *[Sample("Div", m(INT_X), m(INT_Y)) for m in (i8, i16, i32, i64)],
    Sample("Div", u8([7, 9]), u8([2, 4])),
    Sample("Div", i32([1]), i32([0])),
    *pairs("RealDiv", X, Y, ARITHMETIC),
    Sample("RealDiv", f32([1, -1, 0]), f32([0, 0, 0]), grad=False),
    Sample("RealDiv", c128(COMPLEX), c128([1 + 1j, 2 - 1j])),
    *pairs("DivNoNan", X, Y, [f32, f64, f16]),
    Sample("DivNoNan", f32([1, nan, 0, 3]), f32([0, 0, 0, 2])),
    *[Sample("TruncateDiv", m(INT_X), m(INT_Y)) for m in (i8, i16, i32, i64)],
    Sample("TruncateDiv", u16([7, 9]), u16([2, 4])),
    *pairs("FloorDiv", X, Y, ARITHMETIC),
    *[Sample("FloorDiv", m(INT_X), m(INT_Y)) for m in (i8, i16, i32, i64)],
    Sample("FloorDiv", u8([7, 9]), u8([2, 4])),
    Sample("FloorDiv", f32([1, 5, -5]), f32([0.1, 0, 0])),
    Sample("FloorDiv", i32([1]), i32([0])),
    *pairs("FloorMod", [5.5, -2, 0.5, 3], Y, ARITHMETIC),
    *[Sample("FloorMod", m(INT_X), m(INT_Y)) for m in (i32, i64)],
    Sample("FloorMod", f32([5, -5, 1, 0]), f32([inf, inf, 0, -1]), grad=False),
    Sample("FloorMod", i32([1]), i32([0])),
    *[
        Sample(op, m(x), m(y))
        for op in ("Mod", "TruncateMod")
        for m, x, y in ((f32, X, Y), (f64, X, Y), (i32, INT_X, INT_Y), (i64, INT_X, INT_Y))
    ],
    *pairs("Pow", [1.5, 2, 0.5, 3], Y, ARITHMETIC),
    Sample("Pow", f64([-2, -2, 0, 0]), f64([2, 3, 2, 3])),
    Sample("Pow", i32([2, -3, 7, 0]), i32([10, 3, 0, 0])),
    Sample("Pow", i64([2, 3]), i64([40, 5])),
    Sample("Pow", i32([2]), i32([-1])),
    Sample("Pow", c128([1 + 2j, 0.5j]), c128([2, 1 - 1j])),
    *pairs("Xdivy", X, Y, [f32, f64, f16]),
    Sample("Xdivy", f32([0, 0, 1]), f32([0, nan, 2]), grad=False),
    *pairs("Xlogy", X, [0.5, 4, 1.25, 2], [f32, f64, f16]),
    Sample("Xlogy", f32([0, 0, 1]), f32([0, nan, 2]), grad=False),
    *pairs("Xlog1py", X, [0.5, 4, 1.25, 2], [f32, f64, f16]),
    Sample("Xlog1py", f32([0, 0, 1]), f32([-1, nan, 2]), grad=False),
    *pairs("Atan2", X, Y, [f32, f64, f16]),
    Sample("Atan2", f32([0, -0.0, 1]), f32([-1, -1, 0]), grad=False),
    *pairs("Maximum", [1, -2, 0.5, 3], [1, 4, -1.25, 2], ARITHMETIC),
    *pairs("Minimum", [1, -2, 0.5, 3], [1, 4, -1.25, 2], ARITHMETIC),
    *[Sample(op, m([1, -2]), m([0, 5])) for op in ("Maximum", "Minimum") for m in (i32, i64)],
    Sample("Maximum", f32([nan, 1]), f32([1, nan]), grad=False),
    Sample("Minimum", f32([nan, 1]), f32([1, nan]), grad=False),
    *pairs("NextAfter", X, Y, [f32, f64], rtol=0.0),
    *pairs("LeftShift", [1, 3, 100, -1], [1, 9, 0, 7], [i8, i16, i32, i64]),
    *pairs("RightShift", [1, 3, 100, -128], [1, 9, 0, 7], [i8, i16, i32, i64]),
    Sample("LeftShift", i8([1, 1, 1]), i8([9, -1, 7])),
    *[
        Sample(op, m([12, 10, 255]), m([10, 6, 15]))
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift")
        for m in (u8, u16, u32, u64)
    ],
    *[
        sample
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
        for sample in pairs(op, [12, 10, -1, 7], [10, 6, 15, 3], [i8, i16, i32, i64])
    ],
    *[
        sample
        for op in ("LogicalAnd", "LogicalOr")
        for sample in pairs(op, [True, True, False], [True, False, False], [b])
    ],
    *[
        sample
        for op in ("Less", "LessEqual", "Greater", "GreaterEqual")
        for sample in pairs(
            op, [1, 2, 3, 100], [1, 3, 2, 7], [f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16]
        )
    ],
    *[Sample(op, f32([nan, 1]), f32([nan, nan])) for op in ("Less", "GreaterEqual", "Equal")],
    *[
        sample
        for op in ("Equal", "NotEqual")
        for sample in pairs(
            op,
            [1, 2, 3, 100],
            [1, 3, 2, 100],
            [f32, f64, f16, bf16, i8, i16, i32, i64, u8, c64, c128],
        )
    ],
    *[Sample(op, s(["a", "b"]), s(["a", "c"])) for op in ("Equal", "NotEqual")],
    *[Sample(op, s("a"), s("a")) for op in ("Equal", "NotEqual")],
    *[Sample(op, b([True, False]), b([True, True])) for op in ("Equal", "NotEqual")],
    Sample("ApproximateEqual", f32([1, 2, 3]), f32([1.000001, 2.1, 3])),
    Sample("ApproximateEqual", f64([1, 2]), f64([1.05, 2.2]), tolerance=0.1),
    Sample("ApproximateEqual", i32([1, 2]), i32([1, 3])),
    Sample("ApproximateEqual", f32([1, 2]), f32([1, 2, 3])),
]

CHOOSING: list[Sample] = [
    Sample("Select", b([True, False]), f32([1, 2]), f32([3, 4])),
    Sample("Select", b(True), f32([1, 2]), f32([3, 4])),
    Sample("Select", b([True, False]), f64([[1, 2], [3, 4]]), f64([[5, 6], [7, 8]])),
    Sample("Select", b([[True], [False]]), i32([[1], [2]]), i32([[5], [6]])),
    Sample("Select", b([True, False]), s(["a", "b"]), s(["c", "d"])),
    Sample("Select", b([]), f32([]), f32([])),
    Sample("Select", b([True, False]), f32([1, 2]), f32([3, 4, 5])),
    Sample("Select", b([True, False, True]), bf16([1, 2, 3]), bf16([3, 4, 5])),
    Sample("SelectV2", b([True, False]), f32([1, 2]), f32([3, 4])),
    Sample("SelectV2", b([[True], [False]]), f32([1, 2, 3]), f32(9)),
    Sample("SelectV2", b(False), f64([[1, 2]]), f64([[5], [6]])),
    Sample("SelectV2", b([True, False]), s(["a", "b"]), s("c")),
    Sample("SelectV2", b([True, False]), f32([1, 2, 3]), f32([3, 4, 5])),
    Sample("ClipByValue", f32([-1, 0.5, 3, nan]), f32(0), f32(1), grad=False),
    Sample("ClipByValue", f32([-1, 0.5, 3]), f32([0, 1, 2]), f32([1, 2, 2.5])),
    Sample("ClipByValue", f32([-1, 0.5, 3]), f32(0), f32([1, 2, 2.5])),
    Sample("ClipByValue", i32([-1, 5, 3]), i32(0), i32(4)),
    Sample("ClipByValue", f64([3]), f64(4), f64(2), grad=False),
]

CASTS: list[Sample] = [
    *[
        Sample("Cast", source([0, 1, 2, 100]), DstT=target)
        for source in (f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, c64, c128)
        for target in (
            "float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 uint16 bool complex64"
        ).split()
    ],
    *[
        Sample("Cast", source([0, 1, 2, 100]), DstT=target)
        for source in (u32, u64, i32)
        for target in ("uint32", "uint64", "float32", "complex128")
    ],
    *[
        Sample("Cast", b([True, False]), DstT=target)
        for target in ("float32", "int32", "uint8", "bool", "complex64", "bfloat16")
    ],
    Sample("Cast", f32([-1.7, 1.7, -0.2, 2.5]), DstT="int32"),
    Sample("Cast", f32([nan, 0, 0.3, -inf]), DstT="bool"),
    Sample("Cast", i32([-1, 300, 65537]), DstT="uint8"),
    Sample("Cast", c128([1 + 2j, -3j]), DstT="float32"),
    Sample("Cast", f32([1.99999, -1.99999, 0.1]), DstT="bfloat16", Truncate=True),
    Sample("Cast", f64([0.1, -0.1]), DstT="float32", Truncate=True),
    Sample("Cast", f32(2.5), DstT="int64"),
    Sample("Cast", f32([], (0, 2)), DstT="int64"),
    Sample("Bitcast", f32([1, -2]), type="int32"),
    Sample("Bitcast", f32(1), type="uint8"),
    Sample("Bitcast", f32([[1, -2]]), type="float16"),
    Sample("Bitcast", u8([[0, 0, 128, 63], [1, 2, 3, 4]]), type="float32"),
    Sample("Bitcast", i64([1, 2**40]), type="int32"),
    Sample("Bitcast", i32([1, 2]), type="int64"),
    Sample("Bitcast", bf16([1, 2]), type="uint16"),
    Sample("Bitcast", c64([1 + 2j]), type="float32"),
    Sample("Bitcast", f32([[1, 2]]), type="complex64"),
    Sample("Bitcast", c64([1 + 2j]), type="int64"),
    Sample("Bitcast", f64([1.5]), type="complex64"),
    Sample("Bitcast", u8([1, 2, 3]), type="float32"),
    *[
        Sample("Complex", make([1, 2]), make([3, -4]), Tout=out)
        for make, out in ((f32, "complex64"), (f64, "complex128"))
    ],
    Sample("Complex", f32([[1], [2]]), f32([3, -4]), Tout="complex64"),
    Sample("Complex", f32([inf, 1]), f32([1, inf]), Tout="complex64", grad=False),
    *[
        Sample(op, make(COMPLEX), Tout=out)
        for op in ("Real", "Imag", "Angle", "ComplexAbs")
        for make, out in ((c64, "float32"), (c128, "float64"))
    ],
    Sample("ComplexAbs", c64([0, 3 + 4j]), Tout="float32"),
    *[Sample("Conj", make(COMPLEX)) for make in (c64, c128)],
]

SEVERAL: list[Sample | Skip] = [
    *[Sample("AddN", [m([1, 2]), m([3, 4]), m([5, 6])]) for m in (f32, f64, f16, bf16, i32, u8)],
    Sample("AddN", [c64([1j])]),
    Sample("AddN", [f32([1, 2]), f32([1, 2, 3])]),
    Sample("AccumulateNV2", [f32([1, 2]), f32([3, 4])], shape=[2]),
    Sample("AccumulateNV2", [i64([[1, 2]])], shape=[1, 2]),
    *[
        Sample("BroadcastGradientArgs", make(x), make(y))
        for make in (i32, i64)
        for x, y in (
            ([1, 3], [1, 3]),
            ([1, 3], [1, 1]),
            ([1], []),
            ([2, 1, 3], [3]),
            ([0, 1], [1, 5]),
            ([], []),
        )
    ],
    Sample("BroadcastGradientArgs", i32([2, 3]), i32([4, 3])),
    *[Sample("BroadcastArgs", make([2, 1, 3]), make([4, 3])) for make in (i32, i64)],
    Sample("BroadcastArgs", i32([]), i32([4, 3])),
    Sample("BroadcastArgs", i32([2, 3]), i32([4, 3])),
    *[Sample("Cross", m([[1, 2, 3]]), m([[4, -5, 6]])) for m in (f32, f64, i32)],
    Sample("Cross", f32([1, 2, 3]), f32([4, 5])),
]

SAMPLES: list[Sample | Skip] = [
    *UNARY,
    *SPECIAL,
    *OF_OUTPUT,
    *BINARY,
    *CHOOSING,
    *CASTS,
    *SEVERAL,
]
