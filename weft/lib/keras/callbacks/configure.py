"""From what a user gives as `callbacks` to the list that a loop tells of its progress."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.callbacks.base import CallbackList
from weft.lib.keras.callbacks.reporting import BaseLogger, History, ProgbarLogger


def configure_callbacks(
    callbacks: Any,
    model: Any,
    do_validation: bool = False,
    batch_size: int | None = None,
    epochs: int | None = None,
    steps_per_epoch: int | None = None,
    samples: int | None = None,
    verbose: int = 1,
    count_mode: str = "steps",
    mode: str = "train",
) -> CallbackList:
    """The user's callbacks, with those that every training has; they know the model and the run.

    `mode` is train, test or predict. A list that is configured already is returned as it is.
    """
    if isinstance(callbacks, CallbackList):
        return callbacks
    given = list(callbacks or [])
    if mode == "train":
        model.history = History()
        given = [BaseLogger(), *given, model.history]
        if verbose:
            given.append(ProgbarLogger(count_mode))
    configured = CallbackList(given)
    configured.set_model(_seen_by_callbacks(model))
    set_callback_parameters(
        configured,
        model,
        do_validation,
        batch_size,
        epochs,
        steps_per_epoch,
        samples,
        verbose,
        mode,
    )
    configured.model.stop_training = False
    return configured


def _seen_by_callbacks(model: Any) -> Any:
    """The model that callbacks get, which is another for copies on several devices."""
    chosen = getattr(model, "_get_callback_model", None)
    return model if chosen is None else chosen()


def set_callback_parameters(
    callback_list: CallbackList,
    model: Any,
    do_validation: bool = False,
    batch_size: int | None = None,
    epochs: int | None = None,
    steps_per_epoch: int | None = None,
    samples: int | None = None,
    verbose: int = 1,
    mode: str = "train",
) -> None:
    """Tells callbacks about the run, and which metrics are averages already."""
    names = list(getattr(model, "metrics_names", []))
    for callback in callback_list:
        if isinstance(callback, (BaseLogger, ProgbarLogger)):
            callback.stateful_metrics = set(names[1:])  # all but the loss
    metrics = [] if mode == "predict" else names
    if metrics and do_validation:
        metrics = metrics + [f"val_{name}" for name in names]
    callback_list.set_params(
        {
            "batch_size": batch_size,
            "epochs": epochs,
            "steps": steps_per_epoch,
            "samples": samples,
            "verbose": verbose,
            "do_validation": do_validation,
            "metrics": metrics,
        }
    )


def make_logs(
    model: Any, logs: dict[str, Any], outputs: Any, mode: str, prefix: str = ""
) -> dict[str, Any]:
    """Adds what a batch gave to `logs`: metrics by name, or predictions."""
    if mode == "predict":
        logs["outputs"] = outputs
    else:
        names = getattr(model, "metrics_names", [])
        logs.update({prefix + name: value for name, value in zip(names, outputs, strict=False)})
    return logs
