"""The crosses of tf.contrib.layers: `SparseFeatureCross`, and V2, which hashes as `SparseCross`."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.op_def import op
from weft.graph.slices import SparseTensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.sparse.cross import Array, concatenated, cross_inputs, crossed_rows

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = 0xDECAFCAFFE

_SETTINGS: dict[str, Any] = {
    "inputs": "indices: N * int64, values: list(sparse_types), shapes: N * int64,"
    " dense: list(dense_types)",
    "outputs": "output_indices: int64, output_values: out_type, output_shape: int64",
    "shape": lambda c: [(None, 2), (None,), (2,)],
    "traits": HOST | NO_GRADIENT,
}
_TYPES = (
    "sparse_types: list({int64, string}) >= 0, dense_types: list({int64, string}) >= 0,"
    " out_type: {int64, string}, internal_type: {int64, string}"
)


def _combined(found: Array, each: Array) -> Array:
    a = found.view(np.int64)
    mixed = each + np.uint64(0x9E3779B97F4A7800) + (found << np.uint64(10))
    return found ^ (mixed + (a >> 4).view(np.uint64))


@op(
    "SparseFeatureCross",
    attrs=f"N: int >= 0, hashed_output: bool, num_buckets: int >= 0, {_TYPES}",
    **_SETTINGS,
)
def sparse_feature_cross_(
    xp: Any,
    indices: list[Array],
    values: list[Array],
    shapes: list[Array],
    dense: list[Array],
    *,
    hashed_output: bool,
    num_buckets: int,
) -> list[Array]:
    return crossed_rows(
        indices,
        values,
        shapes,
        dense,
        hashed_output,
        num_buckets,
        _combined,
        SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY,
    )


@op(
    "SparseFeatureCrossV2",
    attrs=f"N: int >= 0, hashed_output: bool, num_buckets: int >= 0, hash_key: int, {_TYPES}",
    **_SETTINGS,
)
def sparse_feature_cross_v2_(
    xp: Any,
    indices: list[Array],
    values: list[Array],
    shapes: list[Array],
    dense: list[Array],
    *,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
) -> list[Array]:
    return crossed_rows(
        indices, values, shapes, dense, hashed_output, num_buckets, concatenated, hash_key
    )


def sparse_feature_cross(
    inputs: Any,
    hashed_output: bool = False,
    num_buckets: int = 0,
    name: str | None = None,
    hash_key: int | None = None,
) -> SparseTensor:
    """All combinations of values of each row: joined by `_X_`, or hashed, with a key or without."""
    known, internal_type = cross_inputs(inputs)
    settings: dict[str, Any] = {
        "hashed_output": hashed_output,
        "num_buckets": num_buckets,
        "out_type": dtypes.int64 if hashed_output else dtypes.string,
        "internal_type": internal_type,
        "name": name,
    }
    if hash_key:
        return SparseTensor(*sparse_feature_cross_v2_(*known, hash_key=hash_key, **settings))
    return SparseTensor(*sparse_feature_cross_(*known, **settings))
