"""The first centers of k-means: chosen among the points, which may take several batches."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import control_dependencies
from weft.graph.op_def import raw
from weft.lib.estimator.canned.clustering import KMC2_INIT, RANDOM_INIT, Centers, Clustering
from weft.ops.array import array
from weft.ops.array.placeholders import identity
from weft.ops.control import check
from weft.ops.control.cond import cond
from weft.ops.control.control import no_op
from weft.ops.math import math
from weft.ops.math.casts import cast
from weft.ops.math.moments import l2_normalize
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.random.random import random_uniform
from weft.ops.state.updates import assign


class FirstCenters:
    """Makes the operation that adds centers from a batch, unless there are enough."""

    def __init__(
        self, inputs: list[Any], how: Clustering, begin: Any, count: Any, centers: Centers
    ) -> None:
        self._inputs, self._how, self._begin = inputs, how, begin
        self._count, self._centers = count, centers
        self._chosen = array.shape(centers.now)[0]
        self._missing = count - self._chosen
        self._number = math.add_n([array.shape(each)[0] for each in inputs])

    def op(self) -> Any:
        initialized = self._centers.initialized
        return cond(
            math.equal(self._missing, 0),
            lambda: check.assert_equal(initialized, True),
            self._add,
        )

    def _add(self) -> Any:
        with control_dependencies([check.assert_positive(self._missing)]):
            by_chain = isinstance(self._begin, str) and self._begin == KMC2_INIT
            missing = self._by_chains() if by_chain else self._from_batch()
            initialized = self._centers.initialized
            return cond(math.equal(missing, 0), lambda: assign(initialized, True).op, no_op)

    def _normalized(self, points: Any) -> Any:
        return l2_normalize(points, dim=1) if self._how.cosine else points

    def _keep(self, everyone: Any) -> Any:
        """Assigns centers, and says how many are missing then."""
        centers = self._centers
        kept = assign(centers.now, everyone, validate_shape=False)
        if centers.next is not centers.now:
            kept = assign(centers.next, kept, validate_shape=False)
        return self._count - array.shape(kept)[0]

    def _from_batch(self) -> Any:
        new = self._normalized(self._choose())
        # Centers that were never assigned have no second dimension to join on.
        everyone = cond(
            math.equal(self._chosen, 0),
            lambda: new,
            lambda: array.concat([self._centers.now, new], 0),
        )
        return self._keep(everyone)

    def _choose(self) -> Any:
        begin, missing = self._begin, self._missing
        if callable(begin):
            return begin(self._inputs, missing)
        if not isinstance(begin, str):
            with control_dependencies([check.assert_equal(missing, array.shape(begin)[0])]):
                return identity(begin)
        if begin == RANDOM_INIT:
            all_of_it = self._number <= missing
            return cond(all_of_it, lambda: array.concat(self._inputs, 0), self._at_random)
        with control_dependencies([check.assert_greater_equal(self._number, missing)]):
            return self._plus_plus()

    def _at_random(self) -> Any:
        shape, number = array.reshape(self._missing, [-1]), cast(self._number, dtypes.int64)
        rows = random_uniform(shape, 0, number, dtypes.int64, self._how.seed)
        return embedding_lookup(self._inputs, rows, partition_strategy="div")

    def _plus_plus(self) -> Any:
        """As TensorFlow does, of several inputs only the first is looked at."""
        return raw.KmeansPlusPlusInitialization(
            self._normalized(self._inputs[0]), cast(self._missing, dtypes.int64),
            self._how.seed or 0, self._how.retries,
        )  # fmt: skip

    def _by_chains(self) -> Any:
        """k-MC2: the end of a Markov chain over the last part of the batch that is wanted.

        TensorFlow follows a chain over each part, but every one begins with the same centers and
        puts what it found in place of what the one before had found.
        """
        parts = cast(array.shape(self._inputs[0])[0] / self._how.chain_length, dtypes.int32)
        wanted = math.maximum(math.minimum(self._missing, parts), 1)
        first = math.equal(self._chosen, 0)
        return self._keep(cond(first, self._first, lambda: self._end_of_chain(wanted - 1)))

    def _first(self) -> Any:
        return self._normalized(array.reshape(self._inputs[0][0], [1, -1]))

    def _end_of_chain(self, part_index: Any) -> Any:
        start = part_index * self._how.chain_length
        part = self._inputs[0][start : start + self._how.chain_length]
        _, distances = raw.NearestNeighbors(part, self._centers.now, 1)
        index = raw.KMC2ChainInitialization(array.squeeze(distances), self._how.seed or 0)
        new = self._normalized(array.reshape(part[index], [1, -1]))
        return array.concat([self._centers.now, new], 0)
