"""Monitors of tf.contrib.learn as they were before hooks: they are told of steps, by their numbers.

A monitor says before a step which tensors it wants to see, gets them by name after it, and may
answer that the training is to end. `RunHookAdapterForMonitors` is the hook that tells them.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from weft.graph.graph import get_default_graph
from weft.graph.keys import GraphKeys
from weft.lib.platform import tf_logging as logging
from weft.lib.summary.writer import FileWriterCache
from weft.lib.train.checkpoint.saver import Saver
from weft.lib.train.sessions.hooks import (
    NanLossDuringTrainingError,
    _as_graph_element,
    check_one,
    global_step_for,
    number_summary,
    writer_for,
)
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from weft.ops.state.variable_lists import trainable_variables


class BaseMonitor:
    """A monitor that checks that it is called in order, and does nothing."""

    def __init__(self) -> None:
        self._begun = False
        self._current_epoch: Any = None
        self._current_step: Any = None
        self._max_steps: Any = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether workers other than the chief need it, too."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """Whom it watches."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: Any = None) -> None:
        """Before training."""
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps, self._begun = max_steps, True

    def end(self, session: Any = None) -> None:
        """After training."""
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps, self._begun = None, False

    def epoch_begin(self, epoch: int) -> None:
        """Before a pass over all data."""
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError("Invalid epoch %s.", epoch)
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        """After a pass over all data."""
        if self._current_epoch != epoch:
            raise ValueError("epoch_end expected %s but got %s.", self._current_epoch, epoch)
        self._current_epoch = None

    def step_begin(self, step: Any) -> Any:
        """The tensors that it wants to see after the step: themselves, or their names."""
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: Any, output: Any) -> Any:
        """What it saw; whether training is to end."""
        if self._current_step != step:
            raise ValueError("step_end expected %s but got %s.", self._current_step, step)
        self._current_step = None
        return False

    def post_step(self, step: Any, session: Any) -> None:
        """After the step of all monitors."""


def _seen(outputs: dict[Any, Any], wanted: Any) -> Any:
    """What a tensor was, by itself or by its name."""
    return outputs[wanted] if wanted in outputs else outputs[getattr(wanted, "name", wanted)]


class EveryN(BaseMonitor):
    """A monitor that is active in the first steps, in the last one, and in every n-th."""

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        self._every_n_steps, self._first_n_steps = every_n_steps, first_n_steps
        self._last_successful_step: Any = None
        self._last_active_step: Any = 0
        self._every_n_step_begin_called = False

    def every_n_step_begin(self, step: Any) -> Any:
        """`step_begin` of the steps in which it is active."""
        return []

    def every_n_step_end(self, step: Any, outputs: Any) -> Any:
        """`step_end` of the steps in which it is active."""
        return False

    def every_n_post_step(self, step: Any, session: Any) -> None:
        """`post_step` of the steps in which it was active, and of the last one."""

    def step_begin(self, step: Any) -> Any:
        super().step_begin(step)
        early = step <= self._first_n_steps or step == self._max_steps
        if early or step >= self._every_n_steps + self._last_active_step:
            self._every_n_step_begin_called = True
            return self.every_n_step_begin(step)
        return []

    def step_end(self, step: Any, output: Any) -> Any:
        super().step_end(step, output)
        return self._every_n_step_begin_called and self.every_n_step_end(step, output)

    def post_step(self, step: Any, session: Any) -> None:
        super().post_step(step, session)
        if self._every_n_step_begin_called:
            self.every_n_post_step(step, session)
            self._last_active_step = step
            self._every_n_step_begin_called = False
        self._last_successful_step = step

    def end(self, session: Any = None) -> None:
        super().end(session)
        if self._last_successful_step not in (None, self._last_active_step):
            self.every_n_post_step(self._last_successful_step, session)


