"""Evaluations while a model is being trained: one for each new checkpoint, with its exports."""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

from weft.graph.graph import GraphKeys
from weft.lib.platform import tf_logging as logging
from weft.lib.train.sessions.hooks import SecondOrStepTimer
from weft.lib.train.sessions.hooks_saving import CheckpointSaverListener

_SECONDS_BETWEEN_WARNINGS = 600


class EvalStatus:
    """The outcomes of an attempt to evaluate."""

    EVALUATED = "evaluated"
    MISSING_CHECKPOINT = "missing checkpoint"
    NO_NEW_CHECKPOINT = "no new checkpoint"


class _EvalResult(NamedTuple):
    status: str
    metrics: Any = None
    checkpoint_path: str | None = None


class EvalResult(_EvalResult):
    """Metrics and the checkpoint they are of; neither, where nothing was evaluated."""

    def __new__(
        cls, status: str, metrics: Any = None, checkpoint_path: str | None = None
    ) -> EvalResult:
        if status != EvalStatus.EVALUATED:
            for name, value in (("metrics", metrics), ("checkpoint", checkpoint_path)):
                if value:
                    shown = "checkpoint_path" if name == "checkpoint" else name
                    raise ValueError(
                        f"{name} must be `None` if status is not {EvalStatus.EVALUATED}; got "
                        f"status {status}, {shown} {value}"
                    )
            return super().__new__(cls, status, metrics, checkpoint_path)
        _check_metrics(metrics)
        if not checkpoint_path:
            raise ValueError("Internal error: `checkpoint_path` should never be empty.")
        return super().__new__(cls, status, metrics, checkpoint_path)


def _check_metrics(metrics: Any) -> None:
    if not metrics:
        raise ValueError("Internal error: `Estimator.evaluate` should never return empty metrics.")
    if not isinstance(metrics, dict):
        raise TypeError(f"`Estimator.evaluate` should return dict. Given {type(metrics)}.")
    if GraphKeys.GLOBAL_STEP not in metrics:
        raise ValueError(
            "Internal error: `Estimator.evaluate` result should have `global_step` in result. "
            f"Given {metrics}"
        )


class ContinuousEvalListener:
    """Asked before and after each evaluation whether to go on."""

    def before_eval(self) -> bool:
        return True

    def after_eval(self, eval_result: EvalResult) -> bool:
        return True


class Evaluator:
    """Evaluates the latest checkpoint, unless it did so before, and calls the exporters."""

    def __init__(self, estimator: Any, eval_spec: Any, max_training_steps: int | None) -> None:
        self._estimator, self._eval_spec = estimator, eval_spec
        self._max_training_steps = max_training_steps
        self._previous_checkpoint: str | None = None
        self._last_warning_time = 0.0
        self.is_final_export_triggered = False

    def evaluate_and_export(self) -> tuple[EvalResult, list[Any]]:
        checkpoint = self._estimator.latest_checkpoint()
        if not checkpoint:
            self._warn(
                "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready."
            )
            return EvalResult(EvalStatus.MISSING_CHECKPOINT), []
        if checkpoint == self._previous_checkpoint:
            self._warn(
                "No new checkpoint ready for evaluation. Skip the current evaluation pass as "
                "evaluation results are expected to be same for the same checkpoint."
            )
            return EvalResult(EvalStatus.NO_NEW_CHECKPOINT), []
        spec = self._eval_spec
        metrics = self._estimator.evaluate(
            input_fn=spec.input_fn,
            steps=spec.steps,
            name=spec.name,
            checkpoint_path=checkpoint,
            hooks=spec.hooks,
        )
        result = EvalResult(EvalStatus.EVALUATED, metrics, checkpoint)
        exports = self._export(result, self._is_last(metrics))
        self._last_warning_time = 0.0
        self._previous_checkpoint = checkpoint
        return result, exports

    def _is_last(self, metrics: dict[str, Any]) -> bool:
        last = self._max_training_steps
        return bool(last and metrics[GraphKeys.GLOBAL_STEP] >= last)

    def _export(self, result: EvalResult, is_the_final_export: bool) -> list[Any]:
        base = os.path.join(os.fsdecode(self._estimator.model_dir), "export")
        exports = [
            exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(base, exporter.name),
                checkpoint_path=result.checkpoint_path,
                eval_result=result.metrics,
                is_the_final_export=is_the_final_export,
            )
            for exporter in self._eval_spec.exporters
        ]
        if is_the_final_export:
            logging.debug("Calling exporter with the `is_the_final_export=True`.")
            self.is_final_export_triggered = True
        return exports

    def _warn(self, message: str) -> None:
        """Seldom enough to be read."""
        now = time.time()
        if now - self._last_warning_time > _SECONDS_BETWEEN_WARNINGS:
            logging.warning(message)
            self._last_warning_time = now


def stop_as_requested(what: str, by: str) -> bool:
    """True, for stopping; the method that asked for it is logged."""
    logging.info("Exiting %s, as requested by _ContinuousEvalListener.%s.", what, by)
    return True


class NewCheckpointListener(CheckpointSaverListener):
    """Has every checkpoint evaluated when it is saved, but not more often than the throttle."""

    def __init__(self, evaluator: Evaluator, throttle_secs: float, listener: Any) -> None:
        self._evaluator, self._throttle_secs, self._listener = evaluator, throttle_secs, listener
        self.eval_result: EvalResult | None = None
        self.export_results: list[Any] | None = None

    def begin(self) -> None:
        self._timer = SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first_run = True

    def after_save(self, session: Any, global_step_value: int) -> Any:
        if self._is_first_run:  # a model that has just begun
            self._is_first_run = False
            return None
        if not self._listener.before_eval():
            return stop_as_requested("training and evaluation loop", "before_eval")
        if self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
            goes_on = self._listener.after_eval(self.eval_result)
            return None if goes_on else stop_as_requested("evaluation", "after_eval")
        logging.info(
            f"Skip the current checkpoint eval due to throttle secs ({self._throttle_secs} secs)."
        )
        return None

    def end(self, session: Any, global_step_value: int) -> None:
        if global_step_value == self._timer.last_triggered_step():
            return
        if self._listener.before_eval():
            self._evaluate(global_step_value)
            self._listener.after_eval(self.eval_result)

    def _evaluate(self, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        found = self._evaluator.evaluate_and_export()
        self.eval_result, self.export_results = found
        status = self.eval_result.status
        if status != EvalStatus.EVALUATED:
            raise RuntimeError(
                f"There was no new checkpoint after the training. Eval status: {status}"
            )
