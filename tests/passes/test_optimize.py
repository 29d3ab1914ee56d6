"""Passes, compared by the graphs they print."""

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.passes.pipeline import Options, prepare
from weft.passes.prune import prune
from weft.runtime.debug.dump import text

ALL = Options()


def optimized(*fetches, feeds=(), options=ALL):
    return text(prepare(list(feeds), list(fetches), [], options)[0].graph)


def kinds(*fetches, feeds=(), options=ALL):
    graph = prepare(list(feeds), list(fetches), [], options)[0].graph
    return sorted(n.type for n in graph.nodes)


def test_prune_keeps_only_what_is_needed():
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    c = tf.add(a, b, name="c")
    tf.multiply(a, b, name="unused")
    assert text(prune([], [c], [])) == (
        "a = Const() -> float32\nb = Const() -> float32\nc = Add(a, b) -> float32\nfetch c\n"
    )


def test_prune_stops_at_feeds():
    a = tf.placeholder(tf.float32, name="a")
    b = tf.exp(a, name="b")
    c = tf.negative(b, name="c")
    assert text(prune([b], [c], [])) == (
        "_feed_0_b = _Arg() -> float32\nc = Neg(_feed_0_b) -> float32\nfetch c\n"
    )


def test_constants_fold():
    c = tf.constant(2.0) * tf.constant([1.0, 2.0]) + 1.0
    assert kinds(c) == ["Const"]
    assert "Mul" in kinds(c, options=Options(fold=False))


def test_shapes_fold():
    x = tf.placeholder(tf.float32, [3, 4])
    assert kinds(tf.shape(x * 2.0)[0]) == ["Const"]


def test_random_ops_do_not_fold():
    assert "RandomUniform" in kinds(tf.random_uniform([2]))


def test_common_subexpressions_merge_also_when_operands_are_swapped():
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    total = tf.multiply(x, y) + tf.multiply(y, x)
    assert kinds(total, feeds=[x, y]) == ["AddV2", "Mul", "_Arg", "_Arg"]
    assert kinds(tf.subtract(x, y) * tf.subtract(y, x), feeds=[x, y]).count("Sub") == 2


def test_random_ops_do_not_merge():
    total = tf.random_uniform([2], seed=1) + tf.random_uniform([2], seed=1)
    assert kinds(total).count("RandomUniform") == 2


def test_neutral_operands_vanish():
    x = tf.placeholder(tf.float32, [2])
    assert kinds(tf.identity(x * 1.0) - 0.0, feeds=[x]) == ["_Arg"]
    assert "Mul" in kinds(x * tf.ones([3, 2]), feeds=[x]), "it broadcasts"


def test_zero_plus_x_is_kept_for_negative_zero(sess):
    x = tf.placeholder(tf.float32, [1])
    got = sess.run(x + 0.0, {x: np.array([-0.0], np.float32)})
    assert not np.signbit(got[0])


def test_reads_of_references_happen_late(sess):
    v = tf.Variable(1.0, name="v")
    with tf.control_dependencies([v.assign(5.0)]):
        after = v + 1.0
    sess.run(v.initializer)
    assert sess.run(after) == 6.0


def test_unordered_reads_come_before_writes(sess):
    v = tf.Variable([1.0, 2.0])
    doubled = v * 2.0
    update = v.assign_add([10.0, 10.0])
    sess.run(v.initializer)
    got, _ = sess.run([doubled, update.op])
    np.testing.assert_array_equal(got, [2, 4])


def test_fetching_a_variable_with_its_update_gives_the_new_value(sess):
    v = tf.Variable(1)
    sess.run(v.initializer)
    assert sess.run([v.assign_add(1), v]) == [2, 2]


@pytest.mark.parametrize("on", [True, False])
def test_values_do_not_depend_on_optimization(on):
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.reshape(tf.transpose(x), [-1, tf.shape(x)[0]]) * 1.0 + tf.reduce_mean(x)
    config = tf.ConfigProto()
    level = tf.OptimizerOptions.L1 if on else tf.OptimizerOptions.L0
    config.graph_options.optimizer_options.opt_level = level
    with tf.Session(config=config) as sess:
        value = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_allclose(sess.run(y, {x: value}), value.T + 2.5)


@pytest.mark.parametrize("kept", [
    lambda x, const: tf.reduce_sum(x, const([], tf.int32)),
    lambda x, const: x * const([1.0, 1.0], tf.float32),
    lambda x, const: x / const([1.0, 1.0], tf.float32),
    lambda x, const: x - const([0.0, 0.0], tf.float32),
    lambda x, const: tf.reshape(x, const([2], tf.int32)),
    lambda x, const: tf.transpose(x, const([0], tf.int32)),
])  # fmt: skip
@pytest.mark.parametrize("compiled", [False, True])
def test_an_operand_that_comes_after_an_effect_keeps_it(kept, compiled):
    """tf.control_dependencies reach a node through the constants that are made for it."""
    x, seen = tf.placeholder(tf.float32, [2]), tf.Variable(0.0, use_resource=True)

    def const(value, dtype):
        with tf.control_dependencies([seen.assign_add(1.0)]):
            return tf.constant(value, dtype)

    result = kept(x, const)
    with flags.XLA.override(compiled), tf.Session() as session:
        session.run(seen.initializer)
        for run in range(1, 4):
            assert session.run(result, {x: [1.0, 2.0]}).tolist() == [1.0, 2.0]
            assert session.run(seen) == run


@pytest.mark.parametrize("measure", [tf.raw_ops.Shape, tf.raw_ops.Size, tf.raw_ops.Rank])
def test_an_effect_that_only_a_known_shape_waits_for_happens(measure):
    x, seen = tf.placeholder(tf.float32, [2]), tf.Variable(0.0, use_resource=True)
    with tf.control_dependencies([seen.assign_add(1.0)]):
        measured = measure(input=tf.identity(x))
    with tf.Session() as session:
        session.run(seen.initializer)
        for run in range(1, 4):
            session.run(measured, {x: [1.0, 2.0]})
            assert session.run(seen) == run


@pytest.mark.parametrize(
    ("condition", "fold", "kept"),
    [
        (lambda x: tf.shape(x)[0] <= 4, True, False),
        (lambda x: tf.shape(x)[0] <= 4, False, True),
        (lambda x: tf.shape(x)[0] <= 2, True, True),
        (lambda x: tf.reduce_all(tf.less(tf.constant([1, 2]), 3)), True, False),
        (lambda x: tf.reduce_all(x > 0.0), True, True),
        (lambda x: tf.py_func(lambda: np.bool_(True), [], tf.bool), True, True),
    ],
)
def test_an_assertion_that_always_holds_is_left_out(condition, fold, kept):
    x = tf.placeholder(tf.float32, [3, 4])
    with tf.control_dependencies([tf.Assert(condition(x), [3])]):
        y = tf.negative(x)
    assert ("Assert" in kinds(y, feeds=[x], options=Options(fold=fold))) == kept


def test_what_came_before_an_assertion_that_always_holds_still_does(sess):
    v = tf.Variable(1.0)
    sess.run(v.initializer)
    with tf.control_dependencies([v.assign(5.0)]):
        held = tf.Assert(tf.constant(2) < 3, [2])
    with tf.control_dependencies([held]):
        late = v.read_value()
    assert sess.run(late) == 5.0
    assert sess.run([held, v])[0] is None
