"""tf.train.Coordinator and LooperThread."""

from __future__ import annotations

import sys
import threading
import time

import pytest

import weft as tf


def started(target, *args):
    thread = threading.Thread(target=target, args=args, daemon=True)
    thread.start()
    return thread


def loop(coord):
    while not coord.should_stop():
        time.sleep(0.001)


def test_all_stop_when_one_asks():
    coord = tf.train.Coordinator()
    threads = [started(loop, coord) for _ in range(3)]
    assert not coord.should_stop() and not coord.joined
    coord.request_stop()
    coord.join(threads)
    assert coord.joined and coord.should_stop()
    coord.clear_stop()
    assert not coord.should_stop() and not coord.joined


def test_join_waits_for_registered_threads():
    coord = tf.train.Coordinator()
    thread = threading.Thread(target=loop, args=(coord,), daemon=True)
    coord.register_thread(thread)
    thread.start()
    threading.Timer(0.01, coord.request_stop).start()
    coord.join()
    assert not thread.is_alive()


def test_join_ends_when_the_threads_do():
    coord = tf.train.Coordinator()
    coord.join([started(time.sleep, 0.001)])
    assert coord.joined and not coord.should_stop()


def test_the_first_error_is_raised_with_its_traceback():
    coord = tf.train.Coordinator()

    def fail():
        try:
            raise KeyError("first")
        except KeyError as error:
            coord.request_stop(error)

    threads = [started(fail)]
    threads[0].join()
    coord.request_stop(ValueError("second"))
    with pytest.raises(KeyError, match="first") as caught:
        coord.join(threads)
    assert caught.traceback[-1].name == "fail"
    with pytest.raises(KeyError):
        coord.raise_requested_exception()


def test_errors_may_come_as_exc_info():
    coord = tf.train.Coordinator()
    try:
        raise ValueError("told")
    except ValueError:
        coord.request_stop(sys.exc_info())
    with pytest.raises(ValueError, match="told"):
        coord.join([])


def test_an_error_without_a_traceback_is_a_mistake():
    coord = tf.train.Coordinator()
    coord.request_stop(RuntimeError("never raised"))
    with pytest.raises(ValueError, match=r"ex must be a tuple or sys\.exc_info"):
        coord.join([])


def test_the_end_of_the_input_is_no_error():
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "end")
    assert coord.should_stop()
    coord.join([])


def test_other_ends_can_be_named():
    coord = tf.train.Coordinator(clean_stop_exception_types=(KeyError,))
    with coord.stop_on_exception():
        raise KeyError("clean")
    coord.join([])
    coord.clear_stop()
    with coord.stop_on_exception():
        raise tf.errors.OutOfRangeError(None, None, "end")
    with pytest.raises(tf.errors.OutOfRangeError):
        coord.join([])


def test_an_error_after_join_is_raised_at_once():
    coord = tf.train.Coordinator()
    coord.join([])
    with pytest.raises(ValueError, match="late"):
        coord.request_stop(ValueError("late"))


def test_threads_that_do_not_stop_are_named():
    coord = tf.train.Coordinator()
    release = threading.Event()
    thread = threading.Thread(target=release.wait, name="stubborn", daemon=True)
    thread.start()
    coord.request_stop()
    with pytest.raises(RuntimeError, match="threads still running: stubborn"):
        coord.join([thread], stop_grace_period_secs=0.01)
    coord.clear_stop()
    coord.request_stop()
    coord.join([thread], stop_grace_period_secs=0.01, ignore_live_threads=True)
    release.set()
    thread.join()


def test_a_looper_calls_until_it_is_stopped():
    coord = tf.train.Coordinator()
    calls = []

    def call(x, y):
        calls.append((x, y))
        if len(calls) == 5:
            coord.request_stop()

    tf.train.LooperThread.loop(coord, 0.001, target=call, args=(1,), kwargs={"y": 2})
    coord.join()
    assert calls == [(1, 2)] * 5


def test_a_looper_reports_errors():
    coord = tf.train.Coordinator()

    class Failing(tf.train.LooperThread):
        def run_loop(self):
            raise ValueError("in the loop")

    Failing(coord, None).start()
    with pytest.raises(ValueError, match="in the loop"):
        coord.join()
    with pytest.raises(ValueError, match="must be a Coordinator"):
        tf.train.LooperThread("coord", 1)
    with pytest.raises(ValueError, match="also pass 'target'"):
        tf.train.LooperThread(coord, 1, args=(1,))


def test_what_is_logged_of_an_error(caplog):
    caplog.set_level("INFO")
    tf.logging.set_verbosity(tf.logging.INFO)
    try:
        tf.train.Coordinator().request_stop(ValueError("wrong"))
    finally:
        tf.logging.set_verbosity(tf.logging.WARN)
    assert "Error reported to Coordinator: <class 'ValueError'>, wrong" in caplog.messages
