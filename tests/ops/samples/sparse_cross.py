"""Samples of weft/ops/sparse/cross.py."""

import numpy as np

from tests.ops.sample import Sample, i64, s, skip

WORDS = (i64([[0, 0], [1, 0], [1, 1]]), s(["a", "b", ""]), i64([2, 2]))
NUMBERS = (i64([[0, 0], [0, 1], [1, 0]]), i64([7, -1, 2**40]), i64([2, 2]))
GAPS = (i64([[1, 3]]), s(["z"]), i64([2, 4]))
TEXT, COUNTS = s([["x", "y"], ["u", "v"]]), i64([[5], [6]])


def _cross(sparse, dense, hashed=False, buckets=0, key=0xDECAFCAFFE, note=""):
    texts = all(x.dtype == object for x in [*(part[1] for part in sparse), *dense])
    return Sample(
        "SparseCross",
        *[[part[i] for part in sparse] for i in range(3)],
        dense,
        N=len(sparse),
        hashed_output=hashed,
        num_buckets=buckets,
        hash_key=key,
        note=note,
        sparse_types=[_type(part[1]) for part in sparse],
        dense_types=[_type(x) for x in dense],
        out_type="int64" if hashed else "string",
        internal_type="string" if texts else "int64",
    )


def _type(array):
    return "string" if array.dtype == np.dtype(object) else "int64"


SAMPLES = [
    _cross([WORDS, NUMBERS], []),
    _cross([WORDS, WORDS, GAPS], []),
    _cross([WORDS, NUMBERS], [TEXT, COUNTS]),
    _cross([], [TEXT, TEXT]),
    _cross([WORDS, NUMBERS], [TEXT], hashed=True),
    _cross([WORDS, GAPS], [], hashed=True, buckets=100),
    _cross([NUMBERS], [COUNTS], hashed=True, buckets=1000, key=-5),
    _cross([NUMBERS, (NUMBERS[0], NUMBERS[1], i64([3, 2]))], [], note="sizes differ"),
]
SAMPLES += [
    skip(op, "of tf.contrib, which TensorFlow 2 has not; checked in tests/contrib")
    for op in ("SparseFeatureCross", "SparseFeatureCrossV2")
]
