"""The names of features of time series, and of what models return."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.lib.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class State:
    """Names of the state of a model: as a tuple, or as tensors with numbers."""

    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"


class Times:
    """The name of times, which are integers that grow."""

    TIMES = "times"


class Values:
    """The name of the values at the times."""

    VALUES = "values"


class TrainEvalFeatures(Times, Values):
    """Names of features in training and evaluation."""


class PredictionFeatures(Times, State):
    """Names of features in prediction."""


class FilteringFeatures(Times, Values, State):
    """Names of features where a state goes on from another."""


class PredictionResults(Times):
    """Names of what a prediction returns, besides the model's own."""


class FilteringResults(Times, State):
    """Names of what an evaluation returns."""


class SavedModelLabels:
    """Names of the signatures of an exported model."""

    PREDICT = DEFAULT_SERVING_SIGNATURE_DEF_KEY
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"


class ModelOutputs(NamedTuple):
    """What a model makes of a batch of windows."""

    loss: Any
    end_state: Any
    predictions: Any
    prediction_times: Any


TIMES, VALUES = Times.TIMES, Values.VALUES
STATE_TUPLE, STATE_PREFIX = State.STATE_TUPLE, State.STATE_PREFIX
