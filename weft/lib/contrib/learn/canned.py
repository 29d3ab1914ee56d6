"""tf.contrib.learn's DNNClassifier, LinearClassifier and so on: `fit`, and `predict_classes`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import Graph
from weft.lib.contrib import linear_optimizer as sdca
from weft.lib.contrib.layers.feature_parsing import infer_real_valued_columns
from weft.lib.contrib.learn import head as heads
from weft.lib.contrib.learn import networks
from weft.lib.contrib.learn.estimator import Estimator, input_of
from weft.lib.contrib.learn.keys import PredictionKey
from weft.lib.contrib.learn.metric_spec import MetricSpec
from weft.lib.platform import tf_logging as logging
from weft.ops.nn.activations import relu


def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """A column of numbers for each feature of an input function."""
    with Graph().as_default():
        features = input_fn()
        features = features[0] if isinstance(features, (tuple, list)) else features
        return infer_real_valued_columns(features)


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """A column of numbers for an array, or for each of several by name."""
    return infer_real_valued_columns_from_input_fn(input_of(x, None, None, None, False)[0])


class _Canned(Estimator):
    """An estimator whose `predict` gives one of its predictions, unless told which."""

    def _each(self, key: str, x: Any, input_fn: Any, batch_size: Any, as_iterable: bool) -> Any:
        found = Estimator.predict(self, x, input_fn, batch_size, [key], as_iterable)
        return (row[key] for row in found) if as_iterable else found[key]


class _Classifier(_Canned):
    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The class of each example; all that is in `outputs`, if it is given."""
        if not outputs:
            return self.predict_classes(x, input_fn, batch_size, as_iterable)
        return Estimator.predict(
            self, x, input_fn, batch_size, outputs, as_iterable, iterate_batches
        )

    def predict_classes(
        self, x: Any = None, input_fn: Any = None, batch_size: Any = None, as_iterable: bool = True
    ) -> Any:
        """The likeliest class of each example."""
        return self._each(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self, x: Any = None, input_fn: Any = None, batch_size: Any = None, as_iterable: bool = True
    ) -> Any:
        """The probability of every class, for each example."""
        return self._each(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


def _is_plain(key: Any, metric: Any) -> bool:
    return not isinstance(key, tuple) and not isinstance(metric, MetricSpec)


class _Regressor(_Canned):
    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The score of each example; all that is in `outputs`, if it is given."""
        if not outputs:
            return self.predict_scores(x, input_fn, batch_size, as_iterable)
        return Estimator.predict(
            self, x, input_fn, batch_size, outputs, as_iterable, iterate_batches
        )

    def predict_scores(
        self, x: Any = None, input_fn: Any = None, batch_size: Any = None, as_iterable: bool = True
    ) -> Any:
        """The prediction for each example."""
        return self._each(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Any = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """As `Estimator.evaluate`; plain functions in `metrics` are given the scores."""
        of_scores = {
            (key, PredictionKey.SCORES) if _is_plain(key, metric) else key: metric
            for key, metric in (metrics or {}).items()
        }
        return super().evaluate(
            x, y, input_fn, feed_fn, batch_size, steps, of_scores, name, checkpoint_path, hooks,
            log_progress,
        )  # fmt: skip


def _classes(n_classes: int, weights: Any, bias: bool, label_keys: Any) -> heads.Head:
    return heads.multi_class_head(
        n_classes, weight_column_name=weights, enable_centered_bias=bias, label_keys=label_keys
    )


def _numbers(dimension: int, weights: Any, bias: bool) -> heads.Head:
    return heads.regression_head(
        weight_column_name=weights, label_dimension=dimension, enable_centered_bias=bias
    )


# ---- networks ----


class DNNClassifier(_Classifier):
    """A network of dense layers that tells `n_classes` classes apart.

    Args:
        hidden_units: the size of each layer.
        feature_columns: columns of `tf.contrib.layers`, or of `tf.feature_column`.
        model_dir: for checkpoints and summaries.
        n_classes: how many classes there are.
        weight_column_name: the feature that tells how much an example counts.
        optimizer: Adagrad with a rate of 0.05 if None.
        activation_fn: of the layers.
        dropout: the part of the units that is dropped in training.
        gradient_clip_norm: the largest norm of all gradients together.
        enable_centered_bias: whether a bias is trained on the labels alone.
        config: a RunConfig.
        feature_engineering_fn: from features and labels to others.
        embedding_lr_multipliers: factors of the gradients of embedding columns.
        input_layer_min_slice_size: of the parts of embeddings on parameter servers.
        label_keys: the classes, if labels are words.
    """

    def __init__(
        self, hidden_units: Any, feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
        weight_column_name: Any = None, optimizer: Any = None, activation_fn: Any = relu,
        dropout: float | None = None, gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False, config: Any = None, feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None, input_layer_min_slice_size: int | None = None,
        label_keys: Any = None,
    ) -> None:  # fmt: skip
        model_fn = networks.dnn_model_fn(
            _classes(n_classes, weight_column_name, enable_centered_bias, label_keys),
            hidden_units, tuple(feature_columns or ()), optimizer, activation_fn, dropout,
            gradient_clip_norm, embedding_lr_multipliers, input_layer_min_slice_size,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


class DNNRegressor(_Regressor):
    """A network of dense layers that predicts `label_dimension` numbers; see `DNNClassifier`."""

    def __init__(
        self, hidden_units: Any, feature_columns: Any, model_dir: Any = None,
        weight_column_name: Any = None, optimizer: Any = None, activation_fn: Any = relu,
        dropout: float | None = None, gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False, config: Any = None, feature_engineering_fn: Any = None,
        label_dimension: int = 1, embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:  # fmt: skip
        model_fn = networks.dnn_model_fn(
            _numbers(label_dimension, weight_column_name, enable_centered_bias),
            hidden_units, tuple(feature_columns or ()), optimizer, activation_fn, dropout,
            gradient_clip_norm, embedding_lr_multipliers, input_layer_min_slice_size,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


class DNNEstimator(Estimator):
    """A network of dense layers under any head."""

    def __init__(
        self, head: Any, hidden_units: Any, feature_columns: Any, model_dir: Any = None,
        optimizer: Any = None, activation_fn: Any = relu, dropout: float | None = None,
        gradient_clip_norm: float | None = None, config: Any = None,
        feature_engineering_fn: Any = None, embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:  # fmt: skip
        model_fn = networks.dnn_model_fn(
            head, hidden_units, tuple(feature_columns), optimizer, activation_fn, dropout,
            gradient_clip_norm, embedding_lr_multipliers, input_layer_min_slice_size,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


# ---- linear models ----


class LinearClassifier(_Classifier):
    """A linear model that tells `n_classes` classes apart; see `DNNClassifier`."""

    def __init__(
        self, feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
        weight_column_name: Any = None, optimizer: Any = None,
        gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
        _joint_weight: bool = False, config: Any = None, feature_engineering_fn: Any = None,
        label_keys: Any = None,
    ) -> None:  # fmt: skip
        columns = tuple(feature_columns or ())
        assert columns
        by_duals = isinstance(optimizer, sdca.SDCAOptimizer)
        if by_duals and enable_centered_bias:
            raise ValueError("enable_centered_bias is not supported with SDCA")
        head = _classes(n_classes, weight_column_name, enable_centered_bias, label_keys)
        if by_duals:
            assert not _joint_weight, "_joint_weight is incompatible with the SDCAOptimizer"
            assert n_classes == 2, "SDCA only applies to binary classification."
            model_fn = sdca.model_fn_of(head, columns, optimizer, "logistic_loss")
        else:
            model_fn = networks.linear_model_fn(
                head, columns, optimizer, gradient_clip_norm, _joint_weight
            )
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


class LinearRegressor(_Regressor):
    """A linear model that predicts `label_dimension` numbers; see `DNNClassifier`."""

    def __init__(
        self, feature_columns: Any, model_dir: Any = None, weight_column_name: Any = None,
        optimizer: Any = None, gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False, label_dimension: int = 1, _joint_weights: bool = False,
        config: Any = None, feature_engineering_fn: Any = None,
    ) -> None:  # fmt: skip
        columns = tuple(feature_columns or ())
        assert columns
        by_duals = isinstance(optimizer, sdca.SDCAOptimizer)
        if by_duals and enable_centered_bias:
            enable_centered_bias = False
            logging.warning(
                "centered_bias is not supported with SDCA, please disable it explicitly."
            )
        head = _numbers(label_dimension, weight_column_name, enable_centered_bias)
        if by_duals:
            assert label_dimension == 1, "SDCA only applies for label_dimension=1."
            assert not _joint_weights, "_joint_weights is incompatible with SDCAOptimizer."
            model_fn = sdca.model_fn_of(head, columns, optimizer, "squared_loss")
        else:
            model_fn = networks.linear_model_fn(
                head, columns, optimizer, gradient_clip_norm, _joint_weights
            )
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


class LinearEstimator(Estimator):
    """A linear model under any head."""

    def __init__(
        self, feature_columns: Any, head: Any, model_dir: Any = None,
        weight_column_name: Any = None, optimizer: Any = None,
        gradient_clip_norm: float | None = None, _joint_weights: bool = False, config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:  # fmt: skip
        assert feature_columns
        if isinstance(optimizer, sdca.SDCAOptimizer):
            raise ValueError("LinearEstimator does not support SDCA optimizer.")
        model_fn = networks.linear_model_fn(
            head, tuple(feature_columns), optimizer, gradient_clip_norm, _joint_weights
        )
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


# ---- both together ----


class DNNLinearCombinedEstimator(Estimator):
    """A network and a linear model under any head; see `DNNLinearCombinedClassifier`."""

    def __init__(
        self, head: Any, model_dir: Any = None, linear_feature_columns: Any = None,
        linear_optimizer: Any = None, _joint_linear_weights: bool = False,
        dnn_feature_columns: Any = None, dnn_optimizer: Any = None, dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = None, dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None, config: Any = None,
        feature_engineering_fn: Any = None, embedding_lr_multipliers: Any = None,
        fix_global_step_increment_bug: bool = False, input_layer_partitioner: Any = None,
    ) -> None:  # fmt: skip
        model_fn = networks.combined_model_fn(
            head, tuple(linear_feature_columns or ()), linear_optimizer, _joint_linear_weights,
            tuple(dnn_feature_columns or ()), dnn_optimizer, dnn_hidden_units, dnn_activation_fn,
            dnn_dropout, gradient_clip_norm, embedding_lr_multipliers, None,
            fix_global_step_increment_bug,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


class DNNLinearCombinedClassifier(_Classifier):
    """A network and a linear model that tell `n_classes` classes apart together.

    Args:
        model_dir: for checkpoints and summaries.
        n_classes: how many classes there are.
        weight_column_name: the feature that tells how much an example counts.
        linear_feature_columns, linear_optimizer: of the linear model; Ftrl if None.
        dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout: of
            the network; Adagrad if None.
        gradient_clip_norm: the largest norm of the gradients of either.
        enable_centered_bias: whether a bias is trained on the labels alone.
        config: a RunConfig.
        feature_engineering_fn: from features and labels to others.
        embedding_lr_multipliers: factors of the gradients of embedding columns.
        input_layer_min_slice_size: of the parts of embeddings on parameter servers.
        label_keys: the classes, if labels are words.
        fix_global_step_increment_bug: whether a step counts once. If not, it counts for each of
            the two models, as it did in the first versions.

    Raises:
        ValueError: there are no columns, or columns of a network without layers.
    """

    def __init__(
        self, model_dir: Any = None, n_classes: int = 2, weight_column_name: Any = None,
        linear_feature_columns: Any = None, linear_optimizer: Any = None,
        _joint_linear_weights: bool = False, dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None, dnn_hidden_units: Any = None, dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None, gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False, config: Any = None, feature_engineering_fn: Any = None,
        embedding_lr_multipliers: Any = None, input_layer_min_slice_size: int | None = None,
        label_keys: Any = None, fix_global_step_increment_bug: bool = False,
    ) -> None:  # fmt: skip
        model_fn = networks.combined_model_fn(
            _classes(n_classes, weight_column_name, enable_centered_bias, label_keys),
            tuple(linear_feature_columns or ()), linear_optimizer, _joint_linear_weights,
            tuple(dnn_feature_columns or ()), dnn_optimizer, dnn_hidden_units, dnn_activation_fn,
            dnn_dropout, gradient_clip_norm, embedding_lr_multipliers, input_layer_min_slice_size,
            fix_global_step_increment_bug,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


class DNNLinearCombinedRegressor(_Regressor):
    """A network and a linear model that predict numbers together.

    Arguments are those of `DNNLinearCombinedClassifier`; there are `label_dimension` numbers.
    """

    def __init__(
        self, model_dir: Any = None, weight_column_name: Any = None,
        linear_feature_columns: Any = None, linear_optimizer: Any = None,
        _joint_linear_weights: bool = False, dnn_feature_columns: Any = None,
        dnn_optimizer: Any = None, dnn_hidden_units: Any = None, dnn_activation_fn: Any = relu,
        dnn_dropout: float | None = None, gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False, label_dimension: int = 1, config: Any = None,
        feature_engineering_fn: Any = None, embedding_lr_multipliers: Any = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:  # fmt: skip
        model_fn = networks.combined_model_fn(
            _numbers(label_dimension, weight_column_name, enable_centered_bias),
            tuple(linear_feature_columns or ()), linear_optimizer, _joint_linear_weights,
            tuple(dnn_feature_columns or ()), dnn_optimizer, dnn_hidden_units, dnn_activation_fn,
            dnn_dropout, gradient_clip_norm, embedding_lr_multipliers, input_layer_min_slice_size,
            fix_global_step_increment_bug,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)
