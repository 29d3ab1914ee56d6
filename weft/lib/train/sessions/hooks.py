"""Hooks that watch a training program: stop it, print what it does, feed it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from weft.core import errors
from weft.graph.graph import get_default_graph
from weft.lib.platform import tf_logging as logging
from weft.lib.summary.writer import FileWriterCache
from weft.lib.train.sessions.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from weft.ops.state.global_step import _get_or_create_global_step_read, get_global_step


def check_one(given: tuple[Any, Any], neither: str, both: str | None = None) -> None:
    """ValueError unless exactly one of two arguments was given."""
    first, second = given
    if (first is None) == (second is None):
        raise ValueError(neither if first is None else both or neither)


# ---- when ----------------------------------------------------------------------------------------


class SecondOrStepTimer:
    """Says when it is time again: every so many seconds, or every so many steps."""

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        check_one(
            (every_secs, every_steps),
            "Either every_secs or every_steps should be provided.",
            "Can not provide both every_secs and every_steps.",
        )
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """As if it had never been time before."""
        self._last: tuple[float, Any] | None = None

    def should_trigger_for_step(self, step: Any) -> bool:
        """Whether it is time. It always is at first, and never twice at the same step."""
        if self._last is None:
            return True
        then, last_step = self._last
        return step != last_step and bool(
            time.time() >= then + self._every_secs
            if self._every_secs is not None
            else step >= last_step + self._every_steps
        )

    def update_last_triggered_step(self, step: Any) -> tuple[float | None, Any]:
        """Counts from now on; returns the seconds and steps since the last time, if any."""
        before, self._last = self._last, (time.time(), step)
        if before is None:
            return None, None
        return self._last[0] - before[0], step - before[1]

    def last_triggered_step(self) -> Any:
        return None if self._last is None else self._last[1]


class NeverTriggerTimer:
    """A timer for hooks that have nothing to do until the end."""

    def reset(self) -> None:
        pass

    def should_trigger_for_step(self, step: Any) -> bool:
        return False

    def update_last_triggered_step(self, step: Any) -> tuple[None, None]:
        return None, None

    def last_triggered_step(self) -> None:
        return None


# ---- the global step -----------------------------------------------------------------------------


def global_step_for(hook: str) -> Any:
    """The global step as it is before a step; RuntimeError if the graph counts none."""
    tensor = _get_or_create_global_step_read()
    if tensor is None:
        raise RuntimeError(f"Global step should be created to use {hook}.")
    return tensor


def writer_for(writer: Any, folder: str | None) -> Any:
    """The writer a hook was given, or else the one of its folder, if it has one."""
    return FileWriterCache.get(folder) if writer is None and folder else writer


class GlobalStepHook(SessionRunHook):
    """A hook that fetches the global step with every run. `_kind` is its name in errors."""

    _kind: str
    _steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        self._global_step_tensor = global_step_for(self._kind)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def _step_if(
        self, due: Callable[[Any], bool], context: SessionRunContext, values: SessionRunValues
    ) -> Any:
        """The step after the run, if `due` says so of it; else None.

        The step that was fetched is from before the run, which may or may not have counted. The
        session is asked only where the answer may be yes.
        """
        if not due(values.results + self._steps_per_run):
            return None
        step = context.session.run(self._global_step_tensor)
        return step if due(step) else None


# ---- stopping ------------------------------------------------------------------------------------


class StopAtStepHook(GlobalStepHook):
    """Ends training after `num_steps` steps, or at the global step `last_step`.

    Args:
        num_steps: how many steps from the start.
        last_step: the global step at which to stop; one of the two.

    Raises:
        ValueError: both are given, or neither.

    Example:
        >>> count = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        >>> hook = tf.train.StopAtStepHook(num_steps=2)
        >>> with tf.train.SingularMonitoredSession([hook]) as training:
        ...     while not training.should_stop():
        ...         last = training.run(count)
        >>> int(last)
        2
    """

    _kind = "StopAtStepHook"

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        check_one(
            (num_steps, last_step),
            "One of num_steps or last_step must be specified.",
            "Only one of num_steps or last_step can be specified.",
        )
        self._num_steps, self._last_step = num_steps, last_step

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._step_if(lambda s: s >= self._last_step, run_context, run_values) is not None:
            run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number any more."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Ends training when the loss is NaN: with an error, or quietly."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not np.isnan(run_values.results):
            return
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(message)
            raise NanLossDuringTrainingError
        logging.warning(message)
        run_context.request_stop()


# ---- telling -------------------------------------------------------------------------------------


class LoggingTensorHook(SessionRunHook):
    """Logs tensors every so many runs or seconds, and at the end if asked to.

    `tensors` are tensors or names, in a list or with a label each; `formatter` makes a line of
    the values by label.
    """

    def __init__(
        self,
        tensors: Any,
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[Any, Any]], str] | None = None,
    ) -> None:
        never = every_n_iter is None and every_n_secs is None
        if not (at_end and never) and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be "
                "provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._tag_order = sorted(tensors) if isinstance(tensors, dict) else tensors
        self._tensors = tensors if isinstance(tensors, dict) else {each: each for each in tensors}
        self._formatter, self._log_at_end = formatter, at_end
        self._timer = (
            NeverTriggerTimer() if never else SecondOrStepTimer(every_n_secs, every_n_iter)
        )

    def begin(self) -> None:
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {tag: _as_graph_element(t) for tag, t in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def _log_tensors(self, values: dict[Any, Any]) -> None:
        elapsed, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                logging.info(self._formatter(values))
                return
            line = ", ".join(f"{tag} = {values[tag]!s}" for tag in self._tag_order)
        if elapsed is None:
            logging.info("%s", line)
        else:
            logging.info("%s (%.3f sec)", line, elapsed)

    def end(self, session: Any) -> None:
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))


def _as_graph_element(thing: Any) -> Any:
    """A tensor of the default graph, given itself or by name (":0" may be left out)."""
    graph = get_default_graph()
    if not isinstance(thing, str):
        if getattr(thing, "graph", None) is not graph:
            raise ValueError(
                f"Passed {thing} should have graph attribute that is equal to current graph "
                f"{graph}."
            )
        return thing
    if ":" in thing:
        return graph.as_graph_element(thing)
    element = graph.as_graph_element(thing + ":0")
    if len(element.op.outputs) > 1:
        raise ValueError(
            f"Name {thing} is ambiguous, as this `Operation` has multiple outputs (at least 2)."
        )
    return element


class StepCounterHook(GlobalStepHook):
    """Logs how many steps a second training makes, and adds it to the summaries."""

    _kind = "StepCounterHook"

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
    ) -> None:
        check_one(
            (every_n_steps, every_n_secs),
            "exactly one of every_n_steps and every_n_secs should be provided.",
        )
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._summary_writer, self._output_dir = summary_writer, output_dir
        self._last_global_step: Any = None

    def begin(self) -> None:
        self._summary_writer = writer_for(self._summary_writer, self._output_dir)
        super().begin()
        self._summary_tag = f"{get_global_step().op.name}/sec"

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = self._step_if(self._timer.should_trigger_for_step, run_context, run_values)
        if step is not None:
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds is not None:
                self._log_and_record(steps, seconds, step)
        self._warn_if_same(run_values.results)

    def _warn_if_same(self, step: Any) -> None:
        last, self._last_global_step = self._last_global_step, step
        if step == last:
            logging.log_first_n(
                logging.WARN,
                "It seems that global step (tf.train.get_global_step) has not been increased. "
                "Current value (could be stable): %s vs previous value: %s. You could increase "
                "the global step by passing tf.train.get_global_step() to "
                "Optimizer.apply_gradients or Optimizer.minimize.",
                5, step, last,
            )  # fmt: skip

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        tag, speed = self._summary_tag, elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            self._summary_writer.add_summary(number_summary(tag, speed), global_step)
        logging.info("%s: %g", tag, speed)


def number_summary(tag: str, value: float) -> Summary:
    """A summary of a number that Python has computed."""
    return Summary(value=[Summary.Value(tag=tag, simple_value=value)])


# ---- feeding and waiting -------------------------------------------------------------------------


class FeedFnHook(SessionRunHook):
    """Feeds every step with what `feed_fn()` returns."""

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


class FinalOpsHook(SessionRunHook):
    """Runs `final_ops` at the end and keeps their values."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._final_ops, self._final_ops_feed_dict = final_ops, final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        return self._final_ops_values

    def end(self, session: Any) -> None:
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, self._final_ops_feed_dict)
        except (errors.OutOfRangeError, StopIteration):
            logging.warning(
                "An OutOfRangeError or StopIteration exception is raised by the code in "
                "FinalOpsHook: its ops read input, which is at its end by then. They should read "
                "variables only."
            )
            raise


class GlobalStepWaiterHook(SessionRunHook):
    """Lets a worker wait until the others have reached a step."""

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        self._worker_is_started = self._wait_until_step <= 0
        self._global_step_tensor = global_step_for("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        if not self._worker_is_started:
            self._wait(run_context.session)
            self._worker_is_started = True

    def _wait(self, session: Any) -> None:
        wanted, logged = self._wait_until_step, 0
        waiting = "Waiting for global step %d before starting training."
        logging.info(waiting, wanted)
        while (step := session.run(self._global_step_tensor)) < wanted:
            if step - logged > 1000:
                logging.info(f"{waiting} Current step is %d.", wanted, step)
                logged = step
            time.sleep(0.5)
