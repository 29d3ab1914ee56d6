"""Supervisor: ready sessions, services in threads, and the end of both."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import weft as tf


def events(folder: Path) -> list[Any]:
    return [e for f in sorted(folder.glob("events.*")) for e in tf.train.summary_iterator(str(f))]


def wait_until(done: Any, seconds: float = 10.0) -> None:
    until = time.monotonic() + seconds
    while not done() and time.monotonic() < until:
        time.sleep(0.01)
    assert done()


def test_services_write_what_happens(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    count = tf.assign_add(step, 1)
    tf.summary.scalar("step", step)
    sv = tf.train.Supervisor(logdir=str(tmp_path), save_summaries_secs=0.05, save_model_secs=0.05)
    with sv.managed_session() as sess:
        for _ in range(3):
            sess.run(count)
        wait_until(lambda: tf.train.latest_checkpoint(str(tmp_path)) == f"{sv.save_path}-3")
    found = events(tmp_path)
    tags = {value.tag for event in found for value in event.summary.value}
    assert tags == {"step", "global_step/sec"}
    logs = [e.session_log.status for e in found if e.HasField("session_log")]
    assert logs[0] == tf.SessionLog.START and logs[-1] == tf.SessionLog.STOP
    assert tf.SessionLog.CHECKPOINT in logs
    assert (tmp_path / "graph.pbtxt").exists()
    with sv.managed_session(start_standard_services=False) as sess:
        assert sess.run(step) == 3


def test_errors_end_the_session_and_are_raised() -> None:
    tf.Variable(1.0)
    sv = tf.train.Supervisor()
    with pytest.raises(ZeroDivisionError):
        with sv.managed_session() as sess:
            raise ZeroDivisionError
    assert sv.should_stop() and sess._closed


def test_the_end_of_the_input_is_the_end() -> None:
    queue = tf.train.string_input_producer(["a", "b"], num_epochs=1, shuffle=False)
    item, seen = queue.dequeue(), []
    sv = tf.train.Supervisor()
    with sv.managed_session() as sess:
        while not sv.should_stop():
            seen.append(sess.run(item))
    assert seen == [b"a", b"b"]


def test_loops_and_an_end_from_a_thread() -> None:
    tf.Variable(1.0)
    sv = tf.train.Supervisor()
    calls = []
    with sv.managed_session():
        sv.loop(None, lambda: calls.append(1) or (len(calls) >= 3 and sv.request_stop()))
        sv.wait_for_stop()
    assert len(calls) == 3


def test_what_is_given_is_used() -> None:
    v = tf.Variable(1.0, name="v")
    mine = v.assign(4.0)
    sv = tf.train.Supervisor(init_op=mine, saver=None, summary_op=None, logdir=None)
    assert (sv.saver, sv.summary_op, sv.global_step, sv.summary_writer) == (None,) * 4
    with sv.managed_session() as sess:
        assert sess.run(v) == 4.0
        with pytest.raises(RuntimeError, match="Writing a summary requires a summary writer"):
            sv.summary_computed(sess, b"")


def test_only_the_chief_serves() -> None:
    tf.Variable(1.0, name="v")
    with pytest.raises(ValueError, match="all Variables must have their device set"):
        tf.train.Supervisor(is_chief=False)
    with tf.Graph().as_default():
        tf.constant(1.0)
        sv = tf.train.Supervisor(is_chief=False)
        with pytest.raises(RuntimeError, match="Only chief supervisor can start standard services"):
            sv.start_standard_services(None)


def test_basic_train_loop_tries_again() -> None:
    tf.Variable(1.0)
    sv = tf.train.Supervisor()
    sessions = []

    def step(sess: Any, number: int, word: str) -> None:
        assert (number, word) == (1, "w")
        sessions.append(sess)
        if len(sessions) == 1:
            raise tf.errors.AbortedError(None, None, "gone")
        sv.request_stop()

    tf.train.basic_train_loop(sv, step, args=(1,), kwargs={"word": "w"})
    assert len(sessions) == 2 and sessions[0] is not sessions[1]
