"""Hooks that keep what a training program makes: checkpoints, summaries, timelines."""

from __future__ import annotations

import os
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunOptions
from tensorboard.compat.proto.event_pb2 import SessionLog

from weft.client.timeline import Timeline
from weft.graph.graph import get_default_graph
from weft.graph.graph_io import write_graph
from weft.graph.meta_graph import create_meta_graph_def
from weft.lib.platform import tf_logging as logging
from weft.lib.summary.writer import FileWriterCache
from weft.lib.train.checkpoint.saver import only_saver
from weft.lib.train.sessions.hooks import (
    GlobalStepHook,
    SecondOrStepTimer,
    check_one,
    writer_for,
)
from weft.lib.train.sessions.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunValues,
)
from weft.storage import file_io


class CheckpointSaverListener:
    """Told about every checkpoint. `after_save` may return true to end the training."""

    def begin(self) -> None:
        """Before the session is made."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        pass

    def after_save(self, session: Any, global_step_value: int) -> Any:
        pass

    def end(self, session: Any, global_step_value: int) -> None:
        """At the end of training, after the last checkpoint."""


class CheckpointSaverHook(GlobalStepHook):
    """Saves a checkpoint at the start, every so many steps or seconds, and at the end."""

    _kind = "CheckpointSaverHook"

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Any = None,
    ) -> None:
        logging.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold, self._listeners = saver, scaffold, listeners or []
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        super().begin()
        self._tell("begin")

    def _tell(self, event: str, *args: Any) -> None:
        """Calls a method of all listeners."""
        for listener in self._listeners:
            getattr(listener, event)(*args)

    def after_create_session(self, session: Any, coord: Any) -> None:
        step = session.run(self._global_step_tensor)
        # Not in `begin`: other hooks may add to the graph until the session is made.
        self._write_graph(get_default_graph())
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def _write_graph(self, graph: Any) -> None:
        """Writes the graph as text, and with its saver among the events."""
        described = graph.as_graph_def(add_shapes=True)
        write_graph(described, self._checkpoint_dir, "graph.pbtxt")
        saver_def = (saver := self._get_saver()) and saver.saver_def
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(
            create_meta_graph_def(graph_def=described, saver_def=saver_def)
        )

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = self._step_if(self._timer.should_trigger_for_step, run_context, run_values)
        if step is None:
            return
        self._timer.update_last_triggered_step(step)
        if self._save(run_context.session, step):
            run_context.request_stop()

    def end(self, session: Any) -> None:
        step = session.run(self._global_step_tensor)
        if self._timer.last_triggered_step() != step:
            self._save(session, step)
        self._tell("end", session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Saves a checkpoint; whether a listener wants to stop."""
        path, writer = self._save_path, self._summary_writer
        logging.info("Saving checkpoints for %d into %s.", step, path)
        self._tell("before_save", session, step)
        self._get_saver().save(session, path, global_step=step)
        saved = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=path)
        writer.add_session_log(saved, step)
        # A run that continues from this checkpoint finds the events up to it.
        writer.flush()
        return any([_asks_to_stop(each, session, step) for each in self._listeners])

    def _get_saver(self) -> Any:
        if self._saver is None and self._scaffold is not None:
            return self._scaffold.saver
        if self._saver is None:
            self._saver = only_saver()
        return self._saver


def _asks_to_stop(listener: CheckpointSaverListener, session: Any, step: int) -> bool:
    """Tells a listener of a checkpoint; whether it wants the training to end."""
    asks = bool(listener.after_save(session, step))
    if asks:
        logging.info(
            "A CheckpointSaverListener requested that training be stopped. listener: %s", listener
        )
    return asks


class _RequestingHook(GlobalStepHook):
    """A hook that asks for more with the runs its timer names, and keeps what they gave."""

    _timer: SecondOrStepTimer
    _asks_first: bool  # whether the first run is such a one

    def begin(self) -> None:
        self._next_step: Any = None
        super().begin()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._request_summary = (
            self._asks_first
            if self._next_step is None
            else self._timer.should_trigger_for_step(self._next_step)
        )
        more = self._request() if self._request_summary else SessionRunArgs({})
        return more._replace(fetches={"global_step": self._global_step_tensor, **more.fetches})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        before, asked = run_values.results["global_step"], self._request_summary
        now = run_context.session.run(self._global_step_tensor) if asked else before + 1
        if self._next_step is None:
            self._start(before, now)
        if asked:
            self._timer.update_last_triggered_step(now)
            self._keep(now, run_values)
        self._next_step = now + 1

    def _request(self) -> SessionRunArgs:
        """The fetches to run in addition."""
        raise NotImplementedError

    def _start(self, stale: Any, step: Any) -> None:
        """Called after the first run, with the steps before and after it."""
        raise NotImplementedError

    def _keep(self, step: Any, values: SessionRunValues) -> None:
        """Called after a run that was asked for more."""
        raise NotImplementedError


class SummarySaverHook(_RequestingHook):
    """Writes summaries at the first step and every so many steps or seconds."""

    _kind, _asks_first = "SummarySaverHook", True

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
        scaffold: Any = None,
        summary_op: Any = None,
    ) -> None:
        check_one((scaffold, summary_op), "Exactly one of scaffold or summary_op must be provided.")
        self._summary_op, self._scaffold = summary_op, scaffold
        self._summary_writer, self._output_dir = summary_writer, output_dir
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        self._summary_writer = writer_for(self._summary_writer, self._output_dir)
        super().begin()

    def _request(self) -> SessionRunArgs:
        summaries = self._get_summary_op()
        return SessionRunArgs({} if summaries is None else {"summary": summaries})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._summary_writer:
            super().after_run(run_context, run_values)

    def _start(self, stale: Any, step: Any) -> None:
        self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)

    def _keep(self, step: Any, values: SessionRunValues) -> None:
        for summary in values.results.get("summary", ()):
            self._summary_writer.add_summary(summary, step)

    def end(self, session: Any = None) -> None:
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self) -> list[Any] | None:
        found = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        return found if found is None or isinstance(found, list) else [found]


class ProfilerHook(_RequestingHook):
    """Traces a step every so often: a timeline for Chrome, and run metadata for TensorBoard."""

    _kind, _asks_first = "ProfilerHook", False

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._file_writer = FileWriterCache.get(output_dir)
        self._shown: dict[str, Any] = {"show_dataflow": show_dataflow, "show_memory": show_memory}
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def _request(self) -> SessionRunArgs:
        return SessionRunArgs({}, options=RunOptions(trace_level=RunOptions.FULL_TRACE))

    def _start(self, stale: Any, step: Any) -> None:
        self._timer.update_last_triggered_step(stale)

    def _keep(self, step: Any, values: SessionRunValues) -> None:
        self._save(step, values.run_metadata.step_stats)
        self._file_writer.add_run_metadata(values.run_metadata, f"step_{step}")

    def _save(self, step: int, step_stats: Any) -> None:
        path = self._output_file.format(step)
        logging.info("Saving timeline for %d into '%s'.", step, path)
        trace = Timeline(step_stats).generate_chrome_trace_format(**self._shown)
        file_io.write_string_to_file(path, trace)
