"""Outputs of an exported model: classes and scores, a value, or tensors by name."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import control_dependencies
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from weft.lib.saved_model.signatures import (
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
    supervised_eval_signature_def,
    supervised_train_signature_def,
)


class ExportOutput(metaclass=abc.ABCMeta):
    """Tensors that a signature of an exported model returns."""

    __metaclass__ = abc.ABCMeta  # part of the public API, from the days of Python 2
    _SEPARATOR_CHAR = "/"

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The signature from these inputs to the tensors held here."""

    def _check_output_key(self, key: Any, error_label: str) -> str:
        if isinstance(key, tuple):
            key = self._SEPARATOR_CHAR.join(key)
        if not isinstance(key, str):
            raise ValueError(f"{error_label} output key must be a string; got {key}.")
        return key

    def _wrap_and_check_outputs(
        self, outputs: Any, single_output_default_name: str, error_label: str | None = None
    ) -> dict[str, Tensor]:
        label = error_label or single_output_default_name
        named = outputs if isinstance(outputs, dict) else {single_output_default_name: outputs}
        return {
            self._check_output_key(key, label): _checked_value(value, label)
            for key, value in named.items()
        }


def _checked_value(value: Any, label: str) -> Tensor:
    if not isinstance(value, Tensor):
        raise ValueError(f"{label} output value must be a Tensor; got {value}.")
    return value


_KINDS: dict[str, Callable[[Any], bool]] = {
    "float32": lambda dtype: dtype.is_floating,
    "string": lambda dtype: dtypes.as_dtype(dtype) == dtypes.string,
}


def _check_kind(what: str, value: Any, kind: str) -> None:
    if not (isinstance(value, Tensor) and _KINDS[kind](value.dtype)):
        raise ValueError(f"{what} must be a {kind} Tensor; got {value}")


def _only_examples(receiver_tensors: dict[str, Any], what: str) -> Any:
    """The one tensor of serialized examples that the input must be."""
    tensors = list(receiver_tensors.values())
    if len(tensors) != 1 or dtypes.as_dtype(tensors[0].dtype) != dtypes.string:
        raise ValueError(f"{what} input must be a single string Tensor; got {receiver_tensors}")
    return tensors[0]


class ClassificationOutput(ExportOutput):
    """Scores, classes (as strings), or both."""

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is not None:
            _check_kind("Classification scores", scores, "float32")
        if classes is not None:
            _check_kind("Classification classes", classes, "string")
        elif scores is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores, self._classes = scores, classes

    @property
    def scores(self) -> Any:
        return self._scores

    @property
    def classes(self) -> Any:
        return self._classes

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        examples = _only_examples(receiver_tensors, "Classification")
        return classification_signature_def(examples, self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """One float for each example."""

    def __init__(self, value: Any) -> None:
        _check_kind("Regression output value", value, "float32")
        self._value = value

    @property
    def value(self) -> Any:
        return self._value

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        return regression_signature_def(_only_examples(receiver_tensors, "Regression"), self.value)


class PredictOutput(ExportOutput):
    """Any tensors, by name; a single one is called "output"."""

    _SINGLE_OUTPUT_DEFAULT_NAME = "output"

    def __init__(self, outputs: Any) -> None:
        self._outputs = self._wrap_and_check_outputs(
            outputs, self._SINGLE_OUTPUT_DEFAULT_NAME, error_label="Prediction"
        )

    @property
    def outputs(self) -> dict[str, Tensor]:
        return self._outputs

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        return predict_signature_def(receiver_tensors, self.outputs)


def _parts_of_metric(metric: Any) -> Any:
    """(result, update) of a metric, which may be such a pair already."""
    return metric if isinstance(metric, tuple) else (metric.result(), metric.updates[0])


class _SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics of a graph that is exported to be trained or evaluated."""

    LOSS_NAME = "loss"
    PREDICTIONS_NAME = "predictions"
    METRICS_NAME = "metrics"
    METRIC_VALUE_SUFFIX = "value"
    METRIC_UPDATE_SUFFIX = "update_op"

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None) -> None:
        self._loss = self._named(loss, self.LOSS_NAME)
        self._predictions = self._named(predictions, self.PREDICTIONS_NAME)
        self._metrics = None if metrics is None else self._wrap_and_check_metrics(metrics)

    def _named(self, outputs: Any, name: str) -> dict[str, Tensor] | None:
        if outputs is None:
            return None
        checked = self._wrap_and_check_outputs(outputs, name)
        return {self._prefix_key(key, name): value for key, value in checked.items()}

    def _prefix_key(self, key: str, output_name: str) -> str:
        return key if key.startswith(output_name) else output_name + self._SEPARATOR_CHAR + key

    def _wrap_and_check_metrics(self, metrics: Any) -> dict[str, Tensor]:
        named = metrics if isinstance(metrics, dict) else {self.METRICS_NAME: metrics}
        parts = (part for item in named.items() for part in self._parts_by_name(*item))
        return dict(parts)

    def _parts_by_name(self, key: Any, metric: Any) -> Iterator[tuple[str, Tensor]]:
        """The value of a metric and its update, each with the name it is exported by."""
        value, update = _parts_of_metric(metric)
        name = self._prefix_key(self._check_output_key(key, self.METRICS_NAME), self.METRICS_NAME)
        _checked_value(value, name)
        if not isinstance(update, (Tensor, Operation)):
            raise ValueError(f"{name} update_op must be a Tensor or Operation; got {update}.")
        yield f"{name}/{self.METRIC_VALUE_SUFFIX}", value
        yield f"{name}/{self.METRIC_UPDATE_SUFFIX}", _as_tensor(update)

    @property
    def loss(self) -> Any:
        return self._loss

    @property
    def predictions(self) -> Any:
        return self._predictions

    @property
    def metrics(self) -> Any:
        return self._metrics


def _as_tensor(update: Any) -> Tensor:
    """A tensor that is there once the operation ran: signatures hold tensors alone."""
    if isinstance(update, Tensor):
        return update
    with control_dependencies([update]):
        return constant([], name="metric_op_wrapper")


class TrainOutput(_SupervisedOutput):
    """The outputs of a graph for training."""

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        return supervised_train_signature_def(
            receiver_tensors, self.loss, self.predictions, self.metrics
        )


class EvalOutput(_SupervisedOutput):
    """The outputs of a graph for evaluation."""

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        return supervised_eval_signature_def(
            receiver_tensors, self.loss, self.predictions, self.metrics
        )


def get_export_outputs(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """The outputs to serve, one of them as the default: the predictions where none are given."""
    if export_outputs is None:
        export_outputs = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {export_outputs}")
    if not all(isinstance(each, ExportOutput) for each in export_outputs.values()):
        raise TypeError(
            f"Values in export_outputs must be ExportOutput objects. Given: {export_outputs}"
        )
    if DEFAULT_SERVING_SIGNATURE_DEF_KEY in export_outputs:
        return export_outputs
    if len(export_outputs) > 1:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default.  "
            "Do this by naming one of them with "
            "signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    for output in list(export_outputs.values()):
        export_outputs[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = output
    return export_outputs
