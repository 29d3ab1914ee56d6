"""Interpreted, tiny and compiled regions agree; programs are chosen and bounded as designed."""

import time

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.runtime.xla import region


def regions(sess):
    plans = sess._runner._plans.values()
    return [u for p in plans for u in p.prepared.units if hasattr(u, "entries")]


def programs(sess):
    return [e.program for r in regions(sess) for e in r.entries.values() if e.program is not None]


def heavy(x):
    return tf.reduce_sum(tf.sin(x) * tf.cos(x) + tf.sqrt(tf.abs(x)))


def test_the_first_run_is_interpreted_and_the_second_compiled(sess):
    x = tf.placeholder(tf.float32, [None])
    y = heavy(x)
    value = np.linspace(0, 1, 50_000, dtype=np.float32)
    first = sess.run(y, {x: value})
    assert not programs(sess)
    second = sess.run(y, {x: value})
    assert len(programs(sess)) == 1
    np.testing.assert_allclose(first, second, rtol=1e-5)


def test_tiny_steps_stay_on_the_host(sess):
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0 + 1.0
    for _ in range(5):
        assert sess.run(y, {x: 3}) == 7
    assert not programs(sess)


@pytest.mark.parametrize(("rows", "count"), [(64, 0), (128, 1)])
def test_a_product_is_compiled_if_a_call_of_a_program_takes_less(sess, rows, count):
    x = tf.placeholder(tf.float32, [None, rows])
    value = np.eye(rows, dtype=np.float32)
    y = tf.matmul(x, value)
    for _ in range(4):
        np.testing.assert_array_equal(sess.run(y, {x: value}), value)
    assert len(programs(sess)) == count


def test_without_xla_nothing_is_compiled(sess):
    x = tf.placeholder(tf.float32, [None])
    y = heavy(x)
    with flags.XLA.override(False):
        for _ in range(3):
            sess.run(y, {x: np.ones(50_000, np.float32)})
    assert not programs(sess)


def test_a_training_step_updates_in_place(sess):
    w = tf.Variable(np.zeros([300, 300], np.float32))
    x = tf.placeholder(tf.float32, [None, 300])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    sess.run(w.initializer)
    value = np.eye(300, dtype=np.float32)
    losses = [sess.run([loss, train], {x: value})[0] for _ in range(6)]
    assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0]


def test_a_fetched_value_survives_the_next_update(sess):
    v = tf.Variable(np.zeros(100_000, np.float32))
    step = v.assign_add(np.ones(100_000, np.float32))
    sess.run(v.initializer)
    kept = [sess.run(step) for _ in range(5)]
    assert [k[0] for k in kept] == [1, 2, 3, 4, 5] and [k[-1] for k in kept] == [1, 2, 3, 4, 5]


def test_specialised_on_a_fed_shape(sess):
    x = tf.placeholder(tf.float32, [None])
    n = tf.placeholder(tf.int32, [])
    y = tf.reduce_sum(tf.tanh(tf.reshape(x, [n, -1])), axis=1)
    value = np.ones(60_000, np.float32)
    for rows in (2, 2, 3, 3, 2):
        assert sess.run(y, {x: value, n: rows}).shape == (rows,)
    assert len(programs(sess)) == 2


def test_a_shape_from_data_splits_the_step(sess):
    x = tf.placeholder(tf.float32, [None])
    kept = tf.boolean_mask(x, x > 0.5)
    y = tf.reduce_sum(tf.exp(kept))
    value = np.linspace(0, 1, 10_001, dtype=np.float32)
    expected = np.exp(value[value > 0.5].astype(np.float64)).sum()
    for _ in range(3):
        np.testing.assert_allclose(sess.run(y, {x: value}), expected, rtol=1e-5)


def test_large_constants_are_arguments(sess):
    table = tf.constant(np.arange(200_000, dtype=np.float32))
    x = tf.placeholder(tf.float32, [])
    y = tf.reduce_sum(table * x)
    for _ in range(3):
        np.testing.assert_allclose(
            sess.run(y, {x: 2.0}), 2.0 * np.arange(200_000.0).sum(), rtol=1e-4
        )


def test_an_error_in_a_compiled_step_names_the_node(sess):
    a, b = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    y = tf.add(heavy(a), tf.reduce_sum(tf.multiply(a, b, name="product")))
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="product") as info:
            sess.run(y, {a: np.ones(40_000, np.float32), b: np.ones(30_000, np.float32)})
    assert info.value.op.name == "product" and "test_region.py" in str(info.value)


def test_uninitialized_variables_are_named(sess):
    v = tf.get_variable("weights", [50_000])
    with pytest.raises(tf.errors.FailedPreconditionError, match="weights"):
        sess.run(heavy(v))


def test_the_debug_switch_finds_the_first_nan():
    x = tf.placeholder(tf.float32, [2])
    y = tf.exp(tf.log(x, name="culprit"))
    with flags.CHECK_NUMERICS.override(True), tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"'culprit' \(Log\) made a NaN"):
            sess.run(y, {x: [1.0, -1.0]})


