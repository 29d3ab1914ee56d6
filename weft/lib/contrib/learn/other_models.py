"""Estimators of tf.contrib.learn that are neither networks nor sums: SVM, k-means, logistic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.lib.contrib import factorization
from weft.lib.contrib import linear_optimizer as sdca
from weft.lib.contrib.learn import head_metrics
from weft.lib.contrib.learn.canned import _Classifier
from weft.lib.contrib.learn.estimator import Estimator
from weft.lib.contrib.learn.head import binary_svm_head
from weft.lib.contrib.learn.keys import ProblemType
from weft.lib.contrib.learn.model_fn import ModeKeys, ModelFnOps
from weft.lib.estimator.canned.kmeans import InitializeClustersHook, LossRelativeChangeHook
from weft.lib.summary import summary
from weft.ops.array import array
from weft.ops.control.control import with_dependencies
from weft.ops.math import math
from weft.ops.state.global_step import get_global_step
from weft.ops.state.updates import assign_add


class SVM(_Classifier):
    """A support vector machine of two classes, linear in its columns, by dual coordinate ascent.

    Args:
        example_id_column: the feature, of strings, that tells examples apart.
        feature_columns: columns of `tf.contrib.layers`.
        weight_column_name: the feature that tells how much an example counts.
        model_dir: for checkpoints and summaries.
        l1_regularization, l2_regularization: of the weights.
        num_loss_partitions: how many workers there are.
        kernels: must be None.
        config: a RunConfig.
        feature_engineering_fn: from features and labels to others.

    Raises:
        ValueError: there are kernels.
    """

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Any,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        num_loss_partitions: int = 1,
        kernels: Any = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        optimizer = sdca.SDCAOptimizer(
            example_id_column,
            num_loss_partitions=num_loss_partitions,
            symmetric_l1_regularization=l1_regularization,
            symmetric_l2_regularization=l2_regularization,
        )
        head = binary_svm_head(weight_column_name=weight_column_name)
        model_fn = sdca.model_fn_of(head, feature_columns, optimizer, "hinge_loss")
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


def LogisticRegressor(
    model_fn: Callable[..., Any],
    thresholds: Sequence[float] | None = None,
    model_dir: Any = None,
    config: Any = None,
    feature_engineering_fn: Any = None,
) -> Estimator:
    """An Estimator of a model of one's own that predicts probabilities, with metrics of these.

    Args:
        model_fn: `(features, labels, mode) -> (predictions, loss, train_op)`.
        thresholds: for accuracy, precision and recall; 0.5 if None.
        model_dir: for checkpoints and summaries.
        config: a RunConfig.
        feature_engineering_fn: from features and labels to others.

    Returns:
        An `Estimator`.
    """

    def with_metrics(features: Any, labels: Any, mode: Any) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        found = None
        if mode == ModeKeys.EVAL:
            only = labels
            if isinstance(labels, dict) and len(labels) == 1:
                (only,) = labels.values()
            found = head_metrics.of_probabilities(predictions, only, thresholds or [0.5])
        outputs = {"head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})}
        return ModelFnOps(mode, predictions, loss, train_op, found, outputs)

    return Estimator(with_metrics, model_dir, config, None, feature_engineering_fn)


class KMeansClustering(Estimator):
    """Centers of clusters of points, as an Estimator.

    Args:
        num_clusters: how many centers there are.
        model_dir: for checkpoints and summaries.
        initial_clusters: how the first centers are chosen, or a tensor or function of them.
        distance_metric: one of the two distances of this class.
        random_seed: of the choice.
        use_mini_batch: whether a step sees only some of the points.
        mini_batch_steps_per_iteration: after how many steps centers move.
        kmeans_plus_plus_num_retries: of that choice.
        relative_tolerance: training ends when the loss changes by less than this part.
        config: a RunConfig.
    """

    SQUARED_EUCLIDEAN_DISTANCE = factorization.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = factorization.COSINE_DISTANCE
    RANDOM_INIT = factorization.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = factorization.KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self,
        num_clusters: int,
        model_dir: Any = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int | None = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
    ) -> None:
        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> ModelFnOps:
            graph = factorization.KMeans(
                _points(features), num_clusters, initial_clusters, distance_metric, use_mini_batch,
                mini_batch_steps_per_iteration, random_seed, kmeans_plus_plus_num_retries,
            ).training_graph()  # fmt: skip
            return self._ops(graph, mode, config.is_chief, relative_tolerance)

        super().__init__(model_fn, model_dir, config)

    def _ops(self, graph: Any, mode: Any, is_chief: bool, tolerance: float | None) -> ModelFnOps:
        distances, nearest, losses, is_ready, init_op, train_op = graph
        loss = math.reduce_sum(losses, name=self.LOSS_OP_NAME)
        summary.scalar("loss/raw", loss)
        step = assign_add(get_global_step(), 1)
        hooks: list[Any] = [InitializeClustersHook(init_op, is_ready, is_chief)]
        if tolerance is not None:
            hooks.append(LossRelativeChangeHook(loss, tolerance))
        return ModelFnOps(
            mode,
            {self.ALL_SCORES: distances[0], self.CLUSTER_IDX: nearest[0]},
            loss,
            with_dependencies([train_op, step], loss),
            {self.SCORES: loss},
            training_hooks=hooks,
        )

    def predict_cluster_idx(self, input_fn: Any = None) -> Iterator[Any]:
        """The number of the nearest center of each point."""
        for row in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield row[self.CLUSTER_IDX]

    def score(self, input_fn: Any = None, steps: int | None = None) -> Any:
        """The sum of the distances of all points to their centers."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn: Any = None, as_iterable: bool = False) -> Any:
        """The distances of each point to all centers."""
        key = self.ALL_SCORES
        found = self.predict(input_fn=input_fn, outputs=[key], as_iterable=as_iterable)
        return found if as_iterable else found[key]

    def clusters(self) -> Any:
        """The centers."""
        return self.get_variable_value(self.CLUSTERS)


def _points(features: Any) -> Any:
    if not isinstance(features, dict):
        return features
    return array.concat([features[key] for key in sorted(features)], 1)
