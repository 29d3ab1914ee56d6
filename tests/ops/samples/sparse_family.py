"""Samples of the ops on sparse tensors."""

from __future__ import annotations

import numpy as np

from tests.ops.sample import Sample, c64, f32, f64, i32, i64, s, skip

_AT = i64([[0, 1], [1, 0], [1, 2]])
_VALUES, _SHAPE = f32([1.0, 2.0, 3.0]), i64([2, 3])
_MIXED = i64([[1, 2], [0, 1], [1, 0]])
_SPARSE = (_AT, _VALUES, _SHAPE)
_OTHER = (i64([[0, 0], [1, 2]]), f32([5.0, -1.0]), _SHAPE)
_CUBE = (i64([[0, 0, 1], [0, 1, 0], [2, 1, 1]]), f64([1.0, -2.0, 4.0]), i64([3, 2, 2]))
_B = f32(np.arange(6).reshape(3, 2))
_EMPTY = (i64(np.zeros([0, 2])), f32([]), _SHAPE)

SAMPLES = [
    Sample("SparseTensorDenseMatMul", *_SPARSE, _B),
    Sample("SparseTensorDenseMatMul", *_SPARSE, f32(_B.T.copy()), adjoint_b=True),
    Sample("SparseTensorDenseMatMul", *_SPARSE, f32([[1, 2], [3, 4]]), adjoint_a=True),
    Sample("SparseTensorDenseMatMul", *_EMPTY, _B),
    Sample("SparseTensorDenseMatMul", i32([[0, 0], [0, 0]]), f64([1, 2]), i64([1, 2]),
           f64([[1.5], [2.5]])),
    Sample("SparseTensorDenseMatMul", i64([[0, 1]]), c64([1 + 2j]), i64([1, 2]),
           c64([[1j], [2 - 1j]]), adjoint_a=False, grad=False),
    Sample("SparseTensorDenseMatMul", *_SPARSE, f32([[1, 2], [3, 4]])),
    Sample("SparseReorder", _MIXED, _VALUES, _SHAPE),
    Sample("SparseReorder", _MIXED, s(["a", "b", "c"]), _SHAPE),
    Sample("SparseReorder", *_EMPTY),
    Sample("SparseReshape", _AT, _SHAPE, i64([3, -1])),
    Sample("SparseReshape", _AT, _SHAPE, i64([6])),
    Sample("SparseReshape", _AT, _SHAPE, i64([4, -1])),
    Sample("SparseReshape", _AT, _SHAPE, i64([5])),
    Sample("SparseReshape", _AT, _SHAPE, i64([-1, -1])),
    Sample("SparseConcat", [_AT, _OTHER[0]], [_VALUES, _OTHER[1]], [_SHAPE, _SHAPE],
           concat_dim=0, grad=False),
    Sample("SparseConcat", [_AT, _OTHER[0]], [_VALUES, _OTHER[1]], [_SHAPE, _SHAPE],
           concat_dim=-1, grad=False),
    Sample("SparseConcat", [_AT, _AT], [_VALUES, _VALUES], [_SHAPE, i64([3, 3])], concat_dim=1,
           grad=False),
    Sample("SparseSlice", *_SPARSE, i64([1, 0]), i64([1, 2])),
    Sample("SparseSlice", *_SPARSE, i64([0, 1]), i64([5, 5])),
    Sample("SparseSliceGrad", f32([7.0, 8.0]), _AT, i64([0, 1]), i64([[0, 0], [1, 1]])),
    Sample("SparseSplit", i64(1), *_SPARSE, num_split=2, grad=False),
    Sample("SparseSplit", i64(0), *_SPARSE, num_split=2, grad=False),
    Sample("SparseSplit", i64(0), *_SPARSE, num_split=5, grad=False),
    Sample("SparseFillEmptyRows", i64([[0, 1], [2, 0], [2, 1]]), _VALUES, i64([4, 2]), f32(-1.0)),
    Sample("SparseFillEmptyRows", i64([[2, 0], [0, 1]]), s(["a", "b"]), i64([3, 2]), s("x")),
    Sample("SparseFillEmptyRows", *_EMPTY, f32(9.0)),
    Sample("SparseFillEmptyRows", i64([[4, 0]]), f32([1]), i64([3, 2]), f32(0)),
    Sample("SparseFillEmptyRowsGrad", i64([2, 1]), f32([1.0, 2.0, 3.0, 4.0])),
    Sample("SparseReduceSum", *_SPARSE, i32([0])),
    Sample("SparseReduceSum", *_SPARSE, i32([-1]), keep_dims=True),
    Sample("SparseReduceSum", *_SPARSE, i32([0, 1])),
    Sample("SparseReduceSum", *_CUBE, i32([0, 2])),
    Sample("SparseReduceSum", *_EMPTY, i32([0])),
    Sample("SparseReduceSumSparse", *_CUBE, i32([1])),
    Sample("SparseReduceSumSparse", *_CUBE, i32([0]), keep_dims=True),
    Sample("SparseReduceMax", *_CUBE, i32([1]), grad=False),
    Sample("SparseReduceMax", *_SPARSE, i32([0]), keep_dims=True, grad=False),
    Sample("SparseReduceMaxSparse", *_CUBE, i32([0, 1])),
    Sample("SparseDenseCwiseAdd", *_SPARSE, f32([[1], [2]]), grad=False),
    Sample("SparseDenseCwiseMul", *_SPARSE, f32([[1, 2, 3], [4, 5, 6]])),
    Sample("SparseDenseCwiseMul", *_SPARSE, f32([4, 5, 6])),
    Sample("SparseDenseCwiseMul", *_SPARSE, f32([4, 5])),
    Sample("SparseDenseCwiseDiv", *_SPARSE, f32([[2], [4]])),
    Sample("SparseDenseCwiseDiv", _AT, i32([7, -7, 9]), _SHAPE, i32([[2], [4]])),
    Sample("SparseSoftmax", *_SPARSE, rtol=1e-5),
    Sample("SparseSoftmax", *_CUBE, rtol=1e-6),
    Sample("SparseSparseMaximum", *_SPARSE, *_OTHER, grad=False),
    Sample("SparseSparseMinimum", *_SPARSE, *_OTHER, grad=False),
    Sample("SparseSparseMinimum", *_SPARSE, *_OTHER[:2], i64([3, 3]), grad=False),
    Sample("SerializeSparse", _AT, s(["a", "b", "c"]), _SHAPE),
    skip("SerializeManySparse", "tests/ops/sparse/test_sparse.py reads back what it writes"),
    skip("DeserializeSparse", "tests/ops/sparse/test_sparse.py reads back what was written"),
    skip("DeserializeManySparse", "tests/ops/sparse/test_sparse.py reads back what was written"),
]  # fmt: skip
