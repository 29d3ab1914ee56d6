"""Estimators with a linear model: tf.estimator.LinearClassifier and its relatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.estimator.canned.dnn import INPUT_SLICE_BYTES, check_features
from weft.lib.estimator.canned.optimizers import get_optimizer_instance
from weft.lib.estimator.canned.sdca import LinearSDCA, UpdateWeights, check_use
from weft.lib.estimator.canned.with_head import (
    OfHead,
    Regressor,
    parameters_of_regressor,
    parameters_with_head,
)
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.heads.binary import BinaryClassHead
from weft.lib.estimator.heads.canned import classification_head
from weft.lib.estimator.heads.regression import RegressionHead
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.feature_column.base import is_feature_column_v2
from weft.lib.feature_column.layers import LinearModel
from weft.lib.feature_column.linear import linear_model, parts
from weft.lib.summary import summary
from weft.ops.array.placeholders import identity
from weft.ops.array.shape import size
from weft.ops.math.casts import cast
from weft.ops.math.math import add_n
from weft.ops.nn.zero_fraction import zero_fraction
from weft.ops.scores.losses import Reduction
from weft.ops.state.global_step import get_global_step
from weft.ops.state.partitioners import min_max_variable_partitioner
from weft.ops.state.variable_scope import variable_scope

LEARNING_RATE = 0.2


def _fraction_of_zero(variables: list[Any]) -> Tensor:
    """How much of all weights together is zero."""
    with name_scope("zero_fraction"):
        sizes = [cast(size(each, out_type=dtypes.int64), dtypes.float32) for each in variables]
        zeros = [zero_fraction(each) * n for each, n in zip(variables, sizes, strict=True)]
        return identity(add_n(zeros) / add_n(sizes), name="zero_fraction_or_nan")


def linear_logit_fn_builder(
    units: int, feature_columns: Any, sparse_combiner: str = "sum"
) -> Callable[..., Tensor]:
    """A function from features to logits: weighted sums of the columns, and a bias."""

    def linear_logit_fn(features: Any) -> Tensor:
        if is_feature_column_v2(feature_columns):
            layer = LinearModel(
                feature_columns, units=units, sparse_combiner=sparse_combiner, name="linear_model"
            )
            logits = layer(features)
            bias, weights = _bias_and_weights(layer)
        else:
            by_column: dict[Any, Any] = {}
            logits = linear_model(
                features, feature_columns, units, sparse_combiner, cols_to_vars=by_column
            )
            bias = by_column.pop("bias")
            weights = [v for found in by_column.values() for v in found]
        _summarize(bias, weights, units)
        return logits

    return linear_logit_fn


def _bias_and_weights(layer: LinearModel) -> tuple[list[Any], list[Any]]:
    bias = parts(layer.bias)
    own = {id(each) for each in bias}
    return bias, [v for each in layer.variables for v in parts(each) if id(v) not in own]


def _summarize(bias: list[Any], weights: list[Any], units: int) -> None:
    if units > 1:
        summary.histogram("bias", bias)
    else:
        summary.scalar("bias", bias[0][0])
    summary.scalar("fraction_of_zero_weights", _fraction_of_zero(weights))


def _sdca_spec(
    features: Any, labels: Any, mode: Any, head: Any, columns: Any, optimizer: LinearSDCA
) -> EstimatorSpec:
    """The spec of a model that is trained without gradients."""
    if isinstance(head, BinaryClassHead):
        loss_type = "logistic_loss"
    elif isinstance(head, RegressionHead):
        loss_type = "squared_loss"
    else:
        raise ValueError(f"Unsupported head type: {head}")
    layer = LinearModel(columns, units=1, sparse_combiner="sum", name="linear_model")
    logits = layer(features)
    _summarize(*_bias_and_weights(layer), units=1)
    if mode != ModeKeys.TRAIN:
        return head.create_estimator_spec(
            features=features, mode=mode, labels=labels, logits=logits
        )
    model, train_op = optimizer.get_train_step(
        layer._state_manager, head._weight_column, loss_type, columns, features, labels,
        layer.bias, get_global_step(),
    )  # fmt: skip
    spec = head.create_estimator_spec(
        features=features, mode=mode, labels=labels, logits=logits, train_op_fn=lambda _: train_op
    )
    hooks = (*spec.training_chief_hooks, UpdateWeights(model, train_op))
    return spec._replace(training_chief_hooks=hooks)


def model_fn_of(
    head: Any, feature_columns: Any, optimizer: Any, partitioner: Any, sparse_combiner: str
) -> Callable[..., EstimatorSpec]:
    """The model function of a linear model."""
    columns = tuple(feature_columns or [])

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        check_features(features)
        spread = partitioner or min_max_variable_partitioner(
            max_partitions=config.num_ps_replicas if config else 0,
            min_slice_size=INPUT_SLICE_BYTES,
        )
        with variable_scope("linear", values=tuple(features.values()), partitioner=spread):
            if isinstance(optimizer, LinearSDCA):
                return _sdca_spec(features, labels, mode, head, columns, optimizer)
            logit_fn = linear_logit_fn_builder(head.logits_dimension, columns, sparse_combiner)
            logits = logit_fn(features=features)
            trainer = get_optimizer_instance(optimizer, learning_rate=LEARNING_RATE)
            return head.create_estimator_spec(
                features=features, mode=mode, labels=labels, optimizer=trainer, logits=logits
            )

    return model_fn


class LinearClassifier(Estimator):
    """A linear model that tells `n_classes` classes apart."""

    def __init__(
        self,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        partitioner: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        check_use(optimizer, feature_columns, sparse_combiner, classes=n_classes)
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = model_fn_of(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearRegressor(Regressor):
    """A linear model that predicts `label_dimension` numbers."""

    @parameters_of_regressor(LinearClassifier)
    def __init__(self, **given: Any) -> None:
        optimizer, columns = given["optimizer"], given["feature_columns"]
        check_use(optimizer, columns, given["sparse_combiner"], numbers=given["label_dimension"])
        super().__init__(model_fn_of, **given)


class LinearEstimator(OfHead):
    """A linear model under a head of the program's choice."""

    @parameters_with_head(LinearClassifier, without=("warm_start_from",))
    def __init__(self, **given: Any) -> None:
        super().__init__(model_fn_of, **given)
