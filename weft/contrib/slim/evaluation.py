"""Evaluating checkpoints under slim's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.contrib.training import evaluation
from weft.contrib.training.evaluation import checkpoints_iterator as checkpoints_iterator
from weft.contrib.training.evaluation import wait_for_new_checkpoint as wait_for_new_checkpoint
from weft.summary import summary
from weft.train.scaffold import Scaffold

_USE_DEFAULT = 0


def _hooks(
    num_evals: int,
    logdir: str | None,
    summary_op: Any,
    feed_dict: Any,
    hooks: Any,
) -> list[Any]:
    if summary_op is _USE_DEFAULT:
        summary_op = summary.merge_all()
    made: list[Any] = [evaluation.StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        made.append(
            evaluation.SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=feed_dict)
        )
    return made + list(hooks or [])


def _scaffold(initial_op: Any, initial_op_feed_dict: Any, variables_to_restore: Any) -> Scaffold:
    from weft.train.saver import Saver

    saver = None if variables_to_restore is None else Saver(variables_to_restore)
    return Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, saver=saver)


def evaluate_once(
    master: str,
    checkpoint_path: str,
    logdir: str | None,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    session_config: Any = None,
    hooks: Any = None,
) -> Any:
    """Evaluates one checkpoint over `num_evals` runs of `eval_op`; the value of `final_op`."""
    return evaluation.evaluate_once(
        checkpoint_path,
        master=master,
        scaffold=_scaffold(initial_op, initial_op_feed_dict, variables_to_restore),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=_hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
    )


def evaluation_loop(
    master: str,
    checkpoint_dir: str,
    logdir: str | None,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    init_fn: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Any = None,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
    hooks: Any = None,
) -> Any:
    """Evaluates every new checkpoint of a directory."""
    return evaluation.evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=_scaffold(initial_op, initial_op_feed_dict, variables_to_restore),
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=_hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks),
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )
