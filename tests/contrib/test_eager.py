"""tf.contrib.eager: iterators, functions of functions, metrics, stores of variables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution
from weft.graph import stacks
from weft.lib.contrib.eager.modes import eager_mode

tfe = tf.contrib.eager


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with EagerExecution().as_default():
        yield


def test_iterator() -> None:
    iterator = tfe.Iterator(tf.data.Dataset.range(4).map(lambda x: x * x))
    assert [int(x) for x in iterator] == [0, 1, 4, 9]
    assert tfe.Iterator(tf.data.Dataset.range(4)).next().numpy() == 0
    assert iterator.output_types is tf.int64


def test_an_iterators_place_is_saved(tmp_path: Path) -> None:
    data = tf.data.Dataset.range(6)
    iterator = tfe.Iterator(data)
    next(iterator), next(iterator)
    path = tfe.Checkpoint(iterator=iterator).save(str(tmp_path / "at"))
    other = tfe.Iterator(data)
    tfe.Checkpoint(iterator=other).restore(path)
    assert int(next(other)) == 2


def test_implicit_gradients() -> None:
    w = tfe.Variable(3.0, name="w")
    b = tfe.Variable(1.0, name="b")

    def loss(x: float) -> tf.Tensor:
        return (w * x + b) ** 2

    value, found = tfe.implicit_value_and_gradients(loss)(2.0)
    assert float(value) == 49.0
    assert [(float(g), v) for g, v in found] == [(28.0, w), (14.0, b)]
    assert [float(g) for g, _ in tfe.implicit_gradients(loss)(2.0)] == [28.0, 14.0]
    optimizer = tf.train.GradientDescentOptimizer(0.01)
    optimizer.apply_gradients(tfe.implicit_gradients(loss)(2.0))
    np.testing.assert_allclose(w.numpy(), 3 - 0.28, rtol=1e-6)
    with pytest.raises(ValueError, match="No trainable variables"):
        tfe.implicit_gradients(lambda x: tf.square(x))(2.0)


def test_gradients_function() -> None:
    def f(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return x * x * y

    assert [float(g) for g in tfe.gradients_function(f)(3.0, 2.0)] == [12.0, 9.0]
    value, (by_y,) = tfe.value_and_gradients_function(f, params=["y"])(3.0, 2.0)
    assert (float(value), float(by_y)) == (18.0, 9.0)
    second = tfe.gradients_function(lambda x: tfe.gradients_function(lambda z: z**3)(x)[0])
    assert float(second(2.0)[0]) == 12.0
    value, vjp = tfe.make_vjp(f)(3.0, 2.0)
    assert [float(g) for g in vjp(2.0)] == [24.0, 18.0]


def test_metrics() -> None:
    mean = tfe.metrics.Mean("loss")
    mean([1.0, 2.0])
    mean(6.0)
    assert float(mean.result()) == 3.0 and mean.result().dtype is tf.float64
    mean.init_variables()
    mean([1.0, 3.0], weights=[1.0, 3.0])
    assert float(mean.result()) == 2.5
    accuracy = tfe.metrics.Accuracy()
    accuracy([1, 2, 3, 4], [1, 2, 0, 4])
    assert float(accuracy.result()) == 0.75
    sparse = tfe.metrics.SparseAccuracy()
    sparse(tf.constant([0, 1]), tf.constant([[0.9, 0.1], [0.8, 0.2]]))
    assert float(sparse.result()) == 0.5
    binary = tfe.metrics.BinaryAccuracy(0.5)
    binary(tf.constant([1.0, 0.0, 1.0, 1.0]), tf.constant([0.7, 0.2, 0.1, 0.9]))
    assert float(binary.result()) == 0.75
    categorical = tfe.metrics.CategoricalAccuracy()
    categorical(tf.constant([[0, 1], [1, 0]]), tf.constant([[0.1, 0.9], [0.2, 0.8]]))
    assert float(categorical.result()) == 0.5


def test_what_metrics_return_and_start_from() -> None:
    mean = tfe.metrics.Mean()
    assert float(mean([1.0, 2.0])) == 3.0
    values, weights = mean([1.0, 3.0], weights=[2, 0])
    assert values.numpy().tolist() == [2.0, 0.0] and weights.dtype is tf.float64
    labels, found = tfe.metrics.BinaryAccuracy(0.5)(tf.constant([0.4, 0.0]), [0.6, 0.7])
    assert labels.numpy().tolist() == [True, False] and found.numpy().tolist() == [True, True]
    other = tfe.metrics.Mean()
    other(9.0)
    mean.aggregate([other, other])
    assert float(mean.result()) == (3 + 2 + 9 + 9) / 6
    assert float(mean.value()()) == float(mean.result())
    with pytest.raises(TypeError, match="All metrics must be the same type"):
        mean.aggregate([tfe.metrics.Accuracy()])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of labels and predictions"):
        tfe.metrics.CategoricalAccuracy()([[0, 1]], [[0.1, 0.9], [0.2, 0.8]])

    class Highest(tfe.metrics.Metric):
        def build(self, value: float) -> None:
            self.most = self.add_variable("most", (), tf.float32, tf.constant_initializer(5.0))

        def call(self, value: float) -> None:
            self.most.assign(tf.maximum(self.most.read_value(), value))

    highest = Highest()
    highest(7.0)
    highest.init_variables()
    assert float(highest.most) == 5.0


def test_metrics_of_a_graph_are_updated_by_what_they_return() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.int32, [None])
        accuracy = tfe.metrics.Accuracy()
        labels, _ = accuracy(fed, [1, 2, 3, 4])
        result = accuracy.value()
        assert tf.get_collection(tf.GraphKeys.METRIC_VARIABLES) == accuracy.variables
        session.run(accuracy.init_variables())
        session.run(labels, {fed: [1, 2, 0, 0]})
        session.run(labels, {fed: [1, 2, 3, 4]})
        assert session.run(result) == 0.75


def test_variable_store() -> None:
    store = tfe.EagerVariableStore()
    with store.as_default():
        first = tf.layers.dense(tf.ones([1, 3]), 2, name="dense")
        again = tf.layers.dense(tf.ones([1, 3]), 2, name="dense", reuse=True)
    assert first.numpy().tolist() == again.numpy().tolist()
    assert [v.name for v in store.trainable_variables()] == ["dense/bias:0", "dense/kernel:0"]
    assert not store.non_trainable_variables()
    copied = store.copy()
    copied.variables()[0].assign([5.0, 5.0])
    assert store.variables()[0].numpy().tolist() == [0.0, 0.0]


def test_saver_and_restore_on_create(tmp_path: Path) -> None:
    v = tfe.Variable([1.0, 2.0], name="v")
    path = tfe.Saver([v]).save(str(tmp_path / "v"))
    with tfe.restore_variables_on_create(path):
        assert tfe.Variable([0.0, 0.0], name="v").numpy().tolist() == [1.0, 2.0]
        with pytest.raises(tf.errors.NotFoundError):
            tfe.Variable(0.0, name="w")


def test_tests_run_in_both_modes() -> None:
    seen = []

    class Both(tf.test.TestCase):
        @tfe.run_test_in_graph_and_eager_modes
        def test_something(self) -> None:
            seen.append(tf.executing_eagerly())
            assert self.evaluate(tf.constant(1) + 1) == 2

    waiting, stacks.graphs.items = stacks.graphs.items, []  # tests begin with none
    try:
        result = Both("test_something").run()
    finally:
        stacks.graphs.items = waiting
    assert result is not None and result.wasSuccessful(), result.failures + result.errors
    assert seen == [False, True]


def test_functions_and_devices() -> None:
    assert float(tfe.defun(lambda x: x * 2)(tf.constant(2.0))) == 4.0
    assert tfe.num_gpus() >= 0
    assert any("CPU:0" in name for name in tfe.list_devices())


def test_a_network_tracks_its_layers() -> None:
    class Two(tf.contrib.eager.Network):
        def __init__(self) -> None:
            super().__init__()
            self.first = self.track_layer(tf.layers.Dense(3, use_bias=False))
            self.rest = [self.track_layer(tf.layers.Dense(1)) for _ in range(2)]

        def call(self, x: tf.Tensor) -> tf.Tensor:
            return self.rest[1](self.first(x)) + self.rest[0](self.first(x))

    net = Two()
    gradient = tf.contrib.eager.implicit_gradients(lambda x: tf.reduce_sum(net(x)))
    found = gradient(tf.ones([2, 4]))
    assert len(net.layers) == 3 and len(net.variables) == len(found) == 5
    with pytest.raises(TypeError, match=r"not a tf\.layers\.Layer"):
        net.track_layer("dense")
    with pytest.raises(ValueError, match="Forward slashes"):
        tf.contrib.eager.Network("a/b")


def test_wrong_uses() -> None:
    with tf.Graph().as_default():
        with pytest.raises(RuntimeError, match=r"Use tf\.train\.Saver when building graphs"):
            tfe.Saver([])
        with pytest.raises(ValueError, match="can only be used with eager execution enabled"):
            with tfe.restore_variables_on_create("x"):
                pass
    with pytest.raises(ValueError, match="map_func must be callable"):
        with tfe.restore_variables_on_create("x", map_func="y"):  # type: ignore[arg-type]
            pass

    def nothing(x: float) -> None:
        del x

    for make in (tfe.implicit_gradients, tfe.gradients_function, tfe.make_vjp):
        with pytest.raises(ValueError, match="did you forget to return a value from nothing"):
            make(nothing)(1.0)
    with pytest.raises(ValueError, match="accessed while the function was being computed"):
        tfe.implicit_gradients(lambda: tf.constant(1.0))()
    with pytest.raises(ValueError, match=r"all strings or all integers; got \[0, 'x'\]"):
        tfe.gradients_function(lambda x, y: x, params=[0, "x"])


def test_a_template_keeps_its_variables() -> None:
    def scaled(x: Any) -> Any:
        return x * tf.get_variable("w", [], initializer=tf.ones_initializer())

    def nested(x: Any) -> Any:
        inner = tf.make_template("inner", scaled)
        return inner(x) + scaled(x)

    with eager_mode():
        one = tf.make_template("scaled", scaled, create_scope_now_=True)
        two = tf.make_template("scaled", nested)
        assert float(one(2.0)) == float(one(2.0)) == 2.0 and float(two(2.0)) == 4.0
        assert [v.name for v in one.variables] == ["scaled/w:0"] == [v.name for v in one.weights]
        assert [v.name for v in two.trainable_variables] == [
            "scaled_1/inner/w:0",
            "scaled_1/w:0",
        ]
        assert one.variables[0] in tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)
        assert not one.non_trainable_variables and not one.local_variables
        with pytest.raises(ValueError, match="unique_name_ cannot be used when eager"):
            tf.make_template("a", scaled, unique_name_="b")


def test_a_template_of_eager_execution_in_a_function() -> None:
    def line(x: Any) -> Any:
        ones = tf.ones_initializer()
        slope = tf.get_variable("a", [], initializer=ones)
        return x * slope + tf.get_variable("b", [], initializer=ones)

    with eager_mode():
        scope = tf.VariableScope(None)
        assert scope.use_resource is True and scope.reuse is tf.AUTO_REUSE
        made = tf.make_template("line", line, create_scope_now_=True)
        function = tfe.defun(made)
        assert [float(function(x)) for x in (tf.constant(2.0), tf.constant(3.0))] == [3.0, 4.0]
        assert [v.name for v in made.variables] == ["line/a:0", "line/b:0"]
    with tf.Graph().as_default():
        assert tf.VariableScope(None).use_resource is None


def test_a_template_that_makes_more_variables_later() -> None:
    names = iter("ab")
    with eager_mode():
        made = tf.make_template("more", lambda: tf.get_variable(next(names), []))
        made()
        with pytest.raises(ValueError, match="created when calling a template after the first"):
            made()


def test_losses_of_regularizers_are_collected() -> None:
    with eager_mode():
        tf.get_variable("w", [2], regularizer=tf.nn.l2_loss)
        assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 1
