"""Samples of weft/ops/sparse/sets.py."""

from tests.ops.sample import Sample, i32, i64, s, u8

A = i32([[9, 1, 5], [2, 4, 3], [7, 7, 7]])
B = i32([[1, 9], [1, 5], [7, 8]])
WORDS = (i64([[0, 0], [0, 1], [2, 0], [2, 1]]), s(["b", "a", "c", "c"]), i64([3, 2]))
OTHERS = (i64([[0, 0], [1, 0], [1, 1]]), s(["a", "z", "y"]), i64([3, 4]))
DEEP = (i64([[0, 0, 1], [1, 1, 0], [1, 1, 2]]), i64([4, 2, 2]), i64([2, 2, 3]))
NUMBERS = (i64([[0, 1], [2, 0]]), i32([9, 8]), i64([3, 2]))
UNORDERED = (i64([[1, 0], [0, 0]]), i32([9, 8]), i64([3, 2]))
OUTSIDE = (i64([[0, 0], [3, 0]]), i32([9, 8]), i64([3, 2]))
DENSE, MIXED, SPARSE = (
    f"{kind}SetOperation" for kind in ("DenseToDense", "DenseToSparse", "SparseToSparse")
)

SAMPLES = [
    *(Sample(DENSE, A, B, set_operation=o) for o in ("a-b", "b-a", "intersection", "union")),
    Sample(DENSE, s([["b", "a"]]), s([["a", "c"]]), set_operation="union"),
    Sample(DENSE, u8([[[1, 2]], [[3, 3]]]), u8([[[2]], [[3]]]), set_operation="a-b"),
    Sample(DENSE, i32([], (2, 0)), B[:2], set_operation="intersection"),
    Sample(MIXED, A, *NUMBERS, set_operation="union"),
    Sample(MIXED, A, *NUMBERS, set_operation="a-b"),
    Sample(MIXED, A, *UNORDERED, set_operation="union"),
    Sample(MIXED, A, *OUTSIDE, set_operation="union"),
    *(Sample(SPARSE, *WORDS, *OTHERS, set_operation=o) for o in ("a-b", "b-a", "union")),
    Sample(SPARSE, *DEEP, *DEEP, set_operation="intersection"),
    Sample(SPARSE, *NUMBERS, *OUTSIDE, set_operation="union"),
    Sample("SetSize", *WORDS),
    Sample("SetSize", *DEEP),
    Sample("SetSize", *UNORDERED),
]
