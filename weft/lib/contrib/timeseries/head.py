"""Heads: what Estimators do with a model of time series."""

from __future__ import annotations

import re
from typing import Any

from weft.core import dtypes, nest
from weft.graph.graph import name_scope
from weft.graph.keys import GraphKeys
from weft.graph.slices import convert_to_tensor_or_sparse_tensor
from weft.lib.contrib.timeseries.keys import (
    STATE_PREFIX,
    STATE_TUPLE,
    TIMES,
    VALUES,
    ModelOutputs,
    SavedModelLabels,
)
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.saved_model.export_outputs import PredictOutput
from weft.lib.summary import summary
from weft.ops.array import array
from weft.ops.control.control import group
from weft.ops.math import casts
from weft.ops.scores.metrics_mean import mean
from weft.ops.state import updates
from weft.ops.state.global_step import get_global_step
from weft.ops.state.variable_scope import variable_scope
from weft.ops.state.variables import Variable

_NUMBERED = re.compile(rf"^{STATE_PREFIX}_(\d+)$")


def state_to_dictionary(state_tuple: Any) -> dict[str, Any]:
    """The tensors of a state by names with numbers."""
    flat = nest.flatten(state_tuple)
    return {f"{STATE_PREFIX}_{number:02d}": each for number, each in enumerate(flat)}


def _latest(name: str, tensor: Any) -> tuple[Any, Any]:
    """A metric that is the last value of a tensor."""
    kept = Variable(
        array.zeros([], tensor.dtype),
        name=f"{name}_identity_metric",
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
        use_resource=False,
    )
    update = updates.assign(kept, tensor, validate_shape=False)
    value = array.identity(kept)
    value.set_shape(tensor.shape)
    return value, update


def _latest_of_all(name: str, tensors: Any) -> tuple[Any, Any]:
    pairs = [_latest(f"{name}_{i}", each) for i, each in enumerate(nest.flatten(tensors))]
    values = nest.pack_sequence_as(tensors, [value for value, _ in pairs])
    return values, group(*(update for _, update in pairs))


def _check_windows(features: Any, ignore: set[str]) -> None:
    """ValueError where a feature is not of the windows that the times are of."""
    times = features[TIMES].shape
    if not times.is_compatible_with([None, None]):
        raise ValueError(
            f"Expected shape (batch dimension, window size) for feature '{TIMES}' (got shape "
            f"{times})"
        )
    said = "Features must have shape (batch dimension, window size, ...)"
    for name, value in features.items():
        if name in ignore or value.shape.ndims is None:
            continue
        if value.shape.ndims < 2:
            raise ValueError(f"{said} (got rank {value.shape.ndims} for feature '{name}')")
        if not value.shape[:2].is_compatible_with(times):
            raise ValueError(
                f"{said} where batch dimension and window size match the '{TIMES}' feature (got "
                f"shape {value.shape} for feature '{name}' but shape {times} for feature '{TIMES}')"
            )


