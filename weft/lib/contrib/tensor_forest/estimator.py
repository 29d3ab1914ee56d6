"""Forests as Estimators."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import control_dependencies
from weft.graph.op_def import raw
from weft.lib.contrib.learn.estimator import Estimator
from weft.lib.contrib.learn.model_fn import ModeKeys, ModelFnOps
from weft.lib.contrib.tensor_forest import data_ops
from weft.lib.contrib.tensor_forest.graphs import RandomForestGraphs
from weft.lib.platform import tf_logging
from weft.lib.summary import summary
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from weft.ops.array import array
from weft.ops.array.one_hot_search import one_hot
from weft.ops.control.control import group
from weft.ops.math import math
from weft.ops.scores.losses import mean_squared_error
from weft.ops.scores.metrics import accuracy
from weft.ops.state import global_step as training_util
from weft.ops.state.updates import assign_add

KEYS_NAME = "keys"
VARIANCE_PREDICTION_KEY = "prediction_variance"
TREE_PATHS_PREDICTION_KEY = "tree_paths"
_EPSILON = 0.000001


class TensorForestLossHook(SessionRunHook):
    """Stops when the loss has not become smaller for some steps."""

    def __init__(
        self, early_stopping_rounds: int, early_stopping_loss_threshold: float | None = None,
        loss_op: Any = None,
    ) -> None:  # fmt: skip
        self.early_stopping_rounds, self.loss_op = early_stopping_rounds, loss_op
        self.early_stopping_loss_threshold = early_stopping_loss_threshold
        self.min_loss: float | None = None
        self.last_step, self.steps = -1, 0  # steps without a smaller loss

    def before_run(self, run_context: Any) -> SessionRunArgs:
        step = training_util.get_global_step()
        return SessionRunArgs({"global_step": step, "current_loss": self.loss_op})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss, step = (run_values.results[key] for key in ("current_loss", "global_step"))
        self.steps += 1
        before, self.last_step = self.last_step, step
        if before == -1 or before > step:  # the first run, or the first after a restart
            tf_logging.info("TensorForestLossHook resetting last_step.")
            self.steps, self.min_loss = 0, None
            return
        share = self.early_stopping_loss_threshold or 0.0
        if self.min_loss is None or loss < self.min_loss - self.min_loss * share:
            self.min_loss, self.steps = loss, 0
        if self.steps > self.early_stopping_rounds:
            tf_logging.info("TensorForestLossHook requesting stop.")
            run_context.request_stop()


def get_model_fn(
    params: Any, graph_builder_class: Any, device_assigner: Any, weights_name: str | None = None,
    keys_name: str | None = None, early_stopping_rounds: int | None = 100,
    early_stopping_loss_threshold: float = 0.001, num_trainers: int = 1, trainer_id: int = 0,
) -> Any:  # fmt: skip
    """A model function that grows a forest of `params`."""

    def model_fn(features: Any, labels: Any, mode: str) -> ModelFnOps:
        features = dict(features) if isinstance(features, dict) else {"features": features}
        weights = features.pop(weights_name, None) if weights_name else None
        keys = features.pop(keys_name, None) if keys_name else None
        forest = graph_builder_class(params, device_assigner=device_assigner)
        values, paths, variance = forest.inference_graph(features)
        summary.scalar("average_tree_size", forest.average_size())
        predictions = _predictions(params, values)
        predictions[VARIANCE_PREDICTION_KEY] = variance
        if params.inference_tree_paths:
            predictions[TREE_PATHS_PREDICTION_KEY] = paths
        if keys is not None:
            predictions[keys_name or KEYS_NAME] = keys
        if mode == ModeKeys.INFER:
            return ModelFnOps(mode, predictions)
        loss = _loss(params, values, labels)
        measured = {} if params.regression else {"accuracy": _accuracy(labels, predictions)}
        train, hooks = None, []
        if mode == ModeKeys.TRAIN:
            with control_dependencies([values.op]):
                grown = forest.training_graph(
                    features, labels, num_trainers, trainer_id, input_weights=weights
                )
                train = group(grown, assign_add(training_util.get_global_step(), 1))
            if early_stopping_rounds:
                hooks.append(
                    TensorForestLossHook(early_stopping_rounds, early_stopping_loss_threshold, loss)
                )
        return ModelFnOps(mode, predictions, loss, train, measured, training_hooks=hooks)

    return model_fn


def _predictions(params: Any, values: Any) -> dict[str, Any]:
    if params.regression:
        return {"scores": values}
    return {"probabilities": values, "classes": raw.ArgMax(values, 1)}


def _loss(params: Any, values: Any, labels: Any) -> Any:
    labels = data_ops.ParseLabelTensorOrDict(labels)
    if params.regression:
        return mean_squared_error(array.reshape(labels, array.shape(values)), values)
    classes = one_hot(math.cast(array.reshape(labels, [-1]), dtypes.int32), params.num_classes)
    likely = raw.Log(raw.Maximum(values, _EPSILON))
    return -math.reduce_mean(math.reduce_sum(classes * likely, 1))


def _accuracy(labels: Any, predictions: dict[str, Any]) -> Any:
    flat = array.reshape(data_ops.ParseLabelTensorOrDict(labels), [-1])
    return accuracy(math.cast(flat, dtypes.int64), predictions["classes"])


class TensorForestEstimator(Estimator):
    """A forest that is trained, evaluated and asked as other estimators are."""

    def __init__(
        self, params: Any, device_assigner: Any = None, model_dir: str | None = None,
        feature_engineering_fn: Any = None, config: Any = None, weights_name: str | None = None,
        keys_name: str | None = None, feature_columns: Any = None,
        early_stopping_rounds: int | None = 100, early_stopping_loss_threshold: float = 0.001,
        num_trainers: int = 1, trainer_id: int = 0, graph_builder_class: Any = RandomForestGraphs,
    ) -> None:  # fmt: skip
        if feature_columns is not None:
            raise NotImplementedError("feature_columns: give the features as numbers")
        filled = params.fill()
        made = get_model_fn(
            filled, graph_builder_class, device_assigner, weights_name, keys_name,
            early_stopping_rounds, early_stopping_loss_threshold, num_trainers, trainer_id,
        )  # fmt: skip
        super().__init__(made, model_dir, config, None, feature_engineering_fn)
