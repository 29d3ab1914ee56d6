"""tf.train.SessionManager: a session whose variables have values, however they come by them."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import numpy as np

from weft.client.session import Session
from weft.core import errors
from weft.graph.graph import get_default_graph
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.management import get_checkpoint_state

Outcome = tuple[bool, str | None]
# Most workers wait only moments for a chief; only later is it asked as seldom as by TensorFlow.
_FIRST_WAIT_SECS = 0.25


class SessionManager:
    """Makes sessions and gets them ready: from a checkpoint, by init ops, or by waiting.

    `ready_op` gives the names of what is not initialized; `ready_for_local_init_op` likewise, for
    what must be before `local_init_op` can run.
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Any = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op "
                f", ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._local_init_op, self._ready_op = local_init_op, ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = graph if graph is not None else get_default_graph()
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    # ---- three ways to a session ----

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Any = None,
    ) -> Session:
        """A session from the latest checkpoint, or else initialized. RuntimeError if not ready."""
        sess, restored = self._restore_checkpoint(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint,
            max_wait_secs, config,
        )  # fmt: skip
        try:
            if not restored:
                self._initialize(sess, init_op, init_feed_dict, init_fn)
            self._check_ready(sess, init_op, init_fn)
        except BaseException:
            sess.close()
            raise
        return sess

    def _initialize(self, sess: Session, init_op: Any, feed_dict: Any, init_fn: Any) -> None:
        if init_op is None and not init_fn and self._local_init_op is None:
            raise RuntimeError(
                "Model is not initialized and no init_op or init_fn or local_init_op was given"
            )
        if init_op is not None:
            sess.run(init_op, feed_dict=feed_dict)
        if init_fn:
            init_fn(sess)

    def _check_ready(self, sess: Session, init_op: Any, init_fn: Any) -> None:
        about = f"Init op: {_names(init_op)}, init fn: {init_fn}, "
        done, message = self._try_run_local_init_op(sess)
        if not done:
            raise RuntimeError(
                f"Init operations did not make model ready for local_init.  {about}error: {message}"
            )
        ready, message = self._model_ready(sess)
        if not ready:
            raise RuntimeError(
                f"Init operations did not make model ready.  {about}"
                f"local_init_op: {self._local_init_op}, error: {message}"
            )

    def recover_session(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Session, bool]:
        """A session, and whether a checkpoint made it ready."""
        sess, restored = self._restore_checkpoint(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint,
            max_wait_secs, config,
        )  # fmt: skip
        done, message = self._try_run_local_init_op(sess)
        if not restored:
            return sess, False
        ready, message = self._model_ready(sess) if done else (False, message)
        source = checkpoint_dir or checkpoint_filename_with_path
        if ready:
            logging.info("Restored model from %s", source)
        else:
            unready = "Restoring model from %s did not make model ready%s: %s"
            logging.info(unready, source, "" if done else " for local init", message)
        return sess, ready

    def wait_for_session(
        self, master: str, config: Any = None, max_wait_secs: float | None = float("inf")
    ) -> Session:
        """A session on variables that another process initializes; waits until that is done."""
        most = float("inf") if max_wait_secs is None else max_wait_secs
        until = time.monotonic() + most
        pause = min(_FIRST_WAIT_SECS, self._recovery_wait_secs)
        while True:
            sess = Session(master, graph=self._graph, config=config)
            message = None
            done, local_message = self._try_run_local_init_op(sess)
            if done:
                ready, message = self._model_ready(sess)
                if ready:
                    return sess
            with contextlib.suppress(Exception):
                sess.close()
            if until - time.monotonic() < pause:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {most:.0f} secs."
                )
            logging.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s",
                local_message, message,
            )  # fmt: skip
            time.sleep(pause)
            pause = min(2 * pause, self._recovery_wait_secs)

    # ---- steps on the way ----

    def _restore_checkpoint(
        self,
        master: str,
        saver: Any,
        checkpoint_dir: str | None,
        path: str | None,
        wait: bool,
        max_wait_secs: float,
        config: Any,
    ) -> tuple[Session, bool]:
        """A new session, and whether its variables come from a checkpoint."""
        if checkpoint_dir and path:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        sess = Session(master, graph=self._graph, config=config)
        try:
            if saver and path:
                saver.restore(sess, path)
                return sess, True
            state = None
            if saver and checkpoint_dir:
                state = self._checkpoint_state(checkpoint_dir, wait, max_wait_secs)
            if state is None:
                return sess, False
            saver.restore(sess, state.model_checkpoint_path)
            saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        except BaseException:
            sess.close()
            raise
        return sess, True

    def _checkpoint_state(self, folder: str, wait: bool, max_wait_secs: float) -> Any:
        waited = 0.0
        while True:
            state = get_checkpoint_state(folder)
            if state and state.model_checkpoint_path:
                return state
            if not wait or waited >= max_wait_secs:
                return None
            logging.info("Waiting for checkpoint to be available.")
            nap = min(self._recovery_wait_secs, max_wait_secs - waited)
            time.sleep(nap)
            waited += nap

    def _model_ready(self, sess: Session) -> Outcome:
        return _ready(self._ready_op, sess, "Model not ready")

    def _try_run_local_init_op(self, sess: Session) -> Outcome:
        if self._local_init_op is None:
            return True, None
        ready, message = _ready(
            self._ready_for_local_init_op, sess, "Model not ready for local init"
        )
        if not ready:
            return False, message
        logging.info("Running local_init_op.")
        sess.run(self._local_init_op, options=self._local_init_run_options)
        logging.info("Done running local_init_op.")
        return True, None


def _ready(op: Any, sess: Session, message: str) -> Outcome:
    if op is None:
        return True, None
    try:
        value = sess.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            logging.warning("%s : error [%s]", message, error)
            raise
        return False, str(error)
    # Old programs have ready ops without a value, or with numbers.
    if value is None or value.dtype == np.int32 or value.size == 0:
        return True, None
    return False, "Variables not initialized: " + ", ".join(name.decode() for name in value)


def _names(thing: Any) -> str | None:
    """How errors show an init op: by its name, or by the names in a list."""
    if thing is None:
        return None
    if isinstance(thing, (list, tuple)):
        return ", ".join(str(_names(each)) for each in thing)
    return str(getattr(thing, "name", thing))
