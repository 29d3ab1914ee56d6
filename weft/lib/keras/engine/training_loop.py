"""Epochs of batches: one loop for training, testing and predicting, whatever the data are."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from weft.lib.keras.callbacks import (
    ProgbarLogger,
    configure_callbacks,
    make_logs,
    set_callback_parameters,
)
from weft.lib.keras.engine.training_replicas import scope_of
from weft.lib.keras.engine.training_results import Metrics, Predictions
from weft.lib.keras.engine.training_sources import OutOfData
from weft.lib.platform import tf_logging as logging

TRAIN, TEST, PREDICT = "train", "test", "predict"
# How long workers have to end after an error.
SECONDS_TO_END = 5.0


class Validation:
    """Validation after the epochs that `freq` names: `run(callbacks)` gives losses, metrics."""

    def __init__(self, run: Callable[[Any], Any], freq: Any, total: Any = None) -> None:
        self.run, self.freq, self.total = run, freq, total

    def is_due(self, epoch: int) -> bool:
        if isinstance(self.freq, int):
            if self.freq < 1:
                raise ValueError("`validation_freq` can not be less than 1.")
            return (epoch + 1) % self.freq == 0
        if not isinstance(self.freq, Container):
            raise ValueError(
                "`validation_freq` must be an Integer or `collections_abc.Container` (e.g. list, "
                "tuple, etc.)"
            )
        return epoch + 1 in self.freq


class Loop:
    """Runs the steps of a source for some epochs, and tells callbacks about them."""

    def __init__(
        self,
        model: Any,
        source: Any,
        mode: str,
        callbacks: Any = None,
        verbose: int = 0,
        epochs: int = 1,
        initial_epoch: int = 0,
        batch_size: int | None = None,
        validation: Validation | None = None,
        steps_name: str = "steps",
    ) -> None:
        self.model, self.source, self.mode = model, source, mode
        self.epochs, self.initial_epoch = epochs, initial_epoch
        self.validation, self.steps_name, self.verbose = validation, steps_name, verbose
        self.run_info = {
            "do_validation": validation is not None,
            "batch_size": batch_size,
            "epochs": epochs,
            "steps_per_epoch": source.steps,
            "samples": source.total,
            "mode": mode,
        }
        self.callbacks = configure_callbacks(callbacks, model, verbose=0, **self.run_info)
        self.progress = self._progress(verbose)

    def _progress(self, verbose: int) -> ProgbarLogger:
        names = self.model.metrics_names[1:] if hasattr(self.model, "metrics_names") else None
        progress = ProgbarLogger(self.source.counts, stateful_metrics=names)
        progress.params = self.callbacks.params
        progress.params["verbose"] = verbose
        return progress

    def run(self) -> Any:
        """The history of a training, else what the last epoch gave."""
        try:
            with scope_of(self.model):
                results = self._epochs()
        except BaseException:
            # A generator may be stuck: an interrupt of the program must not wait for it.
            self.source.close(SECONDS_TO_END)
            raise
        self.source.close()
        return self.model.history if self.mode == TRAIN else results

    def _epochs(self) -> Any:
        results: Any = None
        watched = self.callbacks.model
        watched.stop_training = False
        self.callbacks._call_begin_hook(self.mode)
        self.progress.on_train_begin()
        for epoch in range(self.initial_epoch, self.epochs):
            if watched.stop_training:
                break
            results = self._epoch(epoch)
            if epoch < self.epochs - 1:
                self.source.restart()
        self.callbacks._call_end_hook(self.mode)
        return results

    def _epoch(self, epoch: int) -> Any:
        self.model.reset_metrics()
        logs: dict[str, Any] = {}
        if self.mode == TRAIN:
            self.callbacks.on_epoch_begin(epoch, logs)
        self.progress.on_epoch_begin(epoch, logs)
        results = self._batches()
        make_logs(self.model, logs, results, self.mode)
        if isinstance(results, list) and len(results) == 1:
            results = results[0]
        self._validate(epoch, logs)
        if self.mode == TRAIN:
            self.callbacks.on_epoch_end(epoch, logs)
        self.progress.on_epoch_end(epoch, logs)
        return results

    @property
    def _is_weighted(self) -> bool:
        """Whether batches count as many times as they have rows, though they are of a dataset."""
        return getattr(self.source, "weighted", False)

    def _batches(self) -> Any:
        # Steps that were counted beforehand weigh the loss even if an epoch is cut short.
        known = self.source.counts == "samples" or self.mode != PREDICT
        total = self.source.total if known and not self._is_weighted else None
        gathered: Any = (Predictions if self.mode == PREDICT else Metrics)(total)
        number = 0
        mode, callbacks, progress = self.mode, self.callbacks, self.progress
        steps = self.source.epoch()
        while True:
            try:
                step = next(steps, None)
                if step is None:
                    break
                logs = {"batch": number, "size": step.size}
                callbacks._call_batch_hook(mode, "begin", number, logs)
                progress.on_batch_begin(number, logs)
                outputs = step.run()
            except OutOfData:
                self._ran_out(number, gathered)
                break
            outputs = outputs if isinstance(outputs, list) else [outputs]
            if number == 0:
                self._first_batch_was_run()
            gathered.add(outputs, step.start, step.weight)
            make_logs(self.model, logs, outputs, mode)
            callbacks._call_batch_hook(mode, "end", number, logs)
            progress.on_batch_end(number, logs)
            number += 1
            if callbacks.model.stop_training:
                break
        return gathered.finish()

    def _first_batch_was_run(self) -> None:
        """A model that was compiled by its first batch has names for metrics only now."""
        if self.callbacks.params["metrics"] or self.mode == PREDICT:
            return
        info = {k: v for k, v in self.run_info.items() if k != "verbose"}
        set_callback_parameters(self.callbacks, self.model, verbose=self.verbose, **info)
        self.progress.params = self.callbacks.params
        self.progress.params["verbose"] = self.verbose

    def _ran_out(self, number: int, gathered: Any) -> None:
        """There was less data than was asked for, or now one knows how much there is."""
        source = self.source
        if source.is_dataset and source.steps is None:
            if number:
                source.steps = number
                gathered.total = None if self._is_weighted else number
                if self.mode == TRAIN:
                    self.progress.params["steps"] = self.progress.target = number
                    self.progress.progbar.target = number
            return
        self.callbacks.model.stop_training = True
        batches = (source.steps or 0) * self.epochs
        if source.is_dataset:
            logging.warning(
                "Your dataset ran out of data; interrupting training. Make sure that your dataset "
                f"can generate at least `{self.steps_name} * epochs` batches (in this case, "
                f"{batches} batches). You may need to use the repeat() function when building your "
                "dataset."
            )
        else:
            logging.warning(
                "Your dataset iterator ran out of data; interrupting training. Make sure that your "
                f"iterator can generate at least `{self.steps_name} * epochs` batches (in this "
                f"case, {batches} batches). You may need touse the repeat() function when building "
                "your dataset."
            )

    def _validate(self, epoch: int, logs: dict[str, Any]) -> None:
        validation = self.validation
        if validation is None or not validation.is_due(epoch):
            return
        if self.callbacks.model.stop_training:
            return
        results = validation.run(self.callbacks)
        results = results if isinstance(results, list) else [results]
        make_logs(self.model, logs, results, self.mode, prefix="val_")
