"""Mixtures of Gaussians, fitted by expectation and maximization, as a graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import Tensor, colocate_with, control_dependencies
from weft.ops.array import array
from weft.ops.array.diag import diag, diag_part, matrix_diag_part
from weft.ops.control.check import assert_less_equal
from weft.ops.control.cond import cond
from weft.ops.control.control import group, no_op, with_dependencies
from weft.ops.linalg.linalg import cholesky, matrix_triangular_solve
from weft.ops.math import math
from weft.ops.math.arg_extremes import argmax
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.random.random import random_uniform
from weft.ops.state.updates import assign
from weft.ops.state.variables import Variable

MEPS = np.finfo(float).eps
FULL_COVARIANCE = "full"
DIAG_COVARIANCE = "diag"
# Added to variances, so that a covariance can always be inverted.
MIN_VARIANCE = 1e-3


class _Shard(NamedTuple):
    """Part of the points, and the share of each class in each of them."""

    points: Tensor
    log_total: Tensor
    shares: Tensor


class _Sums(NamedTuple):
    """Sums over all points, weighted by the shares of classes."""

    shares: Tensor
    points: Tensor
    products: Tensor


def _covariance(points: Tensor) -> Tensor:
    away = points - math.reduce_mean(points, 0, keepdims=True)
    count = array.shape(points)[0]
    return math.matmul(away, away, transpose_a=True) / math.cast(count - 1, dtypes.float32)


def _random_rows(data: list[Tensor], count: int, seed: int | None) -> Tensor:
    """As many points as there are classes, drawn from all shards."""
    sizes = [array.shape(each, out_type=dtypes.int64)[0] for each in data]
    total = math.add_n(sizes)
    enough = assert_less_equal(constant(count, dtypes.int64), total)
    with control_dependencies([enough]):
        places = random_uniform([count], 0, total, dtypes.int64, seed)
    return embedding_lookup(data, places, partition_strategy="div")


class GmmAlgorithm:
    """The graph of a mixture of Gaussians over shards of points.

    Args:
        data: a list of matrices, a point in each row.
        num_classes: how many Gaussians there are.
        initial_means: their first means; None: points at random.
        params: what is trained, of "w" (weights), "m" (means) and "c" (covariances).
        covariance_type: "full" or "diag".
        random_seed: for the points at random.
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self,
        data: list[Tensor],
        num_classes: int,
        initial_means: Any = None,
        params: str = "wmc",
        covariance_type: str = FULL_COVARIANCE,
        random_seed: int | None = 0,
    ) -> None:
        if covariance_type not in (DIAG_COVARIANCE, FULL_COVARIANCE):
            raise Exception(f"programmer error: Invalid covariance type: {covariance_type}")
        self._params, self._random_seed = params, random_seed
        self._covariance_type, self._num_classes = covariance_type, num_classes
        self._full = covariance_type == FULL_COVARIANCE
        self._dimensions = array.shape(data[0])[1]
        ones = array.ones(array.stack([self._dimensions]))
        self._min_var = diag(ones) * MIN_VARIANCE
        self._create_variables()
        self._init_ops = self._beginnings(data, initial_means)
        self._shards = [self._expect(each) for each in data]
        self._train_ops = self._maximize()
        totals = [math.reduce_logsumexp(shard.log_total) for shard in self._shards]
        self._log_likelihood_op = math.reduce_logsumexp(totals)
        logs = [shard.log_total + math.log(shard.shares) for shard in self._shards]
        self._scores = array.squeeze(math.reduce_logsumexp(logs, axis=2, keepdims=True), axis=0)

    # ---- the variables ----

    def _create_variables(self) -> None:
        nothing = constant([], dtype=dtypes.float32)
        self._means, self._covs = (
            Variable(nothing, name=name, validate_shape=False)
            for name in (self.CLUSTERS_VARIABLE, self.CLUSTERS_COVS_VARIABLE)
        )
        equal = array.tile([1.0 / self._num_classes], [self._num_classes])
        self._alpha = Variable(equal, name=self.CLUSTERS_WEIGHT, validate_shape=False)
        self._initialized = Variable(False, dtype=dtypes.bool, name="initialized")

    def _beginnings(self, data: list[Tensor], initial_means: Any) -> list[Any]:
        """Operations that give means and covariances their first values, unless they have them."""
        if initial_means is None:
            initial_means = _random_rows(data, self._num_classes, self._random_seed)
        means = array.expand_dims(initial_means, 1)
        covariance = _covariance(data[0]) + self._min_var
        if not self._full:
            covariance = diag_part(covariance)
        repeats = [self._num_classes] + [1] * (2 if self._full else 1)
        covs = array.tile(array.expand_dims(covariance, 0), repeats)
        with colocate_with(self._initialized):
            initialized = with_dependencies([means, covs], array.identity(self._initialized))
        pairs = ((self._means, means), (self._covs, covs))
        return [self._begun(initialized, variable, value) for variable, value in pairs]

    def _begun(self, initialized: Tensor, variable: Any, value: Tensor) -> Any:
        with colocate_with(variable):
            given = assign(variable, value, validate_shape=False)
            told = with_dependencies([given], assign(self._initialized, True))
            return cond(initialized, no_op, lambda: told).op

    # ---- expectation ----

    def _expect(self, points: Tensor) -> _Shard:
        rows, count = array.expand_dims(points, 0), array.shape(points)[0]
        log_joint = self._full_logs(rows) if self._full else self._diagonal_logs(rows)
        log_joint += math.log(self._alpha)
        log_total = math.reduce_logsumexp(log_joint, axis=1, keepdims=True)
        shares = math.exp(array.expand_dims(log_joint, 0) - log_total)
        shape = array.stack([count, self._num_classes])
        return _Shard(rows, log_total, array.reshape(shares, shape))

    @property
    def _log_of_circle(self) -> Tensor:
        return math.cast(self._dimensions, dtypes.float32) * math.log(2 * np.pi)

    def _full_logs(self, rows: Tensor) -> Tensor:
        """The logarithms of densities, [points, classes], with whole covariances."""
        away = array.transpose(rows - self._means, perm=[0, 2, 1])
        roots = cholesky(self._covs + self._min_var)
        log_det = 2.0 * math.reduce_sum(math.log(matrix_diag_part(roots)), 1)
        squares = math.square(matrix_triangular_solve(roots, away, lower=True))
        distance = array.transpose(math.reduce_sum(squares, 1))
        return -0.5 * (distance + self._log_of_circle + log_det)

    def _diagonal_logs(self, rows: Tensor) -> Tensor:
        """The logarithms of densities, [points, classes], with variances alone."""
        variances: Any = self._covs + MIN_VARIANCE  # type: ignore[operator]
        log_det = math.reduce_sum(math.log(variances), 1, keepdims=True)
        squares = math.squared_difference(rows, self._means)
        scaled = math.matmul(squares, array.expand_dims(1.0 / variances, 2))
        distance = array.transpose(array.squeeze(scaled, [2]))
        return -0.5 * (self._log_of_circle + array.transpose(log_det) + distance)

    # ---- maximization ----

    def _sums(self, shard: _Shard) -> _Sums:
        shares, points = shard.shares, array.squeeze(shard.points, [0])
        products = [
            math.matmul(array.transpose(points) * shares[:, k], points)
            for k in range(self._num_classes)
        ]
        return _Sums(
            math.reduce_sum(shares, 0),
            array.expand_dims(math.matmul(shares, points, transpose_a=True), 1),
            array.stack(products),
        )

    def _maximize(self) -> list[Any]:
        """Operations that move weights, means and covariances, as far as they are trained."""
        found = [self._sums(shard) for shard in self._shards]
        with control_dependencies([shard.shares for shard in self._shards]):
            counts, points, products = (math.add_n(list(each)) for each in zip(*found, strict=True))
            steps = [self._weights_moved(counts) if "w" in self._params else no_op()]
            each = array.reshape(counts, [self._num_classes, 1, 1]) + MEPS
            moved = self._means.assign(math.div(points, each)) if "m" in self._params else no_op()
            with control_dependencies([moved]):
                covs = self._covariances_around_means(products / each)
            if "c" in self._params:
                with control_dependencies([moved, covs]):
                    steps.append(assign(self._covs, covs, validate_shape=False))
        return steps

    def _weights_moved(self, counts: Tensor) -> Any:
        mean = counts / len(self._shards)
        return self._alpha.assign(mean / (math.reduce_sum(mean) + MEPS))

    def _covariances_around_means(self, products: Tensor) -> Tensor:
        rows = array.reshape(self._means.value(), [self._num_classes, -1])
        squares = array.expand_dims(rows, 2) * array.expand_dims(rows, 1)
        found = products - squares + self._min_var
        return found if self._full else matrix_diag_part(found)

    # ---- the results ----

    def init_ops(self) -> Any:
        """An operation that gives means and covariances their first values."""
        return group(*self._init_ops)

    def training_ops(self) -> Any:
        """An operation that makes one step."""
        return group(*self._train_ops)

    def is_initialized(self) -> Any:
        """Whether means and covariances have their first values."""
        return self._initialized

    def alphas(self) -> Any:
        """The weights of the classes."""
        return self._alpha

    def clusters(self) -> Any:
        """The means, [classes, 1, dimensions]."""
        return self._means

    def covariances(self) -> Any:
        """The covariances, or variances, of the classes."""
        return self._covs

    def assignments(self) -> list[Tensor]:
        """The most likely class of each point, of each shard one tensor."""
        return [argmax(shard.shares, 1) for shard in self._shards]

    def scores(self) -> Tensor:
        """The logarithm of the likelihood of each point."""
        return self._scores

    def log_likelihood_op(self) -> Tensor:
        """The logarithm of the sum of likelihoods."""
        return self._log_likelihood_op


def gmm(
    inp: Any,
    initial_clusters: Any,
    num_clusters: int,
    random_seed: int | None,
    covariance_type: str = FULL_COVARIANCE,
    params: str = "wmc",
) -> tuple[Tensor, Tensor, list[list[Tensor]], Any, Any, Any]:
    """(log-likelihood, scores, classes, training, initialization, whether it is initialized)

    `initial_clusters` are means, or "random"; a tensor is taken for "random", too.
    """
    drawn = isinstance(initial_clusters, (str, Tensor))
    means = None if drawn else constant(initial_clusters, dtype=dtypes.float32)
    data = inp if isinstance(inp, list) else [inp]
    made = GmmAlgorithm(data, num_clusters, means, params, covariance_type, random_seed)
    return (
        made.log_likelihood_op(),
        made.scores(),
        [made.assignments()],
        made.training_ops(),
        made.init_ops(),
        made.is_initialized(),
    )
