"""Assertions inside of compiled steps: a false one is told as an interpreted step tells it."""

import numpy as np
import pytest

import weft as tf
from weft.runtime.xla import region

pytestmark = pytest.mark.on_host
F32 = tf.float32


@pytest.fixture
def programs(monkeypatch):
    """The nodes of each program that is made; the smallest step is worth one."""
    monkeypatch.setattr(region, "CALL_COST", -1e9)
    found = []
    original = region.compile_region

    def keep(unit, *args):
        found.append({node.type for node in unit.nodes})
        return original(unit, *args)

    monkeypatch.setattr(region, "compile_region", keep)
    return found


def steps(fetch, fed, good, bad):
    """Runs good steps, then the bad one twice; the message of its error."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(fetch, {fed: good})
        messages = set()
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError) as info:
                sess.run(fetch, {fed: bad})
            messages.add(info.value.message.split("\n")[0])
        sess.run(fetch, {fed: good})
    (message,) = messages
    return message


def test_text_and_numbers_are_shown(programs):
    x = tf.placeholder(F32, [None])
    with tf.control_dependencies([tf.Assert(tf.reduce_all(x < 9), ["too large:", tf.shape(x)])]):
        y = tf.reduce_sum(x)
    assert steps(y, x, [1.0, 2.0], [1.0, 9.0, 2.0]) == "assertion failed: [too large:] [3]"
    assert any({"Assert", "Sum"} <= types for types in programs)


def test_one_in_a_branch(programs):
    x = tf.placeholder(F32, [None])
    with tf.control_dependencies([tf.assert_positive(x, data=[x, "is not"])]):
        y = tf.reduce_sum(tf.sqrt(x))
    assert steps(y, x, [4.0], [4.0, -1.0]) == "assertion failed: [4 -1] [is not]"
    assert any({"_If", "Sqrt"} <= types for types in programs)


def test_one_in_a_loop(programs):
    n = tf.placeholder(tf.int32, [])

    def body(i, total):
        with tf.control_dependencies([tf.Assert(total < 20, ["at", i])]):
            return i + 1, total + i

    total = tf.while_loop(lambda i, t: i < n, body, [0, 0])[1]
    assert steps(total, n, 6, 12) == "assertion failed: [at] [7]"
    assert any("_While" in types for types in programs)


def test_a_condition_that_is_never_true(programs):
    x = tf.placeholder(F32, [None, 2])
    with tf.control_dependencies([tf.Assert(tf.equal(tf.shape(x)[0], 3), ["rows"])]):
        y = x * 2.0
    assert steps(y, x, np.ones((3, 2)), np.ones((2, 2))) == "assertion failed: [rows]"
    assert programs


def test_what_is_assigned_after_it_is_not(programs):
    x, v = tf.placeholder(F32, []), tf.get_variable("v", initializer=1.0)
    with tf.control_dependencies([tf.Assert(x > 0, ["negative"])]):
        added = v.assign_add(x)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(3):
            sess.run(added, {x: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
            sess.run(added, {x: -1.0})
        assert sess.run(v) == 4.0
    assert any({"Assert", "AssignAdd"} <= types for types in programs)


def test_what_is_asserted_stays_assigned(programs):
    x, v = tf.placeholder(F32, []), tf.get_variable("v", initializer=0.0)
    added = v.assign_add(x)
    with tf.control_dependencies([tf.Assert(added < 5, ["enough"])]):
        y = tf.identity(added)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(4):
            sess.run(y, {x: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="enough"):
            sess.run(y, {x: 1.0})
        assert sess.run(v) == 5.0


def test_text_that_is_fed_is_shown_by_the_host():
    x, word = tf.placeholder(F32, []), tf.placeholder(tf.string, [])
    with tf.control_dependencies([tf.Assert(x > 0, [word])]):
        y = tf.sqrt(x)
    with tf.Session() as sess:
        for _ in range(3):
            assert sess.run(y, {x: 4.0, word: "a"}) == 2.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[b\]"):
            sess.run(y, {x: -4.0, word: "b"})


def test_lengths_of_sequences_no_longer_cut_a_step_in_two(programs):
    x, lengths = tf.placeholder(F32, [None, None, 3]), tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, lengths, dtype=F32)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(outputs))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train, {x: np.ones((2, 5, 3)), lengths: [5, 2]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor"):
            sess.run(train, {x: np.ones((2, 5, 3)), lengths: [5, 2, 1]})
    assert {"Assert", "_While", "ApplyGradientDescent"} <= programs[-1]
