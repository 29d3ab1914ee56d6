"""tf.contrib.learn.monitors: what watches a training."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.learn.step_monitors import BaseMonitor as BaseMonitor
from weft.lib.contrib.learn.step_monitors import CaptureVariable as CaptureVariable
from weft.lib.contrib.learn.step_monitors import CheckpointSaver as CheckpointSaver
from weft.lib.contrib.learn.step_monitors import EveryN as EveryN
from weft.lib.contrib.learn.step_monitors import GraphDump as GraphDump
from weft.lib.contrib.learn.step_monitors import LoggingTrainable as LoggingTrainable
from weft.lib.contrib.learn.step_monitors import NanLoss as NanLoss
from weft.lib.contrib.learn.step_monitors import PrintTensor as PrintTensor
from weft.lib.contrib.learn.step_monitors import (
    RunHookAdapterForMonitors as RunHookAdapterForMonitors,
)
from weft.lib.contrib.learn.step_monitors import StepCounter as StepCounter
from weft.lib.contrib.learn.step_monitors import StopAtStep as StopAtStep
from weft.lib.contrib.learn.step_monitors import SummarySaver as SummarySaver
from weft.lib.contrib.learn.step_monitors import get_default_monitors as get_default_monitors
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.management import latest_checkpoint
from weft.lib.train.sessions.hooks import (
    NanLossDuringTrainingError as NanLossDuringTrainingError,
)
from weft.lib.train.sessions.hooks import SecondOrStepTimer, global_step_for
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook


class ValidationMonitor(SessionRunHook):
    """Evaluates new checkpoints every so many steps, and may end the training early."""

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Any = None,
        hooks: Any = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ) -> None:
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._input = {"x": x, "y": y, "input_fn": input_fn, "batch_size": batch_size}
        self._options = {"steps": eval_steps, "metrics": metrics, "hooks": hooks, "name": name}
        self._rounds, self._metric = early_stopping_rounds, early_stopping_metric
        self._sign = 1 if early_stopping_metric_minimize else -1
        self._timer = SecondOrStepTimer(every_steps=every_n_steps)
        self._estimator: Any = None
        self._evaluated: str | None = None
        self.best_step: Any = None
        self.best_value: Any = None
        self.best_metrics: Any = None

    def set_estimator(self, estimator: Any) -> None:
        """Whom to ask for evaluations."""
        self._estimator = estimator

    @property
    def early_stopped(self) -> bool:
        return self._stopped

    def begin(self) -> None:
        self._stopped = False
        self._global_step_tensor = global_step_for("ValidationMonitor")

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = run_values.results + 1
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._validate(step):
                run_context.request_stop()

    def _validate(self, step: Any) -> bool:
        """Evaluates the latest checkpoint, if it is new; whether to stop."""
        path = latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._evaluated:
            return False
        self._evaluated = path
        options = {k: v for k, v in {**self._input, **self._options}.items() if v is not None}
        results = self._estimator.evaluate(checkpoint_path=path, **options)
        shown = ", ".join(f"{key} = {value!s}" for key, value in sorted(results.items()))
        logging.info("Validation (step %d): %s", step, shown)
        return self._rounds is not None and self._is_no_better(step, results, self._rounds)

    def _is_no_better(self, step: Any, results: dict[str, Any], rounds: int) -> bool:
        """Whether the best value is `rounds` steps old."""
        if self._metric not in results:
            raise ValueError(f"Metric {self._metric} missing from outputs {set(results)}.")
        value = results[self._metric]
        if self.best_value is None or self._sign * value < self._sign * self.best_value:
            self.best_value, self.best_metrics, self.best_step = value, results, step
        if step - self.best_step < rounds:
            return False
        logging.info(
            "Stopping. Best step: %s with %s = %s.", self.best_step, self._metric, self.best_value
        )
        self._stopped = True
        return True


def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[SessionRunHook]:
    """Hooks that are ready for the Estimator; monitors of steps are told of them by one more."""
    hooks: list[SessionRunHook] = []
    monitors: list[BaseMonitor] = []
    for each in monitors_or_hooks or []:
        if isinstance(each, SessionRunHook):
            hooks.append(each)
        elif isinstance(each, BaseMonitor):
            monitors.append(each)
        else:
            raise TypeError(f"Hooks must be a SessionRunHook, given: {each}")
    for watcher in [*hooks, *monitors]:
        if isinstance(watcher, ValidationMonitor | BaseMonitor):
            watcher.set_estimator(estimator)
    if not estimator.config.is_chief:
        monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks
