"""Settings of k-means, and the variables it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.core import dtypes
from weft.ops.array import array
from weft.ops.array.placeholders import placeholder_with_default
from weft.ops.state.variables import Variable

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"
CLUSTERS_VAR_NAME = "clusters"


@dataclass(frozen=True)
class Clustering:
    """The number of clusters, and how to look for them."""

    num_clusters: Any
    initial_clusters: Any = RANDOM_INIT
    distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE
    use_mini_batch: bool = True
    steps_per_iteration: int = 1
    seed: int | None = 0
    retries: int = 2
    chain_length: int = 200

    def check(self, *inits: str) -> None:
        """Stops what k-means does not know; `inits` are the known ways to begin."""
        begin = self.initial_clusters
        if isinstance(begin, str) and begin not in inits:
            raise ValueError(f"Unsupported initialization algorithm '{begin}'")
        if self.distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{self.distance_metric}'")

    @property
    def cosine(self) -> bool:
        return self.distance_metric == COSINE_DISTANCE

    @property
    def in_rounds(self) -> bool:
        """Whether centers stay where they are for some steps, and then move at once."""
        return self.use_mini_batch and self.steps_per_iteration > 1

    @property
    def keeps_length(self) -> bool:
        """Whether centers have length 1 at all times."""
        return self.cosine and (not self.use_mini_batch or self.in_rounds)


class Centers:
    """The variables. Centers have no shape before they are chosen."""

    def __init__(self, how: Clustering, count: Any) -> None:
        empty = placeholder_with_default([], shape=None)
        self.now = Variable(empty, name=CLUSTERS_VAR_NAME, validate_shape=False)
        self.initialized = Variable(False, dtype=dtypes.bool, name="initialized")
        self.next: Any = self.now
        self.wait: Any = None
        self.counts: Any = None
        if how.in_rounds:
            self.next = Variable(empty, name="clusters_updated", validate_shape=False)
            self.wait = Variable(
                how.steps_per_iteration, dtype=dtypes.int64, name="update_in_steps"
            )
            self.counts = Variable(array.zeros([count], dtype=dtypes.int64))
        elif how.use_mini_batch:
            self.counts = Variable(array.ones([count], dtype=dtypes.int64))
