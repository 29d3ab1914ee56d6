"""How serialized examples are read for canned estimators: features, label and weight."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.lib.feature_column.numeric import NumericColumn, numeric_column
from weft.lib.feature_column.transformation import make_parse_example_spec
from weft.ops.parsing.features import FixedLenFeature


def classifier_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: Any = dtypes.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """The features, the label and the weight of a classifier, for `tf.parse_example`."""
    label = FixedLenFeature((1,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Any,
    label_key: str,
    label_dtype: Any = dtypes.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """The features, the label and the weight of a regressor, for `tf.parse_example`."""
    label = FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _with_label(feature_columns, label_key, label, weight_column)


def _with_label(
    feature_columns: Any, label_key: str, label: Any, weight_column: Any
) -> dict[str, Any]:
    spec = make_parse_example_spec(feature_columns)
    if label_key in spec:
        raise ValueError(
            f"label should not be used as feature. label_key: {label_key}, features: {spec.keys()}"
        )
    spec[label_key] = label
    return spec if weight_column is None else spec | _weight_spec(weight_column, spec)


def _weight_spec(given: Any, spec: dict[str, Any]) -> dict[str, Any]:
    """How the weight is read, which must not be among the features and the label."""
    column = numeric_column(given) if isinstance(given, str) else given
    if not isinstance(column, NumericColumn):
        raise ValueError(
            "weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
            f"{type(column)} value: {column}"
        )
    if column.key in spec:
        raise ValueError(
            f"weight_column should not be used as feature. weight_column: {column.key}, features: "
            f"{spec.keys()}"
        )
    return column.parse_example_spec