class StopAtStep(BaseMonitor):
    """Ends training after some steps, or at one."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        super().__init__()
        check_one(
            (num_steps, last_step),
            "One of num_steps or last_step must be specified.",
            "Only one of num_steps or last_step can be specified.",
        )
        self._num_steps, self._last_step = num_steps, last_step

    @property
    def run_on_all_workers(self) -> bool:
        return True

    def step_begin(self, step: Any) -> Any:
        super().step_begin(step)
        if self._last_step is None:
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step: Any, output: Any) -> Any:
        super().step_end(step, output)
        return step >= self._last_step


class PrintTensor(EveryN):
    """Logs tensors, given by a list or by a dict of names for them."""

    def __init__(self, tensor_names: Any, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        named = isinstance(tensor_names, dict)
        self._tensor_names = tensor_names if named else {name: name for name in tensor_names}

    def every_n_step_begin(self, step: Any) -> Any:
        super().every_n_step_begin(step)
        return list(self._tensor_names.values())

    def every_n_step_end(self, step: Any, outputs: Any) -> Any:
        super().every_n_step_end(step, outputs)
        shown = [
            f"{tag} = {outputs[name]}"
            for tag, name in self._tensor_names.items()
            if name in outputs
        ]
        logging.info("Step %d: %s", step, ", ".join(shown))


class LoggingTrainable(EveryN):
    """Logs the trainable variables of a scope."""

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step: Any) -> Any:
        super().every_n_step_begin(step)
        self._names = {var.name: var.value().name for var in trainable_variables(self._scope)}
        return list(self._names.values())

    def every_n_step_end(self, step: Any, outputs: Any) -> Any:
        super().every_n_step_end(step, outputs)
        shown = [f"{tag} = {outputs[name]}" for tag, name in self._names.items() if name in outputs]
        logging.info("Logging Trainable: Step %d: %s", step, ", ".join(shown))


class CaptureVariable(EveryN):
    """Keeps the values of a variable, by steps."""

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._var_values: dict[Any, Any] = {}

    @property
    def values(self) -> dict[Any, Any]:
        """What it was at each step that was looked at."""
        return self._var_values

    def every_n_step_begin(self, step: Any) -> Any:
        super().every_n_step_begin(step)
        return [self._var_name]

    def every_n_step_end(self, step: Any, outputs: Any) -> Any:
        super().every_n_step_end(step, outputs)
        self._var_values[step] = outputs[self._var_name]


class SummarySaver(EveryN):
    """Writes summaries."""

    def __init__(
        self,
        summary_op: Any,
        save_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: Any = None,
        scaffold: Any = None,
    ) -> None:
        super().__init__(every_n_steps=save_steps)
        self._summary_op, self._scaffold = summary_op, scaffold
        self._summary_writer = writer_for(summary_writer, output_dir)

    def set_estimator(self, estimator: Any) -> None:
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(estimator.model_dir)

    def _op(self) -> Any:
        known = self._summary_op is not None or self._scaffold is None
        return self._summary_op if known else self._scaffold.summary_op

    def every_n_step_begin(self, step: Any) -> Any:
        super().every_n_step_begin(step)
        return [] if self._op() is None else [self._op()]

    def every_n_step_end(self, step: Any, outputs: Any) -> Any:
        super().every_n_step_end(step, outputs)
        if self._op() is not None and self._summary_writer is not None:
            self._summary_writer.add_summary(_seen(outputs, self._op()), step)
        return False

    def end(self, session: Any = None) -> None:
        super().end(session)
        if self._summary_writer is not None:
            self._summary_writer.flush()


class StepCounter(EveryN):
    """Writes how many steps there are in a second."""

    def __init__(
        self, every_n_steps: int = 100, output_dir: str | None = None, summary_writer: Any = None
    ) -> None:
        super().__init__(every_n_steps)
        self._summary_tag = "global_step/sec"
        self._last_reported: tuple[Any, float] | None = None
        self._summary_writer = writer_for(summary_writer, output_dir)

    def set_estimator(self, estimator: Any) -> None:
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(estimator.model_dir)

    def every_n_step_end(self, step: Any, outputs: Any) -> Any:
        now = time.time()
        if self._last_reported is not None and self._summary_writer is not None:
            last_step, last_time = self._last_reported
            speed = (step - last_step) / (now - last_time)
            self._summary_writer.add_summary(number_summary(self._summary_tag, speed), step)
        self._last_reported = step, now
        return False


class NanLoss(EveryN):
    """Ends training, by an error if it shall, when the loss is not a number."""

    def __init__(
        self, loss_tensor: Any, every_n_steps: int = 100, fail_on_nan_loss: bool = True
    ) -> None:
        super().__init__(every_n_steps)
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss

    def every_n_step_begin(self, step: Any) -> Any:
        super().every_n_step_begin(step)
        return [self._loss_tensor]

    def every_n_step_end(self, step: Any, outputs: Any) -> Any:
        super().every_n_step_end(step, outputs)
        return self._diverged() if np.isnan(_seen(outputs, self._loss_tensor)) else None

    def _diverged(self) -> bool:
        tell = logging.error if self._fail_on_nan_loss else logging.warning
        tell("Model diverged with loss = NaN.")
        if self._fail_on_nan_loss:
            raise NanLossDuringTrainingError
        return True


class GraphDump(BaseMonitor):
    """Keeps the values of nearly all tensors of a graph, at every step."""

    IGNORE_OPS: ClassVar[list[str]] = [
        "Const", "Assign", "Identity", "Placeholder", "RandomUniform", "Cast", "RestoreSlice"
    ]  # fmt: skip

    def __init__(self, ignore_ops: Iterable[str] | None = None) -> None:
        super().__init__()
        self._ignore_ops = list(ignore_ops or self.IGNORE_OPS)
        self._data: dict[Any, Any] = {}

    def begin(self, max_steps: Any = None) -> None:
        super().begin(max_steps)
        self._tensors: list[Any] = []
        for op in get_default_graph().get_operations():
            if op.type not in self._ignore_ops:
                logging.info("op=%s name=%s.", op.type, op.name)
                self._tensors.extend(op.outputs)

    def step_begin(self, step: Any) -> Any:
        super().step_begin(step)
        return self._tensors

    def step_end(self, step: Any, output: Any) -> Any:
        super().step_end(step, output)
        self._data[step] = output

    @property
    def data(self) -> dict[Any, Any]:
        """Values by names, by steps."""
        return self._data

    def compare(self, other_dump: GraphDump, step: Any, atol: float = 1e-06) -> Any:
        """(names of what is the same in another dump, differences of what is not)."""
        ours, theirs = self.data.get(step, {}), other_dump.data.get(step, {})
        matched, others = [], {}
        for name, value in ours.items():
            if name not in theirs:
                raise ValueError(f"{name} missing from the other dump.")
            if np.allclose(value, theirs[name], atol=atol):
                matched.append(name)
            else:
                others[name] = value - theirs[name]
        return matched, others


class CheckpointSaver(BaseMonitor):
    """Saves checkpoints: after the first step, every so often, and at the end."""

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
    ) -> None:
        logging.info("Create CheckpointSaver.")
        super().__init__()
        check_one(
            (save_steps, save_secs),
            "Either save_steps or save_secs should be provided",
            "Can not provide both save_steps and save_secs.",
        )
        self._save_path = f"{checkpoint_dir}/{checkpoint_basename}"
        self._save_secs, self._save_steps = save_secs, save_steps
        self._saver, self._scaffold = saver, scaffold
        self._saved: tuple[Any, float] | None = None

    def begin(self, max_steps: Any = None) -> None:
        super().begin(max_steps)
        self._saved = None

    def step_begin(self, step: Any) -> Any:
        self._last_begin_step = step
        return super().step_begin(step)

    def post_step(self, step: Any, session: Any) -> None:
        super().post_step(step, session)
        if self._is_due(step):
            self._save(step, session)

    def _is_due(self, step: Any) -> bool:
        if self._saved is None:
            return True
        last_step, last_time = self._saved
        if self._save_steps is not None:
            return step >= last_step + self._save_steps
        return time.time() >= last_time + (self._save_secs or 0)

    def end(self, session: Any = None) -> None:
        super().end(session)
        self._save(self._last_begin_step, session)

    def _save(self, step: Any, session: Any) -> None:
        if self._saved is not None and step == self._saved[0]:
            return
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._saved = step, time.time()
        self._any_saver().save(session, self._save_path, global_step=step)

    def _any_saver(self) -> Saver:
        """The saver that was given, or the scaffold's, or the graph's."""
        if self._saver is None and self._scaffold is not None:
            return self._scaffold.saver
        kept = get_default_graph().get_collection(GraphKeys.SAVERS)
        return self._saver or (kept[0] if kept else Saver())


class RunHookAdapterForMonitors(SessionRunHook):
    """A hook that tells monitors of the steps of a session."""

    def __init__(self, monitors: list[BaseMonitor]) -> None:
        self._monitors = monitors
        self._last_step: Any = None

    def begin(self) -> None:
        self._global_step = global_step_for("RunHookAdapterForMonitors")
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        if self._last_step is None:
            self._last_step = run_context.session.run(self._global_step) + 1
        wanted = [each for m in self._monitors for each in m.step_begin(self._last_step) or []]
        return SessionRunArgs({_name(each): _as_graph_element(each) for each in wanted})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = self._last_step
        answers = [monitor.step_end(step, run_values.results) for monitor in self._monitors]
        if any(answers):
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(step, run_context.session)
        self._last_step = run_context.session.run(self._global_step) + 1

    def end(self, session: Any) -> None:
        self._last_step = None
        for monitor in self._monitors:
            monitor.end(session)


def _name(wanted: Any) -> str:
    return wanted if isinstance(wanted, str) else wanted.name


def get_default_monitors(
    loss_op: Any = None,
    summary_op: Any = None,
    save_summary_steps: int = 100,
    output_dir: str | None = None,
    summary_writer: Any = None,
) -> list[BaseMonitor]:
    """Monitors that log the loss and write summaries, if there are any."""
    of_loss = functools.partial(PrintTensor, {"loss": getattr(loss_op, "name", None)})
    saved = summary_op, save_summary_steps, output_dir, summary_writer
    made = (loss_op, of_loss), (summary_op, functools.partial(SummarySaver, *saved))
    return [make() for wanted, make in made if wanted is not None]
