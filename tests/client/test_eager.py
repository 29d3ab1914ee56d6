"""Eager execution: operations are computed as they are made. Draws recorded from TensorFlow 2.21
(`tensorflow.compat.v1`, eager execution on) with the calls that are written here."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution, symbolic_graph
from weft.graph import stacks


@pytest.fixture(autouse=True)
def graph() -> Iterator[EagerExecution]:
    made = EagerExecution()
    with made.as_default():
        yield made


def test_tensors_have_values() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert tf.executing_eagerly()
    np.testing.assert_array_equal(tf.matmul(x, x).numpy(), [[7, 10], [15, 22]])
    assert [float(tf.reduce_sum(row)) for row in x] == [3.0, 7.0]
    assert len(x) == 2 and x.ndim == 2 and bool(x[0, 0] < 2)
    assert repr(x[0]).endswith("shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>")
    assert str(x[1, 1]) == "tf.Tensor(4.0, shape=(), dtype=float32)"


def test_errors_are_raised_at_the_call() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"2 and 3 .*\[Op:MatMul\]"):
        tf.matmul(tf.ones([2, 2]), tf.ones([3, 3]))
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        tf.placeholder(tf.float32)


def test_a_placeholder_with_a_default_is_the_default() -> None:
    given = tf.placeholder_with_default([1.0, 2.0], [None])
    np.testing.assert_array_equal(given.numpy(), [1.0, 2.0])


def test_evaluating_functions() -> None:
    case = tf.test.TestCase()
    assert case.evaluate([lambda: tf.constant(1), tf.constant(2)]) == [1, 2]


def test_a_tensor_of_a_graph_has_no_value_here() -> None:
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    with pytest.raises(ValueError, match=r"belongs to a graph|same graph"):
        tf.add(tf.constant(1.0), other)


def test_variables_of_one_name_are_different() -> None:
    v, w = tf.Variable(3.0, name="v"), tf.Variable(4.0, name="v")
    assert v.name == w.name == "v:0"
    assert v.assign_add(2.0).numpy() == 5.0 and w.numpy() == 4.0
    assert float(v * w) == 20.0
    assert repr(v) == "<tf.Variable 'v:0' shape=() dtype=float32, numpy=5.0>"


def test_get_variable_makes_a_new_one_every_time() -> None:
    assert tf.get_variable("w", [2]) is not tf.get_variable("w", [2])
    step = tf.train.get_or_create_global_step()
    assert tf.train.get_or_create_global_step() is step
    assert int(step.assign_add(1)) == 1


def test_draws_are_tensorflows() -> None:
    tf.set_random_seed(7)
    for _ in range(2):
        tf.set_random_seed(7)
        first = tf.random_uniform([2]).numpy()
        np.testing.assert_allclose(first, [0.834453821182251, 0.23336660861968994], rtol=1e-6)
    normal = tf.random_normal([2]).numpy()
    np.testing.assert_allclose(normal, [-2.2733311653137207, -1.659210443496704], rtol=1e-5)
    seeded = [float(tf.random_uniform([1], seed=3)[0]) for _ in range(3)]
    expected = [0.4010878801345825, 0.7061948776245117, 0.3426402807235718]
    np.testing.assert_allclose(seeded, expected, rtol=1e-6)


def test_gradients_of_first_and_second_order() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape(persistent=True) as tape:
            y = tf.reduce_sum(v**3)
            z = y * 2
        first = tape.gradient(y, v)
    np.testing.assert_allclose(first.numpy(), [3, 12])
    np.testing.assert_allclose(tape.gradient(z, v).numpy(), [6, 24])
    np.testing.assert_allclose(outer.gradient(first, v).numpy(), [6, 12])


def test_python_decides_what_is_differentiated() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.constant(0.0)
        for each in x:
            if each > 1:
                total += each * each
    np.testing.assert_allclose(tape.gradient(total, x).numpy(), [0, 4, 6])


def test_jacobian() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * tf.reduce_sum(x)
    np.testing.assert_allclose(tape.jacobian(y, x).numpy(), [[7, 1], [4, 16]])


def test_recording_can_pause() -> None:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        with tape.stop_recording():
            unseen = v * v * v
        z = y + unseen
    assert float(tape.gradient(z, v)) == 4.0


@pytest.mark.parametrize(
    "optimizer", [tf.train.GradientDescentOptimizer(0.1), tf.train.AdamOptimizer(0.3)]
)
def test_training(optimizer: tf.train.Optimizer) -> None:
    x = np.random.RandomState(0).randn(32, 3).astype(np.float32)
    y = x @ np.array([[1.0], [2.0], [-1.0]], np.float32)
    weights = tf.Variable(tf.zeros([3, 1]))

    def loss() -> tf.Tensor:
        return tf.losses.mean_squared_error(y, tf.matmul(x, weights))

    before = float(loss())
    for _ in range(30):
        optimizer.minimize(loss)
    assert float(loss()) < before / 20
    with pytest.raises(RuntimeError, match="should be a function"):
        optimizer.minimize(loss())


def test_control_flow_and_functions() -> None:
    assert int(tf.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(0)])) == 5
    assert int(tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2))) == 1
    np.testing.assert_array_equal(tf.map_fn(lambda x: x * 2, tf.range(3)).numpy(), [0, 2, 4])
    assert int(tf.py_func(lambda x: x + np.int32(1), [tf.constant(1)], tf.int32)) == 2
    assert int(tf.py_function(lambda x: x + 1, [tf.constant(1)], tf.int32)) == 2
    # What it returns is taken as it is, and one result is not in a list.
    one = tf.py_func(lambda: [np.float64(2)], [], [tf.float32])
    assert (one.dtype, float(one)) == (tf.float64, 2.0)
    assert tf.py_func(lambda: None, [], []) is None
    assert [int(x) for x in tf.py_func(lambda: (1, 2), [], [tf.int64] * 2)] == [1, 2]
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 3]), dtype=tf.float32)
    assert outputs.shape.as_list() == [2, 5, 4]


def test_custom_gradient() -> None:
    @tf.custom_gradient
    def five(x: tf.Tensor) -> object:
        return x, lambda dy: dy * 5.0

    z = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = five(z)
    assert float(tape.gradient(y, z)) == 5.0


def test_datasets_are_iterated() -> None:
    ten = tf.constant(10, tf.int64)
    data = tf.data.Dataset.from_tensor_slices((np.arange(5), np.arange(5) * 2.0))
    batches = list(data.map(lambda a, b: (a + ten, b)).batch(3))
    assert [a.numpy().tolist() for a, _ in batches] == [[10, 11, 12], [13, 14]]
    iterator = data.make_one_shot_iterator()
    assert [int(iterator.get_next()[0]) for _ in range(5)] == list(range(5))
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    numbers = tf.data.Dataset.from_generator(lambda: iter([3, 1]), tf.int32)
    assert [int(x) for x in numbers] == [3, 1]


def test_tables() -> None:
    init = tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([1], tf.int64))
    first = tf.lookup.StaticHashTable(init, -1)
    other = tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([2], tf.int64))
    second = tf.lookup.StaticHashTable(other, -1)
    keys = tf.constant(["a", "b"])
    assert first.lookup(keys).numpy().tolist() == [1, -1]
    assert second.lookup(keys).numpy().tolist() == [2, -1]


def test_saver(tmp_path: Path) -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver([v])
    path = saver.save(None, str(tmp_path / "model"), global_step=3)
    assert path == tf.train.latest_checkpoint(str(tmp_path))
    v.assign([0.0, 0.0])
    saver.restore(None, path)
    assert v.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="`var_list` must specify"):
        tf.train.Saver()


def test_checkpoint_restores_variables_before_they_are_first_used(tmp_path: Path) -> None:
    def made() -> tuple[tf.train.Checkpoint, tf.layers.Dense, tf.train.Optimizer]:
        layer, optimizer = tf.layers.Dense(2), tf.train.AdamOptimizer(0.1)
        return tf.train.Checkpoint(layer=layer, optimizer=optimizer), layer, optimizer

    def step(layer: tf.layers.Dense, optimizer: tf.train.Optimizer) -> float:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(tf.ones([3, 4])) ** 2)
        gradients = tape.gradient(loss, layer.variables)
        optimizer.apply_gradients(zip(gradients, layer.variables, strict=True))
        return float(loss)

    checkpoint, *model = made()
    for _ in range(3):
        step(*model)
    path = checkpoint.save(str(tmp_path / "model"))
    expected = [step(*model) for _ in range(2)]
    checkpoint, *model = made()
    status = checkpoint.restore(path)
    assert [step(*model) for _ in range(2)] == expected  # with the slots of the optimizer
    status.assert_consumed()


def test_nothing_is_kept(graph: EagerExecution) -> None:
    state = tf.ones([10])
    for _ in range(5):
        state = state * 2.0
    assert state.op.inputs == () and not graph._ops
    with tf.GradientTape() as tape:
        tape.watch(state)
        y = state * state
    tape.gradient(y, state)
    assert not graph._ops
    variable = tf.Variable(1.0)
    cell, store = weakref.ref(variable), graph._resources
    assert len(list(store)) == 1
    del variable, tape, y
    gc.collect()
    assert cell() is None and not list(store)


def test_a_model_can_be_described_without_values() -> None:
    layer = tf.layers.Dense(2, kernel_initializer=tf.ones_initializer())
    with symbolic_graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
    y = layer(x) + tf.constant(1.0)
    assert y.shape.as_list() == [None, 2] and y.graph is symbolic_graph()
    assert layer.kernel.numpy().tolist() == [[1.0, 1.0]] * 3
    assert layer(tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]


def test_graphs_run_inside_of_it() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert not tf.executing_eagerly()
        assert session.run(tf.constant(1) + 1) == 2


def test_a_graph_stays_a_graph_when_the_stack_is_reset_in_it() -> None:
    waiting, stacks.graphs.items = stacks.graphs.items, []
    try:
        tf.enable_eager_execution()
        with tf.Graph().as_default():
            stacks.graphs.reset()  # as TestCase.setUp does
            stacks.reset_default_graph()
            assert not tf.executing_eagerly()
            with tf.Graph().as_default() as inner:
                assert tf.constant(1).graph is inner
        assert tf.executing_eagerly()
    finally:
        tf.disable_eager_execution()
        stacks.graphs.items = waiting


def test_a_reset_forgets_collections() -> None:
    waiting, stacks.graphs.items = stacks.graphs.items, []
    try:
        tf.enable_eager_execution()
        tf.train.create_global_step()
        with pytest.raises(ValueError, match='"global_step" already exists'):
            tf.train.create_global_step()
        tf.reset_default_graph()
        assert tf.train.get_global_step() is None and tf.executing_eagerly()
    finally:
        tf.disable_eager_execution()
        stacks.graphs.items = waiting


def test_enabling() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="at program startup"):
        tf.enable_eager_execution()
    waiting, stacks.graphs.items = stacks.graphs.items, []
    try:
        tf.enable_eager_execution()
        assert tf.executing_eagerly() and int(tf.constant(1) + 1) == 2
        tf.enable_eager_execution()  # again: nothing happens
    finally:
        tf.disable_eager_execution()
        stacks.graphs.items = waiting


def test_assertions_and_slices_of_variables() -> None:
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.control_dependencies([tf.Assert(x[0, 1] > x[0, 0], [x])]):
        assert x[1, 1].numpy() == 4.0
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"to be true. Summarized data: "):
        tf.Assert(x[0, 1] < x[0, 0], [x])
    x[0].assign([7.0, 8.0])
    x[1, tf.constant(0)].assign(9.0)
    np.testing.assert_array_equal(x.numpy(), [[7, 8], [9, 4]])
    assert tf.global_variables_initializer() is None
    assert tf.variables_initializer([x]) is None


def test_a_loop_that_is_left_early_leaves_no_threads() -> None:
    def threads() -> list[str]:
        return [t.name for t in threading.enumerate() if t.name.startswith("weft-data")]

    def same(x: tf.Tensor) -> tf.Tensor:
        return tf.py_func(lambda value: value, [x], tf.int64)

    for first in tf.data.Dataset.range(10**6).map(same, 4).prefetch(8):
        assert int(first) == 0 and threads()
        break
    until = time.monotonic() + 30
    while threads() and time.monotonic() < until:
        time.sleep(0.01)
    assert not threads()


def test_an_assertion_that_fails_shows_its_data() -> None:
    false = tf.constant(False)
    words = "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true."
    for data, summarize, shown in (
        (["x", [1, 2, 3, 4]], None, "b'x'\n1, 2, 3, ..."),
        ([[1, 2, 3, 4]], -1, "1, 2, 3, 4"),
        ([[1.5, 2.5]], 1, "1.5, ..."),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.Assert(false, data, summarize)
        assert caught.value.message == f"{words} Summarized data: {shown}"
    tf.Assert(tf.constant(True), ["x"])


def test_what_is_assigned_to_a_part_of_a_variable() -> None:
    names = tf.Variable(["a", "b"])
    assert names[0].assign("zz").numpy().tolist() == [b"zz", b"b"]
    matrix = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    words = r"Cannot broadcast input shape \[2\] into final shape \[3\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        matrix[0].assign([1.0, 2.0])
    assert matrix[-1, ::-1].assign([1.0, 2.0, 3.0]).numpy().tolist() == [[1, 2, 3], [3, 2, 1]]


def test_names_that_programs_ask_for_differ(graph: EagerExecution) -> None:
    with tf.name_scope("scope"):
        names = [graph.unique_name(name) for name in ("slot", "slot", "slot", "other")]
        assert tf.constant(1, name="slot").op.name == tf.constant(2, name="slot").op.name
    assert names == ["slot", "slot_1", "slot_2", "other"]


def test_a_critical_section_is_left_also_after_an_error() -> None:
    section = tf.CriticalSection()
    counter = tf.Variable(0.0)

    def fail() -> tf.Tensor:
        return tf.check_numerics(tf.constant(np.nan), "not finite")

    assert float(section.execute(lambda: counter.assign_add(1.0))) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="not finite"):
        section.execute(fail)
    assert [int(x) for x in section.execute(lambda: [tf.constant(1), tf.constant(2)])] == [1, 2]
    assert tf.get_collection("critical_section_executions") == []


def test_a_critical_section_lets_in_one_thread_at_a_time(graph: EagerExecution) -> None:
    section, inside, most = tf.CriticalSection(), [], []

    def add() -> tf.Tensor:
        inside.append(1)
        most.append(len(inside))
        inside.pop()
        return tf.constant(1)

    def enter() -> None:
        with graph.as_default():
            section.execute(add)

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4


def test_a_tape_gives_nothing_for_what_it_does_not_follow() -> None:
    x, outside = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        inside = tf.constant(5.0)
        apart, between = inside * outside, x * inside
        y = between * apart
    assert tape.gradient(y, [inside, outside, apart]) == [None] * 3
    assert [g.numpy() for g in tape.gradient(y, [x, between])] == [75.0, 15.0]


def test_a_tape_follows_zeros_made_of_a_tensor() -> None:
    """In eager execution they are an operation; ones, and zeros of another type, are not."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        zeros, ones, others = tf.zeros_like(x), tf.ones_like(x), tf.zeros_like(x, tf.float64)
        y = (x + zeros * 3 + ones) * tf.cast(others + 2, tf.float32)
    *found, of_ones, of_others = tape.gradient(y, [x, zeros, ones, others])
    assert [g.numpy().tolist() for g in found] == [[2.0, 2.0], [6.0, 6.0]]
    assert of_ones is None and of_others is None


def test_a_tape_weighs_complex_targets_by_one() -> None:
    z = tf.constant(1.0 + 2.0j, tf.complex64)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = z * z
    assert tape.gradient(y, z).numpy() == 2.0 - 4.0j


def test_a_tape_that_recorded_nothing_has_no_gradients() -> None:
    with pytest.raises(RuntimeError, match="can only be called once"):
        tf.GradientTape().gradient(tf.constant(1.0), tf.constant(1.0))
