"""tf.contrib.learn's DNNClassifier, LinearClassifier and so on: `fit`, and `predict_classes`.

The models are those of `tf.estimator`; what differs is how they are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.graph import Graph
from weft.lib.contrib import linear_optimizer
from weft.lib.contrib.learn.estimator import Estimator, _joined, input_fn_of
from weft.lib.estimator.canned import dnn, dnn_linear_combined, linear
from weft.lib.estimator.heads.canned import classification_head, regression_head
from weft.lib.feature_column.numeric import numeric_column
from weft.ops.nn.activations import relu
from weft.ops.scores.losses import Reduction


def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """A column for an array, or for each of several by name."""
    arrays = x if isinstance(x, dict) else {"": x}
    return [
        numeric_column(key, shape=np.asarray(each).shape[1:] or (1,))
        for key, each in sorted(arrays.items())
    ]


def infer_real_valued_columns_from_input_fn(input_fn: Any) -> list[Any]:
    """A column for each feature of an input function."""
    with Graph().as_default():
        features = input_fn()
    features = features[0] if isinstance(features, (tuple, list)) else features
    tensors = features if isinstance(features, dict) else {"": features}
    return [
        numeric_column(key, shape=tuple(each.shape.as_list()[1:]) or (1,))
        for key, each in sorted(tensors.items())
        if each.dtype != dtypes.string
    ]


class _Canned(Estimator):
    """Features that are one array are known under the empty name."""

    def __init__(self, model_fn: Any, model_dir: Any, config: Any) -> None:
        def with_names(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            named = features if isinstance(features, dict) else {"": features}
            return model_fn(named, labels, mode, config)

        super().__init__(with_names, model_dir, config)

    def _each(self, key: str, x: Any, input_fn: Any, batch_size: Any, as_iterable: bool) -> Any:
        rows: Iterator[Any] = (
            row[key]
            for row in self._predictions(input_fn_of(x, None, input_fn, batch_size, False), [key])
        )
        return rows if as_iterable else _joined(rows)


class _Classifier(_Canned):
    def predict_classes(
        self, x: Any = None, input_fn: Any = None, batch_size: Any = None, as_iterable: bool = True
    ) -> Any:
        """The number of the likeliest class of each example."""
        found = self._each("class_ids", x, input_fn, batch_size, True)
        rows = (row[0] for row in found)
        return rows if as_iterable else _joined(rows)

    def predict_proba(
        self, x: Any = None, input_fn: Any = None, batch_size: Any = None, as_iterable: bool = True
    ) -> Any:
        """The probability of every class, for each example."""
        return self._each("probabilities", x, input_fn, batch_size, as_iterable)


class _Regressor(_Canned):
    def predict_scores(
        self, x: Any = None, input_fn: Any = None, batch_size: Any = None, as_iterable: bool = True
    ) -> Any:
        """The prediction for each example."""
        found = self._each("predictions", x, input_fn, batch_size, True)
        rows = (row[0] if row.shape == (1,) else row for row in found)
        return rows if as_iterable else _joined(rows)


class DNNClassifier(_Classifier):
    """A network of dense layers that tells `n_classes` classes apart."""

    def __init__(
        self, hidden_units: Any, feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
        weight_column_name: Any = None, optimizer: Any = None, activation_fn: Any = relu,
        dropout: float | None = None, config: Any = None, label_keys: Any = None,
    ) -> None:  # fmt: skip
        head = classification_head(n_classes, weight_column_name, label_keys, Reduction.MEAN)
        model_fn = dnn.model_fn_of(
            head, hidden_units, feature_columns, optimizer or "Adagrad", activation_fn, dropout,
            None, False,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config)


class DNNRegressor(_Regressor):
    """A network of dense layers that predicts `label_dimension` numbers."""

    def __init__(
        self, hidden_units: Any, feature_columns: Any, model_dir: Any = None,
        weight_column_name: Any = None, optimizer: Any = None, activation_fn: Any = relu,
        dropout: float | None = None, config: Any = None, label_dimension: int = 1,
    ) -> None:  # fmt: skip
        head = regression_head(label_dimension, weight_column_name, Reduction.MEAN)
        model_fn = dnn.model_fn_of(
            head, hidden_units, feature_columns, optimizer or "Adagrad", activation_fn, dropout,
            None, False,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config)


def _linear(head: Any, columns: Any, optimizer: Any, loss_type: str) -> Any:
    """The model function of a linear model, for an optimizer or for dual coordinate ascent."""
    if isinstance(optimizer, linear_optimizer.SDCAOptimizer):
        return linear_optimizer.model_fn_of(head, columns, optimizer, loss_type)
    return linear.model_fn_of(head, columns, optimizer or "Ftrl", None, "sum")


class LinearClassifier(_Classifier):
    """A linear model that tells `n_classes` classes apart."""

    def __init__(
        self, feature_columns: Any, model_dir: Any = None, n_classes: int = 2,
        weight_column_name: Any = None, optimizer: Any = None, config: Any = None,
        label_keys: Any = None,
    ) -> None:  # fmt: skip
        head = classification_head(n_classes, weight_column_name, label_keys, Reduction.MEAN)
        model_fn = _linear(head, feature_columns, optimizer, "logistic_loss")
        super().__init__(model_fn, model_dir, config)


class LinearRegressor(_Regressor):
    """A linear model that predicts `label_dimension` numbers."""

    def __init__(
        self, feature_columns: Any, model_dir: Any = None, weight_column_name: Any = None,
        optimizer: Any = None, label_dimension: int = 1, config: Any = None,
    ) -> None:  # fmt: skip
        head = regression_head(label_dimension, weight_column_name, Reduction.MEAN)
        model_fn = _linear(head, feature_columns, optimizer, "squared_loss")
        super().__init__(model_fn, model_dir, config)


class DNNLinearCombinedClassifier(_Classifier):
    """A network and a linear model that tell `n_classes` classes apart together."""

    def __init__(
        self, model_dir: Any = None, n_classes: int = 2, weight_column_name: Any = None,
        linear_feature_columns: Any = None, linear_optimizer: Any = None,
        dnn_feature_columns: Any = None, dnn_optimizer: Any = None, dnn_hidden_units: Any = None,
        dnn_activation_fn: Any = relu, dnn_dropout: float | None = None, config: Any = None,
        label_keys: Any = None,
    ) -> None:  # fmt: skip
        head = classification_head(n_classes, weight_column_name, label_keys, Reduction.MEAN)
        model_fn = dnn_linear_combined.model_fn_of(
            head, linear_feature_columns, linear_optimizer or "Ftrl", dnn_feature_columns,
            dnn_optimizer or "Adagrad", dnn_hidden_units, dnn_activation_fn, dnn_dropout,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config)
