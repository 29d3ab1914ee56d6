"""From serialized examples to the tensors of columns."""

from __future__ import annotations

import functools
import operator
from typing import Any

from weft.graph.slices import SparseTensor
from weft.lib.contrib.layers.column_base import Tensors, feature_config
from weft.lib.contrib.layers.dense_columns import _RealValuedColumn, real_valued_column
from weft.lib.contrib.layers.feature_column_ops import by_key, check_feature_columns
from weft.lib.platform import tf_logging as logging
from weft.ops.array import array
from weft.ops.parsing import features as parsing_features
from weft.ops.parsing import sequence as parsing_sequence
from weft.ops.parsing.features import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature


def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """The features for `tf.parse_example` that all these columns need."""
    columns = feature_columns.values() if isinstance(feature_columns, dict) else feature_columns
    return functools.reduce(operator.or_, map(feature_config, columns), {})


def _create_sequence_feature_spec_for_parsing(
    sequence_feature_columns: Any, allow_missing_by_default: bool = False
) -> dict[str, Any]:
    spec = create_feature_spec_for_parsing(sequence_feature_columns)
    return {
        key: _with_steps(key, feature, allow_missing_by_default) for key, feature in spec.items()
    }


def _with_steps(key: str, feature: Any, allow_missing: bool) -> Any:
    if isinstance(feature, VarLenFeature):
        return feature
    if not isinstance(feature, FixedLenFeature | FixedLenSequenceFeature):
        raise TypeError(f"Unsupported feature type: {type(feature).__name__}")
    has_default = feature.default_value is not None
    if has_default:
        logging.warning(
            f'Found default value {feature.default_value} for feature "{key}". Ignoring this value '
            "and setting `allow_missing=True` instead."
        )
    return FixedLenSequenceFeature(
        feature.shape, feature.dtype, allow_missing=allow_missing or has_default
    )


def make_place_holder_tensors_for_base_features(feature_columns: Any) -> dict[str, Any]:
    """A placeholder for each feature that the columns need."""
    spec = create_feature_spec_for_parsing(feature_columns)
    return {key: _placeholder(feature, f"Placeholder_{key}") for key, feature in spec.items()}


def _placeholder(feature: Any, name: str) -> Any:
    if isinstance(feature, VarLenFeature):
        return array.sparse_placeholder(feature.dtype, name=name)
    return array.placeholder(feature.dtype, (None, feature.shape[0]), name)


def parse_feature_columns_from_examples(
    serialized: Any, feature_columns: Any, name: str | None = None, example_names: Any = None
) -> dict[Any, Any]:
    """Features by key and tensors by column, of a batch of serialized examples."""
    check_feature_columns(feature_columns)
    tensors: dict[Any, Any] = parsing_features.parse_example(
        serialized, create_feature_spec_for_parsing(feature_columns), name, example_names
    )
    cache = Tensors(tensors)
    for column in by_key(feature_columns):
        cache.get(column)
    return tensors


def transform_features(features: dict[str, Any], feature_columns: Any) -> dict[Any, Any]:
    """The tensors of the columns, by column."""
    check_feature_columns(feature_columns)
    cache = Tensors(dict(features))
    return {column: cache.get(column) for column in by_key(feature_columns)}


def parse_feature_columns_from_sequence_examples(
    serialized: Any,
    context_feature_columns: Any,
    sequence_feature_columns: Any,
    name: str | None = None,
    example_name: Any = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of one sequence example: those of the whole, and those of its steps."""
    try:
        serialized = array.reshape(serialized, [])
    except ValueError as error:
        raise ValueError(
            "serialized must contain as single sequence example. Batching must be done after "
            f"parsing for sequence examples. Error: {error}"
        ) from error
    context, sequence = context_feature_columns or [], sequence_feature_columns or []
    check_feature_columns(context)
    check_feature_columns(sequence)
    return parsing_sequence.parse_single_sequence_example(
        serialized,
        create_feature_spec_for_parsing(context),
        _create_sequence_feature_spec_for_parsing(sequence),
        example_name,
        name,
    )


def infer_real_valued_columns(features: Any) -> list[Any]:
    """A real valued column for each dense tensor of numbers."""
    if not isinstance(features, dict):
        return [_inferred("", features)]
    return [_inferred(key, value) for key, value in features.items()]


def _inferred(name: str, tensor: Any) -> _RealValuedColumn:
    define = f"Please define corresponding FeatureColumn for tensor {name} {tensor}."
    if isinstance(tensor, SparseTensor):
        raise ValueError(f"SparseTensor is not supported for auto detection. {define}")
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            f"Non integer or non floating types are not supported for auto detection. {define}"
        )
    dimension = tensor.shape[1:].num_elements()
    return real_valued_column(name, dimension=dimension, dtype=tensor.dtype)
