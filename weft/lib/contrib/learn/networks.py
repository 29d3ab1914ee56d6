"""The networks and linear models of tf.contrib.learn's estimators, over columns of either kind.

Each function here makes a model function: `(features, labels, mode, config) -> ModelFnOps`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from weft.autodiff.gradients import gradients
from weft.graph.graph import colocate_with, control_dependencies, get_collection
from weft.graph.tensor import Tensor
from weft.lib.contrib.layers.arrays import dropout as dropout_layer
from weft.lib.contrib.layers.column_base import Column
from weft.lib.contrib.layers.dense import fully_connected
from weft.lib.contrib.layers.embedding_columns import _EmbeddingColumn
from weft.lib.contrib.layers.feature_column_ops import (
    input_from_feature_columns,
    joint_weighted_sum_from_feature_columns,
    weighted_sum_from_feature_columns,
)
from weft.lib.contrib.layers.optimizers import OPTIMIZER_CLS_NAMES, optimize_loss
from weft.lib.contrib.learn.model_fn import ModeKeys, ModelFnOps
from weft.lib.feature_column.input_layer import input_layer
from weft.lib.feature_column.linear import linear_model
from weft.lib.summary import summary
from weft.lib.train.optimizers.ftrl import FtrlOptimizer
from weft.lib.train.optimizers.sync_replicas import SyncReplicasOptimizer
from weft.ops.control.control import group
from weft.ops.math import math as math_ops
from weft.ops.math.clip import clip_by_global_norm
from weft.ops.nn import activations
from weft.ops.nn.zero_fraction import zero_fraction
from weft.ops.state import variable_scope as vs
from weft.ops.state.global_step import get_global_step
from weft.ops.state.partitioners import min_max_variable_partitioner
from weft.ops.state.updates import assign_add

ModelFn = Callable[..., ModelFnOps]
_DNN_RATE = 0.05
_LINEAR_RATE = 0.2
_LARGE_SLICE = 64 << 20
_DNN, _LINEAR = "dnn", "linear"


def _named(features: Any) -> dict[Any, Any]:
    return dict(features) if isinstance(features, dict) else {"": features}


def _made(optimizer: Any) -> Any:
    """An optimizer, which may be given by name or by a function that makes it."""
    return optimizer() if callable(optimizer) else optimizer


def _partitioner(config: Any, min_slice_size: int = 256 << 10) -> Any:
    parts = config.num_ps_replicas if config else 0
    return min_max_variable_partitioner(parts, min_slice_size=min_slice_size)


def _are_contrib(columns: Sequence[Any]) -> bool:
    return all(isinstance(column, Column) for column in columns)


def _summarize(layer: Tensor, tag: str) -> None:
    """`tag` ends in what is before the names: a slash, or an underscore in plain networks."""
    summary.scalar(f"{tag}fraction_of_zero_values", zero_fraction(layer))
    summary.histogram(f"{tag}activation", layer)


_ACTIVATIONS = {"relu": activations.relu, "tanh": math_ops.tanh, "sigmoid": math_ops.sigmoid}


def _activation(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    if given not in _ACTIVATIONS:
        known = ", ".join(_ACTIVATIONS)
        raise ValueError(f"Activation name should be one of [{known}], you provided {given}.")
    return _ACTIVATIONS[given]


# ---- parts ----


def _deep_logits(
    features: dict[Any, Any],
    columns: Sequence[Any],
    hidden_units: Sequence[int],
    outputs: int,
    activation: Any,
    dropout: float | None,
    partitioner: Any,
    separator: str = "/",
) -> tuple[Tensor, str]:
    """The outputs of dense layers over an input layer, and the name of the latter's scope."""
    net, inputs = _dense_inputs(features, columns, partitioner)
    dense = [(f"hiddenlayer_{n}", units, activation) for n, units in enumerate(hidden_units)]
    for name, units, function in [*dense, ("logits", outputs, None)]:
        with vs.variable_scope(name, values=(net,)) as layer:
            net = fully_connected(net, units, function, variables_collections=[_DNN], scope=layer)
            if dropout is not None and name != "logits":
                net = dropout_layer(net, keep_prob=1.0 - dropout)
        _summarize(net, layer.name + separator)
    return net, inputs


