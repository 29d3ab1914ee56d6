"""Estimators made from others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.slices import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.functions import accepted, fn_args
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.saved_model.export_outputs import PredictOutput
from weft.lib.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.optimizers.wrapper import WrapperOptimizer
from weft.ops.math.clip import clip_by_global_norm
from weft.ops.sparse.convert import sparse_tensor_to_dense

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


def forward_features(
    estimator: Any, keys: Any = None, sparse_default_values: dict[str, Any] | None = None
) -> Estimator:
    """An Estimator on the same model whose predictions have some of the features, too.

    Args:
        estimator: the Estimator.
        keys: the features, a name or a list of names; all if None.
        sparse_default_values: what stands for what a sparse feature lacks, by name.

    Returns:
        An Estimator.

    Raises:
        TypeError: the keys are no strings.
        ValueError: when it predicts, if predictions have no names, or a key is no feature, or is
            a prediction already.
    """
    wanted = _as_keys(keys)

    def new_model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if spec.predictions is None:
            return spec
        forwarded = list(features) if wanted is None else wanted
        _check_keys(forwarded, features, spec.predictions)
        added = {
            key: _dense(features[key], (sparse_default_values or {}).get(key)) for key in forwarded
        }
        for name in ("predict", DEFAULT_SERVING_SIGNATURE_DEF_KEY):
            output = (spec.export_outputs or {}).get(name)
            if isinstance(output, PredictOutput):
                output.outputs.update(added)
        return spec._replace(predictions={**spec.predictions, **added})

    return Estimator(model_fn=new_model_fn, model_dir=estimator.model_dir, config=estimator.config)


def _as_keys(keys: Any) -> list[str] | None:
    if keys is None or isinstance(keys, str):
        return None if keys is None else [keys]
    if not isinstance(keys, (list, tuple)):
        raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(
                "All items in the given keys list should be a string. There exist an item with "
                f"type: {type(key)}"
            )
    return list(keys)


def _check_keys(keys: list[str], features: Any, predictions: Any) -> None:
    if not isinstance(predictions, dict):
        raise ValueError(
            "Predictions should be a dict to be able to forward features. "
            f"Given: {type(predictions)}"
        )
    hint = "Please check arguments of forward_features."
    wrong = next((key for key in keys if key not in features or key in predictions), None)
    if wrong is None:
        return
    if wrong in features:
        raise ValueError(
            f"Cannot forward feature key ({wrong}). Since it does exist in predictions. Existing "
            f"prediction keys: {predictions.keys()}. {hint}"
        )
    raise ValueError(
        f'keys should be exist in features. Key "{wrong}" is not in features dict. features dict '
        f"has following keys: {features.keys()}. {hint}"
    )


def _dense(feature: Any, default: Any) -> Any:
    tensor = convert_to_tensor_or_sparse_tensor(feature)
    if isinstance(tensor, SparseTensor):
        return sparse_tensor_to_dense(tensor, default_value=default)
    return tensor


class _ClippedOptimizer(WrapperOptimizer):
    """Another optimizer, whose gradients are cut to a norm of all of them together."""

    def __init__(self, optimizer: Any, clip_norm: float) -> None:
        super().__init__(optimizer, False, f"ClipByNorm{optimizer.get_name()}")
        self._clip_norm = clip_norm

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        grads, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = clip_by_global_norm(grads, self._clip_norm)
        pairs = zip(clipped, variables, strict=True)
        return self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)


def clip_gradients_by_norm(optimizer: Any, clip_norm: float) -> Optimizer:
    """An optimizer that cuts gradients to a norm of all of them together before it applies them."""
    return _ClippedOptimizer(optimizer, clip_norm)
