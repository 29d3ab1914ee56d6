"""The metrics of a model: which functions belong to which output, under which names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.graph.graph import name_scope
from weft.lib.keras import losses
from weft.lib.keras import metrics as metrics_module
from weft.lib.keras.engine.training_endpoint import Part, is_sparse_categorical
from weft.lib.keras.engine.training_losses import check_keys, masked_weights

_ACCURACY, _CROSSENTROPY = ("accuracy", "acc"), ("crossentropy", "ce")


def per_output(given: Any, model: Any, is_weighted: bool = False) -> list[dict[str, Any]]:
    """For each output, name -> metric; from a list for all, one list each, or a dictionary."""
    endpoints = model._training_endpoints
    found = []
    for listed, endpoint in zip(_listed(given, model.output_names), endpoints, strict=True):
        found.append(
            {_name(each, is_weighted): _metric(each, endpoint, is_weighted) for each in listed}
        )
    return found


def _listed(given: Any, names: list[str]) -> list[list[Any]]:
    if not given:
        return [[] for _ in names]
    if isinstance(given, Mapping):
        check_keys("metrics", given, names)
        return [_as_list(given.get(name, [])) for name in names]
    if not isinstance(given, list):
        raise TypeError(
            "Type of `metrics` argument not understood. Expected a list or dictionary, found: "
            f"{given}"
        )
    if any(isinstance(each, list) for each in given):
        if len(given) != len(names):
            raise ValueError(
                "When passing a list of lists as `metrics`, it should have one entry per model "
                f"output. The model has {len(names)} outputs, but you passed metrics={given}"
            )
        return [_as_list(each) for each in given]
    if len(names) > 1:
        return [[metrics_module.clone_metric(each) for each in given] for _ in names]
    return [given]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_one_of(metric: Any, names: tuple[str, ...]) -> bool:
    return isinstance(metric, str) and metric in names


def _name(metric: Any, is_weighted: bool) -> str:
    prefix = "weighted_" if is_weighted else ""
    if _is_one_of(metric, _ACCURACY):
        return prefix + "acc"
    if _is_one_of(metric, _CROSSENTROPY):
        return prefix + "ce"
    found = metrics_module.get(metric)
    return prefix + (found.name if hasattr(found, "name") else found.__name__)


def _metric(given: Any, endpoint: Any, is_weighted: bool) -> Any:
    found = _function(given, endpoint)
    if isinstance(found, metrics_module.Metric):
        return found
    return metrics_module.MeanMetricWrapper(found, name=_name(given, is_weighted))


def _function(given: Any, endpoint: Any) -> Any:
    """The metric meant; what "accuracy" is depends on the loss and the output."""
    if not _is_one_of(given, _ACCURACY + _CROSSENTROPY):
        return metrics_module.get(given)
    suffix = "accuracy" if given in _ACCURACY else "crossentropy"
    loss = endpoint.loss_fn
    wrapped = isinstance(loss, losses.LossFunctionWrapper)
    binary = isinstance(loss, losses.BinaryCrossentropy) or (
        wrapped and loss.fn is losses.binary_crossentropy
    )
    if binary or (endpoint.shape and endpoint.shape[-1] == 1):
        kind = "binary"
    else:
        kind = "sparse_categorical" if is_sparse_categorical(loss) else "categorical"
    return getattr(metrics_module, f"{kind}_{suffix}")


def named(model: Any, by_name: dict[str, Any], endpoint: Any) -> dict[str, Any]:
    """Gives metrics names that no other metric of the model has, and lists them there."""
    if endpoint.is_skipped:
        return by_name
    made = {}
    for name, metric in by_name.items():
        if len(model.output_names) > 1:
            name = f"{endpoint.output_name}_{name}"
        unique, number = name, 1
        while unique in model.metrics_names:
            unique, number = f"{name}_{number}", number + 1
        metric._name = unique
        made[unique] = metric
        model._compile_metric_functions.append(metric)
    return made


def call_all(model: Any, metrics: list[dict[str, Any]], parts: list[Part], weighted: bool) -> None:
    """Adds what was computed to the metrics of all outputs; in a graph, the operations for it."""
    with name_scope("metrics"):
        endpoints = model._training_endpoints
        for by_name, endpoint, part in zip(metrics, endpoints, parts, strict=True):
            if endpoint.is_skipped:
                continue
            for name, metric in by_name.items():
                with name_scope(name):
                    weights = masked_weights(
                        part if weighted else part._replace(sample_weight=None)
                    )
                    metric(part.target, part.output, sample_weight=weights)
