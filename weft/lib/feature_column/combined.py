"""Categorical columns made of others: with weights, or crossed."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from weft.core import dtypes
from weft.graph.slices import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.lib.feature_column import checks
from weft.lib.feature_column.base import (
    CategoricalColumn,
    FeatureColumn,
    SameIds,
    is_feature_column_v2,
)
from weft.lib.feature_column.categorical import HashedCategoricalColumn
from weft.lib.feature_column.transformation import to_sparse_input
from weft.ops.math import casts
from weft.ops.parsing.features import VarLenFeature
from weft.ops.sparse.cross import sparse_cross_hashed


class WeightedCategoricalColumn(
    SameIds,
    namedtuple("WeightedCategoricalColumn", ["categorical_column", "weight_feature_key", "dtype"]),
):
    """See `weighted_categorical_column`."""

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        config = self.categorical_column.parse_example_spec
        key = self.weight_feature_key
        if key in config:
            raise ValueError(f"Parse config {config[key]} already exists for {key}.")
        return {**config, key: VarLenFeature(self.dtype)}

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column, self.weight_feature_key]

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        weights = self._weights(weights)
        return transformation_cache.get(self.categorical_column, state_manager), weights

    def _weights(self, weights: Any) -> SparseTensor:
        checks.refuse((weights is None, f"Missing weights {self.weight_feature_key}."))
        given = convert_to_tensor_or_sparse_tensor(weights)
        message = f"Bad dtype, expected {self.dtype}, but got {given.dtype}."
        checks.refuse((self.dtype != given.dtype.base_dtype, message))
        sparse = to_sparse_input(given, ignore_value=0.0)
        return sparse if sparse.dtype.is_floating else casts.cast(sparse, dtypes.float32)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        ids, weights = transformation_cache.get(self, state_manager)
        return CategoricalColumn.IdWeightPair(ids, weights)


def weighted_categorical_column(
    categorical_column: Any, weight_feature_key: str, dtype: Any = dtypes.float32
) -> WeightedCategoricalColumn:
    """`categorical_column` with the weight of every id in the feature `weight_feature_key`."""
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


class CrossedColumn(
    CategoricalColumn, namedtuple("CrossedColumn", ["keys", "hash_bucket_size", "hash_key"])
):
    """See `crossed_column`."""

    def _leaves(self) -> list[Any]:
        """Keys and columns, those of crosses inside this one in their place."""
        leaves: list[Any] = []
        for key in self.keys:
            leaves += key._leaves() if isinstance(key, CrossedColumn) else [key]
        return leaves

    @property
    def _is_v2_column(self) -> bool:  # type: ignore[override]
        return is_feature_column_v2(leaf for leaf in self._leaves() if not isinstance(leaf, str))

    @property
    def name(self) -> str:
        names = (leaf if isinstance(leaf, str) else leaf.name for leaf in self._leaves())
        return "_X_".join(sorted(names))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        text = VarLenFeature(dtypes.string)
        specs = (
            key.parse_example_spec if isinstance(key, FeatureColumn) else {key: text}
            for key in self.keys
        )
        return {key: spec for each in specs for key, spec in each.items()}

    @property
    def parents(self) -> list[Any]:
        return list(self.keys)

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        inputs = [_crossable(leaf, transformation_cache, state_manager) for leaf in self._leaves()]
        return sparse_cross_hashed(inputs, self.hash_bucket_size, self.hash_key)


def _crossable(leaf: Any, cache: Any, state: Any) -> Any:
    if isinstance(leaf, str):
        return cache.get(leaf, state)
    if not isinstance(leaf, CategoricalColumn):
        raise ValueError(f"Unsupported column type. Given: {leaf}")
    ids, weights = leaf.get_sparse_tensors(cache, state)
    if weights is not None:
        raise ValueError(
            "crossed_column does not support weight_tensor, but the given column populates "
            f"weight_tensor. Given column: {leaf.name}"
        )
    return ids


def crossed_column(keys: Any, hash_bucket_size: Any, hash_key: int | None = None) -> CrossedColumn:
    """All combinations of the values of `keys` (features or columns) of an example, hashed."""
    checks.refuse(
        (
            not hash_bucket_size or hash_bucket_size < 1,
            f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}",
        ),
        (not keys or len(keys) < 2, f"keys must be a list with length > 1. Given: {keys}"),
    )
    for key in keys:
        checks.refuse(
            (
                not isinstance(key, str | CategoricalColumn),
                "Unsupported key type. All keys must be either string, or categorical column "
                f"except HashedCategoricalColumn. Given: {key}",
            ),
            (
                isinstance(key, HashedCategoricalColumn),
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing "
                "before crossing will increase probability of collision. Instead, use the feature "
                f"name as a string. Given: {key}",
            ),
        )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
