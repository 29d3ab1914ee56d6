"""Autoregressive models: the values after a window follow from those in it, and from the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.lib.contrib.timeseries.keys import STATE_TUPLE, TIMES, VALUES, ModelOutputs
from weft.lib.contrib.timeseries.models import TimeSeriesModel
from weft.lib.estimator.spec import ModeKeys
from weft.lib.keras.engine.sequential import Sequential
from weft.lib.keras.engine.training import Model
from weft.lib.keras.layers import core
from weft.lib.rnn.fused import LSTMBlockFusedCell
from weft.ops.array import array, gather
from weft.ops.array.one_hot_search import where_v2
from weft.ops.array.pad import pad
from weft.ops.control.check import assert_equal, assert_greater_equal
from weft.ops.control.while_loop import while_loop
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import casts, math, reduce
from weft.ops.math.sequence import range as range_
from weft.ops.nn.activations import relu
from weft.ops.state.get_variable import get_variable
from weft.ops.state.initializers import zeros_initializer
from weft.ops.state.variable_scope import variable_scope

_LEAST_VARIANCE = 1e-5


def normal_log_prob(loc: Any, scale: Any, x: Any) -> Tensor:
    """TensorFlow's density, which counts the logarithm of the scale by half."""
    z = (x - loc) / scale
    return -0.5 * (math.square(z) + float(np.log(2.0 * np.pi)) + math.log(scale))


def cauchy_log_prob(loc: Any, scale: Any, x: Any) -> Tensor:
    """The logarithm of the density of a Cauchy distribution."""
    z = (x - loc) / scale
    return -float(np.log(np.pi)) - math.log(scale) - math.log1p(math.square(z))


class FlatPredictionModel(Model):
    """Dense layers over all features of a window together."""

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        hidden_layer_sizes: Any = None,
    ) -> None:
        super().__init__()
        self._flatten = core.Flatten()
        layers = [core.Dense(size, activation=relu) for size in hidden_layer_sizes or ()]
        self._hidden_layers = Sequential(layers) if layers else None
        self._shape = [-1, output_window_size, num_features]
        names = ("predicted_mean", "log_sigma_square")
        self._ends = [core.Dense(num_features * output_window_size, name=each) for each in names]

    def call(  # type: ignore[override]
        self, input_window_features: Any, output_window_features: Any
    ) -> dict[str, Tensor]:
        """The mean and covariance of the values after the window."""
        parts = []
        if input_window_features.shape[1] != 0:
            parts.append(self._flatten(input_window_features))
        if not parts or output_window_features.shape[2] != 0:
            parts.append(self._flatten(output_window_features))
        inner = array.concat(parts, axis=1) if len(parts) > 1 else parts[0]
        inner = self._hidden_layers(inner) if self._hidden_layers else inner
        mean, log_variance = (array.reshape(end(inner), self._shape) for end in self._ends)
        return {"mean": mean, "covariance": math.exp(log_variance)}


class LSTMPredictionModel(Model):
    """An LSTM reads the window, another goes on from it."""

    def __init__(
        self,
        num_features: int,
        input_window_size: int,
        output_window_size: int,
        num_units: int = 128,
    ) -> None:
        super().__init__()
        self._cells = [LSTMBlockFusedCell(num_units, name=role) for role in ("encoder", "decoder")]
        parts = ("mean", "covariance")
        self._ends = [core.Dense(num_features, name=f"{part}_transform") for part in parts]

    def call(  # type: ignore[override]
        self, input_window_features: Any, output_window_features: Any
    ) -> dict[str, Tensor]:
        """The mean and covariance of the values after the window."""
        state: dict[str, Any] = {}
        steps: Any = None
        for cell, each in zip(
            self._cells, (input_window_features, output_window_features), strict=True
        ):
            by_time = array.transpose(each, [1, 0, 2])
            steps, last = cell(by_time, dtype=self.dtype, **state)
            state = {"initial_state": last}
        by_window = array.transpose(steps, [1, 0, 2])
        mean, log_variance = (end(by_window) for end in self._ends)
        return {"mean": mean, "covariance": math.exp(log_variance)}


def _others(features: Any) -> dict[str, Any]:
    """The features beside times, values and state."""
    return {
        name: each for name, each in features.items() if name not in (TIMES, VALUES, STATE_TUPLE)
    }


class ARModel(TimeSeriesModel):
    """A model of the next `output_window_size` values by the `input_window_size` before them.

    `periodicities` are lengths of cycles, in each of which the time is known by its part of
    `num_time_buckets`.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Any = None,
    ) -> None:
        super().__init__(num_features, exogenous_feature_columns)
        self._model_factory, self.loss = prediction_model_factory, loss
        self.input_window_size, self.output_window_size = input_window_size, output_window_size
        self.window_size = input_window_size + output_window_size
        self.exogenous_size = self._exogenous_width()
        periods = periodicities or []
        periods = periods if isinstance(periods, list | tuple) else [periods]
        self._periodicities, self._buckets = [int(each) for each in periods], int(num_time_buckets)
        assert num_time_buckets > 0 and output_window_size > 0
        assert all(each > 0 for each in self._periodicities)
        assert self._periodicities or input_window_size

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Makes the network of the model."""
        super().initialize_graph(input_statistics)
        self._model_instance = self._model_factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self) -> tuple[Tensor, Tensor, Tensor]:
        """(times, values, further features) of an empty window before the series."""
        size = self.input_window_size
        return (
            array.zeros([size], dtypes.int64),
            array.zeros([size, self.num_features], self.dtype),
            array.zeros([size, self.exogenous_size], self.dtype),
        )

    # ---- one window ------------------------------------------------------------------------------

    def _time_features(self, times: Tensor) -> Tensor:
        """How far each time is through each part of each cycle: [batch, window, numbers]."""
        periods = np.array(self._periodicities, times.dtype.as_numpy_dtype)[None, None, :, None]
        count = array.shape(times)[0]
        place = times[:, :, None, None] % periods
        part = casts.cast(place, self.dtype) * self._buckets / casts.cast(periods, self.dtype)
        edges = np.arange(self._buckets, dtype=self.dtype.as_numpy_dtype)
        past = relu(part - edges)
        found = where_v2(past < 1.0, past, array.zeros_like(past))
        width = self._buckets * len(self._periodicities)
        return array.reshape(found, [count, self.window_size, width])

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> dict[str, Any]:
        """The mean and covariance after a window, by all that is known."""
        times.shape.assert_is_compatible_with([None, self.window_size])
        split = self.input_window_size
        before, after = [], []
        if self._periodicities:
            clock = self._time_features(times)
            before, after = [clock[:, :split]], [clock[:, split:]]
        if split:
            before.append(array.reshape(values, [array.shape(times)[0], split, self.num_features]))
        if self.exogenous_size:
            before.append(exogenous_regressors[:, :split])
            after.append(exogenous_regressors[:, split:])
        joined = array.concat(before, axis=2)
        following = (
            array.concat(after, axis=2)
            if after
            else array.zeros([array.shape(times)[0], self.output_window_size, 0], self.dtype)
        )
        cycles = self._buckets * len(self._periodicities) + self.exogenous_size
        width = cycles + (self.num_features if split else 0)
        joined.set_shape([times.shape[0], split, width])
        following.set_shape([times.shape[0], self.output_window_size, cycles])
        with variable_scope("model/", use_resource=True):
            found = self._model_instance(joined, following)
        for each in found.values():
            each.set_shape([None, self.output_window_size, self.num_features])
        return found

    def loss_op(self, targets: Any, prediction_ops: dict[str, Any]) -> Tensor:
        """The loss of predictions, for each number of the targets."""
        return reduce.reduce_mean(self._losses(targets, prediction_ops))

    def _losses(self, targets: Any, found: dict[str, Any]) -> Tensor:
        if self.loss == self.SQUARED_LOSS:
            return math.squared_difference(found["mean"], targets)
        assert self.loss == self.NORMAL_LIKELIHOOD_LOSS, self.loss
        return -normal_log_prob(targets, _scale(found), found["mean"])

    def _process_window(self, features: Any, mode: str, exogenous: Any) -> ModelOutputs:
        times = casts.cast(features[TIMES], dtypes.int64)
        observed = casts.cast(features[VALUES], self.dtype)
        if not times.shape.is_compatible_with([None, self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and output_window_size="
                f"{self.output_window_size} expects feature '{TIMES}' to have shape (batch_size, "
                f"{self.window_size}) (for any batch_size), but got shape {times.shape}. If you "
                f"are using RandomWindowInputFn, set window_size={self.window_size} or adjust the "
                "input_window_size and output_window_size arguments to ARModel."
            )
        size, scaled = self.input_window_size, self._scale_data(observed)
        found = self.prediction_ops(times, scaled[:, :size], exogenous)
        targets = scaled[:, size:]
        if mode == ModeKeys.EVAL and self.loss == self.SQUARED_LOSS:
            back = self._scale_back_data
            loss = self.loss_op(back(targets), {"mean": back(found["mean"])})
        else:
            loss = self.loss_op(targets, found)
        return ModelOutputs(
            loss,
            tuple(each[:, -size:] for each in (times, scaled, exogenous)),
            {**self._in_scale(found), "observed": observed[:, -self.output_window_size :]},
            times[:, -self.output_window_size :],
        )

    def _in_scale(self, found: dict[str, Any]) -> dict[str, Any]:
        mean, covariance = found["mean"], found["covariance"]
        return {
            "mean": self._scale_back_data(mean),
            "covariance": self._scale_back_variance(covariance),
        }

    def _further(self, times: Any, features: Any) -> Tensor:
        """Features beside the values, of no numbers where there are none."""
        found = self._exogenous(times, _others(features))
        if found is not None:
            return found
        return array.zeros(array.concat([array.shape(times), [0]], 0), self.dtype)

    # ---- windows of a series ---------------------------------------------------------------------

    def get_batch_loss(self, features: Any, mode: str, state: Any) -> ModelOutputs:
        """In training, the loss of windows; in evaluation, of all windows of series."""
        features = {name: convert_to_tensor(each) for name, each in features.items()}
        times = features[TIMES]
        exogenous = self._further(times, features)
        match mode:
            case ModeKeys.TRAIN:
                return self._process_window(features, mode, exogenous)
            case ModeKeys.EVAL:
                return self._process_series(features, exogenous, state)
        raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")

    def _process_series(self, features: Any, exogenous: Any, state: Any) -> ModelOutputs:
        times, length = features[TIMES], features[TIMES].shape[1]
        if length.value is not None and length.value < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + output_window_size to "
                f"evaluate on (input_window_size={self.input_window_size}, output_window_size="
                f"{self.output_window_size}, and got shape {times.shape} for feature '{TIMES}' "
                "(batch size, window size))."
            )
        step, size = self.output_window_size, self.input_window_size
        count = (array.shape(times)[1] - size) // step
        first = array.shape(times)[1] - (count * step + size)
        places = first + range_(count)[:, None] * step + np.arange(self.window_size)[None]

        def cut(series: Any) -> Tensor:
            """All windows of all series, one after the other."""
            windows = gather.gather(series, places, axis=1)
            made = array.reshape(windows, array.concat([[-1], array.shape(windows)[2:]], 0))
            made.set_shape([None, self.window_size, *series.shape[2:]])
            return made

        whole = {TIMES: times, VALUES: features[VALUES]}
        found = self._process_window(
            {name: cut(each) for name, each in whole.items()}, ModeKeys.EVAL, cut(exogenous)
        )
        rows = array.shape(times)[0]
        values = casts.cast(features[VALUES], self.dtype)

        def in_row(each: Tensor) -> Tensor:
            return array.reshape(each, [rows, count * step, self.num_features])

        predictions = {name: in_row(found.predictions[name]) for name in ("mean", "covariance")}
        predictions["observed"] = values[:, size + first :]
        seen = casts.cast(times, dtypes.int64), self._scale_data(values), exogenous
        return ModelOutputs(
            found.loss, self._end_state(state, seen), predictions, times[:, size + first :]
        )

    def _end_state(self, state: Any, seen: Any) -> Any:
        """The last of what was known before and of what is seen now."""
        size = self.input_window_size
        if not size:
            return state
        ended = []
        for before, now, width in zip(
            state, seen, ([], [self.num_features], [self.exogenous_size]), strict=True
        ):
            last = array.concat([before, now], axis=1)[:, -size:]
            last.set_shape([None, size, *width])
            ended.append(last)
        return tuple(ended)

    # ---- what follows ----------------------------------------------------------------------------

    def predict(self, features: Any) -> dict[str, Any]:
        """The mean and covariance at later times, each window on top of the one before."""
        if not self._graph_initialized:
            self.initialize_graph()
        times = casts.cast(convert_to_tensor(features[TIMES]), dtypes.int32)
        exogenous = self._further(times, features)
        checked = assert_equal(array.shape(times)[1], array.shape(exogenous)[1])
        with control_dependencies([checked]):
            exogenous = array.identity(exogenous)
        step, wanted = self.output_window_size, array.shape(times)[1]
        rounds = (wanted + step - 1) // step
        missing = rounds * step - wanted
        clock, extra, window = self._from_state(
            features[STATE_TUPLE],
            pad(times, [[0, 0], [0, missing]]),
            pad(exogenous, [[0, 0], [0, missing], [0, 0]]),
        )
        arrays = [TensorArray(self.dtype, size=rounds) for _ in range(2)]

        def follow(i: Any, known: Any, means: Any, covariances: Any) -> tuple[Any, ...]:
            at = i * step
            now, beside = (each[:, at : at + self.window_size] for each in (clock, extra))
            now.set_shape([times.shape[0], self.window_size])
            beside.set_shape([times.shape[0], self.window_size, self.exogenous_size])
            found = self.prediction_ops(now, known, beside)
            next_known = array.concat([known, found["mean"]], 1)[:, step:]
            next_known.set_shape(known.shape)
            covariance = found["covariance"]
            if self.loss == self.SQUARED_LOSS:
                covariance = array.ones_like(covariance)
            return (
                i + 1,
                next_known,
                means.write(i, found["mean"]),
                covariances.write(i, covariance),
            )

        *_, means, covariances = while_loop(lambda i, *_: i < rounds, follow, [0, window, *arrays])

        def in_row(each: Any) -> Tensor:
            steps = array.transpose(each.stack(), [1, 0, 2, 3])
            shape = array.stack([array.shape(times)[0], rounds * step, self.num_features])
            return array.reshape(steps, shape)[:, :wanted]

        return self._in_scale({"mean": in_row(means), "covariance": in_row(covariances)})

    def _from_state(self, state: Any, times: Any, exogenous: Any) -> tuple[Any, Any, Any]:
        """(times, further features), with those of the state before them; the state's values."""
        size = self.input_window_size
        if not size:
            return times, exogenous, array.zeros([array.shape(times)[0], 0, self.num_features])
        known = casts.cast(convert_to_tensor(state[0]), dtypes.int32)
        values, extra = (convert_to_tensor(each, dtype=self.dtype) for each in state[1:])
        count = array.shape(values)[1]
        checks = [assert_greater_equal(count, size), assert_equal(count, array.shape(known)[1])]
        with control_dependencies(checks):
            window = array.identity(values[:, -size:])
        window.set_shape([None, size, self.num_features])
        return (
            array.concat([known[:, -size:], times], 1),
            array.concat([extra[:, -size:], exogenous], 1),
            window,
        )


