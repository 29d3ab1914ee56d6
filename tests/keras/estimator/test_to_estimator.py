"""Keras models as Estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.estimator.from_keras import model_to_estimator
from weft.lib.keras.engine.input_layer import Input
from weft.lib.keras.engine.training import Model
from weft.lib.keras.layers.core import Dense

X = np.random.RandomState(0).rand(16, 3).astype("float32")
Y = X @ np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], np.float32)


def compiled(optimizer: Any = "adam") -> Any:
    inputs = Input((3,), name="features")
    model = Model(inputs, Dense(2, name="answer")(Dense(4, activation="tanh")(inputs)))
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


def inputs(**settings: Any) -> Any:
    return tf.estimator.inputs.numpy_input_fn(
        {"features": X}, Y, batch_size=8, **{"shuffle": False, "num_epochs": 1, **settings}
    )


@pytest.mark.parametrize("checkpoint_format", ["saver", "checkpoint"])
def test_it_trains_on_from_the_weights_of_the_model(checkpoint_format: str, tmp_path: Path) -> None:
    model = compiled()
    model.fit(X, Y, epochs=1, verbose=0)
    estimator = model_to_estimator(
        model, model_dir=str(tmp_path), checkpoint_format=checkpoint_format
    )
    assert (tmp_path / "keras" / "keras_model.ckpt.index").exists()
    before = np.mean((model.predict(X) - Y) ** 2)
    estimator.train(inputs(num_epochs=None), steps=4)
    first = estimator.evaluate(inputs())
    assert first["global_step"] == 4
    assert first["loss"] == pytest.approx(before, rel=0.5)
    assert first["loss"] < before
    assert set(first) == {"loss", "mean_absolute_error", "global_step"}
    estimator.train(inputs(num_epochs=None), steps=60)
    assert estimator.evaluate(inputs())["loss"] < first["loss"]
    predicted = np.array([each["answer"] for each in estimator.predict(inputs())])
    assert predicted.shape == (16, 2)
    error = np.mean((predicted - Y) ** 2)
    assert error == pytest.approx(estimator.evaluate(inputs())["loss"], rel=1e-4)


def test_an_untrained_estimator_predicts_as_the_model(tmp_path: Path) -> None:
    model = compiled(tf.train.GradientDescentOptimizer(0.0))
    expected = model.predict(X)
    estimator = model_to_estimator(model, model_dir=str(tmp_path))
    estimator.train(inputs(), steps=1)
    predicted = np.array([each["answer"] for each in estimator.predict(inputs())])
    np.testing.assert_allclose(predicted, expected, atol=1e-6)


def test_a_model_in_a_file(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    compiled().save(tmp_path / "model.h5")
    estimator = model_to_estimator(
        keras_model_path=str(tmp_path / "model.h5"), model_dir=str(tmp_path / "run")
    )
    estimator.train(inputs(), steps=1)
    assert estimator.evaluate(inputs())["global_step"] == 1


def test_it_can_be_exported(tmp_path: Path) -> None:
    estimator = model_to_estimator(compiled(), model_dir=str(tmp_path))
    estimator.train(inputs(), steps=1)
    features = {"features": tf.placeholder(tf.float32, [None, 3])}
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(features)
    path = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    with tf.Session(graph=tf.Graph()) as session:
        found = tf.saved_model.loader.load(session, ["serve"], path)
        assert list(found.signature_def["serving_default"].outputs) == ["answer"]


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Either `keras_model` or `keras_model_path`"):
        model_to_estimator()
    with pytest.raises(ValueError, match="but not both"):
        model_to_estimator(compiled(), "path")
    with pytest.raises(ValueError, match="Checkpoint format must be"):
        model_to_estimator(compiled(), checkpoint_format="other")
    inputs_ = Input((3,))
    with pytest.raises(ValueError, match="has not been compiled yet"):
        model_to_estimator(Model(inputs_, Dense(2)(inputs_)), model_dir=str(tmp_path))
    estimator = model_to_estimator(compiled(), model_dir=str(tmp_path))
    wrong = tf.estimator.inputs.numpy_input_fn({"other": X}, Y, shuffle=False)
    with pytest.raises(KeyError, match="does not have the expected inputs keys"):
        estimator.train(wrong, steps=1)


def test_the_model_reads_what_the_estimator_saved(tmp_path: Path) -> None:
    model = compiled()
    estimator = model_to_estimator(model, model_dir=str(tmp_path), checkpoint_format="checkpoint")
    estimator.train(inputs(), steps=2)
    expected = np.array([each["answer"] for each in estimator.predict(inputs())])
    assert not np.allclose(model.predict(X), expected)
    model.load_weights(estimator.latest_checkpoint())
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-6)
    assert "_CHECKPOINTABLE_OBJECT_GRAPH" in estimator.get_variable_names()


def test_a_class_is_as_it_was_after_each_use(tmp_path: Path) -> None:
    class Own(Model):
        def __init__(self) -> None:
            super().__init__()
            self.answer = Dense(2, kernel_initializer="zeros")

        def call(self, inputs: Any) -> Any:
            return self.answer(inputs)

    model = Own()
    model.compile("sgd", "mse")
    optimizer, answer = model.optimizer, model.answer
    estimator = model_to_estimator(model, model_dir=str(tmp_path))

    def arrays() -> Any:
        return tf.constant(X), tf.constant(Y)

    for steps in (1, 3):
        estimator.train(arrays, steps=steps)
        assert model.optimizer is optimizer
        assert model.answer is answer
        assert not model.built
    assert estimator.evaluate(arrays, steps=1)["global_step"] == 4


def test_weights_that_nobody_has_seen_come_from_the_seed(tmp_path: Path) -> None:
    found = []
    for i in range(2):
        config = tf.estimator.RunConfig(str(tmp_path / str(i)), tf_random_seed=7)
        estimator = model_to_estimator(compiled(), config=config)
        found.append(next(estimator.predict(inputs()))["answer"])
        tf.keras.backend.clear_session()
    np.testing.assert_array_equal(*found)


def test_settings_of_the_optimizer_are_read_before_another_session_is_there(tmp_path: Path) -> None:
    model = compiled(tf.keras.optimizers.SGD(0.25, momentum=0.9))
    model.fit(X, Y, verbose=0)
    estimator = model_to_estimator(model, model_dir=str(tmp_path))
    with tf.Session(graph=tf.Graph()):
        estimator.train(inputs(), steps=1)
    assert estimator.get_variable_value("training/SGD/learning_rate") == 0.25


def test_replicas_train_as_one_that_sees_both_batches(tmp_path: Path) -> None:
    def weights(strategy: Any, batch_size: int, folder: str) -> list[Any]:
        tf.keras.backend.clear_session()
        layer = Dense(2, kernel_initializer="ones", kernel_regularizer="l2", name="answer")
        model = tf.keras.Sequential([layer])
        model.build((None, 3))
        model.compile(tf.keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
        config = tf.estimator.RunConfig(
            model_dir=str(tmp_path / folder), train_distribute=strategy, eval_distribute=strategy
        )
        estimator = model_to_estimator(model, config=config)

        def data() -> Any:
            return tf.data.Dataset.from_tensor_slices((X, Y)).batch(batch_size).repeat(3)

        estimator.train(data)
        assert set(estimator.evaluate(data)) == {"loss", "mean_absolute_error", "global_step"}
        return [estimator.get_variable_value(f"answer/{name}") for name in ("kernel", "bias")]

    one = weights(None, 16, "one")
    both = weights(tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]), 8, "both")
    for mine, theirs in zip(both, one, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
