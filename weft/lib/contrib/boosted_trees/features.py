"""Features as columns: of numbers, of numbers that may be missing, of ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from weft.core import dtypes
from weft.graph.slices import SparseTensor
from weft.lib.contrib.layers.feature_parsing import transform_features
from weft.lib.feature_column.transformation import FeatureTransformationCache
from weft.ops.array import array
from weft.ops.math import casts
from weft.ops.state.variable_scope import variable_scope


@dataclass
class Features:
    """The columns of a batch, in the order of TensorFlow: numbers, sparse numbers, ids."""

    names: list[str] = field(default_factory=list)
    dense: list[Any] = field(default_factory=list)
    sparse: list[SparseTensor] = field(default_factory=list)
    ids: list[SparseTensor] = field(default_factory=list)

    def inputs(self) -> dict[str, list[Any]]:
        """The columns as inputs of an operation."""
        found: dict[str, list[Any]] = {"dense_float_features": self.dense}
        for kind, columns in (("sparse_float", self.sparse), ("sparse_int", self.ids)):
            found[f"{kind}_feature_indices"] = [each.indices for each in columns]
            found[f"{kind}_feature_values"] = [each.values for each in columns]
            found[f"{kind}_feature_shapes"] = [each.dense_shape for each in columns]
        return found


def _transformed(features: Any, columns: Any, use_core_columns: bool) -> dict[str, Any]:
    with variable_scope("gbdt"):
        if use_core_columns:
            cache = FeatureTransformationCache(features)
            return {column.name: cache.get(column) for column in columns}
        found = (transform_features(features, [column]) for column in columns)
        return {
            column.name: next(iter(each.values()))
            for column, each in zip(columns, found, strict=True)
        }


def extract_features(features: Any, feature_columns: Any, use_core_columns: bool) -> Features:
    """The columns of some features, by feature columns if there are any."""
    if not features:
        raise ValueError("Features dictionary must be specified.")
    if feature_columns:
        features = _transformed(features, list(feature_columns), use_core_columns)
    found, sparse_names, id_names = Features(), [], []
    for name in sorted(features):
        column = _weighted_ids(features[name])
        if not isinstance(column, SparseTensor):
            _add_dense(found, name, column)
        elif column.values.dtype == dtypes.float32:
            found.sparse.append(column)
            sparse_names.append(name)
        elif column.values.dtype == dtypes.int64:
            found.ids.append(column)
            id_names.append(name)
        else:
            what = f"{column.indices.name} with dtype {column.dtype}"
            raise ValueError(f"Unsupported sparse feature {what}.")
    found.names += sparse_names + id_names
    return found


def _weighted_ids(column: Any) -> Any:
    """Ids with weights as numbers in the places of the ids."""
    if not isinstance(column, tuple) or isinstance(column, SparseTensor):
        return column
    ids, weights = column
    places = array.expand_dims(casts.cast(ids.values, dtypes.int64), -1)
    indices = array.concat([ids.indices[:, :1], places], 1)
    return SparseTensor(indices, weights.values, ids.dense_shape)


def _add_dense(found: Features, name: str, column: Any) -> None:
    if column.dtype != dtypes.float32:
        raise ValueError(f"Unsupported dense feature {column.name} with dtype {column.dtype}.")
    if len(column.shape) < 2 or column.shape[1] <= 1:
        found.names.append(name)
        found.dense.append(column)
        return
    for i, each in enumerate(array.unstack(column, axis=1)):
        found.names.append(f"{name}_{i}")
        found.dense.append(array.reshape(each, [-1, 1]))
