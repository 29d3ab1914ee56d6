"""Strings into numbered buckets by their hash, and fingerprints of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.hashing import farm_hash, murmur_hash, sip_hash
from weft.ops.kit.shared import deprecated_alias, invalid
from weft.ops.kit.string_arrays import in_parts, string

_HASHED: dict[str, Any] = dict(shape=s.unchanged, traits=HOST | NO_GRADIENT)


def _buckets(hash: Callable[[np.ndarray], Any], texts: Any, num_buckets: int) -> np.ndarray:
    count = np.uint64(num_buckets)
    return in_parts(lambda part: (hash(part) % count).astype(np.int64), texts)


@op(
    "StringToHashBucket", inputs="string_tensor: string", outputs="output: int64",
    attrs="num_buckets: int >= 1", **_HASHED,
)  # fmt: skip
def string_to_hash_bucket_(xp: Any, string_tensor: Any, *, num_buckets: int) -> Any:
    return _buckets(murmur_hash, string_tensor, num_buckets)


@op(
    "StringToHashBucketFast", inputs="input: string", outputs="output: int64",
    attrs="num_buckets: int >= 1", **_HASHED,
)  # fmt: skip
def string_to_hash_bucket_fast_(xp: Any, input: Any, *, num_buckets: int) -> Any:
    return _buckets(farm_hash, input, num_buckets)


@op(
    "StringToHashBucketStrong", inputs="input: string", outputs="output: int64",
    attrs="num_buckets: int >= 1, key: list(int)", **_HASHED,
)  # fmt: skip
def string_to_hash_bucket_strong_(xp: Any, input: Any, *, num_buckets: int, key: list[int]) -> Any:
    if len(key) != 2:
        raise invalid("Key must have 2 elements")
    return _buckets(lambda texts: sip_hash(texts, key), input, num_buckets)


def string_to_hash_bucket(
    string_tensor: Any = None, num_buckets: Any = None, name: str | None = None, input: Any = None
) -> Tensor:
    """The bucket of each string; the hash may change between processes in TensorFlow."""
    given = deprecated_alias("input", input, "string_tensor", string_tensor)
    return raw.StringToHashBucket(given, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Tensor:
    """The bucket of each string, by a hash that never changes."""
    return raw.StringToHashBucketFast(input, num_buckets=num_buckets, name=name)


def string_to_hash_bucket_strong(
    input: Any, num_buckets: int, key: Any, name: str | None = None
) -> Tensor:
    """The bucket of each string, by a hash that depends on a secret `key`."""
    return raw.StringToHashBucketStrong(input, num_buckets=num_buckets, key=list(key), name=name)


# ---- fingerprints --------------------------------------------------------------------------------


def _fingerprint_dims(c: ShapeContext) -> Dims:
    s.with_rank_at_least(c.dims(0), 1)
    dims, method = c.dims(0), c.value(1)
    if method is not None and method.item() != b"farmhash64":
        raise ValueError(f"Unsupported method: {method.item().decode(errors='replace')}")
    return (None if dims is None else dims[0], None if method is None else 8)


@op(
    "Fingerprint",
    inputs="data: T, method: string",
    outputs="fingerprint: uint8",
    attrs="T: type",
    shape=_fingerprint_dims,
    traits=HOST,
)
def fingerprint_(xp: Any, data: Any, method: Any) -> Any:
    if string(method) != b"farmhash64":
        raise invalid(f"Unsupported data fingerprint method: {string(method).decode()}")
    if not data.ndim:
        raise invalid("data must be at least 1D")
    rows = data.reshape(len(data), -1)
    if data.dtype == object:
        hashes = farm_hash(rows.ravel()).reshape(rows.shape)
        if data.ndim > 1:  # the fingerprint of the fingerprints
            hashes = farm_hash([row.astype("<u8").tobytes() for row in hashes])
    else:
        hashes = farm_hash([row.tobytes() for row in rows])
    return hashes.ravel().astype("<u8").view(np.uint8).reshape(len(data), 8)


def fingerprint(data: Any, method: Any = "farmhash64", name: str | None = None) -> Tensor:
    """A hash of 8 bytes for each row of `data`."""
    return raw.Fingerprint(data, method, name=name)
