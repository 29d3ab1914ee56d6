"""The base of models of time series, and where their states come from."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes, nest
from weft.graph.graph import Graph
from weft.lib.contrib.timeseries.keys import STATE_TUPLE, TIMES, ModelOutputs
from weft.lib.estimator.spec import ModeKeys
from weft.lib.feature_column.input_layer import input_layer
from weft.lib.feature_column.transformation import make_parse_example_spec
from weft.ops.array import array
from weft.ops.array.placeholders import placeholder
from weft.ops.math import casts, math
from weft.ops.parsing.features import parse_example


class TimeSeriesModel:
    """A model of a series: a loss, and predictions that go on from a state.

    Data is scaled by the mean and variance of the series where these are given.
    """

    def __init__(
        self, num_features: int, exogenous_feature_columns: Any = None, dtype: Any = dtypes.float32
    ) -> None:
        self.num_features, self.dtype = num_features, dtype
        self._exogenous_feature_columns = exogenous_feature_columns or []
        self._input_statistics: Any = None
        self._graph_initialized = False
        self._moments: Any = None

    @property
    def exogenous_feature_columns(self) -> Any:
        """The columns of features beside the values."""
        return self._exogenous_feature_columns

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Prepares a graph; statistics are tensors or variables."""
        self._graph_initialized, self._input_statistics = True, input_statistics
        if input_statistics is not None:
            mean, variance = input_statistics.overall_feature_moments
            self._moments = mean, math.sqrt(variance), variance

    def _scale_data(self, data: Any) -> Any:
        return data if self._moments is None else (data - self._moments[0]) / self._moments[1]

    def _scale_variance(self, variance: Any) -> Any:
        return variance if self._moments is None else variance / self._moments[2]

    def _scale_back_data(self, data: Any) -> Any:
        return data if self._moments is None else data * self._moments[1] + self._moments[0]

    def _scale_back_variance(self, variance: Any) -> Any:
        return variance if self._moments is None else variance * self._moments[2]

    def define_loss(self, features: Any, mode: str) -> ModelOutputs:
        """The loss of windows, each from the start state."""
        self._check_graph_initialized()
        start = replicate_state(self.get_start_state(), array.shape(features[TIMES])[0])
        return self.get_batch_loss(features=features, mode=mode, state=start)

    def _check_graph_initialized(self) -> None:
        if not self._graph_initialized:
            raise ValueError(
                "TimeSeriesModels require initialize_graph() to be called before use. This defines "
                "variables and ops in the default graph, and allows Tensor-valued input statistics "
                "to be specified."
            )

    def get_start_state(self) -> Any:
        """The state before the first value, without a batch."""
        raise NotImplementedError

    def get_batch_loss(self, features: Any, mode: str, state: Any) -> ModelOutputs:
        """The loss of windows, from their states."""
        raise NotImplementedError

    def predict(self, features: Any) -> dict[str, Any]:
        """The mean and covariance at the times of the features."""
        raise NotImplementedError

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Any = None,
        seed: Any = None,
    ) -> Any:
        """Series drawn from the model."""
        raise NotImplementedError("This model does not support generation.")

    def _exogenous_width(self) -> int:
        """How many numbers the further features of one time become."""
        if not self._exogenous_feature_columns:
            return 0
        with Graph().as_default():
            spec = make_parse_example_spec(self._exogenous_feature_columns)
            parsed = parse_example(placeholder(dtypes.string, [None]), spec)
            return int(input_layer(parsed, self._exogenous_feature_columns).shape[1])

    def _exogenous(self, times: Any, features: dict[str, Any]) -> Any:
        """The further features [batch, times, numbers]; None where there are no columns."""
        if not self._exogenous_feature_columns:
            return None
        flat = {name: _rows(name, tensor) for name, tensor in features.items()}
        columns = self._exogenous_feature_columns
        embedded = input_layer(flat, columns, trainable=True)
        width = embedded.shape[1:]
        found = array.reshape(embedded, array.concat([array.shape(times), width.as_list()], 0))
        found.set_shape(times.shape.concatenate(width))
        return casts.cast(found, self.dtype)


def replicate_state(start_state: Any, batch_size: Any) -> Any:
    """A state for each series of a batch."""

    def repeated(state: Any) -> Any:
        ones = array.ones([len(state.shape)], dtypes.int32)
        return array.tile(state[None], array.concat([[batch_size], ones], 0))

    return nest.map_structure(repeated, start_state)


def _rows(name: str, tensor: Any) -> Any:
    """A feature of windows as one of single times."""
    if tensor.shape.ndims is None:
        raise ValueError(
            f"Features with unknown rank are not supported. Got shape {tensor.shape} for feature "
            f"{name}."
        )
    inner: Any = array.shape(tensor)[2:]
    if tensor.shape.ndims == 2 and tensor.dtype != dtypes.string:
        inner = [1]
    return array.reshape(tensor, array.concat([[-1], inner], 0))


class PassthroughStateManager:
    """Every window starts from the start state."""

    def initialize_graph(self, model: TimeSeriesModel, input_statistics: Any = None) -> None:
        """Prepares a graph."""

    def define_loss(self, model: TimeSeriesModel, features: Any, mode: str) -> ModelOutputs:
        """The loss of windows."""
        if STATE_TUPLE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        return model.define_loss(features, mode)


class FilteringOnlyStateManager(PassthroughStateManager):
    """In evaluation, windows may start from a state that is given."""

    def define_loss(self, model: TimeSeriesModel, features: Any, mode: str) -> ModelOutputs:
        """The loss of windows, from the state among the features if there is one."""
        if STATE_TUPLE not in features:
            return self._define_loss(model, features, mode)
        if mode == ModeKeys.TRAIN:
            raise ValueError(
                "Overriding saved state for training is not supported (but a value for feature "
                f"{STATE_TUPLE} was specified)."
            )
        state = features.pop(STATE_TUPLE)
        return model.get_batch_loss(features=features, mode=mode, state=state)

    def _define_loss(self, model: Any, features: Any, mode: str) -> ModelOutputs:
        return model.define_loss(features, mode)
