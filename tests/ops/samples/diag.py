"""Samples of weft/ops/array/diag.py."""

from tests.ops.sample import Sample, b, bf16, c64, f32, f64, i32, i64, ramp

M23 = f32([[1, 2, 3], [4, 5, 6]])
CUBE = ramp("float32", (2, 3, 4))
SQUARES = ramp("float32", (2, 3, 3))

SAMPLES = [
    *(Sample("Diag", x) for x in (f32([1, 2]), M23, i32([3]), c64([1j, 2]), f32([]), f32(1))),
    *(
        Sample("DiagPart", x)
        for x in (SQUARES[0], ramp("float64", (2, 3, 2, 3)), i32([[7]]), M23, CUBE)
    ),
    *(
        Sample("MatrixDiag", x)
        for x in (f32([1, 2]), M23, CUBE, i64([3]), b([True, False]), bf16([1]), f32([]))
    ),
    *(Sample("MatrixDiagPart", x) for x in (M23, SQUARES, CUBE, c64([[1j]]), f32([], (0, 3)))),
    Sample("MatrixSetDiag", M23, f32([7, 8])),
    Sample("MatrixSetDiag", SQUARES, M23),
    Sample("MatrixSetDiag", i32([[1, 2], [3, 4]]), i32([0, 0])),
    Sample("MatrixSetDiag", M23, f32([7, 8, 9])),
    *(
        sample
        for align in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")
        for sample in (
            Sample("MatrixDiagPartV3", SQUARES[0], i32([-1, 1]), f32(9), align=align),
            Sample("MatrixDiagV3", M23, i32([0, 1]), i32(3), i32(4), f32(5), align=align),
            Sample("MatrixSetDiagV3", M23, f32([[7, 8], [9, 6]]), i32([-1, 0]), align=align),
        )
    ),
    *(
        # TensorFlow 2 differentiates the older ops by newer ones that align bands otherwise.
        Sample("MatrixDiagPartV2", x, k, padding, grad=k.size == 1)
        for x, k, padding in (
            (M23, i32(0), f32(0)),
            (M23, i32(1), f32(9)),
            (M23, i32([-1]), f32(9)),
            (CUBE, i32([-1, 2]), f32(7)),
            (SQUARES, i32([-2, -1]), f32(0)),
            (i32([[1, 2], [3, 4]]), i32([0, 1]), i32(0)),
            (M23, i32(3), f32(0)),
            (M23, i32([1, 0]), f32(0)),
        )
    ),
    *(
        Sample("MatrixDiagV2", diagonal, k, i32(rows), i32(columns), padding, grad=k.size == 1)
        for diagonal, k, rows, columns, padding in (
            (f32([1, 2]), i32(0), -1, -1, f32(0)),
            (f32([1, 2]), i32(1), -1, -1, f32(9)),
            (f32([1, 2]), i32(-1), 3, 2, f32(9)),
            (M23, i32([-1, 0]), -1, -1, f32(0)),
            (M23, i32([0, 1]), 3, 4, f32(5)),
            (M23, i32(0), 3, 4, f32(5)),
            (f64([[1, 2], [3, 4]]), i32([1, 2]), -1, -1, f64(0)),
            (M23, i32([0, 2]), -1, -1, f32(0)),
            (f32([1, 2]), i32(0), 1, -1, f32(0)),
            (f32([1, 2]), i32(0), 5, 5, f32(0)),
        )
    ),
    *(
        Sample("MatrixSetDiagV2", x, diagonal, k, grad=k.size == 1)
        for x, diagonal, k in (
            (M23, f32([7, 8]), i32(0)),
            (M23, f32([7, 8]), i32(1)),
            (SQUARES, M23[:, :2], i32([-1])),
            (CUBE, ramp("float32", (2, 2, 3)), i32([0, 1])),
            (M23, f32([7, 8, 9]), i32(1)),
        )
    ),
    *(
        Sample("MatrixBandPart", x, *numbers)
        for x, numbers in (
            (SQUARES, (i64(1), i64(0))),
            (SQUARES, (i64(-1), i64(0))),
            (CUBE, (i32(0), i32(-1))),
            (M23, (i64(0), i64(0))),
            (M23, (i64(2), i64(3))),
            (b([[True, True], [True, True]]), (i64(0), i64(-1))),
            (M23, (i64(3), i64(0))),
        )
    ),
]
