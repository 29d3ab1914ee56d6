"""Canned estimators by their heads: what differs between them is the model under the head."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import Any

from weft.core.signatures import with_parameters_of
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.heads.canned import regression_head

ModelFnOf = Callable[..., Callable[..., Any]]


class OfHead(Estimator):
    """An estimator whose model function is `model_fn_of(head, **model)`."""

    def __init__(
        self,
        model_fn_of: ModelFnOf,
        head: Any,
        model_dir: Any,
        config: Any,
        warm_start_from: Any = None,
        **model: Any,
    ) -> None:
        model_fn = model_fn_of(head, **model)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class Regressor(OfHead):
    """One that predicts `label_dimension` numbers."""

    def __init__(
        self,
        model_fn_of: ModelFnOf,
        label_dimension: int,
        weight_column: Any,
        loss_reduction: str,
        **rest: Any,
    ) -> None:
        head = regression_head(label_dimension, weight_column, loss_reduction)
        super().__init__(model_fn_of, head, **rest)


def parameters_of_regressor(classifier: type, after: str = "model_dir") -> Any:
    """Decorator: constructed as `classifier` is, with numbers to predict instead of classes."""
    return with_parameters_of(
        classifier.__init__,  # type: ignore[misc]
        without=("n_classes", "label_vocabulary"),
        extra={"label_dimension": (after, 1)},
    )


def parameters_with_head(classifier: type, without: tuple[str, ...] = ()) -> Any:
    """Decorator: constructed as `classifier` is, with a head instead of what makes one."""
    of_classes = ("n_classes", "weight_column", "label_vocabulary", "loss_reduction")
    return with_parameters_of(
        classifier.__init__,  # type: ignore[misc]
        without=(*of_classes, *without),
        extra={"head": ("self", Parameter.empty)},
    )
