"""tf.contrib.learn.MetricSpec: a metric function, and what of the model it is applied to."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from weft.lib.platform import tf_logging as logging

_LABELS = ("labels", "label", "targets", "target")
_PREDICTIONS = ("predictions", "prediction", "logits", "logit")
_WEIGHTS = ("weights", "weight")


def _argument(names: tuple[str, ...], known: tuple[str, ...], required: bool, fn: str) -> Any:
    """The known name that the function has for an argument; None if it has none."""
    found = [name for name in names if name in known]
    if len(found) > 1:
        raise ValueError(
            f"Ambiguous arguments {set(found)}, must provide only one of {set(known)}."
        )
    if not found and required:
        raise ValueError(f"{set(known)} missing from {fn}({names}).")
    return found[0] if found else None


class MetricSpec:
    """`metric_fn` applied to the prediction, label and weight with these keys."""

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: Any = None,
        label_key: Any = None,
        weight_key: Any = None,
    ) -> None:
        inner = metric_fn.func if isinstance(metric_fn, functools.partial) else metric_fn
        self._metric_fn_name = getattr(inner, "__name__", str(metric_fn))
        self.prediction_key, self.label_key = prediction_key, label_key
        self.weight_key = weight_key
        self._given_fn = metric_fn
        names = tuple(inspect.signature(metric_fn).parameters)
        name = self._metric_fn_name
        self._labels = _argument(names, _LABELS, label_key is not None, name)
        self._predictions = _argument(names, _PREDICTIONS, False, name)
        self._weights = _argument(names, _WEIGHTS, weight_key is not None, name)
        self._first = names[0] if names else None

    def metric_fn(self, *, labels: Any = None, predictions: Any = None, weights: Any = None) -> Any:
        """The metric function, under the usual names of arguments."""
        named = {} if weights is None else {self._weights: weights}
        if self._labels and self._predictions:
            return self._given_fn(**{self._labels: labels, self._predictions: predictions}, **named)
        if self._labels and self._labels == self._first:
            return self._given_fn(labels, predictions, **named)
        if self._labels:
            return self._given_fn(predictions, **{self._labels: labels}, **named)
        if self._predictions:
            return self._given_fn(**{self._predictions: predictions}, **named)
        return self._given_fn(predictions, **named)

    def __str__(self) -> str:
        return (
            f"MetricSpec(metric_fn={self._metric_fn_name}, prediction_key={self.prediction_key}, "
            f"label_key={self.label_key}, weight_key={self.weight_key})"
        )

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """(value, update operation) of the metric."""
        weights = inputs[self.weight_key] if self.weight_key else None
        chosen = {
            "labels": _picked("label", labels, self.label_key),
            "predictions": _picked("prediction", predictions, self.prediction_key),
        }
        try:
            return self.metric_fn(**chosen, weights=weights)
        except Exception as error:
            logging.error(f"Could not create metric ops for {self}, {error}.")
            raise


def _picked(name: str, tensors: Any, key: Any) -> Any:
    """The tensor of a key; without one, the only tensor there is."""
    by_key = isinstance(tensors, dict)
    if key and not by_key:
        raise ValueError(
            f"MetricSpec with {name}_key specified requires {name}s dict, got {tensors}.\n"
            f"You must not provide a {name}_key if you only have a single Tensor as {name}s."
        )
    if not by_key:
        return tensors
    if key and key not in tensors:
        raise KeyError(f"Key '{key}' missing from {tensors.keys()}.")
    if not key and len(tensors) != 1:
        raise ValueError(
            f"MetricSpec without specified {name}_key requires {name}s tensor or single element "
            f"dict, got {tensors}"
        )
    return tensors[key or next(iter(tensors))]
