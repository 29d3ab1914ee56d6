"""Loops that XLA has compiled whole end when their step is to end, whatever the reason."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import weft as tf
from weft.core import errors
from weft.core.step_limits import limits
from weft.runtime import fetched, step
from weft.runtime.limits import deadline_scope
from weft.runtime.xla.region import Region

TIMEOUT = tf.RunOptions(timeout_in_ms=300)
PLENTY = tf.RunOptions(timeout_in_ms=30_000)


def warm(sess, fetch, feeds):
    """Runs a step until it is compiled; makes sure that it is, and that it looks."""
    for _ in range(4):
        result = sess.run(fetch, feeds)
    assert any(program.watched for program in programs_of(sess))
    return result


def programs_of(sess):
    regions = [
        unit
        for plan in sess._runner._plans.values()
        for part in getattr(plan, "plans", [plan])
        for unit in part.prepared.units
        if isinstance(unit, Region)
    ]
    assert not any(region.cannot_compile for region in regions)
    entries = [entry for region in regions for entry in region.entries.values()]
    return [entry.program for entry in entries if entry.program is not None]


def halving(end):
    """Ends for 0 < end; never for less."""
    return tf.while_loop(lambda x: x > end, lambda x: x * 0.5 + 0.25 * end, [1.0])


@pytest.fixture
def end():
    return tf.placeholder(tf.float32, [], name="end")


def in_background(run):
    outcome = []

    def work():
        try:
            outcome.append(run())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, outcome


@pytest.mark.parametrize("writes", [False, True])
def test_closing_the_session(end, writes):
    x = halving(end)
    sess = tf.Session()
    if writes:
        v = tf.Variable(0.0)
        sess.run(v.initializer)
        x = v.assign(x)
    assert warm(sess, x, {end: 1e-3}) <= 1e-3
    thread, outcome = in_background(lambda: sess.run(x, {end: -1.0}))
    time.sleep(0.3)
    assert thread.is_alive()
    sess.close()
    thread.join(10)
    assert isinstance(outcome[0], errors.CancelledError)


def test_a_timeout_leaves_session_and_variables_as_they_were(end):
    v = tf.Variable(1.0)
    total = v.assign_add(halving(end))
    with tf.Session() as sess:
        sess.run(v.initializer)
        warm(sess, total, {end: 1e-3})
        before = sess.run(v)
        with pytest.raises(errors.DeadlineExceededError):
            sess.run(total, {end: -1.0}, options=TIMEOUT)
        assert sess.run(v) == before
        assert sess.run(total, {end: 1e-3}, options=PLENTY) > before


def test_inner_loops_conditionals_and_gradients(end):
    def outer(i, x):
        endless = lambda: tf.while_loop(lambda y: y > end, lambda y: y * 0.5 + 0.25 * end, [x])  # noqa: E731
        return i + 1, tf.cond(tf.equal(i, 1), endless, lambda: x + 1.0)

    start = tf.constant(1.0)
    _, x = tf.while_loop(lambda i, _: i < 3, outer, [0, start])
    (gradient,) = tf.gradients(x, start)
    with tf.Session() as sess:
        warm(sess, [x, gradient], {end: 1e-3})
        with pytest.raises(errors.DeadlineExceededError):
            sess.run([x, gradient], {end: -1.0}, options=TIMEOUT)
        assert np.isfinite(sess.run([x, gradient], {end: 1e-3})).all()


def test_a_loop_in_a_branch(end):
    p = tf.placeholder(tf.bool, [])
    x = tf.cond(p, lambda: halving(end), lambda: end)
    with tf.Session() as sess:
        warm(sess, x, {end: 1e-3, p: True})
        with pytest.raises(errors.DeadlineExceededError):
            sess.run(x, {end: -1.0, p: True}, options=TIMEOUT)
        assert sess.run(x, {end: -1.0, p: False}, options=PLENTY) == -1


def test_one_step_of_many(end):
    x = halving(end)
    with tf.Session() as sess:
        warm(sess, x, {end: 1e-3})
        endless, late = in_background(lambda: sess.run(x, {end: -1.0}, options=TIMEOUT))
        while endless.is_alive():
            assert 0 < sess.run(x, {end: 1e-3}) <= 1e-3
        assert isinstance(late[0], errors.DeadlineExceededError)
        assert 0 < sess.run(x, {end: 1e-3}) <= 1e-3


def test_a_long_loop_with_a_counter():
    count = tf.placeholder(tf.int64, [])
    x = tf.while_loop(lambda i, _: i < count, lambda i, x: (i + 1, tf.sin(x)), [np.int64(0), 1.0])[
        1
    ]
    with tf.Session() as sess:
        warm(sess, x, {count: 10})
        with pytest.raises(errors.DeadlineExceededError):
            sess.run(x, {count: 10**15}, options=TIMEOUT)


@pytest.mark.on_host
def test_an_error_on_another_device(end):
    with tf.device("/cpu:1"):
        x = halving(end)
    with tf.device("/cpu:0"):
        bad = tf.py_func(lambda e: 1.0 / 0.0 if e < 0 else 1.0, [end], tf.double)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        for _ in range(4):
            sess.run([x, bad], {end: 1e-3})
        with pytest.raises(errors.UnknownError, match="ZeroDivisionError"):
            sess.run([x, bad], {end: -1.0})


@pytest.fixture
def heeds_interrupts():
    """Also where the tests run in the background, which a shell starts with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt(end, heeds_interrupts):
    x = halving(end)
    threads = threading.active_count()
    with tf.Session() as sess:
        warm(sess, x, {end: 1e-3})
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            sess.run(x, {end: -1.0})
        timer.join()
        assert sess.run(x, {end: 1e-3}) <= 1e-3
    assert threading.active_count() <= threads + 1  # one that listens to signals


def test_a_loop_of_known_length_does_not_look():
    x = tf.placeholder(tf.float32, [4, 12, 3])
    lengths = tf.placeholder(tf.int32, [4])
    cell = tf.nn.rnn_cell.BasicRNNCell(5)
    outputs, _ = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(outputs))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(4):
            sess.run(train, {x: np.ones([4, 12, 3]), lengths: [1, 2, 3, 12]})
        programs = programs_of(sess)
        assert programs and not any(program.watched for program in programs)


def products(x, count):
    """A loop that is known to run `count` times."""
    body = lambda i, y: (i + 1, tf.matmul(y, y) * 1e-3)  # noqa: E731
    return tf.while_loop(lambda i, _: i < count, body, [0, x])[1]


def nested(x):
    body = lambda i, y: (i + 1, products(y, 20))  # noqa: E731
    return tf.while_loop(lambda i, _: i < 10, body, [0, x])[1]


def gradient(x):
    return tf.gradients(products(x, 100), x)[0]


@pytest.mark.on_host
@pytest.mark.parametrize("loop", [lambda x: products(x, 200), nested, gradient])
def test_few_iterations_that_take_long(loop):
    x = tf.placeholder(tf.float32, [256, 256])
    fed = {x: np.full([256, 256], 1e-3, np.float32)}
    with tf.Session() as sess:
        y = loop(x)
        warm(sess, y, fed)
        with pytest.raises(errors.DeadlineExceededError):
            sess.run(y, fed, options=tf.RunOptions(timeout_in_ms=5))
        sess.run(y, fed, options=PLENTY)


def test_few_iterations_and_a_large_table_that_is_only_looked_up():
    table = tf.Variable(tf.zeros([1 << 18, 16]))
    body = lambda i, x: (i + 1, x + tf.gather(table, i))  # noqa: E731
    x = tf.while_loop(lambda i, _: i < 1000, body, [0, tf.zeros([16])])[1]
    update = table.assign_add(tf.zeros([1 << 18, 16]) + x)
    with tf.Session() as sess:
        sess.run(table.initializer)
        for _ in range(4):
            sess.run(update.op)
        programs = programs_of(sess)
        assert programs and not any(program.watched for program in programs)


def test_a_timeout_does_not_count_what_compiling_takes(end, monkeypatch):
    build = Region._build

    def slowly(*args):
        time.sleep(1.2)
        return build(*args)

    monkeypatch.setattr(Region, "_build", slowly)
    x = halving(end)
    with tf.Session() as sess:
        sess.run(x, {end: 1e-3})
        assert sess.run(x, {end: 1e-3}, options=tf.RunOptions(timeout_in_ms=1000)) <= 1e-3
        assert any(program.watched for program in programs_of(sess))


def test_a_short_loop_runs_compiled_with_a_timeout_too(monkeypatch):
    x = tf.placeholder(tf.float32, [64, 64])
    y = products(x, 50)
    fed = {x: np.full([64, 64], 1e-3, np.float32)}
    with tf.Session() as sess:
        first, second = (sess.run(y, fed, options=PLENTY) for _ in range(2))
        assert not any(program.watched for program in programs_of(sess))
        monkeypatch.setattr("weft.runtime.xla.region.run_nodes", None)
        third = sess.run(y, fed, options=PLENTY)
    for other in (second, third):
        np.testing.assert_allclose(other, first, rtol=1e-5)


def test_a_large_result_is_copied_in_pieces(monkeypatch):
    monkeypatch.setattr(fetched, "_LARGE", 1000)
    monkeypatch.setattr(fetched, "_PIECE", 1000)
    repeated = np.broadcast_to(np.float32(3), (1, 70, 1, 40))
    copy = fetched.to_user(repeated)
    assert copy.flags.writeable and copy.flags.c_contiguous
    np.testing.assert_array_equal(copy, repeated)
    with deadline_scope(time.monotonic() - 1), pytest.raises(errors.DeadlineExceededError):
        fetched.to_user(repeated)


def test_the_copy_of_a_result_counts_for_the_timeout(monkeypatch):
    monkeypatch.setattr(fetched, "_LARGE", 1000)
    monkeypatch.setattr(step, "to_user", lambda value: limits.check() or time.sleep(0.4))
    x = tf.constant(np.ones([2, 300], np.float32))
    with tf.Session() as sess, pytest.raises(errors.DeadlineExceededError):
        sess.run([x, x + 1], options=TIMEOUT)
