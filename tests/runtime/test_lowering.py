"""Loops that are compiled whole: what they draw, what they save, arrays that grow in them."""

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.runtime import control_flow as structured
from weft.runtime.executor import Executor
from weft.runtime.xla import lower
from weft.runtime.xla.loop_matmuls import sums_of_products


@pytest.fixture
def only_compiled(monkeypatch):
    """Called after some runs: from then on a loop that is not compiled fails."""

    def forbid():
        def fail(self, *args):
            raise AssertionError("a loop is interpreted")

        monkeypatch.setattr(structured._While, "__call__", fail)
        monkeypatch.setattr(Executor, "enter", fail)

    return forbid


def by_nodes(build, *feeds):
    """What `build()` -> (fetches, placeholders) gives when every node runs by itself."""
    with flags.CONTROL_FLOW.override("nodes"), tf.Graph().as_default(), tf.Session() as sess:
        fetches, placeholders = build()
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches, dict(zip(placeholders, fed, strict=True))) for fed in feeds]


def compiled(build, only_compiled, *feeds):
    """The same with loops compiled whole from the third run on."""
    with tf.Graph().as_default(), tf.Session() as sess:
        fetches, placeholders = build()
        sess.run(tf.global_variables_initializer())
        results = []
        for i, fed in enumerate(feeds):
            if i == 2:
                only_compiled()
            results.append(sess.run(fetches, dict(zip(placeholders, fed, strict=True))))
        return results


def check(build, only_compiled, *feeds):
    expected = by_nodes(build, *feeds)
    for got, wanted in zip(compiled(build, only_compiled, *feeds), expected, strict=True):
        tf.nest.map_structure(close, got, wanted)


def close(got, wanted):
    scale = np.max(np.abs(wanted), initial=0.0)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6 * scale)


# ---- random numbers ------------------------------------------------------------------------------


def test_a_loop_draws_what_its_nodes_draw(only_compiled):
    def build():
        tf.set_random_seed(3)

        def body(i, v):
            return i + 1, v * 0.5 + tf.random_uniform([3], seed=7) + tf.random_normal([], seed=8)

        y = tf.while_loop(lambda i, v: i < 5, body, [0, tf.zeros([3])])[1]
        return [y, tf.random_uniform([2], seed=9)], []

    check(build, only_compiled, [], [], [], [])


def test_branches_draw_only_when_taken(only_compiled):
    def build():
        p = tf.placeholder(tf.bool, [])

        def body(i, v):
            drawn = tf.cond(p, lambda: tf.random_uniform([], seed=1), lambda: 0.0)
            return i + 1, v + drawn

        return tf.while_loop(lambda i, v: i < 3, body, [0, 0.0])[1], [p]

    check(build, only_compiled, *([p] for p in (True, False, True, True, False, True)))


def test_dropout_in_a_recurrent_network_is_compiled(only_compiled):
    def build():
        x = tf.placeholder(tf.float32, [2, 4, 3])
        cell = tf.nn.rnn_cell.DropoutWrapper(
            tf.nn.rnn_cell.GRUCell(3, kernel_initializer=tf.ones_initializer()),
            output_keep_prob=0.5,
            seed=5,
        )
        outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        return [outputs, state, *tf.gradients(tf.reduce_sum(outputs), x)], [x]

    value = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 4, 3)
    check(build, only_compiled, *([value] for _ in range(4)))


# ---- arrays that grow ----------------------------------------------------------------------------


def growing(most):
    """Doubles a number until it is large: (its values, how many)."""
    limit = tf.placeholder(tf.float32, [])

    def body(i, v, array):
        return i + 1, v * 2.0, array.write(i, [v, -v])

    _, _, array = tf.while_loop(
        lambda i, v, array: v < limit,
        body,
        (0, 1.0, tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[2])),
        maximum_iterations=most,
    )
    return [array.stack(), array.size()], [limit]


@pytest.mark.parametrize("most", [10, None])
def test_an_array_leaves_a_program_with_what_was_written(most, only_compiled):
    feeds = [[5.0], [5.0], [5.0], [100.0], [0.0], [2.0], [1e6 if most is None else 100.0]]
    check(lambda: growing(most), only_compiled, *feeds)


def test_an_array_that_began_before_the_loop(only_compiled):
    def build():
        n = tf.placeholder(tf.int32, [])
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
        array = array.write(0, 7.0).write(1, 8.0)
        _, array = tf.while_loop(
            lambda i, a: i < n, lambda i, a: (i + 1, a.write(i + 2, a.read(i) * 2.0)), (0, array),
            maximum_iterations=20,
        )  # fmt: skip
        return array.stack(), [n]

    check(build, only_compiled, [3], [3], [3], [20], [0])


def test_decoding_is_compiled_whole(only_compiled):
    def build():
        start = tf.placeholder(tf.int32, [3])
        seq2seq = tf.contrib.seq2seq
        embedding = tf.constant(np.random.default_rng(0).standard_normal((6, 4)), tf.float32)
        cell = tf.nn.rnn_cell.GRUCell(6, kernel_initializer=tf.orthogonal_initializer(seed=1))
        decoder = seq2seq.BasicDecoder(
            cell,
            seq2seq.SampleEmbeddingHelper(embedding, start, 1, softmax_temperature=0.3, seed=4),
            cell.zero_state(3, tf.float32),
        )
        outputs, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=12)
        return [outputs.rnn_output, outputs.sample_id, state, lengths], [start]

    check(build, only_compiled, *([np.array(s)] for s in ([0, 2, 3],) * 3 + ([5, 4, 2],)))


