"""Arguments of the functions of a program: model functions, input functions and others."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from weft.graph.tensor import Tensor
from weft.lib.platform import tf_logging as logging

_MODEL_FN_ARGS = {"features", "labels", "mode", "params", "self", "config"}


def fn_args(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that a caller may still give; without a bound `self`."""
    if isinstance(fn, functools.partial):
        free = fn_args(fn.func)[len(fn.args) :]
        return tuple(name for name in free if name not in (fn.keywords or {}))
    if not (inspect.isfunction(fn) or inspect.ismethod(fn) or inspect.isclass(fn)):
        fn = getattr(fn, "__call__", fn)  # noqa: B004 an object that can be called
    names = inspect.getfullargspec(fn).args
    bound = inspect.ismethod(fn) and fn.__self__ is not None
    return tuple(names[1:] if bound else names)


def accepted(fn: Callable[..., Any], **offered: Any) -> dict[str, Any]:
    """The arguments of `offered` that the function takes."""
    names = fn_args(fn)
    return {name: value for name, value in offered.items() if name in names}


def verify_model_fn_args(model_fn: Callable[..., Any], params: Any) -> None:
    """ValueError unless `model_fn` can be called by an Estimator that has `params`."""
    names, subject = set(fn_args(model_fn)), f"model_fn ({model_fn})"
    if "features" not in names:
        raise ValueError(f"{subject} must include features argument.")
    if (params is None) == ("params" in names):
        _complain_of_params(model_fn, params)
    if unknown := [*names.difference(_MODEL_FN_ARGS)]:
        raise ValueError(f"{subject} has following not expected args: {unknown}")


def _complain_of_params(model_fn: Callable[..., Any], params: Any) -> None:
    """Parameters that the function does not take are an error; those it misses are not."""
    if params is not None:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is "
            "passed to Estimator."
        )
    logging.warning(
        "Estimator's model_fn (%s) includes params argument, but params are not passed to "
        "Estimator.",
        model_fn,
    )


def call_logit_fn(
    logit_fn: Callable[..., Any], features: Any, mode: Any, params: Any, config: Any
) -> Any:
    """Calls a logit function with what it takes; a Tensor or a dict of them."""
    logits = logit_fn(
        features=features, **accepted(logit_fn, mode=mode, params=params, config=config)
    )
    named = isinstance(logits, dict) and all(
        isinstance(key, str) and isinstance(value, Tensor) for key, value in logits.items()
    )
    if not named and not isinstance(logits, Tensor):
        raise ValueError(
            "logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  "
            f"logit_fn returned: {logits}"
        )
    return logits
