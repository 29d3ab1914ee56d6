"""Estimators of gradient boosted trees."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.boosted_trees import losses
from weft.lib.contrib.boosted_trees.model import model_builder, ranking_model_builder
from weft.lib.contrib.learn.estimator import Estimator
from weft.lib.estimator import estimator as core
from weft.lib.estimator.heads.canned import CannedMultiClassHead, CannedRegressionHead
from weft.lib.estimator.heads.canned import classification_head as _classification_head
from weft.lib.estimator.heads.canned import regression_head as _regression_head
from weft.ops.scores.losses import Reduction


def core_multiclass_head(
    n_classes: int,
    weight_column: Any = None,
    loss_reduction: str = Reduction.SUM_OVER_NONZERO_WEIGHTS,
) -> Any:
    """A head for several classes, whose loss has a second derivative."""

    def loss_fn(labels: Any, logits: Any) -> Any:
        return losses.per_example_maxent_loss(labels, None, logits, n_classes)[0]

    return CannedMultiClassHead(n_classes, weight_column, None, loss_reduction, loss_fn)


def core_quantile_regression_head(
    quantiles: float,
    label_dimension: int = 1,
    weight_column: Any = None,
    loss_reduction: str = Reduction.SUM_OVER_NONZERO_WEIGHTS,
) -> Any:
    """A head that predicts a quantile."""

    def loss_fn(labels: Any, logits: Any) -> Any:
        return losses.per_example_quantile_regression_loss(labels, None, logits, quantiles)[0]

    return CannedRegressionHead(label_dimension, weight_column, loss_reduction, loss_fn)


_DEFAULTS: dict[str, Any] = {
    "num_trees": None,
    "feature_columns": None,
    "weight_column_name": None,
    "logits_modifier_function": None,
    "center_bias": True,
    "use_core_libs": False,
    "output_leaf_index": False,
    "override_global_step_value": None,
    "num_quantiles": 100,
}


def _params(given: dict[str, Any], head: Any) -> dict[str, Any]:
    """The parameters of the model function, out of the arguments of a constructor."""
    named = {name: given.get(name, value) for name, value in _DEFAULTS.items()}
    both = ("learner_config", "examples_per_layer")
    return {**named, **{name: given[name] for name in both}, "head": head}


class GradientBoostedDecisionTreeClassifier(Estimator):
    """Trees that tell classes apart, each grown to mend what those before it got wrong."""

    def __init__(
        self, learner_config: Any, examples_per_layer: Any, n_classes: int = 2,
        num_trees: int | None = None, feature_columns: Any = None, weight_column_name: Any = None,
        model_dir: Any = None, config: Any = None, label_keys: Any = None,
        feature_engineering_fn: Any = None, logits_modifier_function: Any = None,
        center_bias: bool = True, use_core_libs: bool = False, output_leaf_index: bool = False,
        override_global_step_value: int | None = None, num_quantiles: int = 100,
    ) -> None:  # fmt: skip
        given = dict(locals())
        known = learner_config.num_classes = learner_config.num_classes or n_classes
        if known != n_classes:
            raise ValueError(f"n_classes ({n_classes}) doesn't match learner_config ({known}).")
        if n_classes == 2:
            head = _classification_head(2, weight_column_name, label_keys, Reduction.MEAN)
        else:
            head = core_multiclass_head(n_classes, weight_column_name)
        params = _params(given, head)
        super().__init__(model_builder, model_dir, config, params, feature_engineering_fn)


class GradientBoostedDecisionTreeRegressor(Estimator):
    """Trees that predict numbers, each grown to mend what those before it got wrong."""

    def __init__(
        self, learner_config: Any, examples_per_layer: Any, label_dimension: int = 1,
        num_trees: int | None = None, feature_columns: Any = None, label_name: Any = None,
        weight_column_name: Any = None, model_dir: Any = None, config: Any = None,
        feature_engineering_fn: Any = None, logits_modifier_function: Any = None,
        center_bias: bool = True, use_core_libs: bool = False, output_leaf_index: bool = False,
        override_global_step_value: int | None = None, num_quantiles: int = 100,
    ) -> None:  # fmt: skip
        given = dict(locals())
        learner_config.num_classes = max(label_dimension, 2)
        head = _regression_head(label_dimension, weight_column_name, Reduction.MEAN)
        params = _params(given, head)
        super().__init__(model_builder, model_dir, config, params, feature_engineering_fn)


class GradientBoostedDecisionTreeEstimator(Estimator):
    """Trees under a head of the program's choice."""

    def __init__(
        self, learner_config: Any, examples_per_layer: Any, head: Any,
        num_trees: int | None = None, feature_columns: Any = None, weight_column_name: Any = None,
        model_dir: Any = None, config: Any = None, feature_engineering_fn: Any = None,
        logits_modifier_function: Any = None, center_bias: bool = True,
        use_core_libs: bool = False, output_leaf_index: bool = False,
        override_global_step_value: int | None = None, num_quantiles: int = 100,
    ) -> None:  # fmt: skip
        params = _params(dict(locals()), head)
        super().__init__(model_builder, model_dir, config, params, feature_engineering_fn)


