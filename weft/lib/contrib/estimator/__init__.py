"""tf.contrib.estimator: heads that sum the losses of a batch, hooks, and more metrics."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.estimator.annotations import (
    DNNClassifierWithLayerAnnotations as DNNClassifierWithLayerAnnotations,
)
from weft.lib.contrib.estimator.annotations import (
    DNNRegressorWithLayerAnnotations as DNNRegressorWithLayerAnnotations,
)
from weft.lib.contrib.estimator.rnn import RNNClassifier as RNNClassifier
from weft.lib.contrib.estimator.rnn import RNNEstimator as RNNEstimator
from weft.lib.contrib.estimator.tower_optimizer import TowerOptimizer as TowerOptimizer
from weft.lib.contrib.estimator.towers import replicate_model_fn as replicate_model_fn
from weft.lib.estimator.canned.baseline import BaselineEstimator as BaselineEstimator
from weft.lib.estimator.canned.boosted_trees import BoostedTreesClassifier, BoostedTreesRegressor
from weft.lib.estimator.canned.dnn import DNNEstimator as DNNEstimator
from weft.lib.estimator.canned.dnn import dnn_logit_fn_builder as dnn_logit_fn_builder
from weft.lib.estimator.canned.dnn_linear_combined import (
    DNNLinearCombinedEstimator as DNNLinearCombinedEstimator,
)
from weft.lib.estimator.canned.linear import LinearEstimator as LinearEstimator
from weft.lib.estimator.canned.linear import linear_logit_fn_builder as linear_logit_fn_builder
from weft.lib.estimator.canned.saved_model_estimator import (
    SavedModelEstimator as SavedModelEstimator,
)
from weft.lib.estimator.early_stopping import make_early_stopping_hook as make_early_stopping_hook
from weft.lib.estimator.early_stopping import read_eval_metrics as read_eval_metrics
from weft.lib.estimator.early_stopping import stop_if_higher_hook as stop_if_higher_hook
from weft.lib.estimator.early_stopping import stop_if_lower_hook as stop_if_lower_hook
from weft.lib.estimator.early_stopping import stop_if_no_decrease_hook as stop_if_no_decrease_hook
from weft.lib.estimator.early_stopping import stop_if_no_increase_hook as stop_if_no_increase_hook
from weft.lib.estimator.extenders import add_metrics as add_metrics
from weft.lib.estimator.extenders import clip_gradients_by_norm as clip_gradients_by_norm
from weft.lib.estimator.extenders import forward_features as forward_features
from weft.lib.estimator.functions import call_logit_fn as call_logit_fn
from weft.lib.estimator.heads.canned import (
    CannedBinaryHead,
    CannedMultiClassHead,
    CannedMultiLabelHead,
    CannedRegressionHead,
)
from weft.lib.estimator.heads.multi_head import MultiHead
from weft.lib.estimator.heads.regression import logistic_loss, poisson_loss
from weft.lib.estimator.hooks import InMemoryEvaluatorHook as InMemoryEvaluatorHook
from weft.lib.estimator.hooks import (
    make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook,
)
from weft.lib.estimator.receivers import SupervisedInputReceiver as SupervisedInputReceiver
from weft.lib.estimator.receivers import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
)
from weft.lib.estimator.receivers import (
    build_supervised_input_receiver_fn_from_input_fn as build_supervised_input_receiver_fn_from_input_fn,  # noqa: E501
)
from weft.lib.estimator.spec import ModeKeys
from weft.ops.math.math import sigmoid
from weft.ops.math.unary import exp
from weft.ops.scores.losses import Reduction

_MEAN = Reduction.SUM_OVER_BATCH_SIZE


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    name: str | None = None,
) -> Any:
    """One logit, two classes."""
    return CannedBinaryHead(
        weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name
    )


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    name: str | None = None,
) -> Any:
    """A logit for each of several classes, of which one is right."""
    return CannedMultiClassHead(
        n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name
    )


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Any = None,
    label_vocabulary: Any = None,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    classes_for_class_based_metrics: Any = None,
    name: str | None = None,
) -> Any:
    """A logit for each class, of which any number may be right."""
    return CannedMultiLabelHead(
        n_classes, weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn,
        classes_for_class_based_metrics, name,
    )  # fmt: skip


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    loss_fn: Any = None,
    inverse_link_fn: Any = None,
    name: str | None = None,
) -> Any:
    """Numbers, by default with the squared error."""
    return CannedRegressionHead(
        label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name
    )


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = _MEAN,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> Any:
    """Counts: the exponential of the logits."""
    loss_fn = poisson_loss(compute_full_loss)
    return regression_head(weight_column, label_dimension, loss_reduction, loss_fn, exp, name)


def logistic_regression_head(
    weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None
) -> Any:
    """Probabilities: the sigmoid of the logits."""
    return regression_head(weight_column, 1, loss_reduction, logistic_loss, sigmoid, name)


def multi_head(heads: Any, head_weights: Any = None) -> MultiHead:
    """Several heads on one model."""
    return MultiHead(heads, head_weights)


def boosted_trees_classifier_train_in_memory(
    train_input_fn: Any, feature_columns: Any, *args: Any, train_hooks: Any = None, **kwargs: Any
) -> BoostedTreesClassifier:
    """A `BoostedTreesClassifier` trained on data that comes as one batch.

    Other arguments are those of the class, without `n_batches_per_layer`.
    """
    kwargs["train_in_memory"] = True
    made = BoostedTreesClassifier(feature_columns, 1, *args, **kwargs)
    made.train(train_input_fn, hooks=train_hooks)
    return made


def boosted_trees_regressor_train_in_memory(
    train_input_fn: Any, feature_columns: Any, *args: Any, train_hooks: Any = None, **kwargs: Any
) -> BoostedTreesRegressor:
    """A `BoostedTreesRegressor` trained on data that comes as one batch."""
    kwargs["train_in_memory"] = True
    made = BoostedTreesRegressor(feature_columns, 1, *args, **kwargs)
    made.train(train_input_fn, hooks=train_hooks)
    return made


def export_saved_model_for_mode(
    estimator: Any,
    export_dir_base: Any,
    input_receiver_fn: Any,
    assets_extra: dict[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = ModeKeys.PREDICT,
) -> bytes:
    """Writes the graph of one mode of an Estimator as a SavedModel; the folder it is in."""
    return estimator.export_saved_model(
        export_dir_base, input_receiver_fn, assets_extra, as_text, checkpoint_path, mode
    )


def export_all_saved_models(
    estimator: Any,
    export_dir_base: Any,
    input_receiver_fn_map: Any,
    assets_extra: dict[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """Writes the graphs of all modes of an Estimator that have a function for their input."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
    )
