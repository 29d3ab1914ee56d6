"""tf.train.QueueRunner: threads that keep a queue full."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from weft.client.session import BaseSession
from weft.core import errors
from weft.graph.collection_def import (
    prepend_name_scope,
    register_proto_function,
    strip_name_scope,
)
from weft.graph.graph import add_to_collection, get_collection, get_default_graph
from weft.graph.keys import GraphKeys
from weft.graph.stacks import get_default_session
from weft.lib.platform import tf_logging as logging
from weft.lib.train.sessions.coordinator import Coordinator
from weft.ops.kit.eager import refuse_when_eager
from weft.protos.queues import QueueRunnerDef


def _checked_types(closed: Any) -> tuple[Any, ...]:
    """The errors that mean the end of the input; TypeError if these are not errors of ours."""
    if closed is None:
        return (errors.OutOfRangeError,)
    if isinstance(closed, tuple) and closed and all(issubclass(e, errors.OpError) for e in closed):
        return closed
    raise TypeError(
        "queue_closed_exception_types, when provided, must be a tuple of tf.error types,"
        f" but saw: {closed}"
    )


class QueueRunner:
    """Runs each of `enqueue_ops` in a thread of its own, again and again.

    When the input is over (one of `queue_closed_exception_types`) a thread ends, and the last one
    runs `close_op`. When the coordinator stops, `cancel_op` frees threads that wait.

    Args:
        queue: the queue to fill.
        enqueue_ops: what to run; an operation may be listed several times.
        close_op: what to run at the end; None: close the queue.
        cancel_op: what to run when stopped; None: close it and drop what waits.
        queue_closed_exception_types: errors that mean the end; None: OutOfRangeError.
        queue_runner_def: a message to make it from, with nothing else given.
        import_scope: a name to put before those in the message.

    Raises:
        ValueError: there is neither a queue nor a message, or both.
        RuntimeError: eager execution is on.

    Example:
        >>> queue = tf.FIFOQueue(10, tf.int32)
        >>> runner = tf.train.QueueRunner(queue, [queue.enqueue(7)])
        >>> coordinator = tf.train.Coordinator()
        >>> threads = runner.create_threads(session, coordinator, start=True)
        >>> int(session.run(queue.dequeue()))
        7
        >>> coordinator.request_stop()
        >>> coordinator.join(threads)
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Any = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: Any = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        refuse_when_eager(
            "QueueRunners are not supported when eager execution is enabled. Instead, please use"
            " tf.data to get data into your model."
        )
        if queue_runner_def:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._init_from_proto(queue_runner_def, import_scope)
        else:
            self._init_from_args(
                queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types
            )
        self._lock = threading.Lock()
        # How many threads run, per session: a runner can serve several.
        self._runs_per_session: Any = weakref.WeakKeyDictionary()
        self._exceptions_raised: list[Exception] = []

    def _init_from_args(
        self, queue: Any, enqueue_ops: Any, close_op: Any, cancel_op: Any, closed: Any
    ) -> None:
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue, self._enqueue_ops = queue, enqueue_ops
        self._queue_closed_exception_types = _checked_types(closed)
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = (
            queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        )

    def _init_from_proto(self, queue_runner_def: Any, import_scope: str | None) -> None:
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._queue = element(queue_runner_def.queue_name)
        self._enqueue_ops = [element(name) for name in queue_runner_def.enqueue_op_name]
        self._close_op = element(queue_runner_def.close_op_name)
        self._cancel_op = element(queue_runner_def.cancel_op_name)
        codes = queue_runner_def.queue_closed_exception_types
        closed = tuple(errors.exception_type_from_error_code(code) for code in codes)
        self._queue_closed_exception_types = closed or (errors.OutOfRangeError,)

    @property
    def queue(self) -> Any:
        return self._queue

    @property
    def enqueue_ops(self) -> Any:
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type, ...]:
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> list[Exception]:
        """The errors of threads without a coordinator."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        return self._queue.name

    # ---- threads ----

    def _enqueuer(self, sess: Any, enqueue_op: Any) -> Callable[[], Any]:
        """The function that a thread calls again and again."""
        return sess.make_callable(enqueue_op)

    def _run(self, sess: Any, enqueue_op: Any, coord: Coordinator | None = None) -> None:
        """Runs `enqueue_op` until the queue is closed or the coordinator stops, on one thread."""
        counted = True
        try:
            enqueue = self._enqueuer(sess, enqueue_op)
            while not (coord and coord.should_stop()):
                try:
                    enqueue()
                except self._queue_closed_exception_types:
                    counted = False
                    self._thread_is_over(sess)
                    return
        except Exception as error:
            if coord:
                coord.request_stop(error)
                return
            logging.error("Exception in QueueRunner: %s", str(error))
            with self._lock:
                self._exceptions_raised.append(error)
            raise
        finally:
            if counted:
                with self._lock:
                    self._runs_per_session[sess] -= 1

    def _thread_is_over(self, sess: Any) -> None:
        """Counts down; the last thread to see the end of the input closes the queue."""
        with self._lock:
            self._runs_per_session[sess] -= 1
            if self._runs_per_session[sess] == 0:
                self._run_quietly(sess, self._close_op)

    @staticmethod
    def _run_quietly(sess: Any, op: Any) -> None:
        try:
            sess.run(op)
        except Exception as error:
            # The queue, or the session, may have been closed already.
            logging.vlog(1, "Ignored exception: %s", str(error))

    def _close_on_stop(self, sess: Any, cancel_op: Any, coord: Coordinator) -> None:
        coord.wait_for_stop()
        self._run_quietly(sess, cancel_op)

    def create_threads(
        self, sess: Any, coord: Coordinator | None = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """A thread for each enqueue operation, and with `coord` one that cancels on stop.

        None at all if threads for this session run already.
        """
        with self._lock:
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        jobs: list[tuple[Any, Any, str]] = [(self._run, op, op.name) for op in self._enqueue_ops]
        if coord:
            jobs.append((self._close_on_stop, self._cancel_op, "close_on_stop"))
        threads = [
            threading.Thread(
                target=target, args=(sess, op, coord), daemon=daemon,
                name=f"QueueRunnerThread-{self.name}-{label}",
            )
            for target, op, label in jobs
        ]  # fmt: skip
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    # ---- messages ----

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The runner as a message; None if its queue is outside `export_scope`."""
        if export_scope is not None and not self.queue.name.startswith(export_scope):
            return None
        return QueueRunnerDef(
            queue_name=strip_name_scope(self.queue.name, export_scope),
            enqueue_op_name=[strip_name_scope(op.name, export_scope) for op in self.enqueue_ops],
            close_op_name=strip_name_scope(self.close_op.name, export_scope),
            cancel_op_name=strip_name_scope(self.cancel_op.name, export_scope),
            queue_closed_exception_types=[
                errors.error_code_from_exception_type(kind)
                for kind in self._queue_closed_exception_types
            ],
        )

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a runner to those that `start_queue_runners` starts."""
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Starts all the runners of the graph; returns their threads.

    Args:
        sess: the session they run in; None: the default session.
        coord: stops them together with other threads.
        daemon: whether the program may end while they run.
        start: False makes the threads without starting them.
        collection: of the graph, where the runners are.

    Returns:
        A list of threads.

    Raises:
        RuntimeError: eager execution is on.
        ValueError: there is no default session.
        TypeError: `sess` is no session.

    Example:
        >>> names = tf.train.string_input_producer(["a", "b"], shuffle=False)
        >>> name = names.dequeue()
        >>> coordinator = tf.train.Coordinator()
        >>> threads = tf.train.start_queue_runners(session, coordinator)
        >>> [session.run(name) for step in range(3)]
        [b'a', b'b', b'a']
        >>> coordinator.request_stop()
        >>> coordinator.join(threads)
    """
    refuse_when_eager("Queues are not compatible with eager execution.")
    if sess is None:
        sess = get_default_session()
        if not sess:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with"
                " sess.as_default()` or pass an explicit session to"
                " tf.start_queue_runners(sess=sess)"
            )
    if not isinstance(sess, BaseSession):
        if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
            return []  # they start their runners themselves
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    with sess.graph.as_default():
        runners = get_collection(collection)
        if not runners:
            logging.warning(
                "`tf.train.start_queue_runners()` was called when no queue runners were defined."
                " You can safely remove the call to this deprecated function."
            )
        threads: list[threading.Thread] = []
        for runner in runners:
            threads += runner.create_threads(sess, coord=coord, daemon=daemon, start=start)
    return threads


register_proto_function(
    GraphKeys.QUEUE_RUNNERS,
    proto_type=QueueRunnerDef,
    to_proto=QueueRunner.to_proto,
    from_proto=QueueRunner.from_proto,
)
