"""Estimators of time series."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.core import dtypes, nest
from weft.graph.constant_value import constant_value
from weft.graph.graph import Graph
from weft.lib.contrib.timeseries.autoregressive import (
    AnomalyMixtureARModel,
    ARModel,
    FlatPredictionModel,
    LSTMPredictionModel,
)
from weft.lib.contrib.timeseries.chaining import ChainingStateManager
from weft.lib.contrib.timeseries.head import (
    OneShotPredictionHead,
    TimeSeriesRegressionHead,
    state_to_dictionary,
)
from weft.lib.contrib.timeseries.keys import TIMES, VALUES
from weft.lib.contrib.timeseries.models import FilteringOnlyStateManager, PassthroughStateManager
from weft.lib.contrib.timeseries.state_space.anomalies import StateInterpolatingAnomalyDetector
from weft.lib.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from weft.lib.contrib.timeseries.state_space.model import StateSpaceModel
from weft.lib.contrib.timeseries.state_space.structural import MultiResolutionStructuralEnsemble
from weft.lib.contrib.timeseries.statistics import InputStatisticsFromMiniBatch
from weft.lib.estimator.canned.optimizers import get_optimizer_instance
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.receivers import ServingInputReceiver
from weft.lib.feature_column.numeric import numeric_column
from weft.lib.feature_column.transformation import make_parse_example_spec
from weft.lib.train.optimizers.adagrad import AdagradOptimizer
from weft.lib.train.optimizers.adam import AdamOptimizer
from weft.ops.array import array
from weft.ops.array.placeholders import placeholder, placeholder_with_default
from weft.ops.math import casts
from weft.ops.parsing.features import FixedLenFeature, parse_example


class TimeSeriesRegressor(Estimator):
    """An Estimator of a model of time series."""

    def __init__(
        self,
        model: Any,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Callable[..., Any] = TimeSeriesRegressionHead,
    ) -> None:
        if state_manager is None:
            follows = isinstance(model, ARModel)
            state_manager = FilteringOnlyStateManager() if follows else PassthroughStateManager()
        self._model = model
        head = head_type(
            model=model,
            state_manager=state_manager,
            optimizer=optimizer or AdamOptimizer(0.02),
            input_statistics_generator=InputStatisticsFromMiniBatch(
                num_features=model.num_features, dtype=model.dtype
            ),
        )

        def model_fn(features: Any, labels: Any, mode: str) -> Any:
            return head.create_estimator_spec(features, mode, labels)

        super().__init__(model_fn, model_dir, config)

    def _state_inputs(self, count: Any, batch_size: int | None) -> dict[str, Any]:
        """Inputs for a state, which is the start state where none is fed."""
        with Graph().as_default():
            self._model.initialize_graph()
            start = self._model.get_start_state()
            zeros = nest.map_structure(lambda each: constant_value(array.zeros_like(each)), start)
        found = {}
        for name, each in state_to_dictionary(zeros).items():
            rows = array.concat([count[None], array.ones(each.ndim, dtypes.int32)], 0)
            repeated = array.tile(each[None], rows)
            found[name] = placeholder_with_default(repeated, [batch_size, *each.shape], name=name)
        return found

    def build_raw_serving_input_receiver_fn(
        self, default_batch_size: int | None = None, default_series_length: int | None = None
    ) -> Callable[[], Any]:
        """Inputs of an exported model: times, values, further features and a state."""
        size = [default_batch_size, default_series_length]

        def receiver() -> Any:
            times = placeholder(dtypes.int64, size, name=TIMES)
            width = self._model.num_features
            empty = array.zeros([*(each or 0 for each in size), width], self._model.dtype)
            inputs = {
                TIMES: times,
                VALUES: placeholder_with_default(empty, [*size, width], name=VALUES),
            }
            for name, (shape, dtype) in self._exogenous_shapes().items():
                inputs[name] = placeholder(dtype, [*size, *shape[1:]], name=name)
            inputs |= self._state_inputs(array.shape(times)[0], default_batch_size)
            return ServingInputReceiver(inputs, inputs)

        return receiver

    def _exogenous_shapes(self) -> dict[str, Any]:
        columns = self._model.exogenous_feature_columns
        if not columns:
            return {}
        with Graph().as_default():
            parsed = parse_example(
                placeholder(dtypes.string, [None]), make_parse_example_spec(columns)
            )
            return {name: (each.shape.as_list(), each.dtype) for name, each in parsed.items()}

    def build_one_shot_parsing_serving_input_receiver_fn(
        self,
        filtering_length: int,
        prediction_length: int,
        default_batch_size: int | None = None,
        values_input_dtype: Any = None,
        truncate_values: bool = False,
    ) -> Callable[[], Any]:
        """Inputs of an exported model: serialized Examples of a series and the times after it."""
        whole = filtering_length + prediction_length
        lengths = {VALUES: whole if truncate_values else filtering_length}
        width = (self._model.num_features,)

        def receiver() -> Any:
            columns = [
                *self._model.exogenous_feature_columns,
                numeric_column(TIMES, dtype=dtypes.int64),
                numeric_column(VALUES, width, dtype=values_input_dtype or dtypes.float32),
            ]
            wanted = {}
            for name, spec in make_parse_example_spec(columns).items():
                length = lengths.get(name, whole)
                if isinstance(spec, FixedLenFeature):
                    wanted[name] = spec._replace(shape=(length, *spec.shape))
                elif spec.dtype == dtypes.string:
                    wanted[name] = FixedLenFeature((length,), dtypes.string)
                else:
                    raise ValueError(f"VarLenFeatures not supported, got {spec} for key {name}")
            examples = placeholder(dtypes.string, [default_batch_size], name="input")
            features = parse_example(examples, wanted)
            features[TIMES] = array.squeeze(features[TIMES], axis=-1)
            values = casts.cast(features[VALUES], self._model.dtype)
            features[VALUES] = values[:, :filtering_length]
            count = array.shape(features[TIMES])[0]
            features |= self._state_inputs(count, default_batch_size)
            return ServingInputReceiver(features, {"examples": examples})

        return receiver


class ARRegressor(TimeSeriesRegressor):
    """An Estimator of an autoregressive model: the next values by those before and the time."""

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Any = None,
        num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Any = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
    ) -> None:
        common: dict[str, Any] = {
            "periodicities": periodicities,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
            "num_features": num_features,
            "num_time_buckets": num_time_buckets,
            "exogenous_feature_columns": exogenous_feature_columns,
            "prediction_model_factory": functools.partial(
                FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes
            ),
        }
        if anomaly_prior_probability is None:
            if anomaly_distribution is not None:
                raise ValueError(
                    "anomaly_prior_probability is required if anomaly_distribution is specified."
                )
            model: ARModel = ARModel(loss=loss, **common)
        elif loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
            raise ValueError(
                "AnomalyMixtureARModel only supports ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for "
                "its loss argument."
            )
        else:
            kind = anomaly_distribution or AnomalyMixtureARModel.GAUSSIAN_ANOMALY
            prior: dict[str, Any] = {"anomaly_prior_probability": anomaly_prior_probability}
            model = AnomalyMixtureARModel(anomaly_distribution=kind, **prior, **common)
        manager = FilteringOnlyStateManager()
        super().__init__(model, manager, optimizer or AdagradOptimizer(0.1), model_dir, config)


class LSTMAutoRegressor(TimeSeriesRegressor):
    """An Estimator of an autoregressive model made of LSTMs, exported without a state."""

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        model_dir: str | None = None,
        num_features: int = 1,
        extra_feature_columns: Any = None,
        num_timesteps: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        num_units: int = 128,
        optimizer: Any = "Adam",
        config: Any = None,
    ) -> None:
        model = ARModel(
            periodicities,
            input_window_size,
            output_window_size,
            num_features,
            functools.partial(LSTMPredictionModel, num_units=num_units),
            num_timesteps,
            loss,
            extra_feature_columns,
        )
        step = get_optimizer_instance(optimizer, learning_rate=0.01)
        manager, head = FilteringOnlyStateManager(), OneShotPredictionHead
        super().__init__(model, manager, step, model_dir, config, head)


class StateSpaceRegressor(TimeSeriesRegressor):
    """An Estimator of a state space model, whose states go on from window to window.

    Raises:
        ValueError: the model is of another kind.
    """

    def __init__(
        self,
        model: StateSpaceModel,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: type[TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ) -> None:
        if not isinstance(model, StateSpaceModel):
            raise ValueError(
                "StateSpaceRegressor only supports state space models (children of "
                f"StateSpaceModel) in its `model` argument, got {model}."
            )
        manager = ChainingStateManager() if state_manager is None else state_manager
        super().__init__(model, manager, optimizer, model_dir, config, head_type)


class StructuralEnsembleRegressor(StateSpaceRegressor):
    """An Estimator of series with a level, a slope, cycles, and values that follow from others.

    Args:
        periodicities: the lengths of cycles, or None.
        num_features: how many numbers a value has.
        cycle_num_latent_values: how many values tell a cycle, of all or of each; odd numbers.
        moving_average_order: how many noises before count.
        autoregressive_order: how many values before count.
        exogenous_feature_columns: columns of further features.
        exogenous_update_condition: a function of `times` and `features` that says when these count.
        dtype: of all numbers.
        anomaly_prior_probability: how likely an anomaly is; None: there are none.
        optimizer: by default Adam with a rate of 0.02.
        model_dir: the folder of the model.
        config: a `tf.estimator.RunConfig`.
        head_type: the kind of head.
    """

    def __init__(
        self,
        periodicities: Any,
        num_features: int,
        cycle_num_latent_values: Any = 11,
        moving_average_order: int = 4,
        autoregressive_order: int = 0,
        exogenous_feature_columns: Any = None,
        exogenous_update_condition: Any = None,
        dtype: Any = dtypes.float64,
        anomaly_prior_probability: float | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: type[TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ) -> None:
        detector = None
        if anomaly_prior_probability is not None:
            detector = StateInterpolatingAnomalyDetector(
                anomaly_prior_probability=anomaly_prior_probability
            )
        configuration = StateSpaceModelConfiguration(
            num_features=num_features,
            dtype=dtype,
            filtering_postprocessor=detector,
            exogenous_feature_columns=exogenous_feature_columns,
            exogenous_update_condition=exogenous_update_condition,
        )
        model = MultiResolutionStructuralEnsemble(
            cycle_num_latent_values,
            moving_average_order,
            autoregressive_order,
            periodicities,
            configuration=configuration,
        )
        super().__init__(
            model, optimizer=optimizer, model_dir=model_dir, config=config, head_type=head_type
        )