def test_a_variable_may_change_its_shape(sess):
    v = tf.Variable([1.0, 2.0], validate_shape=False)
    longer = tf.assign(v, np.ones(50_000, np.float32), validate_shape=False)
    total = tf.reduce_sum(tf.sin(v))
    sess.run(v.initializer)
    for _ in range(3):
        np.testing.assert_allclose(sess.run(total), np.sin([1, 2]).sum(), rtol=1e-5)
    sess.run(longer.op)
    for _ in range(3):
        np.testing.assert_allclose(sess.run(total), 50_000 * np.sin(1.0), rtol=1e-4)


def test_ever_new_shapes_are_compiled_only_where_that_would_pay(sess, monkeypatch):
    from weft.runtime.xla import region

    x = tf.placeholder(tf.float32, [None])
    y = heavy(x)
    monkeypatch.setattr(region, "NODE_COMPILED", 1e3)
    for _ in range(2):
        for size in range(40_000, 40_008):
            sess.run(y, {x: np.ones(size, np.float32)})
    assert len(programs(sess)) == 0
    monkeypatch.setattr(region, "NODE_COMPILED", 0.0)
    sess.run(y, {x: np.ones(40_000, np.float32)})
    assert len(programs(sess)) == 1


def test_what_compiling_has_taken_is_what_it_will_take(sess, monkeypatch):
    from weft.runtime.xla import region

    compile_region = region.compile_region

    def slowly(*args):
        time.sleep(0.3)
        return compile_region(*args)

    monkeypatch.setattr(region, "compile_region", slowly)
    monkeypatch.setattr(region, "NODE_COMPILED", 0.0)
    x = tf.placeholder(tf.float32, [None])
    y = heavy(x)
    for size in [40_000] * 3 + [40_001, 40_002, 40_003] * 3:
        sess.run(y, {x: np.ones(size, np.float32)})
    assert len(programs(sess)) < 4


def test_assignments_alone_are_never_compiled(sess):
    x = tf.placeholder(tf.float32, [1 << 20])
    variables = [tf.Variable(tf.zeros([1 << 20]), use_resource=bool(i)) for i in range(2)]
    assigned = tf.group(*[v.assign(x) for v in variables])
    value = np.ones(1 << 20, np.float32)
    for _ in range(4):
        sess.run(assigned, {x: value})
    assert not programs(sess)
    cells = {name: cell for _, kind, name, cell in sess._runner.store if kind == "variable"}
    assert all(isinstance(cell.value, np.ndarray) for cell in cells.values())
    value[:] = 2  # what a variable holds is its own
    assert [found[0] for found in sess.run(variables)] == [1, 1]


def test_a_large_constant_is_made_by_the_program_not_kept_in_it(sess):
    v = tf.get_variable("v", [1 << 20], initializer=tf.ones_initializer())
    fill = tf.assign(v, tf.fill([1 << 20], 2.0) * v).op
    sess.run(v.initializer)
    for _ in range(3):
        sess.run(fill)
    (program,) = programs(sess)
    assert len(program.call.as_text()) < 1 << 16
    assert (sess.run(v) == 8.0).all()


def test_a_fetch_of_its_shape_does_not_take_the_memory_of_a_variable(sess):
    x = tf.placeholder(tf.float32, [512, 512])
    w = tf.get_variable("w", [512, 512], initializer=tf.zeros_initializer())
    y = tf.sin(x) * tf.cos(x) + x
    update = w.assign_add(tf.sqrt(y)).op
    fed = np.ones((512, 512), np.float32)
    sess.run(w.initializer)
    for _ in range(4):
        sess.run([y, update], {x: fed})
    (cell,) = [value for _, kind, _, value in sess._runner.store if kind == "variable"]
    before = cell.value.unsafe_buffer_pointer()
    found = sess.run([y, update], {x: fed})[0]
    assert cell.value.unsafe_buffer_pointer() == before
    np.testing.assert_allclose(sess.run(w), 5 * np.sqrt(found), rtol=1e-5)


def test_in_a_loop_that_is_driven_a_program_must_be_worth_waiting_for(sess, monkeypatch):
    made = []
    compile_region = region.compile_region
    monkeypatch.setattr(
        region, "compile_region", lambda *args: made.append(1) or compile_region(*args)
    )

    def chain(x):
        for _ in range(25):
            x = x * 0.5 + 1.0
        return x

    def step(i, x):
        return tf.py_func(lambda n: n + np.int32(1), [i], tf.int32), chain(x)

    given = tf.placeholder(tf.float32, [1000])
    shapes = [tf.TensorShape(None), tf.TensorShape([1000])]
    _, end = tf.while_loop(lambda i, x: i < 20, step, [0, given], shape_invariants=shapes)
    for _ in range(3):
        looped = sess.run(end, {given: np.ones(1000, np.float32)})
    assert not made
    once = chain(given)
    for _ in range(3):
        np.testing.assert_allclose(sess.run(once, {given: looped}), looped, rtol=1e-6)
    assert made == [1]
