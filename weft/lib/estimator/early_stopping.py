"""Hooks that end a training when evaluations say that it is enough."""

from __future__ import annotations

import operator
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from inspect import Parameter
from typing import Any

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.graph import GraphKeys
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.eval_results import simple_values
from weft.lib.platform import tf_logging as logging
from weft.lib.train.sessions.hooks import SecondOrStepTimer
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from weft.ops.state.get_variable import get_variable
from weft.ops.state.global_step import get_global_step
from weft.ops.state.initializers import constant_initializer
from weft.ops.state.updates import assign
from weft.ops.state.variable_scope import variable_scope
from weft.ops.state.variable_store import AUTO_REUSE
from weft.storage import file_io
from weft.storage.events import summary_iterator


def make_early_stopping_hook(
    estimator: Any,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that ends the training of all workers once `should_stop_fn()` is true.

    The chief asks the function; the others look at a variable that the chief sets.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
        )
    every = (run_every_secs, run_every_steps)
    if None not in every:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    is_chief = estimator.config.is_chief
    return _StopOnPredicateHook(should_stop_fn, *every) if is_chief else _CheckForStoppingHook()


def stop_if_higher_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Stops once a metric is above `threshold`."""
    crossed = _crossed(operator.gt, "greater than", metric_name, threshold, min_steps)
    return _hook(crossed, estimator, eval_dir, run_every_secs, run_every_steps)


@with_parameters_of(stop_if_higher_hook)
def stop_if_lower_hook(
    metric_name: str, threshold: float, min_steps: int, **when: Any
) -> SessionRunHook:
    """Stops once a metric is below `threshold`."""
    return _hook(_crossed(operator.lt, "less than", metric_name, threshold, min_steps), **when)


def stop_if_no_increase_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Stops when a metric has not risen for so many steps."""
    stuck = _stuck(operator.gt, "increase", metric_name, max_steps_without_increase, min_steps)
    return _hook(stuck, estimator, eval_dir, run_every_secs, run_every_steps)


@with_parameters_of(
    stop_if_no_increase_hook,
    without=("max_steps_without_increase",),
    extra={"max_steps_without_decrease": ("metric_name", Parameter.empty)},
)
def stop_if_no_decrease_hook(
    metric_name: str, max_steps_without_decrease: int, min_steps: int, **when: Any
) -> SessionRunHook:
    """Stops when a metric has not fallen for so many steps."""
    longest = max_steps_without_decrease
    return _hook(_stuck(operator.lt, "decrease", metric_name, longest, min_steps), **when)


# ---- what evaluations found ----------------------------------------------------------------------

Metrics = dict[int, dict[str, float]]


def read_eval_metrics(eval_dir: str) -> Metrics:
    """Step -> metrics by name, in the order of steps, as evaluations wrote them."""
    found: Metrics = defaultdict(dict)
    for step, metrics in ((event.step, simple_values(event)) for event in _events(eval_dir)):
        if metrics:
            found[step] |= metrics
    return dict(sorted(found.items()))


def _events(eval_dir: str) -> Iterator[Any]:
    if file_io.exists(eval_dir):
        for path in file_io.glob(os.path.join(eval_dir, "events.out.tfevents.*")):
            yield from summary_iterator(path)


def _crossed(
    better: Callable[[float, float], bool], words: str, name: str, threshold: float, min_steps: int
) -> Callable[[Metrics], bool]:
    def decide(results: Metrics) -> bool:
        for step, metrics in results.items():
            if step >= min_steps and better(metrics[name], threshold):
                logging.info(
                    'At step %s, metric "%s" has value %s which is %s the configured threshold '
                    "(%s) for early stopping.",
                    step, name, metrics[name], words, threshold,
                )  # fmt: skip
                return True
        return False

    return decide


def _stuck(
    better: Callable[[float, float], bool], word: str, name: str, longest: int, min_steps: int
) -> Callable[[Metrics], bool]:
    def decide(results: Metrics) -> bool:
        best: float | None = None
        best_step = 0
        for step, metrics in results.items():
            if step < min_steps:
                continue
            if best is None or better(metrics[name], best):
                best, best_step = metrics[name], step
            if step - best_step >= longest:
                logging.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max '
                    "steps (%s) configured for early stopping.",
                    word, name, step - best_step, longest,
                )  # fmt: skip
                return True
        return False

    return decide


def _hook(
    decide: Callable[[Metrics], bool],
    estimator: Any,
    eval_dir: str | None,
    run_every_secs: float | None,
    run_every_steps: int | None,
) -> SessionRunHook:
    folder = estimator.eval_dir() if eval_dir is None else eval_dir
    return make_early_stopping_hook(
        estimator, lambda: decide(read_eval_metrics(folder)), run_every_secs, run_every_steps
    )


# ---- hooks ---------------------------------------------------------------------------------------


def _stop_variable() -> Any:
    """The variable by which the chief tells the workers."""
    with variable_scope("signal_early_stopping", values=[], reuse=AUTO_REUSE):
        no = constant_initializer(False)
        return get_variable(
            "STOP", [], dtypes.bool, no, trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES]
        )


class _StopOnPredicateHook(SessionRunHook):
    """The chief's: asks now and then, and tells everyone."""

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ) -> None:
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(run_every_secs, run_every_steps)

    def begin(self) -> None:
        self._global_step_tensor = get_global_step()
        self._stop_op = assign(_stop_variable(), True)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = run_values.results
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._should_stop_fn():
                self._stop(run_context, step)

    def _stop(self, run_context: Any, step: int) -> None:
        logging.info("Requesting early stopping at global step %d", step)
        run_context.session.run(self._stop_op)
        run_context.request_stop()


class _CheckForStoppingHook(SessionRunHook):
    """A worker's: looks whether the chief wants to stop."""

    def begin(self) -> None:
        self._stop_var = _stop_variable()

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._stop_var)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results:
            logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()
