"""Evaluating checkpoints, one or as they come."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from weft.core import dtypes
from weft.graph.graph import GraphKeys, control_dependencies, get_collection
from weft.lib.platform import tf_logging
from weft.lib.summary import summary
from weft.lib.train.checkpoint.inspection import checkpoints_iterator as checkpoints_iterator
from weft.lib.train.checkpoint.inspection import wait_for_new_checkpoint as wait_for_new_checkpoint
from weft.lib.train.sessions.hooks import FinalOpsHook, writer_for
from weft.lib.train.sessions.monitored_session import ChiefSessionCreator, MonitoredSession
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from weft.ops.array import array
from weft.ops.state import global_step as training_util
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import zeros_initializer
from weft.ops.state.updates import assign_add


def get_or_create_eval_step() -> Any:
    """The counter of evaluation steps."""
    found = get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return vs.get_variable(
        "eval_step",
        shape=[],
        dtype=dtypes.int64,
        initializer=zeros_initializer(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


class StopAfterNEvalsHook(SessionRunHook):
    """Stops an evaluation after `num_evals` steps (never, when None)."""

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals, self._log_progress = num_evals, log_progress
        self._evals_completed: Any = None
        few = num_evals is None or num_evals < 20
        self._log_frequency = 1 if few else math.floor((num_evals or 0) / 10.0)

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        done, wanted = run_values.results["evals_completed"], self._num_evals
        if self._log_progress and (done % self._log_frequency == 0 or done == wanted):
            tf_logging.info(
                f"Evaluation [{done}]" if wanted is None else f"Evaluation [{done}/{wanted}]"
            )
        if wanted is not None and done >= wanted:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes the summaries once, when the session ends."""

    def __init__(
        self,
        log_dir: str | None = None,
        summary_writer: Any = None,
        summary_op: Any = None,
        feed_dict: Any = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._log_dir, self._summary_writer = log_dir, summary_writer
        self._summary_op, self._feed_dict = summary_op, feed_dict
        self._replace_summary_op = summary_op is None

    def begin(self) -> None:
        if self._replace_summary_op:
            self._summary_op = summary.merge_all()
        self._global_step = training_util.get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._summary_writer = writer_for(self._summary_writer, self._log_dir)

    def end(self, session: Any) -> None:
        summaries = []
        if self._summary_op is not None:
            step = training_util.global_step(session, self._global_step)
            summaries.append((session.run(self._summary_op, self._feed_dict), step))
        if self._summary_writer:
            for written in summaries:
                self._summary_writer.add_summary(*written)
            self._summary_writer.flush()


def _counted(eval_ops: Any, hooks: list[Any]) -> Any:
    """`eval_ops` that also count steps, for the hooks that stop at a number of them."""
    step = assign_add(get_or_create_eval_step(), 1, use_locking=True)
    if isinstance(eval_ops, dict):
        eval_ops = {**eval_ops, "update_eval_step": step}
        flat = list(eval_ops.values())
    else:
        several = isinstance(eval_ops, (tuple, list))
        eval_ops = flat = [*(eval_ops if several else [eval_ops]), step]
    with control_dependencies(flat):
        completed = array.identity(get_or_create_eval_step().read_value())
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook._set_evals_completed_tensor(completed)
    return eval_ops


def evaluate_once(
    checkpoint_path: str | None,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Any = None,
    config: Any = None,
) -> Any:
    """Evaluates one checkpoint; the values of `final_ops` at the end."""
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    connection = {"scaffold": scaffold, "master": master, "config": config}
    return _evaluate_each([checkpoint_path], connection, eval_ops, feed_dict, hooks, final)


def evaluate_repeatedly(
    checkpoint_dir: str,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    eval_interval_secs: float = 60,
    hooks: Any = None,
    config: Any = None,
    max_number_of_evaluations: int | None = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Any:
    """Evaluates every new checkpoint of a directory; the last values of `final_ops`."""
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    connection = {"scaffold": scaffold, "master": master, "config": config}
    paths = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    most = None if max_number_of_evaluations is None else max(1, max_number_of_evaluations)
    some = itertools.islice(paths, most)
    return _evaluate_each(some, connection, eval_ops, feed_dict, hooks, final)


def _evaluate_each(
    paths: Iterable[str | None],
    connection: dict[str, Any],
    eval_ops: Any,
    feed_dict: Any,
    hooks: Any,
    final: FinalOpsHook,
) -> Any:
    hooks = list(hooks or [])
    get_or_create_eval_step()
    if eval_ops is not None:
        eval_ops = _counted(eval_ops, hooks)
    for path in paths:
        tf_logging.info(f"Starting evaluation at {time.strftime('%Y-%m-%dT%H:%M:%SZ')}")
        creator = ChiefSessionCreator(checkpoint_filename_with_path=path, **connection)
        with MonitoredSession(creator, [*hooks, final]) as session:
            while eval_ops is not None and not session.should_stop():
                session.run(eval_ops, feed_dict)
        tf_logging.info(f"Finished evaluation at {time.strftime('%Y-%m-%d-%H:%M:%S')}")
    return final.final_ops_values
