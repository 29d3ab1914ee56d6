"""Callbacks of Keras for models that are trained in all processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.lib.horovod import ops, training
from weft.lib.horovod.basics import rank, size
from weft.lib.horovod.which_keras import backend_of
from weft.lib.keras.callbacks.base import Callback

Logs = dict[str, Any] | None


class BroadcastGlobalVariablesCallback(Callback):
    """After the first batch, when all variables are there, all processes get those of one."""

    def __init__(self, root_rank: int, device: str = "") -> None:
        super().__init__()
        self.root_rank, self.device, self.broadcast_done = root_rank, device, False

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        if not self.broadcast_done:
            update = training.broadcast_global_variables(self.root_rank)
            backend_of(self.model).get_session().run(update)
            self.broadcast_done = True


class MetricAverageCallback(Callback):
    """The metrics of an epoch become their means over all processes."""

    def __init__(self, device: str = "") -> None:
        super().__init__()
        self.device = device
        self._means: dict[str, tuple[Any, Any]] = {}

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        if not logs or size() == 1:
            return
        for name in sorted(logs):
            given, mean = self._means.get(name) or self._added(name)
            logs[name] = backend_of(self.model).get_session().run(mean, {given: logs[name]})

    def _added(self, name: str) -> tuple[Any, Any]:
        given = backend_of(self.model).placeholder(shape=(), dtype="float64")
        self._means[name] = given, ops.allreduce(given, average=True)
        return self._means[name]


class LearningRateScheduleCallback(Callback):
    """The learning rate is that from the beginning times `multiplier`, from epoch to epoch.

    `multiplier` is a number, or a function of the epoch; unless `staircase`, of the part of it that
    is done, too. A momentum is corrected for the batch in which the rate changes.
    """

    def __init__(
        self,
        multiplier: float | Callable[[float], float],
        start_epoch: int = 0,
        end_epoch: int | None = None,
        staircase: bool = True,
        momentum_correction: bool = True,
        steps_per_epoch: int | None = None,
        initial_lr: float | None = None,
    ) -> None:
        super().__init__()
        self.start_epoch, self.end_epoch, self.initial_lr = start_epoch, end_epoch, initial_lr
        self.momentum_correction, self.steps_per_epoch = momentum_correction, steps_per_epoch
        self.staircase = staircase or not callable(multiplier)
        self.multiplier = multiplier if callable(multiplier) else lambda _: multiplier
        self.current_epoch: int = 0
        self._momentum: float | None = None

    def on_train_begin(self, logs: Logs = None) -> None:
        if self.initial_lr is None:
            self.initial_lr = backend_of(self.model).get_value(self.model.optimizer.lr)
        if self.staircase or self.steps_per_epoch:
            return
        self.steps_per_epoch = self._steps_of_an_epoch()

    def _steps_of_an_epoch(self) -> int:
        params = self.params or {}
        if params.get("steps"):
            return int(params["steps"])
        if params.get("samples") and params.get("batch_size"):
            return int(params["samples"] // params["batch_size"])
        raise ValueError(
            "Could not autodetect the number of steps per epoch. Please specify the"
            f" steps_per_epoch parameter to the {type(self).__name__}() or upgrade to the latest"
            " version of Keras."
        )

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        self.current_epoch = epoch

    def on_batch_begin(self, batch: int, logs: Logs = None) -> None:
        epoch = self.current_epoch
        if epoch < self.start_epoch or (self.end_epoch is not None and epoch >= self.end_epoch):
            return
        if not self.staircase:
            assert self.steps_per_epoch is not None
            self._adjust(epoch + float(batch) / self.steps_per_epoch)
        elif batch == 0:
            self._adjust(epoch)

    def _adjust(self, epoch: float) -> None:
        optimizer = self.model.optimizer
        old = backend_of(self.model).get_value(optimizer.lr)
        assert self.initial_lr is not None
        new = self.initial_lr * self.multiplier(epoch)
        backend_of(self.model).set_value(optimizer.lr, new)
        if getattr(optimizer, "momentum", None) is not None and self.momentum_correction:
            self._momentum = backend_of(self.model).get_value(optimizer.momentum)
            backend_of(self.model).set_value(optimizer.momentum, self._momentum * new / old)

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        if self._momentum is not None:
            backend_of(self.model).set_value(self.model.optimizer.momentum, self._momentum)
            self._momentum = None

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        if logs is not None:
            logs["lr"] = backend_of(self.model).get_value(self.model.optimizer.lr)


class LearningRateWarmupCallback(LearningRateScheduleCallback):
    """The learning rate goes from that of one process to that of all, in a few epochs."""

    def __init__(
        self,
        warmup_epochs: int = 5,
        momentum_correction: bool = True,
        steps_per_epoch: int | None = None,
        verbose: int = 0,
        initial_lr: float | None = None,
    ) -> None:
        def multiplier(epoch: float) -> float:
            # So that the rate is reached with the last batch of the last of these epochs.
            epoch += 1.0 / (self.steps_per_epoch or 1)
            return 1.0 / size() * (epoch * (size() - 1) / warmup_epochs + 1)

        super().__init__(
            multiplier, 0, warmup_epochs, False, momentum_correction, steps_per_epoch, initial_lr
        )
        self.verbose = verbose

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        super().on_epoch_end(epoch, logs)
        assert self.end_epoch is not None
        if epoch == self.end_epoch - 1 and self.verbose > 0 and rank() == 0:
            rate = backend_of(self.model).get_value(self.model.optimizer.lr)
            text = f"\nEpoch {epoch + 1}: finished gradual learning rate warmup to {rate:g}."
            print(text)  # noqa: T201
