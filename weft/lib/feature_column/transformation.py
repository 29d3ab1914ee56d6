"""From a dictionary of raw features to the tensors of columns, each made once."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.hints import hinted
from weft.core.shapes import dimension_value
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.slices import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.lib.feature_column.base import FeatureColumn
from weft.ops.array import array, gather
from weft.ops.array import one_hot_search as select
from weft.ops.control import check
from weft.ops.control.cond import cond
from weft.ops.math import casts, math
from weft.ops.sparse import select as sparse_select


class FeatureTransformationCache:
    """Raw features by key, and every tensor that a column has made of them."""

    def __init__(self, features: dict[str, Any]) -> None:
        self._features = features.copy()
        self._feature_tensors: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: Any = None) -> Any:
        """The raw feature called `key`, or the tensor of the column `key`."""
        found = self._feature_tensors.get(key)
        if found is None:
            found = self._feature_tensors[key] = self._made(key, state_manager)
        return found

    def _made(self, key: Any, state_manager: Any) -> Any:
        if key in self._features:
            return _with_columns(key, convert_to_tensor_or_sparse_tensor(self._features[key]))
        if isinstance(key, str):
            error = ValueError(f"Feature {key} is not in features dictionary.")
            raise hinted(error, key, self._features)
        if not isinstance(key, FeatureColumn):
            raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {key}')
        made = key.transform_feature(self, state_manager)
        if made is None:
            raise ValueError(f"Column {key.name} is not supported.")
        return made


def _with_columns(key: str, feature: Any) -> Any:
    """`feature` with two dimensions at least: a vector is one column."""
    rank = feature.shape.ndims
    message = f"Feature (key: {key}) cannot have rank 0. Given: {feature}"
    if rank == 0:
        raise ValueError(message)
    if rank:
        return _as_column(feature) if rank == 1 else feature
    with control_dependencies([check.assert_positive(array.rank(feature), message=message)]):
        return cond(
            math.equal(1, array.rank(feature)), lambda: _as_column(feature), lambda: feature
        )


def _as_column(vector: Any) -> Any:
    if isinstance(vector, SparseTensor):
        return sparse_select.sparse_reshape(vector, [array.shape(vector)[0], 1])
    return array.expand_dims(vector, -1)


def to_sparse_input(input_tensor: Any, ignore_value: Any = None) -> SparseTensor:
    """A dense feature as a sparse one, without the cells that mean "missing".

    Those hold `ignore_value`: by default the empty string, or -1 among integers.
    """
    cells = convert_to_tensor_or_sparse_tensor(input_tensor)
    if isinstance(cells, SparseTensor):
        return cells
    with name_scope(None, "to_sparse_input", (cells, ignore_value)):
        blank = _missing(cells.dtype) if ignore_value is None else ignore_value
        is_there = math.not_equal(cells, casts.cast(blank, cells.dtype, name="ignore_value"))
        places = select.where_v2(is_there, name="indices")
        found = gather.gather_nd(cells, places, name="values")
        return SparseTensor(places, found, array.shape(cells, "dense_shape", dtypes.int64))


def _missing(dtype: dtypes.DType) -> Any:
    if dtype == dtypes.string:
        return ""
    return -1 if dtype.is_integer else dtype.as_numpy_dtype()


def normalize_feature_columns(feature_columns: Any, class_prefix: str = "") -> list[Any]:
    """The columns of a model as a list, all of different names.

    `class_prefix` is how the caller spells the class of columns in messages.
    """
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    single = isinstance(feature_columns, FeatureColumn)
    columns = [feature_columns] if single else list(feature_columns)
    for column in columns:
        if not isinstance(column, FeatureColumn) or not (class_prefix or column._is_v2_column):
            raise ValueError(
                f"Items of feature_columns must be a {class_prefix}FeatureColumn. "
                f"Given (type {type(column)}): {column}."
            )
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    known: dict[str, Any] = {}
    for column in columns:
        if column.name in known:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} "
                f"and {known[column.name]}. This usually means that these columns refer to "
                "same base feature. Either one must be discarded or a "
                "duplicated but renamed item must be inserted in features dict."
            )
        known[column.name] = column
    return sorted(columns, key=lambda column: column.name)


def verify_static_batch_size_equality(tensors: Any, columns: Any) -> None:
    """As far as batch sizes are known, they are the same for all columns."""
    first = None
    for tensor, column in zip(tensors, columns, strict=True):
        size = dimension_value(tensor.shape[0])
        if size is None:
            continue
        if first is None:
            first = column, size
        elif size != first[1]:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. "
                f"Batch size of columns ({first[0].name}, {column.name}): ({first[1]}, {size})"
            )


def make_parse_example_spec(feature_columns: Any) -> dict[str, Any]:
    """The features for `tf.io.parse_example` that all these columns need."""
    result: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                f"All feature_columns must be _FeatureColumn instances. Given: {column}"
            )
        for key, value in column.parse_example_spec.items():
            if value != result.setdefault(key, value):
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. "
                    f"Given {value} and {result[key]}"
                )
    return result
