"""Loops that are programs of their own: for all lengths, over arrays and stacks of the host."""

import re

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.runtime import control_flow
from weft.runtime.xla import loop_program, region

pytestmark = pytest.mark.on_host
F32 = tf.float32


@pytest.fixture
def compiled(monkeypatch):
    """How many times the room is given that loops seem to need, each time that one is compiled."""
    found = []
    original = loop_program.LoopProgram._build

    def build(self, values, factor):
        found.append(factor)
        return original(self, values, factor)

    monkeypatch.setattr(loop_program.LoopProgram, "_build", build)
    return found


def both_ways(build, feeds):
    """What steps with each of `feeds` give, loops driven and compiled alone; `build` is a graph."""
    found = []
    for way in ("bodies", "loops"):
        with flags.CONTROL_FLOW.override(way), tf.Graph().as_default(), tf.Session() as sess:
            tf.set_random_seed(5)
            fetches, fed = build()
            sess.run(tf.global_variables_initializer())
            found.append([_outcome(sess, fetches, dict(zip(fed, f, strict=True))) for f in feeds])
    return found


def _outcome(sess, fetches, fed):
    try:
        return sess.run(fetches, fed)
    except tf.errors.OpError as error:
        return type(error).__name__, error.message.split("\n")[0]


def check(build, feeds):
    driven, alone = both_ways(build, feeds)
    for one, two in zip(driven, alone, strict=True):
        if isinstance(one, tuple):
            assert _without_numbers(one) == _without_numbers(two)
        else:
            for wanted, got in zip(one, two, strict=True):
                np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-6)
    return driven


def _without_numbers(error):
    """An error without the number of an array, of which each run has another."""
    kind, message = error
    return kind, re.sub(r"_\d+:", ":", message)


def recurrent():
    """A training step of an LSTM over sequences of any length."""
    x, lengths = tf.placeholder(F32, [None, None, 3]), tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    outputs, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=F32)
    loss = tf.reduce_sum(tf.square(outputs)) + tf.reduce_sum(state.h)
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.control_dependencies([train]):
        return [tf.identity(loss), outputs], (x, lengths)


def sequences(steps, seed):
    random = np.random.RandomState(seed)
    lengths = random.randint(0, steps + 1, 5)
    return random.standard_normal((5, steps, 3)).astype(np.float32), lengths


def test_one_program_for_sequences_of_all_lengths(compiled):
    check(recurrent, [sequences(steps, steps) for steps in (3, 7, 1, 16, 12, 2, 5)])
    assert len(compiled) == 2, "one way forth, one back"


def test_longer_ones_need_more_room(compiled):
    check(recurrent, [sequences(steps, steps) for steps in (3, 40, 5, 17, 64)])
    assert len(compiled) == 4


def test_no_sequence_at_all():
    check(recurrent, [sequences(steps, steps) for steps in (2, 4, 1)] + [sequences(0, 0)])


def test_room_grows_by_four_and_is_not_wasted():
    with tf.Graph().as_default(), tf.Session() as sess, flags.CONTROL_FLOW.override("loops"):
        n = tf.placeholder(tf.int32, [])
        loop = tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * 2.0), [0, 1.0])
        sess.run(loop, {n: 3})
        (plan,) = sess._runner._plans.values()
        node = next(each for each in plan.graph.nodes if each.loop)
        drive = control_flow._While(node, node.loop, plan.store).drive
        program = loop_program.loop_program(node, plan.store, drive)
        needs = (3, 16, 17, 64, 5, 5000, 70_000, 4000, 3)
        assert [program._room(needed) for needed in needs] == [
            16, 16, 64, 64, 64, 16384, 262144, 65536, 256,
        ]  # fmt: skip


def test_a_loop_becomes_a_program_when_driving_it_takes_long(compiled, monkeypatch):
    monkeypatch.setattr(control_flow, "_LONG", 0.0)
    monkeypatch.setattr(control_flow, "_WORTH", 0.0)
    monkeypatch.setattr(loop_program, "NODE_COMPILED", 0.0)
    monkeypatch.setattr(region, "NODE_COMPILED", 1e3)  # what is around it is never compiled
    with tf.Graph().as_default(), tf.Session() as sess:
        (loss, _), (x, lengths) = recurrent()
        sess.run(tf.global_variables_initializer())
        for steps in range(2, 14):
            fed = sequences(steps, steps)
            assert np.isfinite(sess.run(loss, {x: fed[0], lengths: fed[1]}))
    assert len(compiled) == 2


