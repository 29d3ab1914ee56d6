"""Callbacks that every training has: averages of an epoch, the history, the bar in the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.lib.keras.callbacks.base import Callback, Logs
from weft.lib.keras.utils.io_utils import say
from weft.lib.keras.utils.progress import Progbar


class BaseLogger(Callback):
    """Averages the values of batches over an epoch; `stateful_metrics` are averages already."""

    def __init__(self, stateful_metrics: Any = None) -> None:
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or [])
        self.seen: Any = 0
        self.totals: dict[str, Any] = {}

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        self.seen, self.totals = 0, {}

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        logs = logs or {}
        size = logs.get("size", 0)
        self.seen += size * logs.get("num_steps", 1)
        for name, value in logs.items():
            is_mean = name in self.stateful_metrics
            before = self.totals.get(name, 0)
            self.totals[name] = value if is_mean else before + value * np.float64(size)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        if logs is not None:
            known = [name for name in self.params["metrics"] if name in self.totals]
            logs.update({name: self._mean(name) for name in known})

    def _mean(self, name: str) -> Any:
        total = self.totals[name]
        return total if name in self.stateful_metrics else total / self.seen


class TerminateOnNaN(Callback):
    """Ends the training when the loss is no number any more."""

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            say(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class ProgbarLogger(Callback):
    """Shows progress and metrics, counting `samples` or `steps`."""

    def __init__(self, count_mode: str = "samples", stateful_metrics: Any = None) -> None:
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or [])
        self.verbose: Any = 0
        self.epochs: Any = 1
        self.seen: Any = 0
        self.target: Any = None
        self.progbar: Any = None
        self.log_values: list[tuple[str, Any]] = []

    def on_train_begin(self, logs: Logs = None) -> None:
        self.verbose = self.params["verbose"]
        self.epochs = self.params["epochs"]

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        unit = "step" if self.use_steps else "sample"
        self.seen, self.target = 0, self.params[unit + "s"]
        if self.verbose and self.epochs > 1:
            say(f"Epoch {epoch + 1}/{self.epochs}")
        known = self.stateful_metrics
        self.progbar = Progbar(
            self.target, verbose=self.verbose, stateful_metrics=known, unit_name=unit
        )

    def on_batch_begin(self, batch: int, logs: Logs = None) -> None:
        self.log_values = []

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        logs = logs or {}
        in_step = 1 if self.use_steps else logs.get("size", 0)
        self.seen += in_step * logs.get("num_steps", 1)
        # The last batch is shown at the end of the epoch, with what validation gave.
        self._take(logs, shown=self.target is None or self.seen < self.target)

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        self._take(logs or {}, shown=True)

    def _take(self, logs: dict[str, Any], shown: bool) -> None:
        self.log_values += [(name, logs[name]) for name in self.params["metrics"] if name in logs]
        if self.verbose and shown:
            self.progbar.update(self.seen, self.log_values)


class History(Callback):
    """The logs of each epoch: `history` is name -> values; `fit` returns it."""

    def __init__(self) -> None:
        super().__init__()
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def on_train_begin(self, logs: Logs = None) -> None:
        self.epoch, self.history = [], {}

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        self.epoch.append(epoch)
        found = logs or {}
        for name in found:
            self.history.setdefault(name, []).append(found[name])
