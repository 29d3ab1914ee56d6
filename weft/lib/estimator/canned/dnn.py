"""Estimators with dense layers: tf.estimator.DNNClassifier and its relatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from weft.graph.tensor import Tensor
from weft.lib.estimator.canned.optimizers import get_optimizer_instance
from weft.lib.estimator.canned.with_head import (
    OfHead,
    Regressor,
    parameters_of_regressor,
    parameters_with_head,
)
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.heads.canned import classification_head
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.feature_column.base import is_feature_column_v2
from weft.lib.feature_column.input_layer import InputLayer
from weft.lib.feature_column.layers import DenseFeatures
from weft.lib.layers.core import dense, dropout
from weft.lib.layers.normalization import batch_normalization
from weft.lib.summary import summary
from weft.ops.nn.activations import relu
from weft.ops.nn.zero_fraction import zero_fraction
from weft.ops.scores.losses import Reduction
from weft.ops.state.get_variable import resource_variables
from weft.ops.state.initializers import glorot_uniform_initializer
from weft.ops.state.partitioners import min_max_variable_partitioner
from weft.ops.state.variable_scope import variable_scope

LEARNING_RATE = 0.05
INPUT_SLICE_BYTES = 64 << 20

_dropout = dropout

Watcher = Callable[[Any, Any, dict[Any, Tensor]], None]
_watcher: ContextVar[Watcher | None] = ContextVar("watcher of inputs", default=None)


def add_layer_summary(value: Any, tag: str) -> None:
    """How much of a layer's output is zero, and how the rest is distributed."""
    summary.scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    summary.histogram(f"{tag}/activation", value)


def check_features(features: Any) -> None:
    if not isinstance(features, dict):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: {type(features)}"
        )


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Any,
    feature_columns: Any,
    activation_fn: Any,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., Tensor]:
    """A function from features to logits, through dense layers."""
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def hidden_layer(net: Any, number: int, size: int, training: bool) -> Tensor:
        with variable_scope(f"hiddenlayer_{number}", values=(net,)) as scope:
            net = dense(
                net,
                size,
                activation=activation_fn,
                kernel_initializer=glorot_uniform_initializer(),
                name=scope,
            )
            if dropout is not None and training:
                net = _dropout(net, rate=dropout, training=True)
            if batch_norm:
                name = f"batchnorm_{number}"
                net = batch_normalization(net, momentum=0.999, training=training, name=name)
        add_layer_summary(net, scope.name)
        return net

    def dnn_logit_fn(features: Any, mode: Any) -> Tensor:
        with resource_variables():
            return in_layers(features, mode)

    def in_layers(features: Any, mode: Any) -> Tensor:
        with variable_scope("input_from_feature_columns", partitioner=input_layer_partitioner):
            net = input_of(features, feature_columns)
        for number, size in enumerate(hidden_units):
            net = hidden_layer(net, number, size, mode == ModeKeys.TRAIN)
        with variable_scope("logits", values=(net,)) as scope:
            initializer = glorot_uniform_initializer()
            logits = dense(net, units, kernel_initializer=initializer, name=scope)
        add_layer_summary(logits, scope.name)
        return logits

    return dnn_logit_fn


def input_of(features: Any, feature_columns: Any) -> Tensor:
    """All columns side by side."""
    layer: Any
    outputs: dict[Any, Tensor] = {}
    if is_feature_column_v2(feature_columns):
        layer = DenseFeatures(feature_columns, name="input_layer")
    else:
        layer = InputLayer(feature_columns, name="input_layer", create_scope_now=False)
    net = layer(features, cols_to_output_tensors=outputs)
    if (watch := _watcher.get()) is not None:
        watch(features, feature_columns, outputs)
    return net


@contextmanager
def watched_inputs(watch: Watcher) -> Iterator[None]:
    """Inside, `watch` is called with the features of each input, its columns and their outputs."""
    token = _watcher.set(watch)
    try:
        yield
    finally:
        _watcher.reset(token)


def model_fn_of(
    head: Any,
    hidden_units: Any,
    feature_columns: Any,
    optimizer: Any,
    activation_fn: Any,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., EstimatorSpec]:
    """The model function of a network; variables are spread over the parameter servers."""

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        trainer = get_optimizer_instance(optimizer, learning_rate=LEARNING_RATE)
        check_features(features)
        servers = config.num_ps_replicas if config else 0
        partitioner = min_max_variable_partitioner(max_partitions=servers)
        with variable_scope("dnn", values=tuple(features.values()), partitioner=partitioner):
            of_input = input_layer_partitioner or min_max_variable_partitioner(
                max_partitions=servers, min_slice_size=INPUT_SLICE_BYTES
            )
            logit_fn = dnn_logit_fn_builder(
                head.logits_dimension,
                hidden_units,
                tuple(feature_columns or []),
                activation_fn,
                dropout,
                of_input,
                batch_norm,
            )
            logits = logit_fn(features=features, mode=mode)
            return head.create_estimator_spec(
                features=features, mode=mode, labels=labels, optimizer=trainer, logits=logits
            )

    return model_fn


class DNNClassifier(Estimator):
    """A network of dense layers that tells `n_classes` classes apart.

    Args:
        hidden_units: the sizes of the hidden layers.
        feature_columns: dense feature columns: the input.
        model_dir: the folder of the model.
        n_classes: how many classes there are.
        weight_column: a column that says how much an example counts.
        label_vocabulary: the classes, where labels are strings.
        optimizer: an optimizer, its name, or a function that gives one.
        activation_fn: of the hidden layers.
        dropout: the fraction of hidden values that are dropped in training.
        input_layer_partitioner: cuts the variables of the input.
        config: a `tf.estimator.RunConfig`.
        warm_start_from: a checkpoint to take first values from.
        loss_reduction: one of `tf.losses.Reduction`.
        batch_norm: whether hidden layers are normalized.

    Raises:
        ValueError: `n_classes` is less than 2, or there are no columns.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> classifier = tf.estimator.DNNClassifier([4], [x], n_classes=3, model_dir="./model")
        >>> classifier.model_dir
        './model'
    """

    def __init__(
        self,
        hidden_units: Any,
        feature_columns: Any,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Any = relu,
        dropout: float | None = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = model_fn_of(
            head,
            hidden_units,
            feature_columns,
            optimizer,
            activation_fn,
            dropout,
            input_layer_partitioner,
            batch_norm,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNRegressor(Regressor):
    """A network of dense layers that predicts `label_dimension` numbers."""

    @parameters_of_regressor(DNNClassifier)
    def __init__(self, **given: Any) -> None:
        super().__init__(model_fn_of, **given)


class DNNEstimator(OfHead):
    """A network of dense layers under a head of the program's choice."""

    @parameters_with_head(DNNClassifier)
    def __init__(self, **given: Any) -> None:
        super().__init__(model_fn_of, **given)
