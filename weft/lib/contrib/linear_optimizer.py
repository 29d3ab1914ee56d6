"""tf.contrib.linear_optimizer: linear models trained by stochastic dual coordinate ascent."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.contrib.layers.crossed_columns import _CrossedColumn
from weft.lib.contrib.layers.dense_columns import (
    _BucketizedColumn,
    _RealValuedColumn,
    real_valued_column,
)
from weft.lib.contrib.layers.feature_column_ops import weighted_sum_from_feature_columns
from weft.lib.contrib.layers.feature_parsing import transform_features
from weft.lib.contrib.layers.sparse_columns import _SparseColumn, _WeightedSparseColumn
from weft.lib.estimator.canned import sdca
from weft.lib.feature_column import linear as linear_columns
from weft.ops.array import array, fill, gather
from weft.ops.array.join import concat
from weft.ops.math import casts, math, reduce, unary
from weft.ops.math.matmul import matmul
from weft.ops.math.segment import segment_sum
from weft.ops.nn.activations import relu
from weft.ops.nn.cross_entropy import log_poisson_loss, sigmoid_cross_entropy_with_logits
from weft.ops.state.global_step import get_global_step
from weft.ops.state.variable_scope import variable_scope

__all__ = ["SDCAOptimizer", "SdcaModel", "SparseFeatureColumn"]


class SparseFeatureColumn:
    """Features of some examples as a list: of which example, which one, and its value if not 1."""

    def __init__(self, example_indices: Any, feature_indices: Any, feature_values: Any) -> None:
        with name_scope(None, "SparseFeatureColumn", [example_indices, feature_indices]):
            self.example_indices, self.feature_indices = (
                convert_to_tensor(value, dtypes.int64, name)
                for name, value in (
                    ("example_indices", example_indices),
                    ("feature_indices", feature_indices),
                )
            )
        self.feature_values: Tensor | None = None
        if feature_values is not None:
            with name_scope(None, "SparseFeatureColumn", [feature_values]):
                self.feature_values = convert_to_tensor(
                    feature_values, dtypes.float32, "feature_values"
                )

    def listed(self) -> sdca.Sparse:
        """The three lists, with values."""
        values = self.feature_values
        if values is None:
            values = fill.ones_like(self.feature_indices, dtypes.float32)
        return sdca.Sparse(self.example_indices, self.feature_indices, values)


class SDCAOptimizer(sdca.LinearSDCA):
    """Goes where `tf.contrib.learn`'s linear models take an optimizer."""

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = True,
        partitioner: Any = None,
    ) -> None:
        super().__init__(
            example_id_column, num_loss_partitions, num_table_shards, symmetric_l1_regularization,
            max(symmetric_l2_regularization, 1.0), adaptive,
        )  # fmt: skip
        self.example_id_column, self.partitioner = example_id_column, partitioner
        self.num_loss_partitions, self.num_table_shards = num_loss_partitions, num_table_shards
        self.symmetric_l1_regularization = symmetric_l1_regularization
        self.symmetric_l2_regularization = symmetric_l2_regularization
        self.adaptive = adaptive

    def get_name(self) -> str:
        """The name of the algorithm."""
        return "SDCAOptimizer"

    def get_train_step(  # type: ignore[override]
        self,
        columns_to_variables: dict[Any, list[Any]],
        weight_column_name: str | None,
        loss_type: str,
        features: dict[Any, Any],
        targets: Any,
        global_step: Any,
    ) -> tuple[sdca.SdcaModel, Any]:
        """The model of columns of `tf.contrib.layers`, and the operation that trains it.

        `features` holds the tensor of each column as well.
        """
        count = array.shape(targets)[0]
        weights = fill.ones([count])
        if weight_column_name:
            weights = array.reshape(features[weight_column_name], [-1])
        labels = casts.cast(array.reshape(targets, [-1]), dtypes.float32)
        ids = convert_to_tensor(features[self.example_id_column])
        batch = sdca.Batch([], [], [], [], labels, weights, ids)
        for column in sorted(columns_to_variables, key=lambda each: each.key):
            variables = columns_to_variables[column]
            variable = variables[0] if len(variables) == 1 else variables
            _add_column(batch, column, features[column], variable)
        model = sdca.SdcaModel(batch, loss_type, self)
        return model, model.minimize(global_step)


def _add_column(batch: sdca.Batch, column: Any, tensor: Any, variable: Any) -> None:
    """Puts a column among the sparse features of a batch, or among the dense ones."""
    if isinstance(column, _RealValuedColumn | _BucketizedColumn):
        if isinstance(column, _BucketizedColumn):
            tensor = column._to_dnn_input_layer(tensor)
        batch.dense.append(array.reshape(tensor, [array.shape(tensor)[0], -1]))
        batch.dense_weights.append(variable)
    elif isinstance(column, _WeightedSparseColumn | _CrossedColumn | _SparseColumn):
        is_weighted = isinstance(column, _WeightedSparseColumn)
        ids = column.id_tensor(tensor)
        values = column.weight_tensor(tensor) if is_weighted else None
        batch.sparse.append(sdca.without_doubles(ids, values))
        batch.sparse_weights.append(variable)
    else:
        kind = type(column).__name__
        raise ValueError(f"SDCAOptimizer does not support column type {kind}.")


_BIAS = "tf_virtual_bias_column"


def model_fn_of(head: Any, feature_columns: Any, optimizer: SDCAOptimizer, loss_type: str) -> Any:
    """The model function of a linear model of `tf.contrib.layers` columns."""

    def model_fn(features: Any, labels: Any, mode: Any, config: Any = None) -> Any:
        named = features if isinstance(features, dict) else {"": features}
        given = tuple(named.values())
        with variable_scope("linear", values=given, partitioner=optimizer.partitioner) as scope:
            tensors = {**named, **transform_features(named, feature_columns)}
            logits, variables, bias = weighted_sum_from_feature_columns(
                tensors, feature_columns, 1, scope=scope
            )
        hooks: list[Any] = []

        def train(loss: Any) -> Any:
            column = real_valued_column(_BIAS)
            tensors[column] = fill.ones([array.shape(labels)[0], 1])
            model, train_op = optimizer.get_train_step(
                {**variables, column: [bias]}, head.weight_column_name, loss_type, tensors, labels,
                get_global_step(),
            )  # fmt: skip
            hooks.append(sdca.UpdateWeights(model, train_op))
            return train_op

        made = head.create_model_fn_ops(named, mode, labels, train, logits)
        return made._replace(training_chief_hooks=[*made.training_chief_hooks, *hooks])

    return model_fn


def _hinge(labels: Tensor, predictions: Tensor) -> Tensor:
    return relu(1.0 - (2 * labels - 1.0) * predictions)


def _half_square(labels: Tensor, predictions: Tensor) -> Tensor:
    return unary.square(labels - predictions) / 2.0


# Loss of a label and a prediction, and what makes a prediction of a product with the weights.
_LOSSES: dict[str, tuple[Any, Any]] = {
    "logistic_loss": (
        lambda labels, logits: sigmoid_cross_entropy_with_logits(labels=labels, logits=logits),
        math.sigmoid,
    ),
    "squared_loss": (_half_square, None),
    "hinge_loss": (_hinge, None),
    "smooth_hinge_loss": (_hinge, None),
    "poisson_loss": (log_poisson_loss, unary.exp),
}
_LISTS = ("sparse_features", "dense_features")
_WEIGHTS = ("sparse_features_weights", "dense_features_weights")
_REGULARIZATION = ("symmetric_l1_regularization", "symmetric_l2_regularization")


def _check(given: dict[str, Any], names: tuple[str, ...], lists: tuple[str, ...] = ()) -> None:
    for name in (*names, *lists):
        if given[name] is None:
            raise ValueError(f"{name} must be specified.")
    for name in lists:
        if not isinstance(given[name], list):
            raise ValueError(f"{name} must be a list.")


def _whole(variable: Any) -> Tensor:
    values = [convert_to_tensor(part) for part in linear_columns.parts(variable)]
    return values[0] if len(values) == 1 else concat(values, 0)


