"""Estimators made from others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.functions import accepted, fn_args
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys

_METRIC_FN_ARGS = {"features", "labels", "predictions", "config"}


def add_metrics(estimator: Any, metric_fn: Callable[..., dict[str, Any]]) -> Estimator:
    """An Estimator on the same model that evaluates more: what `metric_fn` returns."""
    unknown = list(set(fn_args(metric_fn)) - _METRIC_FN_ARGS)
    if unknown:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {unknown}")

    def new_model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        offered = accepted(
            metric_fn,
            features=features,
            labels=labels,
            predictions=spec.predictions,
            config=config,
        )
        metrics = {**(spec.eval_metric_ops or {}), **metric_fn(**offered)}
        return spec._replace(eval_metric_ops=metrics)

    return Estimator(
        model_fn=new_model_fn,
        model_dir=estimator.model_dir,
        config=estimator.config,
        warm_start_from=estimator._warm_start_settings,
    )
