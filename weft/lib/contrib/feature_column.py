"""tf.contrib.feature_column: columns of steps, and the input of a recurrent network."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor
from weft.lib.feature_column.base import SequenceDenseColumn
from weft.lib.feature_column.lengths import all_equal, as_steps
from weft.lib.feature_column.sequence import (  # noqa: F401
    concatenate_context_input,
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
)
from weft.lib.feature_column.state import ScopeState
from weft.lib.feature_column.transformation import (
    FeatureTransformationCache,
    normalize_feature_columns,
    verify_static_batch_size_equality,
)
from weft.ops.array import array
from weft.ops.state import variable_scope as vs


def sequence_input_layer(
    features: dict[str, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
) -> tuple[Tensor, Tensor]:
    """The columns as [batch, steps, width], and how many steps each example has."""
    columns = normalize_feature_columns(feature_columns, "_")
    for column in columns:
        if not isinstance(column, SequenceDenseColumn):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. "
                "You can wrap a sequence_categorical_column with an embedding_column or "
                f"indicator_column. Given (type {type(column)}): {column}"
            )
    with vs.variable_scope(None, default_name="sequence_input_layer", values=features.values()):
        cache = FeatureTransformationCache(features)
        state = ScopeState(weight_collections, trainable)
        outputs, lengths = [], []
        for column in columns:
            with vs.variable_scope(None, default_name=column._var_scope_name):
                tensor, length = column.get_sequence_dense_tensor(cache, state)
                outputs.append(as_steps(column, tensor))
                lengths.append(length)
        verify_static_batch_size_equality(outputs, columns)
        verify_static_batch_size_equality(lengths, columns)
        return array.concat(outputs, -1), all_equal(lengths)