class GradientBoostedDecisionTreeRanker(Estimator):
    """Trees that rank: trained on pairs, they score single examples.

    Args:
        ranking_model_pair_keys: what the names of features of the left and of the right example
            of a pair begin with, before a dot.

    Other arguments are those of `GradientBoostedDecisionTreeEstimator`.
    """

    def __init__(
        self, learner_config: Any, examples_per_layer: Any, head: Any,
        ranking_model_pair_keys: Any, num_trees: int | None = None, feature_columns: Any = None,
        weight_column_name: Any = None, model_dir: Any = None, config: Any = None,
        label_keys: Any = None, feature_engineering_fn: Any = None,
        logits_modifier_function: Any = None, center_bias: bool = False,
        use_core_libs: bool = False, output_leaf_index: bool = False,
        override_global_step_value: int | None = None, num_quantiles: int = 100,
    ) -> None:  # fmt: skip
        params = _ranking_params(dict(locals()), head)
        super().__init__(ranking_model_builder, model_dir, config, params, feature_engineering_fn)


def _ranking_params(given: dict[str, Any], head: Any) -> dict[str, Any]:
    name = "ranking_model_pair_keys"
    return {**_params(given, head), name: given[name]}


class GradientBoostedDecisionTreeQuantileRegressor(Estimator):
    """Trees that predict a quantile."""

    def __init__(
        self, learner_config: Any, examples_per_layer: Any, quantiles: Any,
        label_dimension: int = 1, num_trees: int | None = None, feature_columns: Any = None,
        weight_column_name: Any = None, model_dir: Any = None, config: Any = None,
        feature_engineering_fn: Any = None, logits_modifier_function: Any = None,
        center_bias: bool = True, use_core_libs: bool = False, output_leaf_index: bool = False,
        override_global_step_value: int | None = None, num_quantiles: int = 100,
    ) -> None:  # fmt: skip
        given = dict(locals())
        learner_config.num_classes = max(2, label_dimension)
        head = core_quantile_regression_head(quantiles, label_dimension, weight_column_name)
        params = _params(given, head)
        super().__init__(model_builder, model_dir, config, params, feature_engineering_fn)


class CoreGradientBoostedDecisionTreeEstimator(core.Estimator):
    """Trees as an Estimator of `tf.estimator`, under a head of the program's choice."""

    def __init__(
        self, learner_config: Any, examples_per_layer: Any, head: Any,
        num_trees: int | None = None, feature_columns: Any = None, weight_column_name: Any = None,
        model_dir: Any = None, config: Any = None, label_keys: Any = None,
        feature_engineering_fn: Any = None, logits_modifier_function: Any = None,
        center_bias: bool = True, output_leaf_index: bool = False, num_quantiles: int = 100,
    ) -> None:  # fmt: skip
        params = _params({**locals(), "use_core_libs": True}, head)
        super().__init__(model_builder, model_dir, config, params)


class CoreGradientBoostedDecisionTreeRanker(core.Estimator):
    """Trees that rank, as an Estimator of `tf.estimator`."""

    def __init__(
        self, learner_config: Any, examples_per_layer: Any, head: Any,
        ranking_model_pair_keys: Any, num_trees: int | None = None, feature_columns: Any = None,
        weight_column_name: Any = None, model_dir: Any = None, config: Any = None,
        label_keys: Any = None, logits_modifier_function: Any = None, center_bias: bool = False,
        output_leaf_index: bool = False, num_quantiles: int = 100,
    ) -> None:  # fmt: skip
        params = _ranking_params({**locals(), "use_core_libs": True}, head)
        super().__init__(ranking_model_builder, model_dir, config, params)


class CoreGradientBoostedDecisionTreeQuantileRegressor(core.Estimator):
    """Trees that predict a quantile, as an Estimator of `tf.estimator`."""

    def __init__(
        self, learner_config: Any, examples_per_layer: Any, quantiles: Any,
        label_dimension: int = 1, num_trees: int | None = None, feature_columns: Any = None,
        weight_column_name: Any = None, model_dir: Any = None, config: Any = None,
        label_keys: Any = None, feature_engineering_fn: Any = None,
        logits_modifier_function: Any = None, center_bias: bool = True,
        output_leaf_index: bool = False, num_quantiles: int = 100,
    ) -> None:  # fmt: skip
        given = {**locals(), "use_core_libs": True}
        learner_config.num_classes = max(2, label_dimension)
        head = core_quantile_regression_head(quantiles, label_dimension, weight_column_name)
        super().__init__(model_builder, model_dir, config, _params(given, head))
