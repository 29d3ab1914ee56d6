"""tf.function in eager execution: a trace for each signature, which runs as one program.

Counts of traces and values are what TensorFlow 2.21 (`tensorflow.compat.v1`, eager execution on)
gives for the same lines, where TensorFlow 1.15 does the same.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution
from weft.runtime.xla import region


@pytest.fixture(autouse=True)
def graph() -> Iterator[EagerExecution]:
    made = EagerExecution()
    with made.as_default():
        yield made


def _counted(function: Callable[..., Any]) -> tuple[Any, list[None]]:
    """A `tf.function`, and a list with one element for each run of its Python function."""
    runs: list[None] = []

    def body(*args: Any) -> Any:
        runs.append(None)
        return function(*args)

    return tf.function(body), runs


# Arguments of calls one after the other, with how often the function was traced until then, and
# the result.
_CALLS: list[tuple[Callable[[], tuple[Any, ...]], int, Any]] = [
    (lambda: (tf.constant(1.0), 2), 1, 2.0),
    (lambda: (tf.constant(2.0), 2), 1, 4.0),
    (lambda: (tf.constant([1.0]), 2), 2, [2.0]),
    (lambda: (tf.constant([1.0, 2.0]), 2), 3, [2.0, 4.0]),
    (lambda: (tf.constant(1), 2), 4, 2),
    (lambda: (tf.constant(1.0), 3), 5, 3.0),
    (lambda: (np.ones(2, np.float32), 2), 5, [2.0, 2.0]),
    (lambda: (np.full(2, 3, np.float32), 2), 5, [6.0, 6.0]),
    (lambda: (1.5, 2), 6, 3.0),
    (lambda: (1.5, 2), 6, 3.0),
    (lambda: (2.5, 2), 7, 5.0),
]


def test_a_signature_is_traced_once() -> None:
    f, runs = _counted(lambda x, y: x * y)
    for arguments, traces, result in _CALLS * 2:
        assert f(*arguments()).numpy().tolist() == result
        assert len(runs) == traces or len(runs) == 7
    assert len(runs) == 7


def test_however_arguments_are_passed() -> None:
    runs = []

    @tf.function
    def f(x: Any, *, k: int = 1) -> Any:
        runs.append(None)
        return x + k

    one = tf.constant(1)
    assert [int(f(one)), int(f(x=one)), int(f(one, k=1)), int(f(one, k=2))] == [2, 2, 2, 3]
    assert len(runs) == 2


def test_python_runs_while_tracing_only() -> None:
    seen: list[bool] = []

    @tf.function
    def f(x: Any) -> Any:
        seen.append(tf.executing_eagerly())
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
        return x + 1

    assert [int(f(tf.constant(i))) for i in range(4)] == [1, 2, 3, 4]
    assert seen == [False, True]


def test_functions_inside_are_traced_once() -> None:
    order: list[str] = []

    @tf.function
    def inner(x: Any) -> Any:
        order.append("inner")
        return x + 1

    @tf.function
    def outer(x: Any) -> Any:
        order.append("outer")
        return inner(x) * inner(x)

    assert int(outer(tf.constant(2))) == 9 and order == ["outer", "inner"]


def test_an_input_signature_allows_one_trace() -> None:
    runs = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x: Any) -> Any:
        runs.append(None)
        return x * 2

    for given in ([1.0, 2.0], np.ones(3, np.float32), tf.constant([1.0]), tf.constant([2.0, 3.0])):
        np.testing.assert_array_equal(f(given).numpy(), np.asarray(given) * 2)
    assert len(runs) == 1
    with pytest.raises(ValueError, match="incompatible with input_signature"):
        f(tf.constant([1]))
    with pytest.raises(TypeError, match="only pass arguments covered by it"):
        f(tf.constant([1.0]), 2)


def test_relaxed_shapes() -> None:
    shapes: list[Any] = []

    @tf.function(experimental_relax_shapes=True)
    def f(x: Any) -> Any:
        shapes.append(x.shape.as_list())
        return tf.reduce_sum(x)

    assert [float(f(tf.ones([n]))) for n in (1, 2, 3, 4)] == [1, 2, 3, 4]
    assert shapes == [[1], [None]]


def test_a_concrete_function() -> None:
    f = tf.function(lambda x, y: x + y)
    spec = tf.TensorSpec([None], tf.float32)
    concrete = f.get_concrete_function(spec, spec)
    assert concrete(tf.constant([1.0]), tf.constant([2.0])).numpy().tolist() == [3.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a float32 tensor"):
        concrete(tf.constant([1]), tf.constant([2]))
    with pytest.raises(TypeError):
        concrete(tf.constant([1.0]))


def test_results_in_their_structure() -> None:
    @tf.function
    def f(a: Any, b: Any) -> Any:
        return {"s": a["x"] + b[0], "t": (b[1], None)}, [3, np.ones(2)]

    found, rest = f({"x": tf.constant(1)}, [tf.constant(2), tf.constant(3)])
    assert (int(found["s"]), int(found["t"][0]), found["t"][1]) == (3, 3, None)
    assert [x.dtype for x in rest] == [tf.int32, tf.float64]
    assert tf.function(lambda x: None)(1) is None


# ---- variables ----


class _Scale:
    v: Any = None

    def __init__(self) -> None:
        self.runs = 0

    @tf.function
    def __call__(self, x: Any) -> Any:
        self.runs += 1
        if self.v is None:
            self.v = tf.Variable(tf.ones([2]) * 3.0)
        return self.v * x


def test_variables_are_made_in_the_first_call() -> None:
    scale = _Scale()
    assert scale(2.0).numpy().tolist() == [6, 6] and scale.runs == 2
    scale.v.assign([1.0, 1.0])
    assert scale(2.0).numpy().tolist() == [2, 2] and scale.runs == 2


def test_initial_values_may_depend_on_arguments() -> None:
    made: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(x * 2))
        return made[0] + x

    first, second = tf.split(tf.constant([1.0, 5.0]), 2)
    assert f(second).numpy() == 15 and f(first).numpy() == 11


def test_variables_cannot_be_made_later() -> None:
    with pytest.raises(ValueError, match="tried to create variables on non-first call"):
        tf.function(lambda x: tf.Variable(1.0) * x)(1.0)

    @tf.function
    def late(x: Any, make: bool) -> Any:
        return tf.Variable(1.0) * x if make else x * 1.0

    late(1.0, False)
    with pytest.raises(ValueError, match="Creating variables on a non-first call"):
        late(1.0, True)


def test_variables_are_taken_by_reference_and_in_order() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: Any) -> Any:
        before = v.read_value()
        v.assign_add(x)
        between = v.read_value()
        v.assign(v * 2)
        return before, between, v.read_value()

    one = tf.constant(1.0)
    assert [float(x) for x in f(one)] == [1, 2, 4]
    kept = f(one)
    assert [float(x) for x in kept] == [4, 5, 10] and v.numpy() == 10
    v.assign(0.0)
    assert [float(x) for x in f(one)] == [0, 1, 2] and [float(x) for x in kept] == [4, 5, 10]


def test_large_variables_of_which_results_are_kept() -> None:
    v = tf.Variable(tf.zeros([300, 300]))

    @tf.function
    def f() -> Any:
        v.assign_add(tf.ones([300, 300]))
        return v.read_value()

    kept = [f() for _ in range(6)]
    assert [float(x[7, 7]) for x in kept] == [1, 2, 3, 4, 5, 6]
    value = v.read_value()
    f()
    assert float(value[0, 0]) == 6 and v.numpy()[0, 0] == 7


def test_another_variable_is_another_trace() -> None:
    f, runs = _counted(lambda v: v * 2)
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    assert [float(f(a)), float(f(b)), float(f(a))] == [2, 4, 2]
    a.assign(5.0)
    assert float(f(a)) == 10 and len(runs) == 2


def test_other_variables_do_not_compile_it_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    build = region.Region._build
    noted = lambda self, *args: built.append(None) or build(self, *args)  # type: ignore[func-returns-value]  # noqa: E731
    monkeypatch.setattr(region.Region, "_build", noted)
    v = tf.Variable(tf.ones([200, 200]))
    f = tf.function(lambda x: v.assign_add(tf.matmul(v, x)))
    x = tf.zeros([200, 200])
    for _ in range(3):
        f(x)
    count = len(built)
    for _ in range(5):
        tf.Variable(tf.ones([3]))
        gc.collect()
        f(x)
    assert count and len(built) == count
    np.testing.assert_array_equal(v.numpy(), np.ones([200, 200]))


# ---- gradients ----


def test_gradients_by_arguments_variables_and_captured_tensors() -> None:
    c, v, big = tf.constant(3.0), tf.Variable(2.0), tf.ones([200])
    f = tf.function(lambda x: x * c * v * tf.reduce_sum(big))
    x = tf.constant(1.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch([c, big, x])
            y = f(x)
        found = tape.gradient(y, [c, v, big, x])
        assert [float(np.ravel(g.numpy())[0]) for g in found] == [400, 600, 6, 1200]


def _derivatives(f: Callable[[Any], Any], x: Any, orders: int) -> list[float]:
    """f(x) and its derivatives, each by a tape of its own."""
    if not orders:
        return [f(x)]
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = _derivatives(f, x, orders - 1)
    return [*found, tape.gradient(found[-1], x)]


def test_gradients_of_gradients() -> None:
    f = tf.function(lambda x: tf.sigmoid(x) * x * x)
    for _ in range(3):
        found = [float(d) for d in _derivatives(f, tf.constant(0.5), 3)]
        np.testing.assert_allclose(found, [0.15561, 0.68121, 1.70054, 1.21326], atol=2e-5)


def test_a_persistent_tape_differentiates_its_own_gradients() -> None:
    f, x = tf.function(lambda x: tf.exp(x) * x), tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first = tape.gradient(f(x), x)
    np.testing.assert_allclose(float(tape.gradient(first, x)), 3 * np.e, rtol=1e-5)


def test_only_who_asks_for_a_gradient_is_told_that_there_is_none() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.fake_quant_with_min_max_args_gradient(x, x) * x

    x = tf.constant([3.0])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert y.numpy().tolist() == [9.0]
        with pytest.raises(LookupError, match="No gradient defined for operation"):
            tape.gradient(y, x)


def test_gradients_of_rows() -> None:
    v = tf.Variable(np.ones([4, 2], np.float32))
    f = tf.function(lambda i: tf.reduce_sum(tf.gather(v, i)))
    with tf.GradientTape() as tape:
        y = f(tf.constant([1, 1]))
    found = tape.gradient(y, v)
    assert isinstance(found, tf.IndexedSlices)
    expected = [[0, 0], [2, 2], [0, 0], [0, 0]]
    assert tf.convert_to_tensor(found).numpy().tolist() == expected


def test_nothing_is_drawn_or_done_twice() -> None:
    count = tf.Variable(0.0)

    @tf.function
    def f(x: Any) -> Any:
        count.assign_add(1.0)
        return tf.nn.dropout(x, keep_prob=0.5)

    x = tf.ones([40])
    for i in range(3):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            found = tape.gradient(y, x)
        np.testing.assert_array_equal(y.numpy(), found.numpy())
        assert count.numpy() == i + 1


def test_outputs_without_gradients() -> None:
    f = tf.function(lambda x: (tf.cast(x, tf.int32), x * x, tf.argmax([x, x])))
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        whole, square, _ = f(x)
        y = square + tf.cast(whole, tf.float32)
    assert float(tape.gradient(y, x)) == 6


def test_functions_without_gradients() -> None:
    """None goes on from such a call; what is beside it has its gradient."""
    whole = tf.function(lambda x: (tf.round(x), tf.sign(x) > 0))
    x = tf.constant([1.25, -2.5])
    for _ in range(3):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, _ = whole(x)
            z = tf.reduce_sum(y * x)
        assert tape.gradient(y, x) is None
        assert tape.gradient(z, x).numpy().tolist() == [1.0, -2.0]
        assert tape.gradient(z, y).numpy().tolist() == [1.25, -2.5]


def test_gradients_of_loops_branches_and_own_rules() -> None:
    @tf.custom_gradient
    def steep(x: Any) -> Any:
        return x * 2, lambda d: d * 100.0

    @tf.function
    def f(x: Any, n: Any) -> Any:
        y = steep(x)
        while n > 0:
            y = y * x
            n -= 1
        if y > 0:
            y = y * 3.0
        return y

    x = tf.constant(2.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(3))
        # y = 3 s x^3 with s = 2x and a slope of 100 for s
        assert float(y) == 96 and float(tape.gradient(y, x)) == 3 * (100 * 8 + 4 * 3 * 4)


def test_a_tape_inside() -> None:
    v = tf.Variable(3.0)

    @tf.function
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = v * v * x
        slope = tape.gradient(y, v)
        v.assign_sub(0.1 * slope)
        return y, slope

    found = [[float(x) for x in f(tf.constant(1.0))] for _ in range(2)]
    np.testing.assert_allclose(found, [[9, 6], [5.76, 4.8]], rtol=1e-6)
    np.testing.assert_allclose(v.numpy(), 1.92, rtol=1e-6)


def test_optimizers_inside_and_outside() -> None:
    expected = [0.7016, 1.7006]
    inside, outside = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])
    optimizers = [tf.train.AdamOptimizer(0.1) for _ in range(2)]

    @tf.function
    def step() -> None:
        optimizers[0].minimize(lambda: tf.reduce_sum(inside * inside))

    loss = tf.function(lambda: tf.reduce_sum(outside * outside))
    for _ in range(3):
        step()
        optimizers[1].minimize(loss)
    np.testing.assert_allclose(inside.numpy(), expected, atol=1e-4)
    np.testing.assert_allclose(outside.numpy(), expected, atol=1e-4)


# ---- what else a body may do ----


def test_control_flow_depends_on_tensors() -> None:
    @tf.function
    def steps(n: Any) -> Any:
        count = 0
        while n > 1:
            if n % 2 > 0:
                n = 3 * n + 1
            else:
                n = n // 2
            count += 1
        return count

    assert int(steps(tf.constant(27))) == int(steps(27)) == 111


def test_datasets_python_functions_text_and_sparse_tensors() -> None:
    @tf.function
    def total(dataset: Any) -> Any:
        found = tf.constant(0, tf.int64)
        for x in dataset:
            found += x
        return found

    assert int(total(tf.data.Dataset.range(5).map(lambda x: x * 2))) == 20
    double = tf.function(lambda x: tf.py_function(lambda a: a.numpy() * 2, [x], tf.float32))
    assert [float(double(tf.constant(x))) for x in (2.0, 4.0)] == [4, 8]
    joined = tf.function(lambda x: tf.strings.join([x, "b"]))
    assert joined(tf.constant("a")).numpy() == b"ab" and joined("c").numpy() == b"cb"
    rows = tf.function(lambda x: (tf.sparse.reduce_sum(x), x))
    whole, same = rows(tf.SparseTensor([[0, 1]], [2.0], [2, 2]))
    assert float(whole) == 2 and isinstance(same, tf.SparseTensor)


def test_draws_go_on_and_start_again_with_the_seed() -> None:
    f = tf.function(lambda: tf.random_uniform([1], seed=3)[0])
    expected = [0.4010878801345825, 0.7061948776245117]
    for _ in range(2):
        tf.set_random_seed(7)
        np.testing.assert_allclose([float(f()), float(f())], expected, rtol=1e-6)


# What fails, its class, and a part of the message.
_FAILURES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "ids": (
        lambda: tf.function(tf.gather)(tf.constant([1.0, 2.0]), tf.constant(5)),
        tf.errors.InvalidArgumentError, r"indices = 5 is not in \[0, 2\)[^$]*\[Op:__inference_",
    ),
    "assertion": (
        lambda: tf.function(lambda x: [tf.Assert(x > 5, ["too small", x]), x][1])(tf.constant(1)),
        tf.errors.InvalidArgumentError, r"assertion failed: \[too small\] \[1\]",
    ),
    "shapes": (
        lambda: tf.function(lambda x: tf.reshape(x, [3]))(tf.constant([1.0, 2.0])),
        ValueError, "Cannot reshape a tensor with 2 elements",
    ),
    "python": (lambda: tf.function(lambda x: {}[x])("mine"), KeyError, "mine"),
}  # fmt: skip


@pytest.mark.parametrize("name", _FAILURES)
def test_errors(name: str) -> None:
    call, kind, message = _FAILURES[name]
    for _ in range(2):
        with pytest.raises(kind, match=message):
            call()


def test_the_end_of_an_iterator() -> None:
    elements = iter(tf.data.Dataset.range(1))
    f = tf.function(lambda: next(elements))
    assert int(f()) == 0
    with pytest.raises(tf.errors.OutOfRangeError):
        f()


def test_run_eagerly_is_python() -> None:
    f, runs = _counted(lambda x: x + 1)
    tf.config.experimental_run_functions_eagerly(True)
    try:
        assert [int(f(tf.constant(i))) for i in range(3)] == [1, 2, 3] and len(runs) == 3
    finally:
        tf.config.experimental_run_functions_eagerly(False)


def test_threads_share_traces(graph: EagerExecution) -> None:
    v = tf.Variable(0.0)
    f, runs = _counted(lambda x: v.assign_add(x) + tf.reduce_sum(tf.ones([64, 64])) * 0.0)

    def call() -> None:
        with graph.as_default():
            for _ in range(20):
                f(tf.constant(1.0))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(runs) == 1 and v.numpy() == 80


@pytest.mark.parametrize("index, wanted", [(0, 2.0), (1, 3.0), (2, 8.0), (7, 8.0)])
def test_switches_that_wait_for_each_other(index: int, wanted: float) -> None:
    """Of several branches, the later ones are chosen inside of the first choice."""

    @tf.function
    def slope(x: Any, index: Any) -> Any:
        y = tf.switch_case(index, [lambda: x * 2.0, lambda: x * 3.0, lambda: x * x])
        return tf.gradients(y, x)[0]

    assert slope(tf.constant(4.0), tf.constant(index)).numpy() == wanted
