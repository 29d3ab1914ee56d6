"""The threads of a Supervisor: summaries, steps per second and checkpoints, from time to time."""

from __future__ import annotations

import time
from typing import Any

from tensorboard.compat.proto.event_pb2 import SessionLog

from weft.lib.platform import tf_logging as logging
from weft.lib.train.sessions.coordinator import LooperThread
from weft.lib.train.sessions.hooks import number_summary
from weft.ops.state import global_step as training_util


class SVSummaryThread(LooperThread):
    """Computes and writes the summaries from time to time."""

    def __init__(self, sv: Any, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        step = None
        if self._sv.global_step is None:
            summary = self._sess.run(self._sv.summary_op)
        else:
            summary, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        if self._sv.summary_writer:
            logging.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summary, step)


class SVStepCounterThread(LooperThread):
    """Writes how many steps are made in a second."""

    def __init__(self, sv: Any, sess: Any, step_counter: Any = None) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"
        self._last_time, self._last_step = 0.0, 0

    def start_loop(self) -> None:
        self._last_time = time.time()
        self._last_step = training_util.global_step(self._sess, self._step_counter)

    def run_loop(self) -> None:
        step, now = training_util.global_step(self._sess, self._step_counter), time.time()
        steps, seconds = step - self._last_step, now - self._last_time
        self._last_step, self._last_time = step, now
        speed = steps / seconds if seconds > 0 else float("inf")
        if self._sv.summary_writer:
            self._sv.summary_writer.add_summary(number_summary(self._summary_tag, speed), step)
        logging.log_first_n(logging.INFO, "%s: %g", 10, self._summary_tag, speed)


class SVTimerCheckpointThread(LooperThread):
    """Saves a checkpoint from time to time."""

    def __init__(self, sv: Any, sess: Any) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        sv = self._sv
        logging.info("Saving checkpoint to path %s", sv.save_path)
        sv.saver.save(self._sess, sv.save_path, global_step=sv.global_step)
        if sv.summary_writer and sv.global_step is not None:
            step = training_util.global_step(self._sess, sv.global_step)
            log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=sv.save_path)
            sv.summary_writer.add_session_log(log, step)