# ---- values saved by loops of unknown length -----------------------------------------------------


def until_large(x, limit):
    return tf.while_loop(lambda v: tf.reduce_max(v) < limit, lambda v: v * x, [x])


def test_gradients_of_a_loop_of_unknown_length(only_compiled):
    def build():
        x, limit = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [])
        y = until_large(x, limit)
        return [y, *tf.gradients(y, x)], [x, limit]

    x = np.array([1.1, 1.05], np.float32)
    # 24, 24, 24, then 120 iterations, which is more than was ever seen, none, and few again.
    check(build, only_compiled, *([x, limit] for limit in (10.0, 10.0, 10.0, 1e5, 1.0, 10.0)))


def test_gradients_of_nested_loops_of_unknown_length(only_compiled):
    def build():
        x, limit = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [])

        def outer(i, v):
            inner = tf.while_loop(lambda w: tf.reduce_sum(w) < limit, lambda w: w * x, [v])
            return i + 1, inner * 0.01

        y = tf.while_loop(lambda i, v: i < 3, outer, [0, x])[1]
        return [y, *tf.gradients(y, x)], [x, limit]

    x = np.array([1.2, 1.1], np.float32)
    check(build, only_compiled, *([x, limit] for limit in (9.0, 9.0, 9.0, 1e6, 3.0)))


def test_a_step_that_needs_more_room_counts_once(only_compiled):
    def build():
        limit = tf.placeholder(tf.float32, [])
        w = tf.get_variable("w", initializer=tf.constant([1.1, 1.05]))
        steps = tf.get_variable("steps", initializer=0, trainable=False)
        y = until_large(w, limit) + tf.random_uniform([2], maxval=1e-3, seed=2)
        train = tf.train.GradientDescentOptimizer(1e-7).minimize(tf.reduce_sum(y), steps)
        with tf.control_dependencies([train]):
            return [tf.identity(steps), w + 0.0, y], [limit]

    check(build, only_compiled, *([limit] for limit in (10.0, 10.0, 10.0, 1e5, 1e5)))


# ---- sums of products ----------------------------------------------------------------------------


def test_the_gradient_of_a_matrix_is_one_product_after_the_loop(only_compiled, monkeypatch):
    found = []
    monkeypatch.setattr(
        lower, "sums_of_products", lambda *args: found.append(sums_of_products(*args)) or found[-1]
    )

    def build():
        x, n = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.int32, [])
        w = tf.constant(np.linspace(-1, 1, 8 * 16).reshape(8, 16), tf.float32)
        back = tf.constant(np.linspace(-0.3, 0.3, 16 * 8).reshape(16, 8), tf.float32)

        def body(i, v):
            return i + 1, tf.matmul(tf.tanh(tf.matmul(v, w)), back)

        y = tf.while_loop(lambda i, v: i < n, body, (0, x), maximum_iterations=6)[1]
        return tf.gradients(tf.reduce_sum(y * y), [x, w, back]), [x, n]

    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 8)
    check(build, only_compiled, *([x, n] for n in (6, 6, 6, 2, 0)))
    worth = [p for products in found for p in products if p.is_worth_it()]
    assert len(worth) >= 2 and {p.rows for p in worth} == {6}


# ---- conditionals --------------------------------------------------------------------------------


def test_shapes_that_one_branch_hands_to_its_gradient_do_not_specialise(sess):
    """The batch is unknown: gradients ask for shapes that only the branch itself can tell."""
    x = tf.placeholder(tf.float32, [None, 3, 2])
    lengths = tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.BasicLSTMCell(4, name="cell")
    outputs, _ = tf.nn.static_rnn(
        cell, tf.unstack(x, 3, 1), dtype=tf.float32, sequence_length=lengths
    )
    gradient = tf.gradients(tf.reduce_sum(tf.square(tf.stack(outputs))), x)[0]
    sess.run(tf.global_variables_initializer())
    rng = np.random.RandomState(0)
    batches = [(rng.randn(5, 3, 2), n) for n in ([1, 2, 3, 1, 1], [2, 2, 2, 2, 2], [1] * 5)]
    with flags.XLA.override(False):
        expected = [sess.run(gradient, {x: v, lengths: n}) for v, n in batches]
    for (value, counts), wanted in zip(batches * 2, expected * 2, strict=True):
        close(sess.run(gradient, {x: value, lengths: counts}), wanted)
    regions = [
        u for p in sess._runner._plans.values() for u in p.prepared.units if hasattr(u, "static")
    ]
    made = [e.program for r in regions for e in r.entries.values() if e.program is not None]
    assert len(made) == 1 and not any(r.static for r in regions)


def test_a_loop_much_longer_than_those_before():
    """The room for what its gradient needs grows as often as it takes."""
    count, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])
    body = lambda i, y: (i + 1, tf.sin(y) + x)  # noqa: E731
    y = tf.while_loop(lambda i, _: tf.not_equal(i, count), body, [0, 0.0])[1]
    (gradient,) = tf.gradients(y, x)
    with tf.Session() as sess:
        for n in (5, 5, 5, 70_000):
            value, slope = 0.0, 0.0
            for _ in range(n):
                value, slope = np.sin(value) + 1.0, np.cos(value) * slope + 1.0
            got = sess.run([y, gradient], {count: n, x: 1.0})
            np.testing.assert_allclose(got, [value, slope], rtol=1e-4)
