"""Columns of features that have steps: one value, or several, per step of an example."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.core.signatures import with_parameters_of
from weft.graph.graph import Tensor, control_dependencies
from weft.lib.feature_column import checks
from weft.lib.feature_column.base import (
    CategoricalColumn,
    OfOneFeature,
    SameIds,
    SequenceDenseColumn,
)
from weft.lib.feature_column.categorical import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
)
from weft.lib.feature_column.lengths import sequence_length_from_sparse_tensor
from weft.lib.feature_column.vocabulary import (
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from weft.ops.array import array
from weft.ops.control import check_shapes, check_types
from weft.ops.math import reduce
from weft.ops.parsing.features import VarLenFeature
from weft.ops.sparse import convert as sparse_convert
from weft.ops.sparse import select as sparse_select


class SequenceCategoricalColumn(
    SameIds, namedtuple("SequenceCategoricalColumn", ["categorical_column"])
):
    """A categorical column whose ids are kept apart by step."""

    _has_steps = True

    @property
    def name(self) -> str:
        return self.categorical_column.name

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """Ids and weights with three dimensions, so that lookups combine only within a step."""
        column = self.categorical_column
        ids, weights = column.get_sparse_tensors(transformation_cache, state_manager)
        shape = array.shape(ids)
        # Not -1, which says nothing where there are no steps at all.
        target = [shape[0], shape[1], reduce.reduce_prod(shape[2:])]
        parts = (
            None if part is None else sparse_select.sparse_reshape(part, target)
            for part in (ids, weights)
        )
        return CategoricalColumn.IdWeightPair(*parts)


def _of_steps(make: Callable[..., Any]) -> Callable[..., SequenceCategoricalColumn]:
    @with_parameters_of(make)
    def function(**arguments: Any) -> SequenceCategoricalColumn:
        return SequenceCategoricalColumn(make(**arguments))

    function.__name__ = function.__qualname__ = f"sequence_{make.__name__}"
    function.__doc__ = f"`{make.__name__}` of steps."
    return function


sequence_categorical_column_with_identity = _of_steps(categorical_column_with_identity)
sequence_categorical_column_with_hash_bucket = _of_steps(categorical_column_with_hash_bucket)
sequence_categorical_column_with_vocabulary_file = _of_steps(
    categorical_column_with_vocabulary_file
)
sequence_categorical_column_with_vocabulary_list = _of_steps(
    categorical_column_with_vocabulary_list
)


class SequenceNumericColumn(
    OfOneFeature,
    SequenceDenseColumn,
    namedtuple(
        "SequenceNumericColumn", ["key", "shape", "default_value", "dtype", "normalizer_fn"]
    ),
):
    """See `sequence_numeric_column`."""

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        feature = transformation_cache.get(self.key, state_manager)
        return feature if self.normalizer_fn is None else self.normalizer_fn(feature)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        sparse = transformation_cache.get(self, state_manager)
        dense = sparse_convert.sparse_tensor_to_dense(sparse, default_value=self.default_value)
        # Steps shorter than the longest were padded above; each is given its shape here.
        shape = array.concat([array.shape(dense)[:1], [-1], self.variable_shape.as_list()], axis=0)
        dense = array.reshape(dense, shape=shape)
        per_step = math.prod(self.shape) if sparse.shape.ndims == 2 else 1
        return SequenceDenseColumn.TensorSequenceLengthPair(
            dense, sequence_length_from_sparse_tensor(sparse, num_elements=per_step)
        )


def sequence_numeric_column(
    key: Any,
    shape: Any = (1,),
    default_value: float = 0.0,
    dtype: Any = dtypes.float32,
    normalizer_fn: Any = None,
) -> SequenceNumericColumn:
    """Numbers of steps, padded with `default_value` to as many steps as the longest example has."""
    shape = checks.check_shape(shape, key)
    checks.check_numeric(dtype, key, normalizer_fn)
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)


def concatenate_context_input(context_input: Any, sequence_input: Any) -> Tensor:
    """Appends what is known of whole examples, [batch, d], to each of their steps."""
    checked = []
    for name, value, rank in (
        ("sequence_input", sequence_input, 3),
        ("context_input", context_input, 2),
    ):
        message = f"{name} must have rank {rank}"
        shape = array.shape(value)
        checked += [
            check_shapes.assert_rank(value, rank, message=message, data=[shape]),
            check_types.assert_type(
                value,
                dtypes.float32,
                message=f"{name} must have dtype float32; got {value.dtype}.",
            ),
        ]
    with control_dependencies(checked):
        steps = array.shape(sequence_input)[1]
        tiled = array.tile(
            array.expand_dims(context_input, 1), array.concat([[1], [steps], [1]], 0)
        )
    return array.concat([sequence_input, tiled], 2)
