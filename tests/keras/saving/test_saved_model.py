"""Models as SavedModels: read back as models, and run as graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.keras.engine.input_layer import Input
from weft.lib.keras.engine.sequential import Sequential
from weft.lib.keras.engine.training import Model
from weft.lib.keras.layers.core import Dense
from weft.lib.keras.layers.normalization import BatchNormalization
from weft.lib.keras.saving.save import load_model
from weft.lib.keras.saving.saved_model import export_saved_model, load_from_saved_model

X, Y = np.random.RandomState(0).rand(8, 3), np.random.RandomState(1).rand(8, 2)


def trained() -> Any:
    inputs = Input((3,), name="features")
    x = BatchNormalization()(Dense(4, activation="relu")(inputs))
    model = Model(inputs, Dense(2, name="answer")(x))
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(X, Y, epochs=2, verbose=0)
    return model


def test_a_model_comes_back(tmp_path: Path) -> None:
    model = trained()
    path = tmp_path / "exported"
    export_saved_model(model, str(path))
    again = load_from_saved_model(str(path))
    np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-6)
    assert again.optimizer is None


def test_the_graph_to_serve(tmp_path: Path) -> None:
    model = trained()
    path = str(tmp_path / "exported")
    export_saved_model(model, path)
    expected = model.predict(X)
    with tf.Session(graph=tf.Graph()) as session:
        found = tf.saved_model.loader.load(session, ["serve"], path)
        signature = found.signature_def["serving_default"]
        assert list(signature.inputs) == ["features"]
        answer = signature.outputs["answer"].name
        outputs = session.run(answer, {signature.inputs["features"].name: X})
    np.testing.assert_allclose(outputs, expected, atol=1e-6)


def test_the_graph_to_train(tmp_path: Path) -> None:
    model = trained()
    path = str(tmp_path / "exported")
    export_saved_model(model, path, as_text=True)
    assert (tmp_path / "exported" / "saved_model.pbtxt").exists()
    model.train_on_batch(X, Y)
    expected = model.get_weights()
    with tf.Session(graph=tf.Graph()) as session:
        found = tf.saved_model.loader.load(session, ["train"], path)
        signature = found.signature_def["train"]
        (step,) = tf.get_collection("saved_model_train_op")
        feeds = {signature.inputs["features"].name: X, signature.inputs["answer_target"].name: Y}
        session.run(step, feeds)
        variables = {v.op.name: v for v in tf.trainable_variables()}
        kernel = session.run(variables["answer/kernel"])
        assert session.run(tf.train.get_global_step()) == 3
    np.testing.assert_allclose(kernel, expected[-2], atol=1e-6)


def test_the_graph_to_evaluate(tmp_path: Path) -> None:
    model = trained()
    path = str(tmp_path / "exported")
    export_saved_model(model, path)
    loss, mae = model.evaluate(X, Y, verbose=0)
    with tf.Session(graph=tf.Graph()) as session:
        found = tf.saved_model.loader.load(session, ["eval"], path)
        signature = found.signature_def["eval"]
        feeds = {signature.inputs["features"].name: X, signature.inputs["answer_target"].name: Y}
        outputs = {key: info.name for key, info in signature.outputs.items()}
        session.run(next(name for key, name in outputs.items() if "update_op" in key), feeds)
        assert session.run(outputs["loss"], feeds) == pytest.approx(loss, rel=1e-5)
        values = [name for key, name in outputs.items() if key.endswith("/value")]
        assert session.run(values[0]) == pytest.approx(mae, rel=1e-5)


def test_save_format_tf(tmp_path: Path) -> None:
    model = trained()
    path = str(tmp_path / "model")
    model.save(path, save_format="tf")
    model.save(path, save_format="tf")  # over the first
    again = load_model(path)
    assert again.evaluate(X, Y, verbose=0) == pytest.approx(model.evaluate(X, Y, verbose=0))
    for each in (model, again):
        each.train_on_batch(X, Y)
    np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-5)
    assert load_model(path, compile=False).optimizer is None


def test_what_else_is_in_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    model = trained()
    model.save(tmp_path, save_format="tf")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "assets",
        "notes.txt",
        "saved_model.pb",
        "variables",
    ]


def test_a_model_that_cannot_be_saved_leaves_the_one_before(tmp_path: Path) -> None:
    model = trained()
    path = tmp_path / "model"
    model.save(path, save_format="tf")
    expected = model.predict(X)
    with pytest.raises(ValueError, match="have not yet been created"):
        Sequential([Dense(2)]).save(path, save_format="tf")
    np.testing.assert_allclose(load_model(path).predict(X), expected, atol=1e-6)
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
    assert len(list(path.iterdir())) == 3


def test_only_to_serve(tmp_path: Path) -> None:
    class Own(Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = Dense(2)

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

    model = Own()
    with pytest.raises(NotImplementedError, match="only be exported for serving"):
        export_saved_model(model, str(tmp_path / "a"))
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y)
    path = str(tmp_path / "b")
    export_saved_model(model, path, serving_only=True)
    expected = model.predict(X)
    with tf.Session(graph=tf.Graph()) as session:
        found = tf.saved_model.loader.load(session, ["serve"], path)
        signature = found.signature_def["serving_default"]
        (fed,), (fetched,) = signature.inputs.values(), signature.outputs.values()
        np.testing.assert_allclose(session.run(fetched.name, {fed.name: X}), expected, atol=1e-6)
    with pytest.raises(OSError, match="No Keras model"):
        load_model(path)


def test_what_is_not_built(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Weights for sequential model have not yet been created"):
        export_saved_model(Sequential([Dense(2)]), str(tmp_path / "x"))
