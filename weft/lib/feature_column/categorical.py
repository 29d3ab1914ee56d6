"""Categorical columns whose ids come from the values alone: hashed, or as they are."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor, control_dependencies
from weft.graph.slices import SparseTensor
from weft.lib.feature_column import checks
from weft.lib.feature_column.base import CategoricalColumn, OfOneFeature
from weft.lib.feature_column.transformation import to_sparse_input
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.control import check
from weft.ops.math import casts, math
from weft.ops.parsing.features import VarLenFeature
from weft.ops.strings import hash as string_hash
from weft.ops.strings import numbers as string_numbers


class KeyedColumn(OfOneFeature, CategoricalColumn):
    """A categorical column made from one raw feature."""

    dtype: Any

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        feature = transformation_cache.get(self.key, state_manager)
        return self._ids(to_sparse_input(feature), state_manager)

    def _ids(self, feature: SparseTensor, state_manager: Any) -> SparseTensor:
        raise NotImplementedError


class HashedCategoricalColumn(
    KeyedColumn, namedtuple("HashedCategoricalColumn", ["key", "hash_bucket_size", "dtype"])
):
    """See `categorical_column_with_hash_bucket`."""

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def _ids(self, feature: SparseTensor, state_manager: Any) -> SparseTensor:
        checks.check_input_dtype(self, feature.dtype)
        checks.check_input_kind(self, feature.dtype)
        values = feature.values
        if self.dtype != dtypes.string:
            values = string_numbers.as_string(values)
        ids = string_hash.string_to_hash_bucket_fast(values, self.hash_bucket_size, name="lookup")
        return SparseTensor(feature.indices, ids, feature.dense_shape)


def categorical_column_with_hash_bucket(
    key: Any, hash_bucket_size: Any, dtype: Any = dtypes.string
) -> HashedCategoricalColumn:
    """Strings, or integers spelled out, whose ids are their hashes modulo `hash_bucket_size`."""
    checks.refuse(
        (hash_bucket_size is None, f"hash_bucket_size must be set. key: {key}"),
        (
            hash_bucket_size is not None and hash_bucket_size < 1,
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, "
            f"key: {key}",
        ),
    )
    checks.assert_key_is_string(key)
    checks.assert_string_or_int(dtype, prefix=f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


class IdentityCategoricalColumn(
    KeyedColumn, namedtuple("IdentityCategoricalColumn", ["key", "number_buckets", "default_value"])
):
    """See `categorical_column_with_identity`."""

    dtype = dtypes.int64

    @property
    def num_buckets(self) -> int:
        return self.number_buckets

    def _ids(self, feature: SparseTensor, state_manager: Any) -> SparseTensor:
        if not feature.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {feature.dtype}")
        given = {"values": feature.values, "num_buckets": self.num_buckets, "zero": 0}
        values, limit, zero = (
            casts.cast(number, dtypes.int64, name=name) for name, number in given.items()
        )
        inside = self._asserted if self.default_value is None else self._or_default
        return SparseTensor(feature.indices, inside(values, zero, limit), feature.dense_shape)

    def _or_default(self, values: Tensor, zero: Tensor, limit: Tensor) -> Tensor:
        outside = math.logical_or(values < zero, values >= limit, name="out_of_range")
        default = casts.cast(self.default_value, dtypes.int64)
        defaults = array.fill(array.shape(values), default, name="default_values")
        return select.where_v2(outside, defaults, values)

    def _asserted(self, values: Tensor, zero: Tensor, limit: Tensor) -> Tensor:
        column = f'for categorical column "{self.name}"'
        bounds = {
            "less_than_num_buckets": (
                check.assert_less, limit, (values, limit),
                f"Bucket index {column} exceeds number of buckets",
            ),
            "greater_or_equal_0": (
                check.assert_greater_equal, zero, (values,), f"Negative bucket index {column}",
            ),
        }  # fmt: skip
        asserts = [
            asserted(values, bound, data=data, message=message, name=f"assert_{name}")
            for name, (asserted, bound, data, message) in bounds.items()
        ]
        with control_dependencies(asserts):
            return array.identity(values)


def categorical_column_with_identity(
    key: Any, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Integers below `num_buckets` that are ids themselves; others become `default_value`."""
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(
            f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}"
        )
    checks.assert_key_is_string(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)
