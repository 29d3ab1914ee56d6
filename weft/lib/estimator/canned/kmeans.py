"""tf.estimator.experimental.KMeans."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from weft.graph.graph import control_dependencies
from weft.graph.random_seed import get_seed
from weft.lib.estimator.canned import clustering
from weft.lib.estimator.canned.clustering import Clustering
from weft.lib.estimator.canned.clusters import cluster
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.spec import EstimatorSpec
from weft.lib.feature_column.input_layer import input_layer
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model.export_outputs import DEFAULT_SERVING_SIGNATURE_DEF_KEY, PredictOutput
from weft.lib.summary import summary
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from weft.ops.array.join import concat
from weft.ops.array.placeholders import identity
from weft.ops.math.reduce import reduce_sum
from weft.ops.scores.metrics_mean import mean
from weft.ops.state.global_step import get_global_step
from weft.ops.state.updates import assign_add


class LossRelativeChangeHook(SessionRunHook):
    """Ends a training whose loss hardly changes any more."""

    def __init__(self, loss_tensor: Any, tolerance: float) -> None:
        self._loss_tensor, self._tolerance = loss_tensor, tolerance
        self._previous: Any = None

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss, before = run_values.results, self._previous
        if before and abs(loss - before) / (1 + abs(before)) < self._tolerance:
            run_context.request_stop()
        self._previous = loss


class InitializeClustersHook(SessionRunHook):
    """Runs batches through the choice of centers until there are enough; workers wait."""

    def __init__(self, init_op: Any, is_initialized: Any, is_chief: bool) -> None:
        self._init_op, self._is_initialized, self._is_chief = init_op, is_initialized, is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        while not self._look(session):
            pass

    def _look(self, session: Any) -> bool:
        """Whether there are enough centers by now."""
        try:
            enough = bool(session.run(self._is_initialized))
            if not enough:
                self._go_on(session)
            return enough
        except RuntimeError as error:
            logging.info(error)
            return False

    def _go_on(self, session: Any) -> None:
        if self._is_chief:
            session.run(self._init_op)
        else:
            time.sleep(1)


def _points(features: Any, feature_columns: Any) -> Any:
    named = isinstance(features, dict)
    if named and feature_columns:
        return input_layer(features, feature_columns)
    return concat([features[key] for key in sorted(features)], axis=1) if named else features


class KMeans(Estimator):
    """Finds `num_clusters` centers; the loss is the sum of distances to the nearest."""

    SQUARED_EUCLIDEAN_DISTANCE = clustering.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering.COSINE_DISTANCE
    RANDOM_INIT = clustering.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering.KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = clustering.CLUSTERS_VAR_NAME

    def __init__(
        self,
        num_clusters: int,
        model_dir: Any = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
        feature_columns: Any = None,
    ) -> None:
        self._distance_metric = distance_metric
        how = Clustering(
            num_clusters,
            initial_clusters,
            distance_metric,
            use_mini_batch,
            int(mini_batch_steps_per_iteration),
            seed,
            kmeans_plus_plus_num_retries,
        )
        how.check(KMeans.RANDOM_INIT, KMeans.KMEANS_PLUS_PLUS_INIT)

        def model_fn(features: Any, mode: Any, config: Any) -> EstimatorSpec:
            points = _points(features, feature_columns)
            seeded = replace(how, seed=self._seed_of_graph(seed))
            return _spec(points, seeded, mode, config, relative_tolerance)

        super().__init__(model_fn, model_dir, config)

    def _seed_of_graph(self, seed: int | None) -> int | None:
        return get_seed(seed)[0]

    def _one(self, input_fn: Any, key: str) -> Iterator[Any]:
        for result in self.predict(input_fn, predict_keys=[key]):
            yield result[key]

    def predict_cluster_index(self, input_fn: Any) -> Iterator[Any]:
        """The nearest center of each point."""
        yield from self._one(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn: Any) -> Any:
        """The sum of the squared distances of a batch to the nearest centers."""
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: Any) -> Iterator[Any]:
        """The distances of each point to all centers."""
        squared = self._distance_metric == self.SQUARED_EUCLIDEAN_DISTANCE
        for distances in self._one(input_fn, self.ALL_DISTANCES):
            yield np.sqrt(distances) if squared else distances

    def cluster_centers(self) -> Any:
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


def _spec(
    points: Any, how: Clustering, mode: Any, config: Any, tolerance: float | None
) -> EstimatorSpec:
    found = cluster([points], how)
    distances, index = found.all_distances[0], found.cluster_index[0]
    loss = reduce_sum(found.distances[0])
    summary.scalar("loss/raw", loss)
    with control_dependencies([found.train_op, assign_add(get_global_step(), 1)]):
        train_op = identity(loss)
    hooks: list[SessionRunHook] = [
        InitializeClustersHook(found.init_op, found.is_initialized, config.is_chief)
    ]
    if tolerance is not None:
        hooks.append(LossRelativeChangeHook(loss, tolerance))
    return EstimatorSpec(
        mode=mode,
        predictions={KMeans.ALL_DISTANCES: distances, KMeans.CLUSTER_INDEX: index},
        loss=loss,
        train_op=train_op,
        eval_metric_ops={KMeans.SCORE: mean(loss)},
        training_hooks=hooks,
        export_outputs={
            KMeans.ALL_DISTANCES: PredictOutput(distances),
            KMeans.CLUSTER_INDEX: PredictOutput(index),
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(index),
        },
    )