class TimeSeriesRegressionHead:
    """A head that trains a model, evaluates it on series, and predicts from a state."""

    _needed: tuple[str, ...] = (TIMES, STATE_TUPLE)
    _of_other_lengths: frozenset[str] = frozenset({STATE_TUPLE})

    def __init__(
        self,
        model: Any,
        state_manager: Any,
        optimizer: Any,
        input_statistics_generator: Any = None,
        name: str | None = None,
    ) -> None:
        self.model, self.state_manager, self.optimizer = model, state_manager, optimizer
        self.input_statistics_generator, self._name = input_statistics_generator, name

    @property
    def name(self) -> str | None:
        """The name of the head's scope."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """One: there are no logits."""
        return 1

    def create_loss(
        self, features: Any, mode: str, logits: Any = None, labels: Any = None
    ) -> ModelOutputs:
        """The loss of windows, and all that comes with it."""
        found = self.state_manager.define_loss(self.model, features, mode)
        summary.scalar(f"loss/{self._name}" if self._name else "loss", found.loss)
        return found

    def create_estimator_spec(self, features: Any, mode: str, labels: Any = None) -> EstimatorSpec:
        """The model function of an Estimator."""
        with name_scope(self._name, "head"):
            if labels is not None and labels != {}:
                raise ValueError(
                    "The model received a `labels`, which is not supported. Pass "
                    f"'{TIMES}' and '{VALUES}' as features."
                )
            features = {name: self._tensor(name, each) for name, each in features.items()}
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(
                    features, update_statistics=mode == ModeKeys.TRAIN
                )
            self.model.initialize_graph(input_statistics=statistics)
            features, is_served = self._with_state(features)
            self._check(features, mode)
            self.state_manager.initialize_graph(model=self.model, input_statistics=statistics)
            match mode:
                case ModeKeys.TRAIN:
                    return self._train_ops(features)
                case ModeKeys.EVAL:
                    return self._evaluate_ops(features)
            return self._serving_ops(features) if is_served else self._predict_ops(features)

    def _tensor(self, name: str, value: Any) -> Any:
        known = {TIMES: dtypes.int64, VALUES: self.model.dtype}
        if name in known:
            return casts.cast(value, known[name])
        return value if name == STATE_TUPLE else convert_to_tensor_or_sparse_tensor(value)

    def _with_state(self, features: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Features whose numbered tensors of a state are one tuple; whether there were any."""
        numbered = sorted(
            (int(found[1]), name) for name in features if (found := _NUMBERED.match(name))
        )
        if not numbered:
            return features, False
        flat = [features[name] for _, name in numbered]
        kept = {name: each for name, each in features.items() if not _NUMBERED.match(name)}
        start = self.model.get_start_state()
        return {**kept, STATE_TUPLE: nest.pack_sequence_as(start, flat)}, True

    def _check(self, features: dict[str, Any], mode: str) -> None:
        if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT):
            raise ValueError(f"Unknown mode '{mode}' passed to model_fn.")
        predicts = mode == ModeKeys.PREDICT
        for name in self._needed if predicts else (TIMES, VALUES):
            if name not in features:
                purpose = "prediction" if predicts else "training/evaluation"
                raise ValueError(f"Expected a '{name}' feature for {purpose}.")
        count = self.model.num_features
        if not predicts and not features[VALUES].shape.is_compatible_with([None, None, count]):
            raise ValueError(
                f"Expected shape (batch dimension, window size, {count}) for feature '{VALUES}', "
                f"since the model was configured with num_features={count} (got shape "
                f"{features[TIMES].shape})"
            )
        _check_windows(features, set(self._of_other_lengths) if predicts else {STATE_TUPLE})

    def _train_ops(self, features: Any) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            found = self.create_loss(features, ModeKeys.TRAIN)
        step = self.optimizer.minimize(found.loss, global_step=get_global_step())
        return EstimatorSpec(ModeKeys.TRAIN, loss=found.loss, train_op=step)

    def _evaluate_ops(self, features: Any) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            found = self.create_loss(features, ModeKeys.EVAL)
        metrics = {name: _latest(name, each) for name, each in found.predictions.items()}
        metrics[TIMES] = _latest(TIMES, found.prediction_times)
        metrics[STATE_TUPLE] = _latest_of_all(STATE_TUPLE, found.end_state)
        metrics["average_loss"] = mean(found.loss, name="average_loss")
        return EstimatorSpec(ModeKeys.EVAL, found.predictions, found.loss, eval_metric_ops=metrics)

    def _predict_ops(self, features: Any) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            found = self.model.predict(features=features)
        return EstimatorSpec(ModeKeys.PREDICT, {**found, TIMES: features[TIMES]})

    def _serving_ops(self, features: Any) -> EstimatorSpec:
        """Signatures that predict, and that move a state on over values, with and without one."""
        with variable_scope("model", use_resource=True):
            predicted = self.model.predict(features=features)
        with variable_scope("model", reuse=True):
            moved = self.create_loss(dict(features), ModeKeys.EVAL)
        fresh = {name: each for name, each in features.items() if name != STATE_TUPLE}
        with variable_scope("model", reuse=True):
            begun = self.model.define_loss(features=fresh, mode=ModeKeys.EVAL)
        outputs = {
            SavedModelLabels.PREDICT: PredictOutput(predicted),
            SavedModelLabels.FILTER: PredictOutput(state_to_dictionary(moved.end_state)),
            SavedModelLabels.COLD_START_FILTER: _Stateless(state_to_dictionary(begun.end_state)),
        }
        return EstimatorSpec(ModeKeys.PREDICT, {}, export_outputs=outputs)


class _Stateless(PredictOutput):
    """Outputs whose signature takes no state."""

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        kept = {
            name: each
            for name, each in receiver_tensors.items()
            if not name.startswith(STATE_PREFIX)
        }
        return super().as_signature_def(receiver_tensors=kept)


class OneShotPredictionHead(TimeSeriesRegressionHead):
    """A head whose exported model takes values and later times at once, and no state."""

    _needed = (TIMES, VALUES, STATE_TUPLE)
    _of_other_lengths = frozenset({STATE_TUPLE, VALUES})

    def _evaluate_ops(self, features: Any) -> EstimatorSpec:
        spec = super()._evaluate_ops(features)
        del spec.eval_metric_ops[STATE_TUPLE]
        return spec

    def _serving_ops(self, features: Any) -> EstimatorSpec:
        known = array.shape(features[VALUES])[1]
        others = {
            name: each for name, each in features.items() if name not in (VALUES, STATE_TUPLE)
        }
        before = {name: each[:, :known] for name, each in others.items()}
        after = {name: each[:, known:] for name, each in others.items()}
        with variable_scope("model", use_resource=True):
            begun = self.model.define_loss(
                features={**before, VALUES: features[VALUES]}, mode=ModeKeys.EVAL
            )
        with variable_scope("model", reuse=True):
            predicted = self.model.predict(features={**after, STATE_TUPLE: begun.end_state})
        outputs = {SavedModelLabels.PREDICT: _Stateless(predicted)}
        return EstimatorSpec(ModeKeys.PREDICT, {}, export_outputs=outputs)
