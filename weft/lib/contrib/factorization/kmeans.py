"""k-means, as a graph and as an Estimator of tf.contrib."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft.lib.estimator.canned import kmeans
from weft.lib.estimator.canned.clustering import CLUSTERS_VAR_NAME as CLUSTERS_VAR_NAME
from weft.lib.estimator.canned.clustering import COSINE_DISTANCE as COSINE_DISTANCE
from weft.lib.estimator.canned.clustering import KMC2_INIT as KMC2_INIT
from weft.lib.estimator.canned.clustering import KMEANS_PLUS_PLUS_INIT as KMEANS_PLUS_PLUS_INIT
from weft.lib.estimator.canned.clustering import RANDOM_INIT as RANDOM_INIT
from weft.lib.estimator.canned.clustering import (
    SQUARED_EUCLIDEAN_DISTANCE as SQUARED_EUCLIDEAN_DISTANCE,
)
from weft.lib.estimator.canned.clustering import Clustering
from weft.lib.estimator.canned.clusters import cluster


class KMeans:
    """The graph of k-means over one matrix of points, or a list of them."""

    def __init__(
        self,
        inputs: Any,
        num_clusters: Any,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int | None = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ) -> None:
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._how = Clustering(
            num_clusters,
            initial_clusters,
            distance_metric,
            use_mini_batch,
            int(mini_batch_steps_per_iteration),
            random_seed,
            kmeans_plus_plus_num_retries,
            kmc2_chain_length,
        )
        self._how.check(RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT)

    def training_graph(self) -> tuple[Any, ...]:
        """(distances to all centers, nearest centers, distances to these: of each matrix one;
        whether there are enough centers, what adds some, what trains)"""
        found = cluster(self._inputs, self._how)
        of_each = (found.all_distances, found.cluster_index, found.distances)
        return *of_each, found.is_initialized, found.init_op, found.train_op


class KMeansClustering(kmeans.KMeans):
    """The Estimator as it was before `tf.estimator.experimental.KMeans`."""

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
        feature_columns: Any = None,
    ) -> None:
        super().__init__(
            num_clusters,
            model_dir,
            initial_clusters,
            distance_metric,
            random_seed,
            use_mini_batch,
            mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries,
            relative_tolerance,
            config,
            feature_columns,
        )

    def _seed_of_graph(self, seed: int | None) -> int | None:
        return seed

    def transform(self, input_fn: Any) -> Iterator[Any]:
        """The distances of each point to all centers, squared if they are Euclidean."""
        yield from self._one(input_fn, self.ALL_DISTANCES)
