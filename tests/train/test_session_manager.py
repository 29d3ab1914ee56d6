"""SessionManager: restored, initialized, or waited for."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

import weft as tf


def test_initializes_what_no_checkpoint_holds(tmp_path: Path) -> None:
    v = tf.Variable(1.0, name="v")
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    saver = tf.train.Saver()
    init = tf.global_variables_initializer()
    with manager.prepare_session("", init, saver, str(tmp_path)) as sess:
        sess.run(v.assign(5.0))
        saver.save(sess, str(tmp_path / "model"), global_step=3)
    with manager.prepare_session("", init, saver, str(tmp_path)) as sess:
        assert sess.run(v) == 5.0
    assert saver.last_checkpoints == [str(tmp_path / "model-3")]


def test_init_fn_and_feeds() -> None:
    start = tf.placeholder(tf.float32, [])
    v = tf.Variable(start, name="v")
    called = []
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    with manager.prepare_session(
        "", v.initializer, init_feed_dict={start: 2.0}, init_fn=called.append
    ) as sess:
        assert sess.run(v) == 2.0
        assert called == [sess]


def test_says_what_is_not_initialized() -> None:
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    message = r"Init op: v/Assign, .*error: Variables not initialized: w"
    with pytest.raises(RuntimeError, match=message):
        manager.prepare_session("", init_op=v.initializer)
    with pytest.raises(RuntimeError, match="no init_op or init_fn or local_init_op was given"):
        manager.prepare_session("")
    assert w is not None


def test_local_init_waits_for_the_globals() -> None:
    v = tf.Variable(1.0, name="v")
    local = tf.Variable(v + 1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="local")
    manager = tf.train.SessionManager(
        ready_op=tf.report_uninitialized_variables(),
        ready_for_local_init_op=tf.report_uninitialized_variables([v]),
        local_init_op=local.initializer,
    )
    with manager.prepare_session("", init_op=v.initializer) as sess:
        assert sess.run(local) == 2.0
    with pytest.raises(RuntimeError, match="did not make model ready for local_init"):
        manager.prepare_session("", init_op=tf.no_op())
    with pytest.raises(ValueError, match="you must also pass a local_init_op"):
        tf.train.SessionManager(ready_for_local_init_op=tf.report_uninitialized_variables())


def test_recovers_only_from_a_checkpoint(tmp_path: Path) -> None:
    v = tf.Variable(1.0, name="v")
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    saver = tf.train.Saver()
    sess, ready = manager.recover_session("", saver, str(tmp_path))
    with sess:
        assert not ready
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "model"))
    sess, ready = manager.recover_session("", saver, checkpoint_filename_with_path=path)
    with sess:
        assert ready and sess.run(v) == 1.0
    with pytest.raises(ValueError, match="Can not provide both checkpoint_dir and"):
        manager.recover_session("", saver, str(tmp_path), path)


@pytest.mark.parametrize(
    "ready", ["report_uninitialized_variables", "assert_variables_initialized"]
)
def test_waits_no_longer_than_asked(ready: str) -> None:
    tf.Variable(1.0, name="v")
    manager = tf.train.SessionManager(ready_op=getattr(tf, ready)(), recovery_wait_secs=0.05)
    with pytest.raises(tf.errors.DeadlineExceededError, match="Session was not ready after"):
        manager.wait_for_session("", max_wait_secs=0.12)


def test_a_chief_that_is_soon_there_is_not_waited_for_long() -> None:
    v = tf.Variable(1.0, name="v")
    server = tf.train.Server.create_local_server()
    manager = tf.train.SessionManager(ready_op=tf.report_uninitialized_variables())
    chief = tf.Session(server.target)
    timer = threading.Timer(0.5, chief.run, (v.initializer,))
    timer.start()
    start = time.monotonic()
    with manager.wait_for_session(server.target) as sess:
        assert sess.run(v) == 1.0 and time.monotonic() - start < 5
    timer.join()
    chief.close()
    server.stop()
