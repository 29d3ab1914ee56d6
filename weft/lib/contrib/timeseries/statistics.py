"""The mean and variance of a series, found while a model trains on windows of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.core import dtypes, nest
from weft.graph.graph import control_dependencies
from weft.lib.contrib.timeseries.keys import TIMES, VALUES
from weft.ops.array import array
from weft.ops.control.cond import cond
from weft.ops.control.control import group, no_op
from weft.ops.math import casts, math, reduce
from weft.ops.math.moments import moments
from weft.ops.state import updates
from weft.ops.state.get_variable import get_variable
from weft.ops.state.initializers import ones_initializer, zeros_initializer
from weft.ops.state.variable_scope import variable_scope


class Moments(NamedTuple):
    """The mean and variance of each feature."""

    mean: Any
    variance: Any


class InputStatistics(NamedTuple):
    """The moments at the start of a series and of all of it, its first time and its length."""

    series_start_moments: Moments
    overall_feature_moments: Moments
    start_time: Any
    total_observation_count: Any


class _Sums(NamedTuple):
    """Sums over all batches so far, from which the statistics follow."""

    max_time_seen: Any
    chunk_count: Any
    inter_observation_duration_sum: Any
    example_count: Any
    overall_feature_sum: Any
    overall_feature_sum_of_squares: Any


class InputStatisticsFromMiniBatch:
    """Variables with the statistics of a series, which every batch of training makes better."""

    def __init__(
        self, num_features: int, dtype: Any, starting_variance_window_size: int = 16
    ) -> None:
        self._num_features, self._dtype = num_features, dtype
        self._first = starting_variance_window_size

    def initialize_graph(self, features: Any, update_statistics: bool = True) -> InputStatistics:
        """The statistics, after an update by the features if there are any."""
        with variable_scope("input_statistics", use_resource=True):
            known = self._statistics()
        with variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        if not (update_statistics and TIMES in features and VALUES in features):
            return known
        times = features[TIMES]
        with control_dependencies([self._update(known, sums, times, features[VALUES])]):
            read = [array.identity(each) for each in nest.flatten(known)]
        first = math.minimum(read[4], reduce.reduce_min(times))
        return InputStatistics(Moments(*read[:2]), Moments(*read[2:4]), first, read[5])

    def _variable(self, name: str, initial: Any, shape: Any = (), dtype: Any = None) -> Any:
        dtype = dtype or self._dtype
        if callable(initial):
            return get_variable(name, list(shape), dtype, initial, trainable=False)
        return get_variable(name, dtype=dtype, initializer=initial, trainable=False)

    def _statistics(self) -> InputStatistics:
        wide = [self._num_features]
        zeros, ones = zeros_initializer(), ones_initializer()
        start, overall = (
            Moments(self._variable(mean, zeros, wide), self._variable(variance, ones, wide))
            for mean, variance in (
                ("series_start_mean", "series_start_variance"),
                ("overall_feature_mean", "overall_feature_var"),
            )
        )
        first = self._variable("start_time", dtypes.int64.max, dtype=dtypes.int64)
        count = self._variable("total_observation_count", ones, dtype=dtypes.int64)
        return InputStatistics(start, overall, first, count)

    def _sums(self) -> _Sums:
        zeros, wide, whole = zeros_initializer(), [self._num_features], dtypes.int64
        return _Sums(
            self._variable("max_time_seen", dtypes.int64.min, dtype=whole),
            self._variable("chunk_count", zeros, dtype=whole),
            self._variable("inter_observation_duration_sum", zeros),
            self._variable("example_count", zeros, dtype=whole),
            self._variable("overall_feature_sum", zeros, wide),
            self._variable("overall_feature_sum_of_squares", zeros, wide),
        )

    def _update(self, known: InputStatistics, sums: _Sums, times: Any, values: Any) -> Any:
        values = casts.cast(values, self._dtype)
        span = reduce.reduce_max(times, axis=1) - reduce.reduce_min(times, axis=1)
        gaps = casts.cast(array.shape(times)[1] - 1, self._dtype)
        latest = updates.assign(
            sums.max_time_seen, math.maximum(sums.max_time_seen, reduce.reduce_max(times))
        )
        added = {
            "chunk_count": array.shape(times, out_type=dtypes.int64)[0],
            "inter_observation_duration_sum": reduce.reduce_sum(
                casts.cast(span, self._dtype) / gaps
            ),
            "example_count": array.size(times, out_type=dtypes.int64),
            "overall_feature_sum": reduce.reduce_sum(values, axis=[0, 1]),
            "overall_feature_sum_of_squares": reduce.reduce_sum(values**2, axis=[0, 1]),
        }
        counted = [updates.assign_add(getattr(sums, name), each) for name, each in added.items()]
        with control_dependencies([latest, *counted]):
            return self._follow(known, sums, times, values)

    def _follow(self, known: InputStatistics, sums: _Sums, times: Any, values: Any) -> Any:
        """The statistics out of the sums."""
        count = casts.cast(sums.example_count.read_value(), self._dtype)
        mean = sums.overall_feature_sum.read_value() / count
        squares = sums.overall_feature_sum_of_squares.read_value() / count
        overall = known.overall_feature_moments
        earliest = casts.cast(math.argmin(times[:, 0]), dtypes.int32)

        def begin() -> Any:
            found = moments(values[earliest, : self._first], axes=[0])
            kept = zip(known.series_start_moments, found, strict=True)
            return group(*(updates.assign(variable, each) for variable, each in kept))

        at_start = cond(
            math.less_equal(times[earliest, 0], known.start_time.read_value()), begin, no_op
        )
        with control_dependencies([at_start]):
            first = math.minimum(known.start_time.read_value(), reduce.reduce_min(times))
            started = updates.assign(known.start_time, first)
        gap = sums.inter_observation_duration_sum.read_value() / casts.cast(
            sums.chunk_count.read_value(), self._dtype
        )
        length = casts.cast(sums.max_time_seen.read_value() - first + 1, self._dtype) / gap
        return group(
            started,
            updates.assign(overall.mean, mean),
            updates.assign(overall.variance, count / (count - 1.0) * (squares - mean**2)),
            updates.assign(
                known.total_observation_count, casts.cast(math.round(length), dtypes.int64)
            ),
        )
