"""Hooks of training by trees."""

from __future__ import annotations

from typing import Any

from weft.lib.platform import tf_logging as logging
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from weft.ops.control.control import no_op
from weft.ops.state import updates
from weft.ops.state.global_step import get_global_step


class StopAfterNTrees(SessionRunHook):
    """Stops when there are enough trees, or after twice as many attempts."""

    def __init__(
        self,
        n: int,
        num_attempted_trees_tensor: Any,
        num_finalized_trees_tensor: Any,
        override_global_step_value: int | None = None,
    ) -> None:
        self._count, self._override = n, override_global_step_value
        self._asked = [num_attempted_trees_tensor, num_finalized_trees_tensor]

    def begin(self) -> None:
        step = get_global_step()
        if step is None:
            raise RuntimeError("Global step should be created.")
        wanted = [] if self._override is None else [self._override]
        self._at_the_end = [updates.assign(step, value) for value in wanted]

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._asked)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        attempted, finished = run_values.results
        if finished < self._count and attempted <= 2 * self._count:
            return
        logging.info("Requesting stop since we have reached %d trees.", finished)
        for update in self._at_the_end:
            run_context.session.run(update)
        run_context.request_stop()


class SwitchTrainOp(SessionRunHook):
    """Runs one training operation for so many steps, then another."""

    def __init__(self, first_train_op: Any, train_steps: int, second_train_op: Any) -> None:
        self._first, self._steps, self._second = first_train_op, train_steps, second_train_op

    def begin(self) -> None:
        self._step = get_global_step()
        if self._step is None:
            raise RuntimeError("Global step should be created to use SwitchTrainOp.")
        self._now = no_op()

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs({"global_step": self._step, "train_op": self._now})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        is_first = run_values.results["global_step"] < self._steps
        self._now = self._first if is_first else self._second