class SdcaModel(sdca.SdcaModel):
    """A solver of the examples, variables and options that three dictionaries hold."""

    slot_suffix = "_unshrinked/SDCAOptimizer"

    def __init__(
        self, examples: dict[str, Any], variables: dict[str, Any], options: dict[str, Any]
    ) -> None:
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be specified.")
        if options["loss_type"] not in _LOSSES:
            raise ValueError("Unsupported loss_type: ", options["loss_type"])
        _check(examples, ("example_labels", "example_weights", "example_ids"), _LISTS)
        _check(variables, (), _WEIGHTS)
        _check(options, ("loss_type", *_REGULARIZATION))
        for name in _REGULARIZATION:
            if options[name] < 0.0:
                raise ValueError(f"{name} should be non-negative. Found ({options[name]:f})")
        l1, self._given_l2 = (options[name] for name in _REGULARIZATION)
        self._variables = [each for name in _WEIGHTS for each in variables[name]]
        self._weights = {name: variables[name] for name in _WEIGHTS}
        batch = sdca.Batch(
            [each.listed() for each in examples["sparse_features"]],
            variables["sparse_features_weights"],
            [_whole(each) for each in examples["dense_features"]],
            variables["dense_features_weights"],
            convert_to_tensor(examples["example_labels"]),
            convert_to_tensor(examples["example_weights"]),
            convert_to_tensor(examples["example_ids"]),
        )
        settings = SDCAOptimizer(
            "", options.get("num_loss_partitions", 1), options.get("num_table_shards"), l1,
            self._given_l2, options.get("adaptive", True),
        )  # fmt: skip
        super().__init__(batch, options["loss_type"], settings)

    def _linear(self, examples: dict[str, Any]) -> Tensor:
        """The products of the features with the weights."""
        sparse: Any = 0.0
        with name_scope("sdca/prediction"):
            for column, weights in zip(
                examples["sparse_features"], self._weights["sparse_features_weights"], strict=False
            ):
                listed = column.listed()
                factors = gather.gather(_whole(weights), listed.ids)
                sparse += segment_sum(factors * listed.values, listed.examples)
            dense: Any = 0.0
            for values, weights in zip(
                examples["dense_features"], self._weights["dense_features_weights"], strict=False
            ):
                dense += matmul(_whole(values), array.expand_dims(_whole(weights), -1))
        return array.reshape(dense, [-1]) + sparse

    def predictions(self, examples: dict[str, Any]) -> Tensor:
        """Probabilities for the logistic loss, exponentials for Poisson's, or the products."""
        _check(examples, ("example_weights",), _LISTS)
        linear, finish = self._linear(examples), _LOSSES[self._loss_type][1]
        if finish is None:
            return linear
        with name_scope(f"sdca/{self._loss_type.removesuffix('_loss')}_prediction"):
            return finish(linear)

    def unregularized_loss(self, examples: dict[str, Any]) -> Tensor:
        """The mean loss of some examples."""
        _check(examples, ("example_labels", "example_weights"), _LISTS)
        with name_scope("sdca/unregularized_loss"):
            predictions, labels, weights = (
                casts.cast(convert_to_tensor(each), dtypes.float64)
                for each in (
                    self._linear(examples), examples["example_labels"], examples["example_weights"],
                )
            )  # fmt: skip
            losses = _LOSSES[self._loss_type][0](labels, predictions)
            return reduce.reduce_sum(losses * weights) / reduce.reduce_sum(weights)

    def regularized_loss(self, examples: dict[str, Any]) -> Tensor:
        """The mean loss of some examples, and that of the size of the weights."""
        with name_scope("sdca/regularized_loss"):
            every = [
                casts.cast(convert_to_tensor(part), dtypes.float64)
                for variable in self._variables
                for part in linear_columns.parts(variable)
            ]
            sizes = math.add_n([reduce.reduce_sum(math.abs(each)) for each in every])
            squares = math.add_n([reduce.reduce_sum(unary.square(each)) for each in every])
            total = self._options._l1 * sizes + self._given_l2 * squares / 2.0
            weights = casts.cast(convert_to_tensor(examples["example_weights"]), dtypes.float64)
            return total / reduce.reduce_sum(weights) + self.unregularized_loss(examples)
