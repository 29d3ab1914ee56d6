"""tf.contrib.eager: iterators, functions of functions, metrics, stores of variables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution
from weft.graph import stacks

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
