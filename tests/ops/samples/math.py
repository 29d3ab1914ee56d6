"""Samples of matmul.py and sequence.py."""

from __future__ import annotations

from tests.ops.sample import Sample, Skip, bf16, c64, c128, f16, f32, f64, i32, i64, ramp

MATRICES: list[Sample] = [
    *[
        Sample("MatMul", make([[1, 2, 3], [4, 5, 6]]), make([[1], [0.5], [2]]))
        for make in (f32, f64)
    ],
    *[Sample("MatMul", make([[1, 2], [3, 4]]), make([[1, 0], [2, 1]])) for make in (f16, bf16)],
    *[Sample("MatMul", make([[1, 2], [3, 4]]), make([[1, 0], [2, 1]])) for make in (i32, i64)],
    *[
        Sample(
            "MatMul",
            ramp("float32", (3, 2) if left else (2, 3)),
            ramp("float32", (4, 3) if right else (3, 4), 0.5, 2),
            transpose_a=left,
            transpose_b=right,
        )
        for left in (False, True)
        for right in (False, True)
    ],
    *[
        Sample(
            "MatMul",
            c128([[1, 2j], [3, 4 - 1j]]),
            c128([[1j, 0], [2, 1]]),
            transpose_a=left,
            transpose_b=right,
        )
        for left in (False, True)
        for right in (False, True)
    ],
    Sample("MatMul", f32([], (2, 0)), f32([], (0, 3))),
    Sample("MatMul", f32([], (0, 2)), f32([[1], [2]])),
    Sample("MatMul", f32([[1, 2]]), f32([[1, 2]])),
    *[
        Sample("SparseMatMul", left([[1, 0], [0, 2]]), right([[3, 4], [5, 6]]), transpose_b=flip)
        for left in (f32, bf16)
        for right in (f32, bf16)
        for flip in (False, True)
    ],
    Sample("SparseMatMul", f32([[1, 0, 2], [0, 2, 1]]), f32([[3], [4]]), transpose_a=True),
    Sample(
        "SparseMatMul",
        f32([[1, 0, 2], [0, 2, 1]]),
        f32([[3, 4], [1, 2]]),
        transpose_a=True,
        transpose_b=True,
        a_is_sparse=True,
    ),
]

BATCHES: list[Sample] = [
    *[
        Sample(
            op,
            ramp("float32", (2, 3, 2) if left else (2, 2, 3)),
            ramp("float32", (2, 4, 3) if right else (2, 3, 4), 0.5, 2),
            adj_x=left,
            adj_y=right,
        )
        for op in ("BatchMatMul", "BatchMatMulV2")
        for left in (False, True)
        for right in (False, True)
    ],
    *[
        Sample(op, make([[[1, 2j], [3, 4]]]), make([[[1j, 0], [2, 1]]]), adj_x=True, adj_y=flip)
        for op in ("BatchMatMul", "BatchMatMulV2")
        for make in (c64, c128)
        for flip in (False, True)
    ],
    *[Sample("BatchMatMul", make([[1, 2], [3, 4]]), make([[1, 0], [2, 1]])) for make in (f64, i32)],
    *[Sample("BatchMatMulV2", m([[1, 2], [3, 4]]), m([[1, 0], [2, 1]])) for m in (f16, bf16, i64)],
    Sample("BatchMatMulV3", i32([[1, 2], [3, 4]]), i32([[1, 0], [2, 1]]), Tout="int64"),
    Sample("BatchMatMulV3", ramp("float32", (2, 2, 3)), ramp("float32", (3, 2)), Tout="float32"),
    Sample("BatchMatMulV2", ramp("float32", (3, 1, 2, 2)), ramp("float32", (4, 2, 3))),
    Sample("BatchMatMulV2", ramp("float32", (2, 3)), ramp("float32", (2, 3, 2)), adj_x=False),
    Sample("BatchMatMulV2", ramp("float64", (2, 2, 3)), ramp("float64", (1, 2, 3)), adj_y=True),
    Sample("BatchMatMulV2", ramp("float32", (2, 2, 3)), ramp("float32", (3, 3, 2))),
    Sample("BatchMatMulV2", ramp("float32", (2, 2, 3)), ramp("float32", (2, 2, 3))),
    Sample("BatchMatMul", ramp("float32", (2, 2, 3)), ramp("float32", (1, 3, 2))),
    Sample("BatchMatMulV2", f32([], (2, 0, 3)), ramp("float32", (2, 3, 2))),
    Sample("BatchMatMulV2", f32([], (2, 1, 0)), f32([], (2, 0, 2))),
]

SEQUENCES: list[Sample] = [
    *[
        Sample("Range", make(start), make(limit), make(delta))
        for make in (i32, i64, f32, f64)
        for start, limit, delta in ((0, 5, 1), (3, 18, 4), (10, 0, -3), (2, 2, 1))
    ],
    Sample("Range", f32(0), f32(1), f32(0.1)),
    Sample("Range", f64(0.5), f64(-0.5), f64(-0.3)),
    Sample("Range", bf16(0), bf16(4), bf16(0.5)),
    Sample("Range", i32(0), i32(5), i32(0)),
    Sample("Range", i32(5), i32(0), i32(1)),
    Sample("Range", i32(0), i32(5), i32(-1)),
    *[Sample("LinSpace", make(1), make(2), i32(4)) for make in (f32, f64, bf16)],
    Sample("LinSpace", f32(10), f32(-3), i64(7)),
    Sample("LinSpace", f32(1), f32(5), i32(1)),
    Sample("LinSpace", f64(1), f64(5), i32(0)),
]

EINSUMS: list[Sample] = [
    *[
        Sample("Einsum", [ramp("float32", a), ramp("float32", b, 0.5, 2)], equation=equation)
        for equation, a, b in (
            ("ij,jk->ik", (2, 3), (3, 4)),
            ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
            ("i,j->ij", (3,), (2,)),
            ("i,i->", (3,), (3,)),
            ("ijk,kl->jl", (2, 3, 2), (2, 3)),
            ("abc,cd->bd", (2, 3, 2), (2, 4)),
        )
    ],
    *[Sample("Einsum", [make([[1, 2], [3, 4]])], equation="ij->ji") for make in (f64, i32, c128)],
    Sample("Einsum", [ramp("float32", (3, 2))], equation="ij->"),
    Sample("Einsum", [ramp("float32", (3, 2))], equation="ij->j"),
    Sample("Einsum", [ramp("float32", (3, 3))], equation="ii->i", grad=False),
    Sample("Einsum", [ramp("float32", (3, 3))], equation="ii->", grad=False),
    Sample("Einsum", [ramp("float32", (3,))], equation="i->ii", grad=False),
    Sample(
        "Einsum",
        [ramp("float32", (4, 1, 2, 3)), ramp("float32", (5, 3, 2))],
        equation="...ij,...jk->...ik",
        grad=False,
    ),
    Sample("Einsum", [c128([[1j, 2]]), c128([[3], [4 - 1j]])], equation="ij,jk->ik"),
    Sample("Einsum", [f32([1, 2]), f32([1, 2, 3])], equation="i,i->"),
]

SAMPLES: list[Sample | Skip] = [*MATRICES, *BATCHES, *EINSUMS, *SEQUENCES]
