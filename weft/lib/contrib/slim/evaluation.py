"""Evaluating checkpoints under slim's names."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from weft.lib.summary import summary
from weft.lib.train import evaluation
from weft.lib.train.evaluation import checkpoints_iterator as checkpoints_iterator
from weft.lib.train.evaluation import wait_for_new_checkpoint as wait_for_new_checkpoint
from weft.lib.train.sessions.scaffold import Scaffold

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
    from weft.lib.train.checkpoint.saver import Saver

    saver = None if variables_to_restore is None else Saver(variables_to_restore)
    return Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, saver=saver)


def _named(given: dict[str, Any]) -> dict[str, Any]:
    """slim's arguments under the names that `contrib.training` has for them."""
    a = SimpleNamespace(**given)
    return {
        "master": a.master,
        "scaffold": _scaffold(a.initial_op, a.initial_op_feed_dict, a.variables_to_restore),
        "eval_ops": a.eval_op,
        "feed_dict": a.eval_op_feed_dict,
        "final_ops": a.final_op,
        "final_ops_feed_dict": a.final_op_feed_dict,
        "hooks": _hooks(a.num_evals, a.logdir, a.summary_op, a.summary_op_feed_dict, a.hooks),
        "config": a.session_config,
    }


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
    return evaluation.evaluate_once(checkpoint_path, **_named(locals()))


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
        **_named(locals()),
        eval_interval_secs=eval_interval_secs,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )
