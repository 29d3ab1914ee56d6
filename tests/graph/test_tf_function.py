"""tf.function: traces, variables, effects, gradients, and where calls may stand."""

from __future__ import annotations

import copy
import functools
import gc
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution
from weft.lib.functions.lift import UnliftableError


def traced(function: Any) -> Any:
    return tf.function(function, autograph=False)


# ---- traces -------------------------------------------------------------------------------------


def test_one_trace_for_each_signature() -> None:
    seen = []

    @tf.function
    def f(x, times=2, *, add=0):
        seen.append((getattr(x, "shape", x), times, add))
        return x * times + add

    f(tf.zeros([2]))
    f(tf.ones([2]), 2)
    f(x=tf.ones([2]), times=2, add=0)
    f(np.ones([2], np.float32))
    assert len(seen) == 1
    f(tf.zeros([3]))
    f(tf.zeros([2], tf.int32))
    f(tf.zeros([2]), 3)
    f(tf.zeros([2]), 2.0)
    f(tf.zeros([2]), add=1)
    f(5)
    assert len(seen) == 7


def test_structures_go_in_and_come_out(sess) -> None:
    @tf.function
    def f(given, more):
        a, b = given["pair"]
        return {"sum": a + b, "more": [more, None, (a,)]}

    found = f({"pair": (tf.constant(1.0), tf.constant(2.0))}, tf.constant(3))
    assert sess.run(found["sum"]) == 3.0
    assert sess.run(found["more"][0]) == 3
    assert found["more"][1] is None and isinstance(found["more"][2], tuple)


def test_values_of_several_tensors(sess) -> None:
    @tf.function
    def f(sparse, ragged):
        doubled = tf.SparseTensor(sparse.indices, sparse.values * 2, sparse.dense_shape)
        return doubled, ragged + 1

    sparse = tf.SparseTensor([[0, 1]], [3.0], [2, 2])
    doubled, ragged = f(sparse, tf.ragged.constant([[1], [2, 3]]))
    np.testing.assert_array_equal(sess.run(tf.sparse.to_dense(doubled)), [[0, 6], [0, 0]])
    assert sess.run(ragged).to_list() == [[2], [3, 4]]


def test_no_result_is_the_operation(sess) -> None:
    v = tf.Variable(1.0, use_resource=True)
    sess.run(v.initializer)

    @tf.function
    def f():
        v.assign_add(1.0)

    call = f()
    assert isinstance(call, tf.Operation) and call.type == "StatefulPartitionedCall"
    sess.run(call)
    assert sess.run(v) == 2.0


def test_results_must_be_tensors() -> None:
    with pytest.raises(TypeError, match="must return zero or more Tensors; in compilation of"):
        tf.function(lambda: object())()


def test_relaxed_shapes() -> None:
    seen = []

    @tf.function(experimental_relax_shapes=True)
    def f(x):
        seen.append(x.shape.as_list())
        return tf.reduce_sum(x)

    for n in range(1, 6):
        f(tf.zeros([n, 2]))
    assert seen == [[1, 2], [None, 2]]


def test_input_signature(sess) -> None:
    count = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32)])
    def f(x, n):
        count.append(x.shape.as_list())
        return x * tf.cast(n, tf.float32)

    assert list(sess.run(f([1.0, 2.0], 3))) == [3.0, 6.0]
    assert list(sess.run(f(np.array([1.0], np.float32), tf.constant(2)))) == [2.0]
    assert count == [[None]]
    with pytest.raises(ValueError, match="Python inputs incompatible with input_signature"):
        f(tf.zeros([2, 2]), 1)
    with pytest.raises(ValueError, match="all inputs to the Python function must be convertible"):
        f("text", 1)
    with pytest.raises(TypeError, match=r"Received 3 argument\(s\)"):
        f(1, 2, 3)
    with pytest.raises(TypeError, match="unexpected keyword argument z"):
        f(1, z=3)
    with pytest.raises(TypeError, match="must be either a tuple or a list"):
        tf.function(lambda x: x, input_signature=tf.TensorSpec([]))
    with pytest.raises(ValueError, match="keyword arguments when input_signature is provided"):
        tf.function(lambda **kwargs: 1, input_signature=[])


def test_input_signature_in_eager_execution() -> None:
    with EagerExecution().as_default():
        f = tf.function(lambda x: (x, x * 2), [tf.TensorSpec([None], tf.float32)])
        given, twice = f([1, 2])
        assert given.dtype == tf.float32 and twice.numpy().tolist() == [2.0, 4.0]
        with pytest.raises(ValueError, match="Python inputs incompatible with input_signature"):
            f(tf.constant([1]))


def test_concrete_functions(sess) -> None:
    v = tf.Variable(2.0, use_resource=True, name="v")
    sess.run(v.initializer)

    @tf.function
    def f(x, scale):
        return {"y": x * v * scale}

    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32, name="x"), 3.0)
    assert concrete is f.get_concrete_function(tf.TensorSpec([None], tf.float32), 3.0)
    args, kwargs = concrete.structured_input_signature
    assert args == (tf.TensorSpec([None], tf.float32, name="x"), 3.0) and kwargs == {}
    assert concrete.captured_inputs == [v.handle]
    assert concrete.variables == concrete.trainable_variables == [v]
    assert [t.dtype for t in concrete.inputs] == [tf.float32, tf.resource]
    assert concrete.output_dtypes == {"y": tf.float32}
    assert concrete.output_shapes["y"].as_list() == [None]
    assert list(sess.run(concrete(tf.constant([1.0, 2.0]))["y"])) == [6.0, 12.0]
    assert list(sess.run(concrete(x=tf.constant([1.0]))["y"])) == [6.0]
    with pytest.raises(ValueError, match="not compatible with the shape this function was traced"):
        concrete(tf.constant([[1.0]]))
    with pytest.raises(TypeError, match=r"Missing: \['x'\]"):
        concrete()
    with pytest.raises(TypeError, match="Keyword arguments"):
        concrete(x=tf.constant([1.0]), z=1)


def test_what_a_function_is_called(sess) -> None:
    @tf.function(experimental_implements="thing", experimental_compile=False)
    def some_name(x):
        """Says what it does."""
        return x + 1

    assert some_name.__name__ == "some_name" and some_name.__doc__ == "Says what it does."
    assert some_name.python_function(2) == 3 and some_name.input_signature is None
    definition = some_name.get_concrete_function(tf.TensorSpec([])).function_def
    assert definition.signature.name.startswith("__inference_some_name_")
    assert definition.attr["_implements"].s == b"thing"


def test_partial_and_methods(sess) -> None:
    f = tf.function(functools.partial(lambda x, y: x - y, 10))
    assert sess.run(f(tf.constant(3))) == 7

    class Model:
        def __init__(self, factor):
            self.factor = factor

        @tf.function
        def scaled(self, x):
            return x * self.factor

    one, two = Model(2), Model(3)
    assert sess.run([one.scaled(tf.constant(5)), two.scaled(tf.constant(5))]) == [10, 15]
    assert one.scaled is one.scaled and one.scaled is not two.scaled
    copied = copy.copy(one)
    copied.factor = 7
    assert sess.run(copied.scaled(tf.constant(5))) == 35


def test_copies_of_objects_have_methods_of_their_own(sess) -> None:
    """Also of an object whose methods have been called."""

    class Scaled:
        def __init__(self, by):
            self.by, self.traced = by, 0

        @tf.function
        def __call__(self, x):
            self.traced += 1
            return x * self.by

    one = Scaled(2)
    one(tf.constant(1))
    others = [copy.deepcopy(one), copy.copy(one)]
    for i, other in enumerate(others):
        other.by = 3 + i
    found = [each(tf.constant(1)) for each in (one, *others, one, *others)]
    assert list(sess.run(found)) == [2, 3, 4, 2, 3, 4]
    assert [each.traced for each in (one, *others)] == [1, 2, 2]


def test_traces_go_with_their_graph() -> None:
    @tf.function
    def f(x):
        return x + 1

    with tf.Graph().as_default() as graph:
        f(tf.constant(1))
    known = weakref.ref(graph)
    del graph
    tf.reset_default_graph()
    gc.collect()
    assert known() is None


def test_nested_and_recursive_calls(sess) -> None:
    @tf.function
    def power(x, n):
        if n == 0:
            return tf.ones_like(x)
        return x * power(x, n - 1)

    x = tf.constant(3.0)
    y = power(x, 4)
    assert sess.run([y, *tf.gradients(y, x)]) == [81.0, 108.0]


def test_run_functions_eagerly() -> None:
    tf.config.experimental_run_functions_eagerly(True)
    try:
        assert tf.function(lambda x: x + 1)(2) == 3
    finally:
        tf.config.experimental_run_functions_eagerly(False)


# ---- variables ----------------------------------------------------------------------------------


def test_variables_of_the_first_call(sess) -> None:
    state: dict[str, Any] = {}

    @tf.function
    def f(x):
        if "v" not in state:
            with tf.name_scope("inside"):
                state["v"] = tf.Variable(tf.fill([2], 2.0) + 1.0, name="weights")
        return x * state["v"]

    y = f(tf.constant([1.0, 2.0]))
    assert state["v"].name == "inside/weights:0"
    assert tf.trainable_variables() == tf.global_variables() == [state["v"]]
    sess.run(tf.global_variables_initializer())
    assert list(sess.run(y)) == [3.0, 6.0]
    assert list(sess.run(tf.gradients(y, state["v"])[0])) == [1.0, 2.0]


def test_variables_of_later_calls() -> None:
    with pytest.raises(ValueError, match="tried to create variables on non-first call"):
        tf.function(lambda: tf.Variable(1.0).read_value())()


def test_variables_after_a_first_call_without() -> None:
    @tf.function
    def f(x):
        return tf.constant(1.0) if x is None else tf.Variable(1.0)

    f(None)
    with pytest.raises(ValueError, match="Creating variables on a non-first call to a function"):
        f(1)


def test_initial_values_that_depend_on_arguments() -> None:
    state = []

    @tf.function
    def f(x):
        if not state:
            state.append(tf.Variable(x * 2))
        return state[0] + x

    with pytest.raises(UnliftableError, match="depends transitively on placeholder"):
        f(tf.constant(1.0))


def test_a_first_call_that_fails_does_not_count(sess) -> None:
    state: dict[str, Any] = {}

    @tf.function
    def f(x):
        if x.dtype != tf.float32:
            raise ValueError("not this type")
        if "v" not in state:
            state["v"] = tf.Variable(2.0)
        return x * state["v"]

    with pytest.raises(ValueError, match="not this type"):
        f(tf.constant(1))
    y = f(tf.constant(3.0))
    sess.run(tf.global_variables_initializer())
    assert sess.run(y) == 6.0


def test_variables_by_name_and_layers(sess) -> None:
    @tf.function
    def f(x):
        with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())
        return tf.matmul(x, w)

    y = f(tf.ones([1, 2]))
    assert [v.name for v in tf.global_variables()] == ["net/w:0"]
    sess.run(tf.global_variables_initializer())
    np.testing.assert_array_equal(sess.run(y), [[2.0, 2.0]])


def test_variables_of_outside(sess) -> None:
    by_reference = tf.Variable(3.0, use_resource=False)
    by_handle = tf.Variable(4.0, use_resource=True)
    sess.run(tf.global_variables_initializer())
    y = tf.function(lambda x: x * by_reference + by_handle)(tf.constant(2.0))
    assert sess.run(y) == 10.0
    assert sess.run(tf.gradients(y, [by_reference, by_handle])) == [2.0, 1.0]


def test_creators_of_outside(sess) -> None:
    def named(next_creator, **kwargs):
        kwargs["name"] = "other"
        return next_creator(**kwargs)

    state = []

    @tf.function
    def f():
        if not state:
            state.append(tf.Variable(1.0, name="given"))
        return state[0] + 1.0

    with tf.variable_creator_scope(named):
        f()
    assert state[0].name == "other:0"


def test_defun_makes_variables_in_any_trace(sess) -> None:
    made = []

    @tf.contrib.eager.defun
    def f(x):
        made.append(tf.get_variable(f"v{len(made)}", initializer=2.0))
        return x * made[-1]

    a, b = f(tf.constant(1.0)), f(tf.constant([1.0, 2.0]))
    sess.run(tf.global_variables_initializer())
    assert sess.run(a) == 2.0 and list(sess.run(b)) == [2.0, 4.0]


# ---- effects ------------------------------------------------------------------------------------


def test_effects_happen_as_written(sess) -> None:
    v = tf.Variable(1.0, use_resource=True)
    sess.run(v.initializer)

    @traced
    def f():
        before = v.read_value()
        v.assign(10.0)
        between = v.read_value()
        v.assign_sub(3.0)
        tf.cond(between > 5.0, lambda: v.assign(v * 2.0), lambda: v.assign(0.0))
        return before, between, v.read_value()

    calls = f()
    for start in (1.0, 14.0):
        assert sess.run(calls) == (start, 10.0, 14.0)


def test_effects_of_loops_and_calls(sess) -> None:
    v = tf.Variable(1.0, use_resource=True)
    seen: list[float] = []
    sess.run(v.initializer)

    @traced
    def double():
        v.assign(v * 2.0)
        tf.py_func(lambda x: seen.append(float(x)), [v], [], stateful=True)

    @traced
    def f():
        double()
        tf.while_loop(lambda i: i < 3, lambda i: (double(), i + 1)[1], [0])
        double()
        return v.read_value()

    assert sess.run(f()) == 32.0
    assert seen == [2.0, 4.0, 8.0, 16.0, 32.0]


def test_dependencies_on_outside(sess) -> None:
    v = tf.Variable(1.0, use_resource=True)
    sess.run(v.initializer)
    first = v.assign(5.0)

    @tf.function
    def f():
        with tf.control_dependencies([first.op]):
            return v.read_value()

    assert sess.run(f()) == 5.0


# ---- gradients ----------------------------------------------------------------------------------


def numeric(sess, y, x, at, eps=1e-3):
    found = []
    for i in range(len(at)):
        step = np.zeros_like(at)
        step[i] = eps
        up, down = (np.sum(sess.run(y, {x: at + s})) for s in (step, -step))
        found.append((up - down) / (2 * eps))
    return found


def test_gradients_of_both_orders(sess) -> None:
    v = tf.Variable(1.5, use_resource=True, dtype=tf.float64)
    sess.run(v.initializer)

    @traced
    def inner(x):
        return tf.sin(x) * v

    @traced
    def f(x):
        def turn(i, a):
            return i + 1, a + tf.cond(i > 1, lambda: inner(a) * x, lambda: inner(x))

        return tf.while_loop(lambda i, a: i < 4, turn, [0, tf.ones_like(x)])[1]

    x = tf.placeholder(tf.float64, [2])
    at = np.array([0.3, -0.7])
    y = f(x)
    (dx,), (dv,) = tf.gradients(y, x), tf.gradients(y, v)
    (ddx,) = tf.gradients(dx, x)
    np.testing.assert_allclose(sess.run(dx, {x: at}), numeric(sess, y, x, at), rtol=1e-5)
    np.testing.assert_allclose(sess.run(ddx, {x: at}), numeric(sess, dx, x, at), rtol=1e-4)
    (dvx,) = tf.gradients(dx, v)
    sess.run(v.assign(1.5 + 1e-4))
    up, dup = sess.run([tf.reduce_sum(y), tf.reduce_sum(dx)], {x: at})
    sess.run(v.assign(1.5))
    down, ddown = sess.run([tf.reduce_sum(y), tf.reduce_sum(dx)], {x: at})
    assert abs(sess.run(dv, {x: at}) - (up - down) / 1e-4) < 1e-2
    assert abs(sess.run(dvx, {x: at}) - (dup - ddown) / 1e-4) < 1e-2


