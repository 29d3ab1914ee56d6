"""Hooks that need an Estimator: evaluation without a checkpoint, and stopping by checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from weft.graph.graph import Graph, GraphKeys, get_collection
from weft.lib.estimator.arguments import check_positive, checked_hooks, step_of_checkpoint
from weft.lib.train.evaluation import StopAfterNEvalsHook
from weft.lib.train.sessions.hooks import SecondOrStepTimer, StopAtStepHook, global_step_for
from weft.lib.train.sessions.scaffold import Scaffold
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from weft.ops.array.placeholders import placeholder
from weft.ops.control.control import group
from weft.ops.state.updates import assign


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates every `every_n_iter` steps, with the variables as they are in memory."""

    def __init__(
        self,
        estimator: Any,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Any = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        config = estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        check_positive("steps", steps)
        self._estimator, self._input_fn = estimator, input_fn
        self._eval_dir = estimator.eval_dir(name)
        self._hooks = checked_hooks(hooks)
        if steps is not None:
            self._hooks.append(StopAfterNEvalsHook(steps))
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Builds the graph of the evaluation, with a way to put values into its variables."""
        self._timer.reset()
        self._iter_count = 0
        self._graph = Graph()
        build = self._estimator._build_evaluation
        with self._graph.as_default():
            # The scaffold; then an update, the values of metrics, and hooks.
            self._scaffold, *self._parts = build(self._input_fn, self._hooks, checkpoint_path=None)
            for own in ("saver", "init_fn"):
                if getattr(self._scaffold, own) is not None:
                    raise ValueError(f"InMemoryEvaluator does not support custom {own}")
            self._eval_variables = _global_variables()

    def after_create_session(self, session: Any, coord: Any) -> None:
        if get_collection(GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError(
                "InMemoryEvaluator does not support saveables other than global variables."
            )
        trained = _global_variables()
        common = [name for name in self._eval_variables if name in trained]
        self._train_variables = {name: trained[name] for name in common}
        with self._graph.as_default():
            self._values = {
                name: placeholder(self._eval_variables[name].dtype.base_dtype) for name in common
            }
            self._feed_op = group(
                *[assign(self._eval_variables[name], self._values[name]) for name in common]
            )
        self._evaluate(session)

    def _evaluate(self, train_session: Any) -> None:
        values = train_session.run(self._train_variables)
        parts = self._filled(values), *self._parts
        with self._graph.as_default():
            self._estimator._evaluate_run(None, *parts, output_dir=self._eval_dir)
        self._timer.update_last_triggered_step(self._iter_count)

    def _filled(self, values: dict[str, Any]) -> Scaffold:
        """The scaffold of the evaluation, which puts `values` into the variables."""
        feeds = {self._values[name]: value for name, value in values.items()}

        def feed_variables(scaffold: Any, session: Any) -> None:
            session.run(self._feed_op, feed_dict=feeds)

        return Scaffold(init_fn=feed_variables, copy_from_scaffold=self._scaffold)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._iter_count += 1
        if self._timer.should_trigger_for_step(self._iter_count):
            self._evaluate(run_context.session)

    def end(self, session: Any) -> None:
        self._evaluate(session)


def _global_variables() -> dict[str, Any]:
    return {variable.name: variable for variable in get_collection(GraphKeys.GLOBAL_VARIABLES)}


class _StopAtCheckpointStepHook(SessionRunHook):
    """Stops a worker once there is a checkpoint of the last step."""

    def __init__(
        self, model_dir: str, last_step: int, wait_after_file_check_secs: float = 30
    ) -> None:
        for name, value in {"last_step": last_step, "model_dir": model_dir}.items():
            if value is None:
                raise ValueError(f"{name} must be specified.")
        self._model_dir, self._last_step = model_dir, last_step
        self._wait_after_file_check_secs = wait_after_file_check_secs

    def begin(self) -> None:
        self._global_step_tensor = global_step_for("StopAtCheckpointStepHook")

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results + 1 < self._last_step:
            return
        if step_of_checkpoint(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait_after_file_check_secs)


def make_stop_at_checkpoint_step_hook(
    estimator: Any, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """Stops the chief at a step, and the workers when the chief has saved it."""
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStepHook(estimator.model_dir, last_step, wait_after_file_check_secs)
