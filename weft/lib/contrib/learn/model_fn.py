"""Modes and results of the model functions of tf.contrib.learn."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.operation import Operation
from weft.graph.slices import convert_to_tensor_or_sparse_tensor
from weft.lib.contrib.learn.keys import PredictionKey, ProblemType
from weft.lib.estimator.spec import EstimatorSpec, checked_hooks, checked_loss
from weft.lib.saved_model.export_outputs import (
    ClassificationOutput,
    ExportOutput,
    PredictOutput,
    RegressionOutput,
)
from weft.lib.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from weft.ops.control.control import no_op

_DEFAULT = DEFAULT_SERVING_SIGNATURE_DEF_KEY


class ModeKeys:
    """The modes in which a model function is called."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """ValueError if `key` is none of them."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


class _ModelFnOps(NamedTuple):
    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Any = None
    output_alternatives: Any = None
    training_chief_hooks: Any = None
    training_hooks: Any = None
    scaffold: Any = None


class ModelFnOps(_ModelFnOps):
    """Operations of a model for one mode."""

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        output_alternatives: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if train_op is not None and not isinstance(train_op, Operation):
            train_op = convert_to_tensor(train_op).op
        if predictions is None and mode != ModeKeys.TRAIN:
            raise ValueError("Missing predictions.")
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        return super().__new__(
            cls,
            mode,
            _as_tensors(predictions),
            checked_loss(None if loss is None else convert_to_tensor(loss), mode),
            train_op,
            eval_metric_ops or {},
            output_alternatives,
            list(checked_hooks(training_chief_hooks)),
            list(checked_hooks(training_hooks)),
            scaffold,
        )

    def estimator_spec(self, default_serving_output_alternative_key: Any = None) -> EstimatorSpec:
        """The same, as `tf.estimator` has it."""
        fields = self._asdict()
        del fields["output_alternatives"]
        outputs = self.export_outputs(default_serving_output_alternative_key)
        metrics = {key: as_pair(metric) for key, metric in self.eval_metric_ops.items()}
        return EstimatorSpec(**{**fields, "eval_metric_ops": metrics, "export_outputs": outputs})

    def export_outputs(self, default_key: Any, plain: bool = False) -> dict[str, Any] | None:
        """What is exported, by the names of heads; one is the default.

        With `plain`, predictions are exported as they are, whatever they mean.
        """
        if self.mode != ModeKeys.INFER or not self.output_alternatives:
            return None
        found = {
            key or _DEFAULT: _export_output(0 if plain else problem, predictions)
            for key, (problem, predictions) in self.output_alternatives.items()
        }
        if len(found) == 1:
            found.setdefault(_DEFAULT, next(iter(found.values())))
        elif _DEFAULT not in found:
            if default_key not in found:
                raise ValueError(
                    f"Requested default_output_alternative: {default_key}, but available "
                    f"output_alternatives are: {sorted(found)}"
                )
            found[_DEFAULT] = found[default_key]
        return found


def as_pair(metric: Any) -> Any:
    """A metric as value and update; one that is a tensor has nothing to update."""
    return metric if isinstance(metric, (tuple, list)) else (metric, no_op())


def _export_output(problem: int, predictions: Any) -> ExportOutput:
    if not isinstance(predictions, dict):
        predictions = {PredictionKey.GENERIC: predictions}
    if problem == ProblemType.LINEAR_REGRESSION:
        only = next(iter(predictions.values()))
        return RegressionOutput(predictions.get(PredictionKey.SCORES, only))
    if problem in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        classes = predictions.get(PredictionKey.CLASSES)
        if classes is not None and classes.dtype != dtypes.string:
            classes = None
        scores = predictions.get(PredictionKey.PROBABILITIES)
        if classes is not None or scores is not None:
            return ClassificationOutput(scores, classes)
    return PredictOutput(predictions)


def _as_tensors(predictions: Any) -> Any:
    if isinstance(predictions, dict):
        return {k: convert_to_tensor_or_sparse_tensor(v) for k, v in predictions.items()}
    return None if predictions is None else convert_to_tensor_or_sparse_tensor(predictions)