# ---- what arrays refuse ----


def array(size=4, **how):
    return tf.TensorArray(F32, size, **how)


def loop(body, result, turns=3):
    """Turns of a loop over an array that is made before it, read by `result` after it."""

    def build():
        n, x = tf.placeholder(tf.int32, []), tf.placeholder(F32, [2])
        made = body[0](x)
        _, after, total = tf.while_loop(
            lambda i, a, t: i < n,
            lambda i, a, t: (i + 1, *body[1](i, a, t, x)),
            [0, made, tf.zeros([2])],
        )
        return [result(after), total], (n, x)

    fed = np.array([1.0, 2.0], np.float32)
    return check(build, [(turns, fed)] * 2)


def writes(at):
    return lambda x: array(), lambda i, a, t, x: (a.write(at(i), x * tf.cast(i, F32)), t)


def test_elements_that_are_not_written():
    found = loop(writes(lambda i: i + 1), lambda a: a.read(2))
    np.testing.assert_array_equal(found[0][0], [1.0, 2.0])
    found = loop(writes(lambda i: i), lambda a: a.read(3), turns=2)
    np.testing.assert_array_equal(found[0][0], [0.0, 0.0])


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (lambda i: i * 0, "has already been written to"),
        (lambda i: i + 2, "Tried to write to index 4 but array is not resizeable"),
        (lambda i: i - 1, "Tried to write to index -1"),
    ],
)
def test_writes_that_are_refused(at, message):
    (kind, text), _ = loop(writes(at), lambda a: a.stack())
    assert kind == "InvalidArgumentError" and message in text


def reads(at, clear=True):
    def make(x):
        made = array(3, clear_after_read=clear)
        return made.unstack(tf.stack([x, x + 1.0, x + 2.0]))

    return make, lambda i, a, t, x: (a, t + a.read(at(i)))


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (lambda i: i // 2, "Could not read index 0 twice"),
        (lambda i: i + 1, "Tried to read from index 3 but array size is: 3"),
        (lambda i: -i, "Tried to read from index -1"),
    ],
)
def test_reads_that_are_refused(at, message):
    (kind, text), _ = loop(reads(at), lambda a: a.size())
    assert kind == "InvalidArgumentError" and message in text


def test_reads_again_of_what_is_kept():
    found = loop(reads(lambda i: i // 2, clear=False), lambda a: a.stack())
    np.testing.assert_array_equal(found[0][1], [4.0, 7.0])


def test_what_a_loop_has_read_is_gone_after_it():
    (kind, text), _ = loop(reads(lambda i: i), lambda a: a.read(1))
    assert kind == "InvalidArgumentError" and "Could not read index 1 twice" in text


def test_an_element_is_written_that_was_read():
    body = (
        lambda x: array(5, clear_after_read=False).write(0, x),
        lambda i, a, t, x: (a.write(i + 1, a.read(i) + 1.0), t + a.read(0)),
    )
    np.testing.assert_array_equal(loop(body, lambda a: a.read(3))[0][0], [4.0, 5.0])
    again = body[0], lambda i, a, t, x: (a.write(i * 0, a.read(i) + 1.0), t)
    (kind, text), _ = loop(again, lambda a: a.size())
    assert kind == "InvalidArgumentError" and "it has already been read" in text


def test_an_array_that_grows(compiled):
    body = (
        lambda x: array(0, dynamic_size=True),
        lambda i, a, t, x: (a.write(i * 2, x + tf.cast(i, F32)), t + tf.cast(a.size(), F32)),
    )
    found = loop(body, lambda a: a.size(), turns=3)
    assert found[0][0] == 5
    loop(body, lambda a: a.read(98), turns=50)
    assert compiled.count(8) == compiled.count(1) - 1, "the last one again, with more room"


def test_elements_of_another_shape():
    def build():
        x, n = tf.placeholder(F32, [None]), tf.placeholder(tf.int32, [])
        made = array(3, infer_shape=False).write(0, x)
        after = tf.while_loop(
            lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, x[:1])), [1, made]
        )[1]
        return [after.read(0), after.read(2)], (x, n)

    fed = np.ones(4, np.float32)
    check(build, [(fed, 3), (fed[:1], 3)])


# ---- what else there is in loops ----


