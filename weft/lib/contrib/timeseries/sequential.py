"""Models of time series whose state moves from one time to the next, one value after the other."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from weft.core import dtypes, nest
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.lib.contrib.timeseries.keys import STATE_TUPLE, TIMES, VALUES, ModelOutputs
from weft.lib.contrib.timeseries.models import TimeSeriesModel
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import where
from weft.ops.control.while_loop import while_loop
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import casts, math
from weft.ops.state.variable_scope import variable_scope

Outputs = dict[str, Any]
Step = Callable[[Any, Any, Any], tuple[Any, Outputs]]


class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model that is told by what one time does to its state.

    Args:
        train_output_names: what a step of filtering returns, besides the loss.
        predict_output_names: what a step of prediction returns.
        num_features: how many numbers a value has.
        normalize_features: whether values are scaled by the statistics of the series.
        dtype: of all numbers.
        exogenous_feature_columns: columns of further features.
        exogenous_update_condition: a function of `times` and `features` that says of which series
            in a batch the further features change the state.
        static_unrolling_window_size_threshold: windows of at most this size have no loop.
    """

    def __init__(
        self,
        train_output_names: list[str],
        predict_output_names: list[str],
        num_features: int,
        normalize_features: bool = False,
        dtype: Any = dtypes.float32,
        exogenous_feature_columns: Any = None,
        exogenous_update_condition: Any = None,
        static_unrolling_window_size_threshold: int | None = None,
    ) -> None:
        super().__init__(num_features, exogenous_feature_columns, dtype)
        self._train_output_names = train_output_names
        self._predict_output_names = predict_output_names
        self._normalize_features = normalize_features
        self._exogenous_update_condition = exogenous_update_condition
        self._unroll_up_to = static_unrolling_window_size_threshold

    # ---- what makes a model ----

    def _scale_back_predictions(self, predictions: Outputs) -> Outputs:
        raise NotImplementedError(
            "SequentialTimeSeriesModel normalized input data (normalize_features=True), but no "
            "method was provided to transform the predictions back to the input scale."
        )

    @abc.abstractmethod
    def _filtering_step(
        self, current_times: Any, current_values: Any, state: Any, predictions: Outputs
    ) -> tuple[Any, Outputs]:
        """(state, outputs with a loss) after the values of a time, given their prediction."""

    @abc.abstractmethod
    def _prediction_step(self, current_times: Any, state: Any) -> tuple[Any, Outputs]:
        """(state, predictions) at a time."""

    @abc.abstractmethod
    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        """The state moved on to a time, over times without values."""

    @abc.abstractmethod
    def _exogenous_input_step(
        self, current_times: Any, current_exogenous_regressors: Any, state: Any
    ) -> Any:
        """The state after further features."""

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """What is added to the loss of a window, such as regularization."""
        return 0.0

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Called with the times of a window before its steps."""

    # ---- windows ----

    def get_batch_loss(self, features: Any, mode: str, state: Any) -> ModelOutputs:
        loss, states, told = self.per_step_batch_loss(features, mode, state)
        told = {**told, "observed": features[VALUES]}
        return ModelOutputs(loss, nest.map_structure(_at_the_end, states), told, features[TIMES])

    def per_step_batch_loss(self, features: Any, mode: str, state: Any) -> tuple[Any, Any, Outputs]:
        """(mean loss of a value, states after all times, outputs at all times)"""
        self._check_graph_initialized()
        times = casts.cast(features[TIMES], dtypes.int64)
        values = casts.cast(features[VALUES], self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        regressors = self._exogenous(times, _without(features, TIMES, VALUES))

        def step(number: Any, now: Any, state: Any) -> tuple[Any, Outputs]:
            state = self._with_exogenous(now, number, state, features, regressors)
            state, predictions = self._prediction_step(now, state)
            return self._filtering_step(now, gather(values, number, axis=1), state, predictions)

        names = ["loss", *self._train_output_names]
        states, outputs = self._through(times, state, step, names)
        losses = outputs.pop("loss")
        losses.set_shape(times.shape)
        count = casts.cast(math.reduce_prod(array.shape(times)), self.dtype)
        loss = math.reduce_sum(losses) / count + self._loss_additions(times, values, mode)
        return loss, states, self._in_input_scale(outputs)

    def predict(self, features: Any) -> Outputs:
        times = convert_to_tensor(features[TIMES], dtypes.int64)
        regressors = self._exogenous(times, _without(features, TIMES, STATE_TUPLE))

        def step(number: Any, now: Any, state: Any) -> tuple[Any, Outputs]:
            state = self._with_exogenous(now, number, state, features, regressors)
            return self._prediction_step(now, state)

        start = features[STATE_TUPLE]
        _, predictions = self._through(times, start, step, self._predict_output_names)
        return self._in_input_scale(predictions)

    def _in_input_scale(self, outputs: Outputs) -> Outputs:
        return self._scale_back_predictions(outputs) if self._normalize_features else outputs

    def _with_exogenous(
        self, now: Any, number: Any, state: Any, features: Any, regressors: Any
    ) -> Any:
        """The state after the further features of a time, where there are some."""
        if regressors is None:
            return state
        updated = self._exogenous_input_step(now, gather(regressors, number, axis=1), state)
        condition = self._exogenous_update_condition
        if condition is None:
            return updated
        raw = {
            name: gather(each, number, axis=1)
            for name, each in _without(features, TIMES, VALUES, STATE_TUPLE).items()
        }
        chosen = condition(times=now, features=raw)
        return nest.map_structure(lambda new, old: where(chosen, new, old), updated, state)

    # ---- the loop ----

    def _through(self, times: Any, state: Any, step: Step, names: list[str]) -> tuple[Any, Outputs]:
        """(states after all times, outputs by name), [batch, times, ...], of a step at each."""
        times = convert_to_tensor(times, dtype=dtypes.int64)
        self._window_initializer(times, state)

        def advance(number: Any, state: Any, reuse: Any = False) -> tuple[Any, list[Any]]:
            with variable_scope("state_update_step", reuse=reuse):
                now = gather(times, number, axis=1)
                state = self._imputation_step(now, state)
                after, outputs = step(number, now, state)
                assert set(outputs) == set(names)
                for new, old in zip(nest.flatten(after), nest.flatten(state), strict=True):
                    new.set_shape(old.shape)
                return after, [outputs[name] for name in names]

        length = times.shape.as_list()[1]
        unrolls = self._unroll_up_to is not None and length is not None
        if unrolls and length <= self._unroll_up_to:
            states, outputs = _unrolled(advance, state, length)
        else:
            states, outputs = self._looped(advance, state, array.shape(times)[1], len(names))
        return nest.pack_sequence_as(state, states), dict(zip(names, outputs, strict=True))

    def _looped(
        self, advance: Callable[..., Any], state: Any, length: Any, outputs: int
    ) -> tuple[list[Tensor], list[Tensor]]:
        types = [each.dtype for each in nest.flatten(state)], [self.dtype] * outputs
        arrays = [[TensorArray(dtype, size=length) for dtype in some] for some in types]

        def body(number: Any, state: Any, kept: Any, told: Any) -> tuple[Any, ...]:
            after, values = advance(number, state)

            def written(arrays: Any, new: Any) -> list[Any]:
                return [a.write(number, each) for a, each in zip(arrays, new, strict=True)]

            return number + 1, after, written(kept, nest.flatten(after)), written(told, values)

        loop = [array.zeros([], dtypes.int32), state, *arrays]
        *_, kept, told = while_loop(lambda number, *_: number < length, body, loop)
        return [_by_series(each) for each in kept], [_by_series(each) for each in told]


def _without(features: Any, *names: str) -> dict[str, Any]:
    return {name: each for name, each in features.items() if name not in names}


def _unrolled(advance: Callable[..., Any], state: Any, length: int) -> Any:
    """Steps one after the other in the graph, which share their variables."""
    kept, told = [], []
    for number in range(length):
        state, values = advance(constant(number, dtypes.int32), state, reuse=number > 0)
        kept.append(nest.flatten(state))
        told.append(values)
    return tuple([array.stack(list(each), 1) for each in zip(*rows, strict=True)]
                 for rows in (kept, told))  # fmt: skip


def _at_the_end(each: Tensor) -> Tensor:
    """The last of what is there for each time, [batch, times, ...]."""
    return each[:, -1]


def _by_series(each: Any) -> Tensor:
    """What was written at each time, as [batch, times, ...]."""
    rows: Any = each.stack()
    return array.transpose(rows, [1, 0, *range(2, rows.shape.ndims)])
