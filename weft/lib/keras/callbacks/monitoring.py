"""Callbacks that watch one quantity from epoch to epoch: stop, or learn more slowly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.lib.keras import backend as K
from weft.lib.keras.callbacks.base import Callback, Logs
from weft.lib.keras.utils.io_utils import say
from weft.lib.platform import tf_logging as logging

MODES = ("auto", "min", "max")


def wants_more(mode: str, monitor: str, also: tuple[str, ...] = ()) -> bool:
    """Whether larger is better: said by `mode`, or guessed from the quantity's name."""
    if mode == "auto":
        return "acc" in monitor or monitor.startswith(also)
    return mode == "max"


def checked_mode(mode: str, owner: str) -> str:
    if mode in MODES:
        return mode
    logging.warning("%s mode %s is unknown, fallback to auto mode.", owner, mode)
    return "auto"


def watched(logs: Logs, monitor: str, owner: str) -> Any:
    """The value of `monitor`, or None (and a warning) if it is not there."""
    known = logs or {}
    if known.get(monitor) is None:
        logging.warning(
            "%s conditioned on metric `%s` which is not available. Available metrics are: %s",
            owner,
            monitor,
            ",".join(known),
        )
    return known.get(monitor)


class EarlyStopping(Callback):
    """Ends the training when `monitor` has not improved by `min_delta` for `patience` epochs."""

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__()
        self.monitor, self.patience, self.verbose = monitor, patience, verbose
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.best_weights: Any = None
        self.wait = 0
        self.stopped_epoch = 0
        more = wants_more(checked_mode(mode, "EarlyStopping"), monitor)
        self.monitor_op: Any = np.greater if more else np.less
        self.min_delta = abs(min_delta) * (1 if more else -1)
        self.best: Any = None

    def on_train_begin(self, logs: Logs = None) -> None:
        self.wait = self.stopped_epoch = 0
        worst = np.inf if self.monitor_op is np.less else -np.inf
        self.best = worst if self.baseline is None else self.baseline

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        if (current := self.get_monitor_value(logs)) is None:
            return
        self.wait += 1
        if self.monitor_op(current - self.min_delta, self.best):
            self._keep(current)
        elif self.wait >= self.patience:
            self.stopped_epoch, self.model.stop_training = epoch, True
            self._restore()

    def _keep(self, best: Any) -> None:
        self.best, self.wait = best, 0
        if self.restore_best_weights:
            self.best_weights = self.model.get_weights()

    def _restore(self) -> None:
        if not self.restore_best_weights or self.best_weights is None:
            return
        if self.verbose > 0:
            say("Restoring model weights from the end of the best epoch.")
        self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Logs = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            say(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")

    def get_monitor_value(self, logs: Logs) -> Any:
        """The watched value, or None (and a warning) if it is not there."""
        return watched(logs, self.monitor, "Early stopping")


def _demand(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


class _RateCallback(Callback):
    """A callback that changes the learning rate."""

    verbose: int

    def _rate(self) -> Any:
        return K.get_value(self.model.optimizer.lr)

    def _set_rate(self, rate: Any, epoch: int, owner: str) -> None:
        K.set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            say(f"\nEpoch {epoch + 1:05d}: {owner} reducing learning rate to {rate}.")


class LearningRateScheduler(_RateCallback):
    """Sets the learning rate at the beginning of an epoch: `schedule(epoch, rate)`."""

    def __init__(self, schedule: Callable[..., Any], verbose: int = 0) -> None:
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        _demand(hasattr(self.model.optimizer, "lr"), 'Optimizer must have a "lr" attribute.')
        rate = self._scheduled(epoch)
        is_float = isinstance(rate, (float, np.float32, np.float64))
        _demand(is_float, 'The output of the "schedule" function should be float.')
        self._set_rate(rate, epoch, "LearningRateScheduler")

    def _scheduled(self, epoch: int) -> Any:
        try:
            return self.schedule(epoch, float(self._rate()))
        except TypeError:  # a schedule of the epoch alone
            return self.schedule(epoch)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        if logs is not None:
            logs["lr"] = self._rate()


class ReduceLROnPlateau(_RateCallback):
    """Multiplies the learning rate by `factor` when `monitor` stands still for `patience` epochs.

    After that it waits for `cooldown` epochs before it looks again.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        if "epsilon" in kwargs:
            min_delta = kwargs.pop("epsilon")
            logging.warning(
                "`epsilon` argument is deprecated and will be removed, use `min_delta` instead."
            )
        self.monitor, self.factor, self.patience = monitor, factor, patience
        self.verbose, self.mode = verbose, mode
        self.min_delta, self.cooldown, self.min_lr = min_delta, cooldown, min_lr
        self._reset()

    def _reset(self) -> None:
        self.mode = checked_mode(self.mode, "Learning Rate Plateau Reducing")
        self.more = wants_more(self.mode, self.monitor)
        self.best = -np.inf if self.more else np.inf
        self.cooldown_counter = 0
        self.wait = 0

    def monitor_op(self, value: Any, best: Any) -> bool:
        """Whether `value` is better than `best`, by enough."""
        return value > best + self.min_delta if self.more else value < best - self.min_delta

    def in_cooldown(self) -> bool:
        return self.cooldown_counter > 0

    def on_train_begin(self, logs: Logs = None) -> None:
        self._reset()

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        logs = {} if logs is None else logs
        logs["lr"] = self._rate()
        current = watched(logs, self.monitor, "Reduce LR on plateau")
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(current, self.best):
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(epoch)

    def _reduce(self, epoch: int) -> None:
        rate = float(self._rate())
        if rate > self.min_lr:
            self._set_rate(max(rate * self.factor, self.min_lr), epoch, "ReduceLROnPlateau")
            self.cooldown_counter, self.wait = self.cooldown, 0
