"""tf.train.Supervisor: sessions with checkpoints and summaries written by threads beside them."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tensorboard.compat.proto.event_pb2 import SessionLog

from weft.core import dtypes
from weft.core.properties import stored
from weft.graph.graph import get_collection, get_default_graph
from weft.graph.graph_io import write_graph
from weft.graph.keys import GraphKeys
from weft.graph.meta_graph import create_meta_graph_def
from weft.lib.platform import tf_logging as logging
from weft.lib.summary.summary import merge_all
from weft.lib.summary.writer import FileWriter
from weft.lib.train.checkpoint.saver import Saver
from weft.lib.train.sessions.coordinator import Coordinator, LooperThread
from weft.lib.train.sessions.scaffold import attributes, collected, initialize_tables
from weft.lib.train.sessions.session_manager import SessionManager
from weft.lib.train.sessions.supervisor_services import (
    SVStepCounterThread,
    SVSummaryThread,
    SVTimerCheckpointThread,
)
from weft.ops.control.control import group
from weft.ops.state import global_step as training_util
from weft.ops.state.variables import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)


class Supervisor:
    """Prepares sessions, and runs services beside them: summaries, step counter, checkpoints.

    What is left at `USE_DEFAULT` is taken from the graph's collections, or made; None means none.
    The graph is closed for changes. Only the chief (of several processes) initializes and saves.

    Args:
        graph: the graph; None: the default one.
        ready_op, ready_for_local_init_op: give the names of variables that still lack a value.
        is_chief: whether this process initializes and saves.
        init_op, local_init_op: operations that initialize.
        init_feed_dict: for `init_op`.
        logdir: the folder for checkpoints and summaries; None: neither.
        summary_op: the summaries to write.
        saver: the `Saver`.
        global_step: the step counter.
        save_summaries_secs, save_model_secs: how often each is written.
        recovery_wait_secs: how often to look whether the chief is ready.
        stop_grace_secs: how long threads get to stop.
        checkpoint_basename: the file name of checkpoints.
        session_manager, summary_writer: objects to use instead of its own.
        init_fn: a function of the session, called after `init_op`.
        local_init_run_options: `RunOptions` for `local_init_op`.

    Raises:
        RuntimeError: eager execution is on.

    Example:
        >>> v = tf.Variable(5)
        >>> supervisor = tf.train.Supervisor(logdir=None)
        >>> with supervisor.managed_session() as managed:
        ...     int(managed.run(v))
        5
    """

    USE_DEFAULT = 0

    def __init__(
        self,
        graph: Any = None,
        ready_op: Any = USE_DEFAULT,
        ready_for_local_init_op: Any = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = USE_DEFAULT,
        logdir: str | None = None,
        summary_op: Any = USE_DEFAULT,
        saver: Any = USE_DEFAULT,
        global_step: Any = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: Any = USE_DEFAULT,
        init_fn: Callable[[Any], Any] | None = None,
        local_init_run_options: Any = None,
    ) -> None:
        self._graph = graph if graph is not None else get_default_graph()
        with self._graph.as_default():
            self._ready_op = _get(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self._ready_for_local_init_op = _get(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP
            )
            self._init_op = _get(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self._local_init_op = _get(local_init_op, GraphKeys.LOCAL_INIT_OP, _local_init)
            self._saver = _get(saver, GraphKeys.SAVERS, _saver_of_all)
            self._summary_op = _get(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self._global_step = _get(global_step, GraphKeys.GLOBAL_STEP, _step_by_name)
        self._meta_graph_def = create_meta_graph_def(
            graph_def=self._graph.as_graph_def(add_shapes=True),
            saver_def=self._saver.saver_def if self._saver else None,
        )
        self._is_chief, self._init_feed_dict, self._init_fn = is_chief, init_feed_dict, init_fn
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        self._logdir: str | None = None
        self._save_path: str | None = None
        self._save_summaries_secs: float | None = None
        self._save_model_secs: float | None = None
        self._summary_writer: Any = None
        if is_chief:
            self._init_saving(logdir, checkpoint_basename, summary_writer)
            self._save_summaries_secs = save_summaries_secs
            self._save_model_secs = save_model_secs
        self._session_manager = session_manager or SessionManager(
            local_init_op=self._local_init_op,
            ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        self._verify_setup()
        self._graph.finalize()

    def _init_saving(self, logdir: str | None, basename: str, summary_writer: Any) -> None:
        self._logdir = logdir
        self._save_path = os.path.join(logdir, basename) if logdir else None
        if summary_writer is Supervisor.USE_DEFAULT:
            summary_writer = logdir and FileWriter(logdir)
        self._summary_writer = summary_writer or None
        self._graph_added_to_summary = False

    def _verify_setup(self) -> None:
        if self._is_chief:
            return
        for op in self._graph.get_operations():
            is_reference = op.definition.is_variable and op.outputs[0].dtype._is_ref_dtype
            if is_reference and not op.device:
                raise ValueError(
                    f"When using replicas, all Variables must have their device set: {op}"
                )

    # ---- what it holds ----

    is_chief = stored("is_chief", "Whether this task initializes and saves.")
    session_manager = stored("session_manager", "What makes sessions ready.")
    coord = stored("coord", "What stops the threads of the services.")
    init_op = stored("init_op", "What initializes the variables.")
    init_feed_dict = stored("init_feed_dict", "What is fed to `init_op`.")
    ready_op = stored("ready_op", "Names of variables that are not initialized.")
    ready_for_local_init_op = stored(
        "ready_for_local_init_op", "Names of variables that `local_init_op` still waits for."
    )
    summary_writer = stored("summary_writer", "What writes the events of the chief.")
    summary_op = stored("summary_op", "The summaries that are written now and then.")
    save_summaries_secs = stored("save_summaries_secs", "Seconds between summaries.")
    global_step = stored("global_step", "The counter of steps.")
    saver = stored("saver", "What saves and restores.")
    save_model_secs = stored("save_model_secs", "Seconds between checkpoints.")
    save_path = stored("save_path", "Where checkpoints go.")

    # ---- sessions ----

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Any:
        """A session that is ready: the chief makes it so, others wait for the chief."""
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        options = {"config": config, "max_wait_secs": max_wait_secs}
        if not self._is_chief:
            sess = self._session_manager.wait_for_session(master, **options)
        else:
            held = attributes(self, "init_op", "saver", "init_feed_dict")
            sess = self._session_manager.prepare_session(
                master,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                init_fn=self._init_fn,
                **held,
                **options,
            )
            self._write_graph()
        if start_standard_services:
            self._start_threads(sess)
        return sess

    def _start_threads(self, sess: Any) -> None:
        """Starts all that runs beside a session."""
        if self._is_chief:
            logging.info("Starting standard services.")
            self.start_standard_services(sess)
        logging.info("Starting queue runners.")
        self.start_queue_runners(sess)

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Any = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Any]:
        """A session for a `with` block; afterwards the services are stopped and errors raised."""
        with contextlib.ExitStack() as at_last, contextlib.ExitStack() as at_end:
            at_end.callback(self.stop, close_summary_writer=close_summary_writer)
            try:
                sess = self.prepare_or_wait_for_session(
                    master, config, start_standard_services=start_standard_services
                )
                # Closing wakes threads that wait in a queue.
                at_last.callback(_close_quietly, sess)
                yield sess
            except Exception as error:
                self.request_stop(error)

    def _write_graph(self) -> None:
        if self._logdir:
            whole = self._graph.as_graph_def(add_shapes=True)
            write_graph(whole, self._logdir, "graph.pbtxt")
        writer = self._summary_writer
        if self._graph_added_to_summary or not writer:
            return
        writer.add_graph(self._graph)
        writer.add_meta_graph(self._meta_graph_def)
        self._graph_added_to_summary = True

    # ---- threads ----

    def start_standard_services(self, sess: Any) -> list[threading.Thread] | None:
        """Starts the threads that write summaries, step counts and checkpoints."""
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief "
                "supervisors can write events."
            )
        if not self._logdir:
            logging.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        writer, counts = self._summary_writer, self._global_step is not None
        if writer and counts:
            step = training_util.global_step(sess, self._global_step)
            writer.add_session_log(SessionLog(status=SessionLog.START), step)
        summarizes = writer and self._save_summaries_secs
        services: list[tuple[Any, Any]] = [
            (SVSummaryThread, summarizes and self._summary_op is not None),
            (SVStepCounterThread, summarizes and counts),
            (SVTimerCheckpointThread, self._saver and self._save_model_secs),
        ]
        threads = [service(self, sess) for service, wanted in services if wanted]
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(self, sess: Any, queue_runners: Any = None) -> list[threading.Thread]:
        """Starts the threads of queue runners: all of the graph, or those given."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        started = [
            runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
            for runner in queue_runners
        ]
        return list(itertools.chain.from_iterable(started))

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:
        """Calls `target` again and again in a thread."""
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    def stop(
        self,
        threads: Any = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Stops the threads and waits for them; raises what one of them reported."""
        with contextlib.ExitStack() as at_end:
            if close_summary_writer and self._summary_writer:
                at_end.callback(self._close_summary_writer)
            self._coord.request_stop()
            self._coord.join(threads, self._stop_grace_secs, ignore_live_threads)

    def _close_summary_writer(self) -> None:
        self._summary_writer.add_session_log(SessionLog(status=SessionLog.STOP))
        self._summary_writer.close()
        self._graph_added_to_summary = False

    def request_stop(self, ex: Any = None) -> None:
        self._coord.request_stop(ex)

    def should_stop(self) -> bool:
        return self._coord.should_stop()

    def stop_on_exception(self) -> Any:
        """A context that reports exceptions to the coordinator."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        self._coord.wait_for_stop()

    def summary_computed(self, sess: Any, summary: Any, global_step: Any = None) -> None:
        """Writes a summary that the program computed itself."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        counter = self._global_step if global_step is None else None
        step = global_step if counter is None else training_util.global_step(sess, counter)
        self._summary_writer.add_summary(summary, step)

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


# ---- defaults ------------------------------------------------------------------------------------


def _get(given: Any, key: str, make: Callable[[], Any] | None = None) -> Any:
    """`given`, or the first of a collection, or what `make` makes (it joins the collection)."""
    if given is not Supervisor.USE_DEFAULT:
        return given
    count = len(get_collection(key))
    if count > 1:
        logging.info("Found %d %s operations. Returning the first one.", count, key)
    return collected(key, make)


def _close_quietly(sess: Any) -> None:
    with contextlib.suppress(Exception):
        sess.close()


def _local_init() -> Any:
    return group(local_variables_initializer(), initialize_tables())


def _saver_of_all() -> Saver | None:
    return Saver() if global_variables() else None


def _step_by_name() -> Any:
    try:
        step = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if step.dtype.base_dtype in (dtypes.int32, dtypes.int64):
        return step
    logging.warning("Found 'global_step' is not an int type: %s", step.dtype)
    return None
