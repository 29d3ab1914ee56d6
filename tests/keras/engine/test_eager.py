"""Models in eager execution: called on values, and trained in a graph beside the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution

keras = tf.keras
layers = keras.layers

X = np.linspace(-1, 1, 60, dtype=np.float32).reshape(20, 3)
Y = X.sum(1, keepdims=True)


@pytest.fixture
def eager() -> Iterator[None]:
    with EagerExecution().as_default():
        yield


def stack(deferred: bool = False) -> tf.keras.Sequential:
    first = {} if deferred else {"input_shape": (3,)}
    return keras.Sequential(
        [
            layers.Dense(4, "relu", kernel_initializer="ones", kernel_regularizer="l2", **first),
            layers.BatchNormalization(),
            layers.Dense(1, kernel_initializer="ones"),
        ]
    )


def trained(optimizer: Callable, deferred: bool) -> list[np.ndarray]:
    model = stack(deferred)
    model.compile(optimizer(), "mse", metrics=["mae"])
    ran = model.fit(X, Y, 8, 2, verbose=0, shuffle=False, validation_data=(X[:9], Y[:9]))
    numbers = [ran.history[key] for key in sorted(ran.history)]
    return [*numbers, model.evaluate(X, Y, verbose=0), model.predict(X), *model.get_weights()]


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: "adam",
        lambda: keras.optimizers.SGD(0.01, momentum=0.9),
        lambda: tf.train.AdamOptimizer(),
    ],
)
def test_training_is_that_of_a_graph(optimizer, deferred) -> None:
    with tf.Graph().as_default():
        expected = trained(optimizer, deferred)
    with EagerExecution().as_default():
        found = trained(optimizer, deferred)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


@pytest.mark.usefixtures("eager")
def test_models_are_functions_of_values() -> None:
    inputs = keras.Input((3,))
    model = keras.Model(inputs, stack()(tf.square(inputs) + 1.0))
    value = model(tf.constant(X))
    np.testing.assert_allclose(value.numpy(), model.predict(X), rtol=1e-5)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.constant(X), training=True)) + sum(model.losses)
    grads = tape.gradient(loss, model.trainable_variables)
    assert [g.shape for g in grads] == [v.shape for v in model.trainable_variables]
    keras.optimizers.SGD(0.1).apply_gradients(zip(grads, model.trainable_variables, strict=True))
    assert not np.allclose(model(tf.constant(X)).numpy(), value.numpy())


@pytest.mark.usefixtures("eager")
def test_losses_are_those_of_the_latest_call() -> None:
    layer = layers.Dense(2, activity_regularizer="l2")
    outer = keras.Sequential([layer])
    for _ in range(3):
        outer(tf.ones([1, 3]))
    assert len(outer.losses) == 1 and outer.updates == []


@pytest.mark.usefixtures("eager")
def test_datasets_and_batches() -> None:
    model = keras.Sequential([layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)
    losses = model.fit(data, epochs=3, validation_data=data, verbose=0).history
    model.set_weights([np.zeros_like(weight) for weight in model.get_weights()])
    of_arrays = model.fit(X, Y, 8, 3, verbose=0, shuffle=False).history
    # Batches of a dataset count by their rows in training, alike in validation.
    np.testing.assert_allclose(losses["loss"], of_arrays["loss"], rtol=1e-5)
    means = [model.test_on_batch(X[i : i + 8], Y[i : i + 8]) for i in (0, 8, 16)]
    assert losses["val_loss"][2] == pytest.approx(np.mean(means), rel=1e-5)
    again = model.fit(data.repeat(), epochs=2, steps_per_epoch=2, verbose=0)
    assert len(again.history["loss"]) == 2
    assert model.predict(data).shape == (20, 1)
    batch = model.test_on_batch(tf.constant(X), tf.constant(Y))
    assert isinstance(batch, np.floating)
    assert model.evaluate(tf.constant(X), tf.constant(Y), 20, verbose=0) == pytest.approx(batch)
    ended = model.fit(data, epochs=2, steps_per_epoch=5, verbose=0)
    assert len(ended.history["loss"]) == 1


@pytest.mark.usefixtures("eager")
def test_dropout_differs_from_step_to_step() -> None:
    model = keras.Sequential([layers.Dropout(0.5, input_shape=(40,))])
    model.compile("sgd", "mse")
    ones = np.ones((1, 40), np.float32)
    assert model.test_on_batch(ones, ones) == 0.0
    assert (model.predict(ones) == 1).all()
    model.add(layers.Dense(1, kernel_initializer="glorot_uniform"))
    model.compile(keras.optimizers.SGD(0.0), "mse")
    assert len({float(model.train_on_batch(ones, ones[:, :1])) for _ in range(4)}) > 1


@pytest.mark.usefixtures("eager")
def test_weights_in_a_checkpoint(tmp_path) -> None:
    first, second, late = stack(), stack(), stack(deferred=True)
    first.set_weights([np.full(w.shape, i + 1.0) for i, w in enumerate(first.get_weights())])
    first.save_weights(str(tmp_path / "weights"))
    second.load_weights(str(tmp_path / "weights"))
    late.load_weights(str(tmp_path / "weights"))
    np.testing.assert_array_equal(second.predict(X), first.predict(X))
    np.testing.assert_array_equal(late(tf.constant(X)).numpy(), first(tf.constant(X)).numpy())


@pytest.mark.usefixtures("eager")
def test_metrics_take_values() -> None:
    class Largest(keras.metrics.Metric):
        def __init__(self) -> None:
            super().__init__()
            self.most = self.add_weight("most", initializer="zeros")

        def update_state(self, value, sample_weight=None):
            self.most.assign(tf.maximum(self.most, value))

        def result(self):
            return self.most

    largest, mean = Largest(), keras.metrics.Mean()
    for value in (2.0, 5.0, 3.0):
        largest.update_state(value)
        mean(value)
    assert float(largest.result()) == 5.0
    assert float(mean.result()) == pytest.approx(10 / 3)
    mean.reset_states()
    assert float(mean.result()) == 0.0


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_events_without_histograms(eager, tmp_path, run_eagerly) -> None:
    model = stack()
    model.compile("sgd", "mse", run_eagerly=run_eagerly)
    callback = keras.callbacks.TensorBoard(str(tmp_path), histogram_freq=1)
    model.fit(X, Y, verbose=0, validation_data=(X, Y), callbacks=[callback])
    (file,) = set(tmp_path.glob("events.*")) - set(tmp_path.glob("*.profile-empty"))
    events = tf.train.summary_iterator(str(file))
    assert {v.tag for e in events for v in e.summary.value} == {"epoch_loss", "epoch_val_loss"}


@pytest.mark.usefixtures("eager")
def test_models_live_on_when_keras_forgets_them() -> None:
    model, other = stack(), stack()
    for each in (model, other):
        each.compile("sgd", "mse")
        each.fit(X, Y, verbose=0, shuffle=False)
    keras.backend.clear_session()
    layers.Dense(1)(keras.Input((2,)))
    again = model.fit(X, Y, epochs=2, verbose=0, shuffle=False).history["loss"]
    assert again[1] < again[0]
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), model.test_on_batch(X, Y))
    assert other.predict(X).shape == (20, 1)
    other.compile("adam", "mae")
    other.fit(X, Y, verbose=0)


@pytest.mark.usefixtures("eager")
def test_steps_cut_the_data(capsys) -> None:
    model = keras.Sequential([layers.Dense(1, kernel_initializer="zeros", input_shape=(1,))])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    x = np.arange(10.0)[:, None]
    history = model.fit(tf.constant(x), tf.constant(x), steps_per_epoch=3, verbose=2)
    assert (history.params["samples"], history.params["steps"]) == (10, 3)
    with pytest.raises(ValueError, match="10 is not divisible by steps 3"):
        model.fit(x, x, steps_per_epoch=3)
    data = tf.data.Dataset.from_tensor_slices((x, x)).batch(4)
    assert model.fit(data, verbose=2).params["samples"] is None
    model.fit(data.repeat(), steps_per_epoch=3, validation_data=data, validation_steps=2, verbose=2)
    shown = [line for line in capsys.readouterr().out.splitlines() if "Train" in line]
    assert shown == ["Train on 10 samples", "Train for 3 steps, validate for 2 steps"]


@pytest.mark.usefixtures("eager")
def test_an_output_without_a_loss_is_left_alone() -> None:
    given = keras.Input((2,))
    model = keras.Model(given, [layers.Dense(1)(given), layers.Dense(1)(given)])
    model.compile("sgd", ["mse", None])
    before = model.get_weights()
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    same = [np.array_equal(*pair) for pair in zip(before, model.get_weights(), strict=True)]
    assert same == [False, False, True, True]


def test_a_batch_of_predictions_is_a_tensor(eager) -> None:
    """Where a model has one output; several are arrays, as all are in a graph."""
    model = stack()
    assert isinstance(model.predict_on_batch(X), tf.Tensor)
    double = keras.Model(model.inputs, [model.output, model.output])
    assert [type(each) for each in double.predict_on_batch(X)] == [np.ndarray] * 2


def test_validation_draws_nothing(eager) -> None:
    """In a graph it is shuffled."""
    model = stack()
    model.compile("sgd", "mse")
    np.random.seed(3)
    expected = np.random.rand()
    np.random.seed(3)
    model.fit(X, Y, verbose=0, shuffle=False, validation_data=(X, Y))
    assert np.random.rand() == expected


def test_weights_are_saved_in_one_piece(eager, tmp_path) -> None:
    stack().save_weights(str(tmp_path / "model"))
    assert (tmp_path / "model.data-00000-of-00001").exists()
