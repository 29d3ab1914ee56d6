"""A callback that saves the model, or its weights, as training goes on."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from weft.lib.keras.callbacks.base import Callback, Logs
from weft.lib.keras.callbacks.monitoring import checked_mode, wants_more
from weft.lib.keras.utils.io_utils import say
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.management import checkpoint_exists, latest_checkpoint
from weft.storage import file_io


class ModelCheckpoint(Callback):
    """Saves to `filepath`, which may name the epoch and values of `logs`: `w.{epoch:02d}.h5`.

    `save_freq` is "epoch" or a number of samples; with `save_best_only`, only what improves
    `monitor` is saved.
    """

    def __init__(
        self,
        filepath: str,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.monitor, self.verbose, self.filepath = monitor, verbose, filepath
        self.save_best_only, self.save_weights_only = save_best_only, save_weights_only
        self.save_freq = save_freq
        self.epochs_since_last_save = 0
        self._samples_since_last_save = 0
        self._current_epoch = 0
        self.load_weights_on_restart = _deprecated(
            kwargs,
            "load_weights_on_restart",
            False,
            "`load_weights_on_restart` argument is deprecated. Please use `model.load_weights()` "
            "for loading weights before the start of `model.fit()`.",
        )
        self.period = _deprecated(
            kwargs,
            "period",
            1,
            "`period` argument is deprecated. Please use `save_freq` to specify the frequency in "
            "number of samples seen.",
        )
        more = wants_more(checked_mode(mode, "ModelCheckpoint"), monitor, ("fmeasure",))
        self.monitor_op: Any = np.greater if more else np.less
        self.best: Any = -np.inf if more else np.inf
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}")

    def set_model(self, model: Any) -> None:
        self.model = model
        # A model that is only a Python class cannot be saved whole.
        if not getattr(model, "_is_graph_network", False) and type(model).__name__ != "Sequential":
            self.save_weights_only = True

    def on_train_begin(self, logs: Logs = None) -> None:
        if not self.load_weights_on_restart:
            return
        found = most_recent_file(self.filepath)
        if found is None or not (file_io.exists(found) or checkpoint_exists(found)):
            return
        try:
            self.model.load_weights(found)
        except (OSError, ValueError) as error:
            raise ValueError(f"Error loading file from {found}. Reason: {error}") from error

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        self._current_epoch = epoch

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        if not isinstance(self.save_freq, int):
            return
        self._samples_since_last_save += (logs or {}).get("size", 1)
        if self._samples_since_last_save >= self.save_freq:
            self._save_model(self._current_epoch, logs)
            self._samples_since_last_save = 0

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch" and self.epochs_since_last_save >= self.period:
            self._save_model(epoch, logs)

    def _save_model(self, epoch: int, logs: Logs) -> None:
        self.epochs_since_last_save = 0
        logs = logs or {}
        filepath = self.filepath.format(epoch=epoch + 1, **logs)
        heading = f"\nEpoch {epoch + 1:05d}:"
        if not self.save_best_only:
            self._report(f"{heading} saving model to {filepath}")
            self._write(filepath)
            return
        current = logs.get(self.monitor)
        if current is None:
            logging.warning("Can save best model only with %s available, skipping.", self.monitor)
        elif self.monitor_op(current, self.best):
            self._report(
                f"{heading} {self.monitor} improved from {self.best:0.5f} to {current:0.5f}, "
                f"saving model to {filepath}"
            )
            self.best = current
            self._write(filepath)
        else:
            self._report(f"{heading} {self.monitor} did not improve from {self.best:0.5f}")

    def _report(self, text: str) -> None:
        if self.verbose > 0:
            say(text)

    def _write(self, filepath: str) -> None:
        save = self.model.save_weights if self.save_weights_only else self.model.save
        save(filepath, overwrite=True)


def _deprecated(kwargs: dict[str, Any], name: str, default: Any, message: str) -> Any:
    if name not in kwargs:
        return default
    logging.warning(message)
    return kwargs[name]


def most_recent_file(pattern: str) -> str | None:
    """The file that was changed last of those whose name fits `pattern` ("{...}" fits anything).

    What TensorFlow wrote down as the latest checkpoint comes first. Where several were changed
    last, it is the file with the last name of all.
    """
    folder, base = os.path.split(pattern)
    expression = re.compile("^" + re.sub(r"{.*}", r".*", base) + "$")
    latest = latest_checkpoint(folder)
    if latest is not None and expression.match(os.path.basename(latest)):
        return latest
    if not file_io.exists(folder or "."):
        return None
    fitting = [os.path.join(folder, n) for n in os.listdir(folder or ".") if expression.match(n)]
    times = {path: os.path.getmtime(path) for path in fitting}
    newest = [path for path in fitting if times[path] == max(times.values())]
    return newest[0] if len(newest) == 1 else max(fitting, default=None)