def test_a_variable_is_as_before_when_a_loop_fails():
    def build():
        n = tf.placeholder(tf.int32, [])
        total = tf.get_variable("total", [], F32, tf.zeros_initializer(), use_resource=True)
        made = array(3)

        def body(i, a):
            with tf.control_dependencies([total.assign_add(1.0)]):
                return i + 1, a.write(i, tf.cast(i, F32))

        after = tf.while_loop(lambda i, a: i < n, body, [0, made], parallel_iterations=1)[1]
        with tf.control_dependencies([after.flow]):
            return [after.stack(), total.read_value()], (n,)

    driven = check(build, [(3,), (2,), (5,)])
    assert driven[0][1] == 3.0 and driven[2][0] == "InvalidArgumentError"


def test_random_numbers_go_on_where_driven_ones_do():
    def build():
        n = tf.placeholder(tf.int32, [])
        made = array(n)
        after = tf.while_loop(
            lambda i, a: i < n,
            lambda i, a: (i + 1, a.write(i, tf.random_uniform([3], seed=4))),
            [0, made],
        )[1]
        return [after.stack()], (n,)

    check(build, [(3,), (5,), (1,)])


def test_as_many_iterations_as_are_allowed():
    def build():
        x = tf.placeholder(F32, [2])
        y = tf.while_loop(
            lambda v: tf.reduce_sum(v) < 50.0, lambda v: v * x, [x], maximum_iterations=4
        )
        return [y, *tf.gradients(y, x)], (x,)

    check(build, [([2.0, 3.0],), ([1.0, 1.5],), ([30.0, 30.0],)])


def test_gradients_of_loops_in_loops():
    def build():
        x, n = tf.placeholder(F32, [2]), tf.placeholder(tf.int32, [])

        def outer(i, v):
            inner = tf.while_loop(lambda j, w: j < i, lambda j, w: (j + 1, tf.sin(w) * x), [0, v])
            return i + 1, inner[1]

        y = tf.while_loop(lambda i, v: i < n, outer, [0, x])[1]
        return [y, *tf.gradients(y, x)], (x, n)

    check(build, [([0.3, 0.4], n) for n in (3, 1, 5, 0, 4)])


def test_gradients_of_arrays_in_and_out():
    def build():
        x, n = tf.placeholder(F32, [None, 2]), tf.placeholder(tf.int32, [])
        given = tf.TensorArray(F32, tf.shape(x)[0]).unstack(x)
        made = tf.TensorArray(F32, n)
        after = tf.while_loop(
            lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, given.read(i) ** 2)), [0, made]
        )[1]
        y = tf.reduce_sum(after.stack() * [1.0, 2.0])
        return [y, *tf.gradients(y, x)], (x, n)

    random = np.random.RandomState(1)
    check(build, [(random.rand(rows, 2), n) for rows, n in ((3, 3), (5, 2), (20, 20), (4, 1))])


def test_a_loop_can_time_out():
    with flags.CONTROL_FLOW.override("loops"), tf.Graph().as_default(), tf.Session() as sess:
        endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 0, [1])
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                sess.run(endless, options=tf.RunOptions(timeout_in_ms=300))


def test_a_variable_of_another_shape():
    with flags.CONTROL_FLOW.override("loops"), tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=tf.ones([2]), validate_shape=False)
        grown = tf.assign(v, [2.0, 3.0, 4.0], validate_shape=False)
        y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.reduce_sum(v)), [0, 0.0])
        sess.run(v.initializer)
        assert sess.run(y)[1] == 6.0
        sess.run(grown)
        assert sess.run(y)[1] == 27.0


def test_two_names_of_one_array():
    def build():
        n = tf.placeholder(tf.int32, [])
        made = array(6, clear_after_read=False).write(0, 1.0)
        other = tf.identity(made.handle)

        def body(i, flow, total):
            one = tf.TensorArray(F32, handle=made.handle, flow=flow)
            value = tf.reshape(one.read(i), [])
            two = tf.TensorArray(F32, handle=other, flow=one.flow)
            return i + 1, two.write(i + 1, value * 2.0).flow, total + value

        _, flow, total = tf.while_loop(lambda i, *_: i < n, body, [0, made.flow, 0.0])
        return [total, tf.TensorArray(F32, handle=made.handle, flow=flow).read(n)], (n,)

    driven = check(build, [(4,), (2,)])
    assert driven[0] == [15.0, 16.0]