def _dense_inputs(
    features: dict[Any, Any], columns: Sequence[Any], partitioner: Any
) -> tuple[Tensor, str]:
    """The input layer, and the name of its scope."""
    made = vs.variable_scope(
        "input_from_feature_columns", values=tuple(features.values()), partitioner=partitioner
    )
    with made as scope:
        if not _are_contrib(columns):
            return input_layer(features, columns, [_DNN]), scope.name
        return input_from_feature_columns(features, columns, [_DNN], scope=scope), scope.name


def _wide_logits(
    features: dict[Any, Any], columns: Sequence[Any], outputs: int, joint: bool, scope: Any
) -> Tensor:
    if not _are_contrib(columns):
        return linear_model(features, columns, outputs, weight_collections=[_LINEAR])
    sum_of = joint_weighted_sum_from_feature_columns if joint else weighted_sum_from_feature_columns
    return sum_of(features, columns, outputs, [_LINEAR], scope=scope)[0]


def _multipliers(by_column: dict[Any, float] | None, scope: str) -> dict[Any, float] | None:
    """Factors of the gradients of embeddings, by variable."""
    found = {}
    for column, factor in (by_column or {}).items():
        if not isinstance(column, _EmbeddingColumn):
            raise ValueError(
                "learning rate multipler can only be defined for embedding columns. "
                f"It is defined for {column}"
            )
        weights = get_collection(_DNN, f"{scope}/{column.name}")
        if not weights:
            raise ValueError(f"Couldn't find a variable for column {column}")
        found[weights[0]] = factor
    return found or None


# ---- models ----


def dnn_model_fn(
    head: Any,
    hidden_units: Sequence[int],
    columns: Sequence[Any],
    optimizer: Any = None,
    activation_fn: Any = activations.relu,
    dropout: float | None = None,
    gradient_clip_norm: float | None = None,
    embedding_lr_multipliers: Any = None,
    input_layer_min_slice_size: int | None = None,
) -> ModelFn:
    """A network of dense layers."""

    def model_fn(features: Any, labels: Any, mode: Any, config: Any = None) -> ModelFnOps:
        named = _named(features)
        values = tuple(named.values())
        with vs.variable_scope(_DNN, values=values, partitioner=_partitioner(config)):
            slices = _partitioner(config, input_layer_min_slice_size or _LARGE_SLICE)
            logits, scope = _deep_logits(
                named, columns, hidden_units, head.logits_dimension, _activation(activation_fn),
                dropout if mode == ModeKeys.TRAIN else None, slices, "_",
            )  # fmt: skip

            def train(loss: Any) -> Any:
                return optimize_loss(
                    loss, get_global_step(), _DNN_RATE, _made(optimizer or "Adagrad"),
                    gradient_multipliers=_multipliers(embedding_lr_multipliers, scope),
                    clip_gradients=gradient_clip_norm, name=_DNN, summaries=[],
                )  # fmt: skip

            return head.create_model_fn_ops(
                features=named, mode=mode, labels=labels, train_op_fn=train, logits=logits
            )

    return model_fn


def linear_model_fn(
    head: Any,
    columns: Sequence[Any],
    optimizer: Any = None,
    gradient_clip_norm: float | None = None,
    joint_weights: bool = False,
) -> ModelFn:
    """A linear model."""

    def model_fn(features: Any, labels: Any, mode: Any, config: Any = None) -> ModelFnOps:
        named = _named(features)
        values, slices = tuple(named.values()), _partitioner(config, _LARGE_SLICE)
        with vs.variable_scope(_LINEAR, values=values, partitioner=slices) as scope:
            logits = _wide_logits(named, columns, head.logits_dimension, joint_weights, scope)

            def train(loss: Any) -> Any:
                variables = get_collection(_LINEAR)
                grads = gradients(loss, variables)
                if gradient_clip_norm:
                    grads, _ = clip_by_global_norm(grads, gradient_clip_norm)
                step = _made(optimizer or FtrlOptimizer(_linear_rate(columns)))
                if isinstance(step, str):
                    step = OPTIMIZER_CLS_NAMES[step](learning_rate=_LINEAR_RATE)
                pairs = zip(grads, variables, strict=True)
                return step.apply_gradients(pairs, global_step=get_global_step())

            return head.create_model_fn_ops(
                features=named, mode=mode, labels=labels, train_op_fn=train, logits=logits
            )

    return model_fn


