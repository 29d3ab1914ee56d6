"""tf.train.MonitoredSession: a session that initializes itself, calls hooks, and survives losses.

From the inside out: a Session made by a SessionCreator, hooks, a coordinator, recovery.
"""

from __future__ import annotations

import abc
import contextlib
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any

from weft.core import errors
from weft.graph.graph import get_collection, get_default_graph
from weft.graph.keys import GraphKeys
from weft.lib.train.input.queue_runner import start_queue_runners
from weft.lib.train.sessions.coordinator import Coordinator
from weft.lib.train.sessions.hooks import StepCounterHook
from weft.lib.train.sessions.hooks_saving import CheckpointSaverHook, SummarySaverHook
from weft.lib.train.sessions.progress import ProgressHook
from weft.lib.train.sessions.scaffold import Scaffold, attributes
from weft.lib.train.sessions.session_manager import SessionManager
from weft.lib.train.sessions.wrapped_session import (
    CoordinatedSession,
    HookedSession,
    RecoverableSession,
    StepContext,
    check_step_fn,
)

USE_DEFAULT = object()

# ---- creators ------------------------------------------------------------------------------------


class SessionCreator(abc.ABC):
    """Makes the session of a `MonitoredSession`, again after each failure."""

    @abc.abstractmethod
    def create_session(self) -> Any:
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class _ManagedSessionCreator(SessionCreator):
    """Makes sessions with a SessionManager that knows the operations of a scaffold."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: Any) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master, self._config = master, config

    @cached_property
    def _session_manager(self) -> SessionManager:
        ops = attributes(self._scaffold, "local_init_op", "ready_op", "ready_for_local_init_op")
        return SessionManager(**ops, graph=get_default_graph())


class ChiefSessionCreator(_ManagedSessionCreator):
    """Makes sessions that are initialized, or restored from the latest checkpoint."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> Any:
        scaffold = self._scaffold.finalize()
        return self._session_manager.prepare_session(
            self._master,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            **attributes(scaffold, "saver", "init_op", "init_feed_dict", "init_fn"),
        )


