"""`run_eagerly`, dynamic layers, and Python that acts in models of eager execution."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution

keras = tf.keras
layers = keras.layers

X = np.linspace(-1, 1, 48, dtype=np.float32).reshape(16, 3)
Y = X.sum(1, keepdims=True)


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with EagerExecution().as_default():
        yield


def trained(optimizer: Callable, run_eagerly: bool) -> list[np.ndarray]:
    model = keras.Sequential(
        [
            layers.Dense(4, "relu", kernel_initializer="ones", kernel_regularizer="l2"),
            layers.BatchNormalization(),
            layers.Dense(1, kernel_initializer="ones", activity_regularizer="l1"),
        ]
    )
    model.compile(
        optimizer(), "mse", metrics=["mae"], weighted_metrics=["mse"], run_eagerly=run_eagerly
    )
    ran = model.fit(
        X, Y, 6, 2, verbose=0, shuffle=False, validation_data=(X[:9], Y[:9]),
        sample_weight=np.linspace(0, 1, 16),
    )  # fmt: skip
    numbers = [ran.history[key] for key in sorted(ran.history)]
    numbers += [model.evaluate(X, Y, verbose=0), model.predict(X), model.train_on_batch(X, Y)]
    return [*numbers, model.predict_on_batch(X[:2]), *model.get_weights()]


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: keras.optimizers.SGD(0.1, momentum=0.9, clipnorm=0.5),
        lambda: tf.train.AdamOptimizer(),
    ],
)
def test_the_numbers_are_those_of_a_graph(optimizer) -> None:
    for a, b in zip(trained(optimizer, True), trained(optimizer, False), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


def test_python_runs_for_every_batch_and_can_be_turned_off() -> None:
    seen = []

    class Noted(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(1)

        def call(self, inputs, training=None):
            seen.append((type(inputs).__name__, training))
            return self.dense(inputs)

    model = Noted()
    model.compile("sgd", "mse", run_eagerly=True)
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0)
    model.predict(X)
    assert seen[1:] == [("EagerTensor", True)] * 4 + [("EagerTensor", False)]
    model.run_eagerly = False
    model.fit(X, Y, verbose=0)
    assert len(seen) == 6


def test_several_outputs_and_datasets() -> None:
    inputs = keras.Input((3,), name="x")
    outputs = [layers.Dense(1, name=name)(inputs) for name in ("a", "b")]
    model = keras.Model(inputs, outputs)
    model.compile(
        "sgd", {"a": "mse", "b": "mae"}, {"a": ["mae"]}, {"a": 1.0, "b": 0.5}, run_eagerly=True
    )
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, (Y, Y))).batch(8)
    history = model.fit(data, epochs=2, verbose=0).history
    assert set(history) == {"loss", "a_loss", "b_loss", "a_mean_absolute_error"}
    total = np.add(history["a_loss"], np.multiply(history["b_loss"], 0.5))
    np.testing.assert_allclose(history["loss"], total, rtol=1e-5)


class Choosy(layers.Layer):
    """Python decides by the value."""

    def __init__(self) -> None:
        super().__init__(dynamic=True)

    def build(self, input_shape) -> None:
        self.w = self.add_weight("w", (3, 1), initializer="ones")

    def call(self, inputs):
        product = tf.matmul(inputs, self.w)
        return product if float(tf.reduce_sum(inputs)) > 0 else -product

    def compute_output_shape(self, input_shape):
        return (input_shape[0], 1)


def functional() -> keras.Model:
    inputs = keras.Input((3,))
    return keras.Model(inputs, Choosy()(inputs))


@pytest.mark.parametrize("make", [functional, lambda: keras.Sequential([Choosy()])])
def test_dynamic_layers(make) -> None:
    model = make()
    model.compile("sgd", "mse")
    assert model.run_eagerly and model.dynamic
    assert len(model.fit(X, Y, epochs=2, verbose=0).history["loss"]) == 2
    model.set_weights([np.ones((3, 1))])
    np.testing.assert_allclose(model.predict(X[:2]), -Y[:2], rtol=1e-5)
    np.testing.assert_allclose(model.predict(X[-2:]), Y[-2:], rtol=1e-5)
    with pytest.raises(ValueError, match="cannot set `run_eagerly=False`"):
        model.compile("sgd", "mse", run_eagerly=False)


def test_a_dynamic_model_need_not_say_what_it_gives() -> None:
    class Dynamic(keras.Model):
        def __init__(self) -> None:
            super().__init__(dynamic=True)
            self.dense = layers.Dense(1)

        def call(self, inputs):
            return self.dense(inputs) if inputs.numpy().any() else inputs

    model = Dynamic()
    model.compile("sgd", "mse", metrics=["mae"])
    assert set(model.fit(X, Y, verbose=0).history) == {"loss", "mean_absolute_error"}
    assert model.predict(X).shape == (16, 1)


def test_dynamic_layers_need_eager_execution() -> None:
    with tf.Graph().as_default():
        model = functional()
        with pytest.raises(ValueError, match="must enable eager execution"):
            model.compile("sgd", "mse")


def test_effects_and_the_learning_phase_in_call() -> None:
    class Counts(layers.Layer):
        def build(self, input_shape) -> None:
            self.count = self.add_weight("count", (), initializer="zeros", trainable=False)

        def call(self, inputs, training=None):
            if training:
                step = 1.0
            else:
                step = 0.0
            self.count.assign_add(step)
            return inputs * (1.0 + step)

    layer = Counts()
    model = keras.Sequential([keras.Input((3,)), layer])
    model.compile("sgd", "mse")
    for _ in range(2):
        model.train_on_batch(X, X)
    np.testing.assert_array_equal(model.predict(X), X)
    assert layer.count.numpy() == 2.0


def test_a_loss_in_a_branch_is_refused() -> None:
    class Branches(layers.Layer):
        def call(self, inputs, training=None):
            if training:
                self.add_loss(tf.reduce_sum(inputs))
            return inputs

    with pytest.raises(RuntimeError, match="`add_loss` in a control flow branch"):
        Branches()(keras.Input((3,)))


def test_building_by_shape() -> None:
    model = keras.Sequential([layers.Dense(2), layers.Dense(1)])
    model.build((None, 3))
    assert [w.shape.as_list() for w in model.weights] == [[3, 2], [2], [2, 1], [1]]

    class Twice(layers.Layer):
        def call(self, inputs):
            return tf.concat([inputs, inputs], -1)

    assert Twice().compute_output_shape((None, 4)).as_list() == [None, 8]


def test_minimizing_a_function_of_variables_of_one_name() -> None:
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([[1.0, 2.0, 3.0]])
    optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
    optimizer.minimize(lambda: tf.reduce_sum(a * a) + tf.reduce_sum(b * b), [a, b])
    np.testing.assert_allclose(a.numpy(), [0.8, 1.6], rtol=1e-6)
    np.testing.assert_allclose(b.numpy(), [[0.8, 1.6, 2.4]], rtol=1e-6)
    assert [w.shape.as_list() for w in optimizer.weights] == [[], [2], [1, 3]]


def test_crossentropies_of_values() -> None:
    logits = tf.constant([[1.0, 2.0]])
    wanted = np.log(1 + np.exp(-1.0))
    for found in (
        keras.backend.categorical_crossentropy(tf.constant([[0.0, 1.0]]), tf.nn.softmax(logits)),
        keras.backend.sparse_categorical_crossentropy(tf.constant([1]), tf.nn.softmax(logits)),
        keras.backend.binary_crossentropy(tf.constant([1.0]), tf.sigmoid(tf.constant([1.0]))),
    ):
        np.testing.assert_allclose(found.numpy(), [wanted], rtol=1e-5)


@pytest.mark.parametrize("run_eagerly", [True, False])
def test_features_with_a_vocabulary(run_eagerly) -> None:
    column = tf.feature_column.categorical_column_with_vocabulary_list("t", ["a", "b"])
    features = layers.DenseFeatures([tf.feature_column.indicator_column(column)])
    model = keras.Sequential([features, layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse", run_eagerly=run_eagerly)
    x = {"t": np.array([["a"], ["b"], ["?"]])}
    model.fit(x, np.ones(3), verbose=0)
    model.layers[1].set_weights([np.array([[2.0], [3.0]]), np.zeros(1)])
    np.testing.assert_array_equal(model.predict(x), [[2], [3], [0]])


def test_a_checkpoint_read_before_the_model_is_built(tmp_path) -> None:
    made = keras.Sequential([layers.Dense(2, bias_initializer="ones")])
    made(tf.constant(X))
    made.save_weights(str(tmp_path / "w"))
    for run_eagerly in (True, False):
        late = keras.Sequential([layers.Dense(2)])
        late.compile("sgd", "mse", run_eagerly=run_eagerly)
        late.load_weights(str(tmp_path / "w"))
        np.testing.assert_allclose(late.predict(X), made.predict(X), rtol=1e-6)


def test_the_state_of_the_optimizer_is_saved_and_read(tmp_path) -> None:
    model = keras.Sequential([layers.Dense(1, input_shape=(3,))])
    model.compile("adam", "mse", run_eagerly=True)
    model.train_on_batch(X, Y)
    model.save(str(tmp_path / "model.h5"))
    read = keras.models.load_model(str(tmp_path / "model.h5"))
    read.run_eagerly = True
    for a, b in zip(read.optimizer.get_weights(), model.optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert read.train_on_batch(X, Y) == pytest.approx(model.train_on_batch(X, Y))
    np.testing.assert_allclose(read.get_weights()[0], model.get_weights()[0], rtol=1e-5)


def test_frozen_averages_stay() -> None:
    class Normalizes(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.dense = layers.BatchNormalization(), layers.Dense(1)

        def call(self, inputs, training=None):
            return self.dense(self.norm(inputs, training=training))

    for run_eagerly in (True, False):
        model = Normalizes()
        model.norm.trainable = False
        model.compile("sgd", "mse", run_eagerly=run_eagerly)
        model.fit(X, Y, verbose=0)
        np.testing.assert_array_equal(model.norm.moving_mean.numpy(), np.zeros(3))
        model.norm.trainable = True
        model.compile("sgd", "mse", run_eagerly=run_eagerly)
        model.fit(X + 1, Y, verbose=0)
        assert (model.norm.moving_mean.numpy() > 0).all()