def test_nothing_is_drawn_or_done_twice(sess) -> None:
    v = tf.Variable(0.0, use_resource=True)
    sess.run(v.initializer)

    @traced
    def f(x):
        v.assign_add(1.0)
        return tf.nn.dropout(x, rate=0.5) * v

    x = tf.ones([64])
    y = f(x)
    for count in (1, 2, 3):
        value, gradient = sess.run([y, tf.gradients(y, x)[0]])
        np.testing.assert_array_equal(value, gradient)
        assert set(value) == {0.0, 2.0 * count}


def test_what_nothing_flows_to_has_no_gradient() -> None:
    a, b = tf.constant(1.0), tf.constant(2.0)
    y = tf.function(lambda a, b: (a * 2, tf.stop_gradient(b)))(a, b)
    assert [g is None for g in tf.gradients(y, [a, b])] == [False, True]


def test_gradients_of_rows_stay_rows(sess) -> None:
    table = tf.Variable(tf.ones([5, 2]), use_resource=True)
    sess.run(table.initializer)
    y = tf.function(lambda i: tf.nn.embedding_lookup(table, i) * 3.0)(tf.constant([1, 3]))
    (found,) = tf.gradients(y, table)
    assert isinstance(found, tf.IndexedSlices)
    assert list(sess.run(found.indices)) == [1, 3]
    np.testing.assert_array_equal(sess.run(found.values), np.full([2, 2], 3.0))


def test_custom_gradients_inside(sess) -> None:
    weight = tf.constant(0.5)

    @tf.custom_gradient
    def clipped(x):
        inner = x * 2.0
        return tf.identity(x), lambda dy: tf.minimum(dy, 1.0) * weight * inner

    @traced
    def f(x):
        y = clipped(x * 3.0)
        return y * y

    x = tf.constant([2.0, 0.01])
    (found,) = tf.gradients(f(x), x)
    np.testing.assert_allclose(sess.run(found), [18.0, 3 * 0.06 * 0.5 * 0.06], rtol=1e-5)
    inside_loop = traced(
        lambda x: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, clipped(a)), [0, x])[1]
    )
    np.testing.assert_allclose(sess.run(tf.gradients(inside_loop(x), x)[0]), [2.0, 1e-4], rtol=1e-5)


def test_second_order_of_custom_gradients(sess) -> None:
    @tf.custom_gradient
    def square(x):
        return x * x, lambda dy: dy * 2.0 * x

    @tf.function
    def cube(x):
        return square(x) * x

    x = tf.constant(3.0)
    (first,) = tf.gradients(cube(x), x)
    assert sess.run([first, *tf.gradients(first, x)]) == [27.0, 18.0]
    # In a loop made of Switch and Merge, too.
    _, y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, cube(a)), [0, x])
    assert sess.run([y, *tf.gradients(y, x)]) == [3.0**9, 9 * 3.0**8]


def test_training(sess) -> None:
    w = tf.Variable(tf.zeros([2, 1]), use_resource=True)

    @tf.function
    def loss(x, y):
        return tf.reduce_mean(tf.square(tf.matmul(x, w) - y))

    x = np.random.RandomState(0).randn(64, 2).astype(np.float32)
    y = x @ np.array([[2.0], [-1.0]], np.float32)
    train = tf.train.AdamOptimizer(0.1).minimize(loss(x, y))
    sess.run(tf.global_variables_initializer())
    for _ in range(150):
        sess.run(train)
    np.testing.assert_allclose(sess.run(w), [[2.0], [-1.0]], atol=0.05)


def test_tape_inside_and_outside(sess) -> None:
    v = tf.Variable(3.0, use_resource=True)
    sess.run(v.initializer)

    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * v
        return tape.gradient(y, x)

    with tf.GradientTape() as tape:
        found = slope(tf.constant(2.0))
    assert sess.run([found, tape.gradient(found, v)]) == [12.0, 4.0]


@pytest.mark.parametrize("by_handle", [False, True])
def test_gradients_inside_by_what_is_outside(sess, by_handle) -> None:
    v = tf.Variable(3.0, use_resource=by_handle)
    c = tf.constant(2.0)
    sess.run(v.initializer)

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            y = x * v * v + c * x
        found = tape.gradient(y, v)
        return found, tf.gradients(y, [v, c]), [w.name for w in tape.watched_variables()]

    by_tape, by_call, watched = f(tf.constant(5.0))
    assert sess.run([by_tape, by_call]) == [30.0, [30.0, 5.0]]
    assert sess.run(watched) == [b"Variable:0"]


def test_optimizers_inside(sess) -> None:
    w = tf.Variable([[0.0], [0.0]], use_resource=True)
    optimizer = tf.train.AdamOptimizer(0.2)

    @tf.function
    def train(x, y, steps):
        loss = 0.0
        for _ in tf.range(steps):
            loss = step(x, y)
        return loss

    @tf.function
    def step(x, y):
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        optimizer.apply_gradients(zip(tf.gradients(loss, [w]), [w], strict=True))
        return loss

    x = np.random.RandomState(0).randn(32, 2).astype(np.float32)
    y = x @ np.array([[2.0], [-1.0]], np.float32)
    step(x, y)
    trained = train(x, y, tf.constant(60))
    sess.run(tf.global_variables_initializer())
    assert sess.run(trained) < 0.01
    np.testing.assert_allclose(sess.run(w), [[2.0], [-1.0]], atol=0.1)


# ---- where calls stand --------------------------------------------------------------------------


@tf.function
def squared(x):
    return x * x


def test_in_loops_and_conditionals_of_switches(sess) -> None:
    x = tf.constant(2.0)
    _, y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, squared(a)), [0, x])
    z = tf.cond(x > 1.0, lambda: squared(x), lambda: x)
    assert sess.run([y, z]) == [16.0, 4.0]


def test_in_datasets(sess) -> None:
    data = tf.data.Dataset.range(4).map(squared).filter(lambda x: squared(x) > 0)
    following = tf.data.make_one_shot_iterator(data).get_next()
    assert [sess.run(following) for _ in range(3)] == [1, 4, 9]


def test_vectorized_map_is_no_loop_where_it_need_not_be(sess) -> None:
    x = tf.constant(np.arange(24, dtype=np.float32).reshape(4, 2, 3) / 7)
    w = tf.constant(np.ones((3, 2), np.float32) * 2)

    def products(row):
        return tf.matmul(row, w) + tf.reduce_sum(row), {"top": tf.reduce_max(row, 0) * row}

    rows = tf.vectorized_map(products, x)
    assert rows[0].shape.as_list() == [4, 2, 2]
    assert not any(op.type == "Enter" for op in tf.get_default_graph().get_operations())
    gradients = tf.gradients(tf.reduce_sum(rows[0] ** 2), [x, w])
    loop = tf.map_fn(products, x, dtype=(tf.float32, {"top": tf.float32}))
    same = tf.gradients(tf.reduce_sum(loop[0] ** 2), [x, w])
    found, wanted = sess.run([(rows, gradients), (loop, same)])
    tf.nest.map_structure(partial(np.testing.assert_allclose, rtol=1e-5), found, wanted)
    # An assignment is done once for each row.
    v = tf.Variable(0.0, use_resource=True)

    def counted(row):
        with tf.control_dependencies([v.assign_add(1.0)]):
            return row * 2.0

    sess.run(v.initializer)
    sess.run(tf.vectorized_map(counted, x))
    assert sess.run(v) == 4.0


@pytest.mark.parametrize("use_resource", [True, False])
def test_vectorized_map_takes_gradients_by_what_is_outside(use_resource, sess) -> None:
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    losses = tf.reduce_sum(tf.square(v) * x, 1)
    by_row = tf.vectorized_map(lambda loss: tf.gradients(loss, v)[0], losses)
    sess.run(v.initializer)
    np.testing.assert_allclose(sess.run(by_row), [[2, 8], [6, 16], [10, 24]])


def test_in_map_fn_and_vectorized_map(sess) -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = tf.function(lambda x: tf.map_fn(squared, x))(x)
    np.testing.assert_array_equal(sess.run(y), [[1, 4], [9, 16]])
    np.testing.assert_array_equal(sess.run(tf.gradients(y, x)[0]), [[2, 4], [6, 8]])
    pair = tf.vectorized_map(lambda r: (tf.reduce_sum(r), {"i": tf.cast(r, tf.int32)}), x)
    total, rest = sess.run(pair)
    assert list(total) == [3.0, 7.0] and rest["i"].tolist() == [[1, 2], [3, 4]]


def test_in_graph_defs(sess) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    tf.identity(squared(x) + 1.0, name="y")
    message = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(message, name="")
        with tf.Session(graph=graph) as other:
            assert other.run("y:0", {"x:0": 3.0}) == 10.0
            dx = tf.gradients(graph.get_tensor_by_name("y:0"), graph.get_tensor_by_name("x:0"))
            assert other.run(dx, {"x:0": 3.0}) == [6.0]


def test_arrays_and_scans_inside(sess) -> None:
    @tf.function
    def f(x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True).unstack(x)
        array = array.write(3, x[0] * 5.0)
        doubled = tf.scan(lambda a, e: a + e, array.stack())
        parts = tf.TensorArray(tf.float32, size=2).split(doubled, [1, 3])
        return doubled, parts.concat(), array.gather([3, 0]), array.size(), parts.read(1)

    x = tf.constant([1.0, 2.0, 3.0])
    found = f(x)
    doubled, joined, picked, size, part = sess.run(found)
    assert list(doubled) == list(joined) == [1.0, 3.0, 6.0, 11.0]
    assert list(picked) == [5.0, 1.0] and size == 4 and list(part) == [3.0, 6.0, 11.0]
    assert list(sess.run(tf.gradients(found[0], x)[0])) == [9.0, 3.0, 2.0]


def test_init_scope_leaves_functions() -> None:
    outside = tf.get_default_graph()

    @tf.function
    def f():
        with tf.name_scope("some"), tf.init_scope():
            assert tf.get_default_graph() is outside
            return tf.constant(1.0, name="constant")

    f()
    assert outside.get_operation_by_name("some/constant").type == "Const"


# ---- wrap_function ------------------------------------------------------------------------------


def test_wrapped_functions(sess) -> None:
    def f(x, y):
        v = tf.get_variable("v", initializer=3.0)
        return tf.add(tf.multiply(x, v, name="product"), y, name="sum")

    spec = tf.TensorSpec([], tf.float32)
    wrapped = tf.compat.v1.wrap_function(f, [spec, spec])
    assert [v.name for v in wrapped.variables] == ["v:0"]
    product = wrapped.prune("arg0:0", "product:0")
    total = wrapped.prune(["product:0", "arg1:0"], {"total": "sum:0"})
    sess.run(tf.global_variables_initializer())
    assert sess.run(wrapped(2.0, 1.0)) == 7.0
    assert sess.run(product(5.0)) == 15.0
    assert sess.run(total(1.0, 2.0)) == {"total": 3.0}
    with pytest.raises(ValueError, match="not fed"):
        wrapped.prune("arg0:0", "sum:0")