class WorkerSessionCreator(_ManagedSessionCreator):
    """Makes sessions on variables that the chief initializes, and waits for that."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        max_wait_secs: float = 30 * 60,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Any:
        self._scaffold.finalize()
        return self._session_manager.wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )


class _CoordinatedSessionCreator(SessionCreator):
    """Makes sessions with queue runners started and hooks told."""

    def __init__(self, creator: SessionCreator, hooks: Any, stop_grace_period_secs: float) -> None:
        self._creator, self._hooks = creator, hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.coord: Coordinator | None = None
        self.tf_sess: Any = None

    def create_session(self) -> CoordinatedSession:
        # The end of the input stops the training, but as an error that `run` raises.
        session, coord = self._creator.create_session(), Coordinator(clean_stop_exception_types=[])
        self.tf_sess, self.coord = session, coord
        if get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(session, coord)
        for hook in self._hooks:
            hook.after_create_session(session, coord)
        return CoordinatedSession(
            HookedSession(session, self._hooks), coord, self._stop_grace_period_secs
        )

    def forget(self) -> None:
        """Lets go of the session that was made last."""
        self.tf_sess = self.coord = None


# ---- sessions ------------------------------------------------------------------------------------


class _MonitoredSession:
    """The base of `MonitoredSession` and `SingularMonitoredSession`."""

    StepContext = StepContext

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Any,
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        made = session_creator or ChiefSessionCreator()
        creator = _CoordinatedSessionCreator(made, self._hooks, stop_grace_period_secs)
        self._coordinated_creator = creator
        self._sess: Any = (
            RecoverableSession(creator) if should_recover else creator.create_session()
        )

    @property
    def graph(self) -> Any:
        """The graph of the session; None once it is closed."""
        session = self._tf_sess()
        return None if session is None else session.graph

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """As `Session.run`, with the hooks called before and after."""
        return self._sess.run(
            fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
        )

    def run_step_fn(self, step_fn: Callable[[Any], Any]) -> Any:
        """Calls `step_fn(step_context)`, which may run with or without hooks, several times."""
        check_step_fn(step_fn)
        return self._sess.run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    def should_stop(self) -> bool:
        """Whether the training is over."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Tells the hooks, stops the threads, closes the session."""
        self._close_internal()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        # The end of the input is how training is meant to end.
        if kind in (errors.OutOfRangeError, StopIteration):
            kind = None
        self._close_internal(kind)
        return kind is None

    def _close_internal(self, exception_type: Any = None) -> None:
        with contextlib.ExitStack() as whatever_fails:
            whatever_fails.callback(self._forget_session)
            whatever_fails.callback(self._close_session)
            if not exception_type:
                for hook in self._hooks:
                    hook.end(self._tf_sess())

    def _close_session(self) -> None:
        if self._sess is None:
            raise RuntimeError("Session is already closed.")
        self._sess.close()

    def _forget_session(self) -> None:
        self._sess = None
        self._coordinated_creator.forget()
        if not self._graph_was_finalized:
            get_default_graph()._unsafe_unfinalize()

    def _is_closed(self) -> bool:
        return self._tf_sess() is None

    def _tf_sess(self) -> Any:
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session that initializes itself, calls hooks, and starts anew when a peer is lost."""

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Any = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """As `MonitoredSession`, for one process: no recovery, and the bare session within reach.

    Args:
        hooks: session hooks.
        scaffold: a `tf.train.Scaffold`.
        master: the address of a server; "" runs in this process.
        config: a `tf.ConfigProto`.
        checkpoint_dir: a folder whose latest checkpoint is restored.
        stop_grace_period_secs: how long threads get to stop.
        checkpoint_filename_with_path: a checkpoint to restore.

    Example:
        >>> v = tf.Variable(5)
        >>> with tf.train.SingularMonitoredSession() as training:
        ...     int(training.run(v))
        5
    """

    def __init__(
        self,
        hooks: Any = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """The session inside, for runs without hooks."""
        return self._tf_sess()


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: Any = USE_DEFAULT,
    save_summaries_steps: Any = USE_DEFAULT,
    save_summaries_secs: Any = USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = USE_DEFAULT,
    summary_dir: str | None = None,
) -> MonitoredSession:
    """A MonitoredSession that saves: checkpoints every ten minutes, summaries every 100 steps.

    With a `checkpoint_dir` that holds checkpoints, training goes on from the latest. On a terminal
    it shows a line of progress.

    Args:
        master: the address of a server; "" runs in this process.
        is_chief: whether this process initializes and saves.
        checkpoint_dir: see above; None: nothing is saved.
        scaffold: a `tf.train.Scaffold`.
        hooks, chief_only_hooks: session hooks for every process, and for the chief.
        save_checkpoint_secs, save_checkpoint_steps: how often to save; None: not in that way.
        save_summaries_secs, save_summaries_steps: how often summaries are written.
        config: a `tf.ConfigProto`.
        stop_grace_period_secs: how long threads get to stop.
        log_step_count_steps: how often the speed is logged; None: never.
        max_wait_secs: how long to wait for the chief.
        summary_dir: the folder for summaries; None: `checkpoint_dir`.

    Returns:
        A `MonitoredSession`, to be used with `with`.

    Raises:
        RuntimeError: the graph has no global step though something must be saved by it.

    Example:
        >>> step = tf.train.get_or_create_global_step()
        >>> count = tf.assign_add(step, 1)
        >>> with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(3)]) as training:
        ...     while not training.should_stop():
        ...         last = training.run(count)
        >>> int(last)
        3
    """
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks or [], stop_grace_period_secs)
    summaries = _frequency(save_summaries_steps, save_summaries_secs, (100, None))
    checkpoints = _frequency(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
    all_hooks = list(chief_only_hooks or [])
    folder = summary_dir or checkpoint_dir
    if folder and log_step_count_steps and log_step_count_steps > 0:
        all_hooks.append(StepCounterHook(every_n_steps=log_step_count_steps, output_dir=folder))
    if folder and _wanted(summaries):
        all_hooks.append(SummarySaverHook(*summaries, output_dir=folder, scaffold=scaffold))
    if checkpoint_dir and _wanted(checkpoints):
        steps, seconds = checkpoints
        all_hooks.append(CheckpointSaverHook(checkpoint_dir, seconds, steps, scaffold=scaffold))
    all_hooks.extend(hooks or [])
    if sys.stderr is not None and sys.stderr.isatty():
        all_hooks.append(ProgressHook())
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, all_hooks, stop_grace_period_secs)


def _frequency(steps: Any, seconds: Any, default: tuple[Any, Any]) -> tuple[Any, Any]:
    """(steps, seconds), with what was not given left out; the default if neither was."""
    if steps is USE_DEFAULT and seconds is USE_DEFAULT:
        return default
    return (
        None if steps is USE_DEFAULT else steps,
        None if seconds is USE_DEFAULT else seconds,
    )


def _wanted(frequency: tuple[Any, Any]) -> bool:
    return any(each and each > 0 for each in frequency)
