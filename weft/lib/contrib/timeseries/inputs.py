"""Input functions: windows of a series at random, all of a series, and what follows after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.graph.constant import constant
from weft.graph.graph import control_dependencies
from weft.graph.keys import GraphKeys
from weft.graph.tensor import Tensor
from weft.lib.contrib.timeseries.keys import STATE_TUPLE, TIMES
from weft.lib.contrib.timeseries.readers import TimeSeriesReader
from weft.lib.train.input.queues import batch, limit_epochs, maybe_shuffle_batch
from weft.ops.array import array
from weft.ops.array.gather import batch_gather
from weft.ops.control.cond import cond
from weft.ops.math import math, reduce
from weft.ops.math.sort import argsort
from weft.ops.random.random import random_uniform
from weft.ops.state import updates
from weft.ops.state.variables import Variable


def later_times(evaluation: Any, steps: int | None, times: Any) -> Any:
    """The times of a prediction, of so many steps or as they are given."""
    before = evaluation[TIMES]
    if (steps is None) == (times is None):
        which = "One of `steps` and `times` must" if steps is None else (
            "Only one of `steps` and `times` may"
        )  # fmt: skip
        raise ValueError(f"{which} be specified.")
    if steps is not None:
        return before[:, -1:] + 1 + np.arange(steps)[None]
    times = np.array(times)
    times = times if times.ndim == 2 else times[None]
    if len(before) != len(times):
        raise ValueError(
            "`times` must have a batch dimension matching the previous model output (got a batch "
            f"dimension of {len(times)} for `times` and {len(before)} for the previous model "
            "output)."
        )
    if not (before[:, -1] < times[:, 0]).all():
        raise ValueError("Prediction times must be after the corresponding previous model output.")
    return times


def predict_continuation_input_fn(
    evaluation: Any,
    steps: int | None = None,
    times: Any = None,
    exogenous_features: dict[str, Any] | None = None,
) -> Callable[[], Any]:
    """An input function for a prediction that goes on from an evaluation, or another prediction."""
    features = {STATE_TUPLE: evaluation[STATE_TUPLE], TIMES: later_times(evaluation, steps, times)}
    features |= exogenous_features or {}

    def once() -> Any:
        def limited(value: Any) -> Any:
            return limit_epochs(value, num_epochs=1)

        return {name: nest.map_structure(limited, value) for name, value in features.items()}, None

    return once


class TimeSeriesInputFn:
    """An input function, to be called by an Estimator."""

    def create_batch(self) -> Any:
        """(features, None)"""
        raise NotImplementedError

    def __call__(self) -> Any:
        return self.create_batch()


class WholeDatasetInputFn(TimeSeriesInputFn):
    """All of a series, as a batch of one window."""

    def __init__(self, time_series_reader: TimeSeriesReader) -> None:
        self._reader = time_series_reader

    def create_batch(self) -> Any:
        """({name: tensor [1, times, ...]}, None)"""
        return {name: each[None] for name, each in self._reader.read_full().items()}, None


class RandomWindowInputFn(TimeSeriesInputFn):
    """Batches of windows of a series, shuffled.

    Windows that go past the end of the series to its start are left out
    (`discard_out_of_order`), or sorted by time. `jitter` moves the windows by one now and then.
    """

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int | None = 2,
        shuffle_seed: int | None = None,
    ) -> None:
        self._reader, self._window_size, self._batch_size = (
            time_series_reader, window_size, batch_size,
        )  # fmt: skip
        time_series_reader.check_dataset_size(minimum_dataset_size=window_size)
        self._room = queue_capacity_multiplier
        self._least = shuffle_min_after_dequeue_multiplier
        self._discard, self._discard_limit = discard_out_of_order, discard_consecutive_batches_limit
        self._jitter, self._seed = jitter, shuffle_seed
        self._num_threads = num_threads or batch_size

    def create_batch(self) -> Any:
        """({name: tensor [batch, window, ...]}, None)"""
        windows = self._windows()
        times = windows[TIMES]
        kept: Any = True
        if self._discard:
            kept = self._checked(reduce.reduce_all(times[:, 1:] >= times[:, :-1], axis=1))
        else:
            order = argsort(times, axis=1)
            windows = {name: batch_gather(each, order) for name, each in windows.items()}
        count = self._batch_size
        found = maybe_shuffle_batch(
            windows, count, self._room * count, self._least * count, kept,
            num_threads=self._num_threads, seed=self._seed, enqueue_many=True,
        )  # fmt: skip
        return found, None

    def _windows(self) -> dict[str, Tensor]:
        """Records in a row, cut into windows."""
        shape = [self._batch_size, self._window_size]
        moved: Any = random_uniform([], maxval=2, dtype=dtypes.int32) if self._jitter else 0
        size = shape[0] * shape[1]
        rows = batch(
            self._reader.read(), batch_size=size + moved, enqueue_many=True,
            capacity=self._room * size, num_threads=self._num_threads,
        )  # fmt: skip
        found = {}
        for name, each in rows.items():
            cut = each[moved:] if self._jitter else each
            found[name] = array.reshape(cut, array.concat([shape, array.shape(cut)[1:]], 0))
            found[name].set_shape([*shape, *each.shape[1:]])
        return found

    def _checked(self, ordered: Tensor) -> Tensor:
        """Which windows are in order; if too many batches in a row have none, no more come."""
        count = Variable(
            constant(0, dtypes.int64),
            name="discarded_windows_limiter",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )

        first = math.logical_not(updates.is_variable_initialized(count))
        noted = cond(
            math.logical_or(first, reduce.reduce_any(ordered)),
            lambda: updates.assign(count, constant(0, dtypes.int64)),
            lambda: count.count_up_to(self._discard_limit),
        )
        with control_dependencies([noted]):
            return math.logical_and(ordered, True)
