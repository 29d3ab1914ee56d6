"""The layers around the session of a `MonitoredSession`: hooks, a coordinator, recovery.

Each takes the layer below, has its `run` and `close`, and knows whether training should stop.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from weft.core import errors
from weft.lib.platform import tf_logging as logging
from weft.lib.train.sessions.coordinator import Coordinator
from weft.lib.train.sessions.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunValues,
)

# What a worker or a parameter server that went away looks like: worth another try.
PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)
_NEW_SESSION = (
    "This may be due to a preemption in a connected worker or parameter server. "
    "The current session will be closed and a new session will be created. "
    "This error may also occur due to a gRPC failure caused by high memory or network bandwidth "
    "usage in the parameter servers. If this error occurs repeatedly, try increasing the number "
    "of parameter servers assigned to the job. Error: %s"
)


class StepContext:
    """The argument of a step function: the bare session, a run with hooks, and a way to stop."""

    def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]) -> None:
        self._session, self._run_with_hooks_fn = session, run_with_hooks_fn

    @property
    def session(self) -> Any:
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """As `run` of the monitored session."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the step function and the training."""
        raise StopIteration("step_fn has requested the iterations to stop.")


def check_step_fn(step_fn: Callable[..., Any]) -> None:
    """ValueError unless a step function takes just a `step_context`."""
    names = tuple(inspect.signature(step_fn).parameters)
    if names not in (("step_context",), ("self", "step_context")):
        raise ValueError(
            "`step_fn` may either have one `step_context` argument, or `self` and `step_context` "
            f"arguments if it's an instance method. Got {names} instead."
        )


class WrappedSession:
    """A session, or another layer, with more around it. Closing it twice does no harm."""

    def __init__(self, sess: Any) -> None:
        self._sess = sess

    @property
    def graph(self) -> Any:
        return self._sess.graph

    @property
    def sess_str(self) -> str:
        return self._sess.sess_str

    def should_stop(self) -> bool:
        """Whether this layer or one below wants to stop, or is closed."""
        if self._check_stop() or self._sess is None:
            return True
        return isinstance(self._sess, WrappedSession) and self._sess.should_stop()

    def _check_stop(self) -> bool:
        return False

    def close(self) -> None:
        if self._sess is None:
            return
        try:
            self._sess.close()
        except PREEMPTION_ERRORS as error:
            logging.warning(
                "An error occurred when attempting to close the session. This may be due to a "
                "preemption in a connected worker or parameter server. Error: %s",
                error,
            )
        finally:
            self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn: Any, raw_session: Any, run_with_hooks: Any) -> Any:
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class HookedSession(WrappedSession):
    """Calls hooks before and after every run, and runs what they ask for with it."""

    def __init__(self, sess: Any, hooks: Any) -> None:
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        asked = [(hook, hook.before_run(context)) for hook in self._hooks]
        requests = [(hook, request) for hook, request in asked if request is not None]
        options = options or RunOptions()
        for _, request in requests:
            if request.options:
                merge_run_options(options, request.options)
        everything = {"caller": fetches}
        everything |= {hook: r.fetches for hook, r in requests if r.fetches is not None}
        feeds = _all_feeds(feed_dict, [r.feed_dict for _, r in requests if r.feed_dict])
        # Only a step that is traced has something to tell; the others take the shorter way.
        traced = run_metadata is not None or options.ByteSize() > 0
        run_metadata = RunMetadata() if run_metadata is None else run_metadata
        extra = {"options": options, "run_metadata": run_metadata} if traced else {}
        outputs = self._sess.run(everything, feed_dict=feeds, **extra)
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(outputs.get(hook), options, run_metadata))
        self._should_stop = self._should_stop or context.stop_requested
        return outputs["caller"]


def _all_feeds(user_feeds: Any, hook_feeds: list[dict[Any, Any]]) -> Any:
    """The feeds of the user and of hooks together; RuntimeError if two feed the same tensor."""
    if not hook_feeds:
        return user_feeds
    sources = [(each, "Same tensor is fed by two hooks.") for each in hook_feeds]
    sources.append((user_feeds or {}, "Same tensor is fed by a SessionRunHook and user."))
    feeds: dict[Any, Any] = {}
    for more, message in sources:
        if both := set(feeds) & set(more):
            raise RuntimeError(f"{message} Conflict(s): {list(both)}")
        feeds.update(more)
    return feeds


def merge_run_options(options: Any, more: Any) -> None:
    """Adds to `options` what `more` asks for beyond them."""
    for name in (
        "trace_level", "timeout_in_ms", "inter_op_thread_pool", "output_partition_graphs",
        "report_tensor_allocations_upon_oom",
    ):  # fmt: skip
        setattr(options, name, max(getattr(options, name), getattr(more, name)))
    debug, extra = options.debug_options, more.debug_options
    if extra.ByteSize():
        debug.debug_tensor_watch_opts.extend(extra.debug_tensor_watch_opts)
        debug.reset_disk_byte_usage |= extra.reset_disk_byte_usage


class CoordinatedSession(WrappedSession):
    """Stops with a coordinator, and raises what its threads reported."""

    def __init__(self, sess: Any, coord: Coordinator, stop_grace_period_secs: float = 120) -> None:
        super().__init__(sess)
        self._coord, self._stop_grace_period_secs = coord, stop_grace_period_secs

    def _check_stop(self) -> bool:
        # An error in a thread is raised here at the latest.
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        self._coord.request_stop()
        try:
            self._coord.join(
                stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True
            )
        finally:
            try:
                super().close()
            except Exception as error:  # the first error is the one to see
                logging.debug("Closing the session: %s", error)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._sess.run(*args, **kwargs)
        except Exception as error:
            if not isinstance(error, PREEMPTION_ERRORS):
                self._raise_preemption()
            raise

    def _raise_preemption(self) -> None:
        """Raises what a thread reported of a lost peer: that is the cause, and can be mended."""
        try:
            self._coord.raise_requested_exception()
        except PREEMPTION_ERRORS:
            raise
        except Exception as reported:
            logging.debug("Reported to the coordinator: %s", reported)


def _log_loss(when: str, error: Exception) -> None:
    logging.info(f"An error was raised{when}. {_NEW_SESSION}", error)


class RecoverableSession(WrappedSession):
    """Makes a new session when the old one is lost, and runs the step again."""

    def __init__(self, sess_creator: Any) -> None:
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._sess_creator.create_session()
            except PREEMPTION_ERRORS as error:
                _log_loss(" while a session was being created", error)

    def _check_stop(self) -> bool:
        try:
            return self._sess is None or self._sess._check_stop()
        except PREEMPTION_ERRORS as error:
            _log_loss(" while considering whether the session is complete", error)
            self.close()
            self._sess = self._create_session()
        except Exception:
            # `should_stop` says only that; the error itself comes from `close`.
            return True
        return False

    def _until_it_works(self, call: Callable[[Any], Any]) -> Any:
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return call(self._sess)
            except PREEMPTION_ERRORS as error:
                _log_loss("", error)
                self.close()

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        return self._until_it_works(
            lambda sess: sess.run(
                fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
            )
        )

    def run_step_fn(self, step_fn: Any, raw_session: Any, run_with_hooks: Any) -> Any:
        return self._until_it_works(lambda sess: sess.run_step_fn(step_fn, raw_session, sess.run))
