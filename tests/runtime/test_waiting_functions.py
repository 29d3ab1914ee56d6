"""Conditionals, loops and calls over functions in which something waits for a queue."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import weft as tf
from weft.ops.functions.defun import Defun

pytestmark = pytest.mark.timeout(60)


class Forms(NamedTuple):
    session: Any
    enqueue: Any
    values: Any
    results: dict[str, Any]


@pytest.fixture
def forms() -> Iterator[Forms]:
    """A queue, and something of each form that takes from it."""
    with tf.Graph().as_default(), tf.Session() as sess:
        queue = tf.FIFOQueue(50, tf.float32, [[]])
        values = tf.placeholder(tf.float32, [None])
        results = {"If": _if(queue), "Case": _case(queue), "PartitionedCall": _call(queue)}
        results |= {
            "body of While": _while(queue, False),
            "condition of While": _while(queue, True),
        }
        yield Forms(sess, queue.enqueue_many([values]), values, results)


def _taken(handle: Any) -> Any:
    return tf.raw_ops.QueueDequeueV2(handle=handle, component_types=[tf.float32])[0]


def _functions() -> tuple[Any, Any]:
    @Defun(tf.resource)
    def take(handle: Any) -> Any:
        return _taken(handle) + 1.0

    @Defun(tf.resource)
    def nothing(handle: Any) -> Any:
        return tf.constant(0.0)

    return take, nothing


def _if(queue: Any) -> Any:
    take, nothing = _functions()
    yes = tf.placeholder_with_default(True, [])
    return tf.raw_ops.If(yes, [queue.queue_ref], [tf.float32], take, nothing)[0]


def _case(queue: Any) -> Any:
    take, nothing = _functions()
    which = tf.placeholder_with_default(1, [])
    return tf.raw_ops.Case(which, [queue.queue_ref], [tf.float32], [nothing, take, nothing])[0]


def _call(queue: Any) -> Any:
    return tf.raw_ops.PartitionedCall([queue.queue_ref], [tf.float32], _functions()[0])[0]


def _while(queue: Any, in_condition: bool) -> Any:
    @Defun(tf.int32, tf.float32, tf.resource)
    def condition(i: Any, total: Any, handle: Any) -> Any:
        return tf.less(_taken(handle), 4.0) if in_condition else i < 4

    @Defun(tf.int32, tf.float32, tf.resource)
    def body(i: Any, total: Any, handle: Any) -> Any:
        return i + 1, total + (1.0 if in_condition else _taken(handle)), handle

    given = [tf.constant(0), tf.constant(0.0), queue.queue_ref]
    return tf.raw_ops.While(given, condition, body)[1]


def test_what_is_there_is_taken(forms: Forms) -> None:
    wanted = {"If": 2, "Case": 2, "PartitionedCall": 2, "body of While": 10}
    for name, want in {**wanted, "condition of While": 3}.items():
        count = 4 if "While" in name else 1
        forms.session.run(forms.enqueue, {forms.values: range(1, count + 1)})
        assert forms.session.run(forms.results[name]) == want


def test_they_wait_until_it_is_there(forms: Forms) -> None:
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(forms.session.run(forms.results["If"])))
    thread.start()
    time.sleep(0.2)
    assert not got
    forms.session.run(forms.enqueue, {forms.values: [7]})
    thread.join()
    assert got == [8]


def test_time_runs_out(forms: Forms) -> None:
    options = tf.RunOptions(timeout_in_ms=200)
    for result in forms.results.values():
        with pytest.raises(tf.errors.DeadlineExceededError):
            forms.session.run(result, options=options)
    # Nobody who has given up takes anything.
    forms.session.run(forms.enqueue, {forms.values: [1]})
    assert forms.session.run(forms.results["If"]) == 2


def test_the_end_of_the_session_ends_them(forms: Forms) -> None:
    ended: list[type] = []

    def run(result: Any) -> None:
        try:
            forms.session.run(result)
        except tf.errors.OpError as error:
            ended.append(type(error))

    threads = [threading.Thread(target=run, args=(r,)) for r in forms.results.values()]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    forms.session.close()
    for thread in threads:
        thread.join(20)
    assert ended == [tf.errors.CancelledError] * len(threads)