def _linear_rate(columns: Sequence[Any], most: float = _LINEAR_RATE) -> float:
    return min(most, 1.0 / math.sqrt(len(columns)))


def combined_model_fn(
    head: Any,
    linear_columns: Sequence[Any] = (),
    linear_optimizer: Any = None,
    joint_linear_weights: bool = False,
    dnn_columns: Sequence[Any] = (),
    dnn_optimizer: Any = None,
    dnn_hidden_units: Sequence[int] | None = None,
    dnn_activation_fn: Any = None,
    dnn_dropout: float | None = None,
    gradient_clip_norm: float | None = None,
    embedding_lr_multipliers: Any = None,
    input_layer_min_slice_size: int | None = None,
    fix_global_step_increment_bug: bool = False,
) -> ModelFn:
    """A network and a linear model whose outputs are added; each has an optimizer of its own."""
    if not linear_columns and not dnn_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    if dnn_columns and not dnn_hidden_units:
        raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")

    def model_fn(features: Any, labels: Any, mode: Any, config: Any = None) -> ModelFnOps:
        named, outputs = _named(features), head.logits_dimension
        wide = _checked(_made(linear_optimizer or "Ftrl"))
        deep = _checked(_made(dnn_optimizer or "Adagrad"))
        values, parts, input_scope = tuple(named.values()), [], ""
        if dnn_columns:
            slices = _partitioner(config, input_layer_min_slice_size or _LARGE_SLICE)
            with vs.variable_scope(_DNN, values=values, partitioner=_partitioner(config)):
                logits, input_scope = _deep_logits(
                    named, dnn_columns, dnn_hidden_units or (), outputs,
                    dnn_activation_fn or activations.relu,
                    dnn_dropout if mode == ModeKeys.TRAIN else None, slices,
                )  # fmt: skip
                parts.append(logits)
        if linear_columns:
            slices = _partitioner(config, _LARGE_SLICE)
            with vs.variable_scope(_LINEAR, values=values, partitioner=slices) as scope:
                joint = joint_linear_weights
                parts.append(_wide_logits(named, linear_columns, outputs, joint, scope))
                _summarize(parts[-1], f"{scope.name}/")

        def train(loss: Any) -> Any:
            step, fixed = get_global_step(), fix_global_step_increment_bug
            common: dict[str, Any] = {
                "clip_gradients": gradient_clip_norm,
                "summaries": [],
                "increment_global_step": not fixed,
            }
            updates = []
            if dnn_columns:
                of_net = {"variables": get_collection(_DNN), "name": _DNN, **common}
                of_net["gradient_multipliers"] = _multipliers(embedding_lr_multipliers, input_scope)
                updates.append(optimize_loss(loss, step, _DNN_RATE, deep, **of_net))
            if linear_columns:
                rate = _linear_rate(linear_columns)
                of_line = {"variables": get_collection(_LINEAR), "name": _LINEAR, **common}
                updates.append(optimize_loss(loss, step, rate, wide, **of_line))
            both = group(*updates)
            if not fixed:
                return both
            with control_dependencies([both]), colocate_with(step):
                return assign_add(step, 1).op

        logits = parts[0] + parts[1] if len(parts) == 2 else parts[0]
        return head.create_model_fn_ops(
            features=named, mode=mode, labels=labels, train_op_fn=train, logits=logits
        )

    return model_fn


def _checked(optimizer: Any) -> Any:
    if isinstance(optimizer, SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer is not supported in DNNLinearCombined model. "
            "If you want to use this optimizer, please use either DNN or Linear model."
        )
    return optimizer
