"""tf.contrib.learn.Experiment: an Estimator with its input, as one task of a cluster or alone."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from weft.cluster.server import Server
from weft.graph.graph import GraphKeys
from weft.lib.contrib.learn.monitors import ValidationMonitor, replace_monitors_with_hooks
from weft.lib.estimator import estimator as core
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.management import latest_checkpoint
from weft.lib.train.sessions.hooks import GlobalStepWaiterHook


class ExportStrategy(NamedTuple):
    """A name, and a function that exports a model after it was evaluated."""

    name: str
    export_fn: Callable[..., Any]
    strip_default_attrs: bool | None = None

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: str | None = None,
        eval_result: Any = None,
    ) -> Any:
        return self.export_fn(estimator, export_path, checkpoint_path=checkpoint_path)


def make_export_strategy(
    serving_input_fn: Any,
    default_output_alternative_key: Any = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """Exports a SavedModel after every evaluation, and keeps the latest few."""
    from weft.lib.estimator.exporters import delete_old_exports

    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any = None) -> Any:
        options = {
            "assets_extra": assets_extra,
            "as_text": as_text,
            "checkpoint_path": checkpoint_path,
            "strip_default_attrs": bool(strip_default_attrs),
        }
        if isinstance(estimator, core.Estimator):
            if default_output_alternative_key is not None:
                raise ValueError(
                    "default_output_alternative_key is not supported in core Estimator. Given: "
                    f"{default_output_alternative_key}"
                )
        else:
            options["default_output_alternative_key"] = default_output_alternative_key
        result = estimator.export_savedmodel(export_dir_base, serving_input_fn, **options)
        delete_old_exports(os.fsdecode(export_dir_base), exports_to_keep)
        return result

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


def _wait(seconds: float | None, what: str) -> None:
    if seconds:
        logging.info(f"Waiting %d secs before starting {what}.", seconds)
        time.sleep(seconds)


class Experiment:
    """Trains, evaluates, or both; `learn_runner.run` picks what the task is to do."""

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Any,
        eval_input_fn: Any,
        eval_metrics: Any = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Any = None,
        eval_hooks: Any = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Any = None,
        check_interval_secs: float = 5,
    ) -> None:
        self._core = isinstance(estimator, core.Estimator)
        if self._core and eval_metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`")
        if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self.estimator, self.eval_metrics = estimator, eval_metrics
        self.train_steps, self.eval_steps = train_steps, eval_steps
        self._inputs = train_input_fn, eval_input_fn
        self._train_hooks, self._eval_hooks = list(train_monitors or []), list(eval_hooks or [])
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay, self._throttle = eval_delay_secs, continuous_eval_throttle_secs
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._by_global_step = delay_workers_by_global_step
        self._steps_per_iteration = train_steps_per_iteration
        self._saving_listeners = saving_listeners
        self._set_export_strategies(export_strategies)

    def _set_export_strategies(self, given: Any) -> None:
        listed = [given] if isinstance(given, ExportStrategy) else list(given or [])
        for each in listed:
            if not isinstance(each, ExportStrategy):
                raise ValueError(
                    "`export_strategies` must be an ExportStrategy, an iterable of "
                    f"ExportStrategy, or `None`, found {each}."
                )
        self._export_strategies = tuple(listed)

    def extend_train_hooks(self, additional_hooks: Any) -> None:
        self._train_hooks.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: Any = None) -> Any:
        """Other export strategies; those there were before."""
        before = self._export_strategies
        self._set_export_strategies(new_export_strategies)
        return before

    # ---- what a task does ----

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains up to `train_steps`, after a delay that grows with the number of the task."""
        config = self.estimator.config
        if config.cluster_spec and config.master:
            self._start_server()
        hooks, task = [], config.task_id or 0
        if delay_secs is None and self._by_global_step:
            hooks.append(GlobalStepWaiterHook(int(8000.0 * math.log(task + 1))))
        elif delay_secs is None:
            delay_secs = min(60, task * 5)
        _wait(delay_secs, "training")
        return self._train(hooks, max_steps=self.train_steps)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates once."""
        delay = self._eval_delay if delay_secs is None else delay_secs
        _wait(delay, "eval")
        return self._evaluate(self._inputs[1], name or "one_pass")

    def train_and_evaluate(self) -> tuple[Any, list[Any]]:
        """Trains, with evaluations in between; the last one's results, and exports."""
        hooks: list[Any] = []
        if self._min_eval_frequency:
            monitor = ValidationMonitor(
                input_fn=self._inputs[1],
                eval_steps=self.eval_steps,
                metrics=self.eval_metrics,
                every_n_steps=self._min_eval_frequency,
                hooks=self._eval_hooks,
            )
            hooks.append(monitor)
        self._train(hooks, max_steps=self.train_steps)
        result = self._evaluate(self._inputs[1], None)
        return result, self._export(result)

    def local_run(self) -> tuple[Any, list[Any]]:
        """`train_and_evaluate`, with evaluations every `local_eval_frequency` steps."""
        before = self._min_eval_frequency
        self._min_eval_frequency = self._local_eval_frequency or 0
        try:
            return self.train_and_evaluate()
        finally:
            self._min_eval_frequency = before

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Any = None
    ) -> tuple[Any, list[Any]]:
        """Trains for some steps, evaluates, and again, until `train_steps`."""
        steps = self._steps_per_iteration
        if steps is None:
            steps = 1000 if self.train_steps is None else int(self.train_steps / 10)
        result, exports = None, []
        goes_on = continuous_eval_predicate_fn
        while not self._is_over(result) and (goes_on is None or goes_on(result)):
            logging.info("Training model for %s steps", steps)
            self._train([], steps=steps)
            logging.info("Evaluating model now.")
            result = self._evaluate(self._inputs[1], "one_pass")
            exports = self._export(result)
        return result, exports

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Any = None,
        name: str = "continuous",
    ) -> None:
        """Evaluates checkpoints as they come, until the one of the last step."""
        time.sleep(self._eval_delay if delay_secs is None else delay_secs)
        throttle = self._throttle if throttle_delay_secs is None else throttle_delay_secs
        previous, result, goes_on = None, None, continuous_eval_predicate_fn
        while not self._is_over(result) and (goes_on is None or goes_on(result)):
            start = time.time()
            path = latest_checkpoint(self.estimator.model_dir)
            if path and not (evaluate_checkpoint_only_once and path == previous):
                result = self._evaluate(self._inputs[1], name, path)
                self._export(result, path)
                previous = path
            time.sleep(max(0.0, throttle - (time.time() - start)))

    def run_std_server(self) -> None:
        """Serves variables, for good."""
        self._start_server().join()

    def test(self) -> Any:
        """One step of training, one of evaluation, and the exports."""
        self._train([], steps=1)
        result = self._evaluate(self._inputs[1], "one_pass", steps=1)
        self._export(result)
        return result

    # ---- the Estimator's methods, whichever kind it is ----

    def _train(self, more_hooks: list[Any], **how_long: Any) -> Any:
        hooks = replace_monitors_with_hooks([*self._train_hooks, *more_hooks], self.estimator)
        if self._core:
            return self.estimator.train(
                input_fn=self._inputs[0],
                hooks=hooks,
                saving_listeners=self._saving_listeners,
                **how_long,
            )
        return self.estimator.fit(input_fn=self._inputs[0], monitors=hooks, **how_long)

    def _evaluate(
        self, input_fn: Any, name: str | None, path: str | None = None, steps: int | None = None
    ) -> Any:
        more = {} if self._core else {"metrics": self.eval_metrics}
        return self.estimator.evaluate(
            input_fn=input_fn,
            steps=steps or self.eval_steps,
            name=name,
            checkpoint_path=path,
            hooks=self._eval_hooks,
            **more,
        )

    def _export(self, eval_result: Any, checkpoint_path: str | None = None) -> list[Any]:
        base = os.path.join(os.fsdecode(self.estimator.model_dir), "export")
        return [
            each.export(self.estimator, os.path.join(base, each.name), checkpoint_path, eval_result)
            for each in self._export_strategies
        ]

    def _is_over(self, result: Any) -> bool:
        step = (result or {}).get(GraphKeys.GLOBAL_STEP)
        return bool(step and self.train_steps and step >= self.train_steps)

    def _start_server(self) -> Any:
        config = self.estimator.config
        if not all((config.cluster_spec, config.task_type, config.master)):
            raise ValueError(
                "Could not start server; be sure to specify cluster_spec, task_type, master, and "
                "task in RunConfig or set the TF_CONFIG environment variable."
            )
        return Server(config.cluster_spec, config.task_type, config.task_id)
