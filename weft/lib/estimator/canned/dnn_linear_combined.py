"""A network and a linear model whose logits are added ("wide and deep")."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from weft.graph.graph import GraphKeys, control_dependencies, get_collection
from weft.lib.estimator.canned.dnn import (
    INPUT_SLICE_BYTES,
    add_layer_summary,
    check_features,
    dnn_logit_fn_builder,
)
from weft.lib.estimator.canned.linear import linear_logit_fn_builder
from weft.lib.estimator.canned.optimizers import get_optimizer_instance
from weft.lib.estimator.canned.with_head import (
    OfHead,
    Regressor,
    parameters_of_regressor,
    parameters_with_head,
)
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.heads.canned import classification_head
from weft.lib.estimator.spec import EstimatorSpec
from weft.lib.train.optimizers.sync_replicas import SyncReplicasOptimizer
from weft.ops.control.control import group
from weft.ops.nn.activations import relu
from weft.ops.scores.losses import Reduction
from weft.ops.state.global_step import get_global_step
from weft.ops.state.partitioners import min_max_variable_partitioner
from weft.ops.state.updates import assign_add
from weft.ops.state.variable_scope import variable_scope

DNN_LEARNING_RATE = 0.001
LINEAR_LEARNING_RATE = 0.005


def _trainer(optimizer: Any, learning_rate: float) -> Any:
    made = get_optimizer_instance(optimizer, learning_rate=learning_rate)
    if isinstance(made, SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer does not support multi optimizers case. Therefore, it is not "
            "supported in DNNLinearCombined model. If you want to use this optimizer, please use "
            "either DNN or Linear model."
        )
    return made


def model_fn_of(
    head: Any,
    linear_feature_columns: Any = None,
    linear_optimizer: Any = "Ftrl",
    dnn_feature_columns: Any = None,
    dnn_optimizer: Any = "Adagrad",
    dnn_hidden_units: Any = None,
    dnn_activation_fn: Any = relu,
    dnn_dropout: float | None = None,
    input_layer_partitioner: Any = None,
    batch_norm: bool = False,
    linear_sparse_combiner: str = "sum",
) -> Callable[..., EstimatorSpec]:
    """The model function; each part is trained by an optimizer of its own."""
    if not linear_feature_columns and not dnn_feature_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")

    def deep(features: Any, mode: Any, servers: int, of_input: Any) -> tuple[Any, Any, str]:
        """(logits, optimizer, scope of the variables)"""
        trainer = _trainer(dnn_optimizer, DNN_LEARNING_RATE)
        if not dnn_hidden_units:
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is specified."
            )
        partitioner = min_max_variable_partitioner(max_partitions=servers)
        values = tuple(features.values())
        with variable_scope("dnn", values=values, partitioner=partitioner) as scope:
            logit_fn = dnn_logit_fn_builder(
                head.logits_dimension,
                dnn_hidden_units,
                dnn_feature_columns,
                dnn_activation_fn,
                dnn_dropout,
                of_input,
                batch_norm,
            )
            return logit_fn(features=features, mode=mode), trainer, scope.name

    def wide(features: Any, of_input: Any) -> tuple[Any, Any, str]:
        rate = min(LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(linear_feature_columns)))
        trainer = _trainer(linear_optimizer, rate)
        values = tuple(features.values())
        with variable_scope("linear", values=values, partitioner=of_input) as scope:
            logit_fn = linear_logit_fn_builder(
                head.logits_dimension, linear_feature_columns, linear_sparse_combiner
            )
            logits = logit_fn(features=features)
            add_layer_summary(logits, scope.name)
            return logits, trainer, scope.name

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        check_features(features)
        servers = config.num_ps_replicas if config else 0
        of_input = input_layer_partitioner or min_max_variable_partitioner(
            max_partitions=servers, min_slice_size=INPUT_SLICE_BYTES
        )
        sides = []
        if dnn_feature_columns:
            sides.append(deep(features, mode, servers, of_input))
        if linear_feature_columns:
            sides.append(wide(features, of_input))
        logits = [each for each, _, _ in sides]
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=lambda loss: _train(loss, sides),
            logits=logits[0] if len(logits) == 1 else logits[0] + logits[1],
        )

    return model_fn


def _train(loss: Any, sides: list[tuple[Any, Any, str]]) -> Any:
    """Both sides learn from the same loss, and the step is counted once."""
    updates = [
        trainer.minimize(loss, var_list=get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=scope))
        for _, trainer, scope in sides
    ]
    with control_dependencies([group(*updates)]):
        return assign_add(get_global_step(), 1).op


class DNNLinearCombinedClassifier(Estimator):
    """A network and a linear model that tell `n_classes` classes apart together."""

    def __init__(
        self,
        model_dir: Any = None,
        linear_feature_columns: Any = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Any = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        input_layer_partitioner: Any = None,
        config: Any = None,
        warm_start_from: Any = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        model_fn = model_fn_of(
            classification_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            linear_feature_columns,
            linear_optimizer,
            dnn_feature_columns,
            dnn_optimizer,
            dnn_hidden_units,
            dnn_activation_fn,
            dnn_dropout,
            input_layer_partitioner,
            batch_norm,
            linear_sparse_combiner,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedRegressor(Regressor):
    """A network and a linear model that predict `label_dimension` numbers together."""

    @parameters_of_regressor(DNNLinearCombinedClassifier, after="dnn_dropout")
    def __init__(self, **given: Any) -> None:
        super().__init__(model_fn_of, **given)


class DNNLinearCombinedEstimator(OfHead):
    """A network and a linear model under a head of the program's choice."""

    @parameters_with_head(DNNLinearCombinedClassifier, without=("warm_start_from", "batch_norm"))
    def __init__(self, **given: Any) -> None:
        super().__init__(model_fn_of, **given)
