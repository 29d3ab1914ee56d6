"""Layers of feature columns, which hold their variables themselves.

Estimators use these where all columns allow it (`is_feature_column_v2`). Names of variables are
those of `input_layer` and `linear_model`, so checkpoints fit either.
"""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor, name_scope
from weft.lib.feature_column import linear, serialization
from weft.lib.feature_column.base import DenseColumn, SequenceDenseColumn
from weft.lib.feature_column.input_layer import as_rows
from weft.lib.feature_column.lengths import all_equal, as_steps
from weft.lib.feature_column.state import LayerState
from weft.lib.feature_column.transformation import (
    FeatureTransformationCache,
    normalize_feature_columns,
    verify_static_batch_size_equality,
)
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.layers.serialization import register_layer
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.nn import activations as nn_impl
from weft.ops.state import initializers
from weft.ops.state import variable_scope as vs


class ColumnsLayer(Layer):
    """A layer that is called on a dictionary of features."""

    _is_feature_layer = True

    def __init__(
        self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._feature_columns = normalize_feature_columns(feature_columns)
        self._state_manager = LayerState(self, self.trainable)

    def scoped_variable(self, trainable: bool, **settings: Any) -> Any:
        """A variable of the open variable scope, with its partitioner, that is the layer's."""
        variable = vs.get_variable(trainable=trainable, use_resource=True, **settings)
        self.keep_weight(variable, trainable, settings.get("name"))
        return variable

    def build(self, input_shape: Any) -> None:
        with vs.PureVariableScope(self.name):
            for column in self._feature_columns:
                with vs.PureVariableScope(column.name):
                    self._build_column(column)
        self.built = True

    def _build_column(self, column: Any) -> None:
        column.create_state(self._state_manager)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(inputs, dict):
            raise ValueError("We expected a dictionary here. Instead we got: ", inputs)
        return super().__call__(inputs, *args, **kwargs)

    def get_config(self) -> dict[str, Any]:
        columns = serialization.serialize_feature_columns(self._feature_columns)
        return {**super().get_config(), "feature_columns": columns}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        columns = serialization.deserialize_feature_columns(
            config["feature_columns"], custom_objects
        )
        return cls(**{**config, "feature_columns": columns})

    def _check_columns(self, wanted: type) -> None:
        for column in self._feature_columns:
            if not isinstance(column, wanted):
                raise ValueError(
                    f"Items of feature_columns must be a {wanted}. "
                    "You can wrap a categorical column with an "
                    f"embedding_column or indicator_column. Given: {column}"
                )

    def _width(self) -> int:
        return sum(c.variable_shape.num_elements() for c in self._feature_columns)


@register_layer
class DenseFeatures(ColumnsLayer):
    """`input_layer` as a layer."""

    def __init__(
        self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(feature_columns, trainable, name, **kwargs)
        self._check_columns(DenseColumn)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return (input_shape[0], self._width())

    def call(self, inputs: Any, cols_to_output_tensors: Any = None, **kwargs: Any) -> Tensor:
        cache = FeatureTransformationCache(inputs)
        outputs = []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor = column.get_dense_tensor(cache, self._state_manager)
                output = as_rows(column, tensor)
                outputs.append(output)
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = output
        verify_static_batch_size_equality(outputs, self._feature_columns)
        return array.concat(outputs, -1)


@register_layer
class SequenceFeatures(ColumnsLayer):
    """Columns of steps side by side, [batch, steps, width], and how many steps each example has."""

    def __init__(
        self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(feature_columns, trainable, name, **kwargs)
        self._check_columns(SequenceDenseColumn)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return (input_shape[0], input_shape[1], self._width())

    def call(self, inputs: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        cache = FeatureTransformationCache(inputs)
        outputs, lengths = [], []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor, length = column.get_sequence_dense_tensor(cache, self._state_manager)
                outputs.append(as_steps(column, tensor))
                lengths.append(length)
        verify_static_batch_size_equality(lengths, self._feature_columns)
        length = all_equal(lengths)
        verify_static_batch_size_equality(outputs, self._feature_columns)
        return array.concat(outputs, -1), length


@register_layer
class LinearModel(ColumnsLayer):
    """`linear_model` as a layer."""

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(feature_columns, trainable, name, **kwargs)
        linear.check_kinds(self._feature_columns, "")
        self._units, self._sparse_combiner = units, sparse_combiner
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        with vs.PureVariableScope(self.name):
            self.bias = self.scoped_variable(
                self.trainable,
                name="bias_weights",
                shape=[self._units],
                dtype=dtypes.float32,
                initializer=initializers.Zeros(),
            )

    def _build_column(self, column: Any) -> None:
        super()._build_column(column)
        self._state_manager.create_variable(
            column,
            name="weights",
            shape=(linear.rows(column), self._units),
            dtype=dtypes.float32,
            trainable=self.trainable,
            initializer=initializers.Zeros(),
        )

    def compute_output_shape(self, input_shape: Any) -> Any:
        return TensorShape([input_shape[0], self._units])

    def call(self, inputs: Any, **kwargs: Any) -> Tensor:
        with name_scope(self.name), name_scope(self.name):  # in TensorFlow, two layers
            return self._weighted_sum(inputs)

    def _weighted_sum(self, inputs: Any) -> Tensor:
        cache, state = FeatureTransformationCache(inputs), self._state_manager
        sums = []
        for column in self._feature_columns:
            with name_scope(column.name):
                weights = state.get_variable(column, "weights")
                sums.append(
                    linear.weighted_sum(column, cache, state, self._sparse_combiner, weights)
                )
        verify_static_batch_size_equality(sums, self._feature_columns)
        total = math.add_n(sums, name="weighted_sum_no_bias")
        return nn_impl.bias_add(total, linear.as_tensor(self.bias), name="weighted_sum")

    def get_config(self) -> dict[str, Any]:
        own = {"units": self._units, "sparse_combiner": self._sparse_combiner}
        return {**super().get_config(), **own}