def _scale(prediction_ops: dict[str, Any], name: str = "covariance") -> Tensor:
    return math.sqrt(math.maximum(prediction_ops[name], _LEAST_VARIANCE))


class AnomalyMixtureARModel(ARModel):
    """A model in which a value may also be an anomaly, of a wider distribution."""

    GAUSSIAN_ANOMALY, CAUCHY_ANOMALY = "gaussian", "cauchy"

    def __init__(
        self,
        periodicities: Any,
        anomaly_prior_probability: float,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        anomaly_distribution: str = GAUSSIAN_ANOMALY,
        num_time_buckets: int = 10,
        exogenous_feature_columns: Any = None,
    ) -> None:
        assert 0.0 < anomaly_prior_probability < 1.0
        assert anomaly_distribution in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY)
        self._prior, self._kind = anomaly_prior_probability, anomaly_distribution
        super().__init__(
            periodicities, input_window_size, output_window_size, num_features,
            prediction_model_factory, num_time_buckets,
            exogenous_feature_columns=exogenous_feature_columns,
        )  # fmt: skip

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> dict[str, Any]:
        """Predictions, and the width of the distribution of anomalies."""
        found = super().prediction_ops(times, values, exogenous_regressors)
        width = get_variable("anomaly_log_param", [], self.dtype, zeros_initializer())
        return {**found, "anomaly_params": math.exp(width)}

    def _losses(self, targets: Any, found: dict[str, Any]) -> Tensor:
        """Minus the logarithm of a mixture of both distributions."""
        mean = found["mean"]
        usual = normal_log_prob(targets, _scale(found), mean) + float(np.log(1 - self._prior))
        if self._kind == self.GAUSSIAN_ANOMALY:
            odd = normal_log_prob(targets, _scale(found, "anomaly_params"), mean)
        else:
            odd = cauchy_log_prob(targets, found["anomaly_params"], mean)
        return -reduce.reduce_logsumexp(array.stack([usual, odd + float(np.log(self._prior))]), 0)
