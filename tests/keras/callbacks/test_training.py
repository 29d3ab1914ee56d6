"""Callbacks with a real model: events for TensorBoard, files of models, learning rates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

import weft as tf
from weft.core import flags
from weft.lib.keras import backend as K
from weft.lib.keras.callbacks.base import Callback
from weft.lib.keras.callbacks.model_checkpoint import ModelCheckpoint
from weft.lib.keras.callbacks.monitoring import (
    EarlyStopping,
    LearningRateScheduler,
    ReduceLROnPlateau,
)
from weft.lib.keras.callbacks.tensorboard import TensorBoard
from weft.lib.keras.engine.sequential import Sequential
from weft.lib.keras.layers.core import Dense, Flatten
from weft.lib.keras.layers.embeddings import Embedding
from weft.lib.train.checkpoint.inspection import list_variables

X, Y = np.random.RandomState(0).rand(12, 3), np.random.RandomState(1).rand(12, 2)


@pytest.fixture(autouse=True)
def without_compiling() -> Iterator[None]:
    with flags.XLA.override(False):
        yield


def model_of_dense() -> Any:
    model = Sequential([Dense(4, input_shape=(3,), name="hidden"), Dense(2, name="out")])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def events(folder: Path) -> list[Any]:
    found = [file for file in folder.glob("events.*") if file.suffix != ".profile-empty"]
    (file,) = found
    return list(tf.train.summary_iterator(str(file)))


def scalars(folder: Path) -> dict[tuple[str, int], float]:
    return {
        (value.tag, event.step): value.simple_value
        for event in events(folder)
        for value in event.summary.value
        if value.HasField("simple_value")
    }


def test_metrics_of_epochs(tmp_path: Path) -> None:
    model = model_of_dense()
    history = model.fit(
        X, Y, epochs=2, validation_split=0.25, verbose=0, callbacks=[TensorBoard(str(tmp_path))]
    )
    found = scalars(tmp_path)
    assert {tag for tag, _ in found} == {
        f"epoch_{prefix}{name}" for prefix in ("", "val_") for name in model.metrics_names
    }
    for epoch in range(2):
        assert found["epoch_loss", epoch] == pytest.approx(history.history["loss"][epoch])
    assert any(event.graph_def for event in events(tmp_path))


def test_metrics_of_batches(tmp_path: Path) -> None:
    callback = TensorBoard(str(tmp_path), update_freq="batch", write_graph=False)
    model_of_dense().fit(X, Y, batch_size=4, epochs=1, verbose=0, callbacks=[callback])
    steps = sorted(step for tag, step in scalars(tmp_path) if tag == "batch_loss")
    assert steps == [0, 1, 2]
    assert not any(event.graph_def for event in events(tmp_path))


def test_histograms_and_images(tmp_path: Path) -> None:
    callback = TensorBoard(
        str(tmp_path), histogram_freq=1, write_grads=True, write_images=True, write_graph=False
    )
    model = model_of_dense()
    model.fit(X, Y, epochs=2, validation_split=0.5, batch_size=6, verbose=0, callbacks=[callback])
    kinds = {
        value.tag: value.WhichOneof("value")
        for event in events(tmp_path)
        for value in event.summary.value
    }
    assert kinds["hidden/kernel_0"] == "histo"
    assert kinds["hidden/kernel_0_grad"] == "histo"
    assert kinds["out_out"] == "histo"
    assert "image" in {kind for tag, kind in kinds.items() if tag.startswith("hidden/kernel_0")}
    # Afterwards, tests fetch them no more.
    assert model.evaluate(X, Y, verbose=0)
    assert model.test_function.fetches == []


def test_embeddings(tmp_path: Path) -> None:
    model = Sequential([Embedding(5, 3, input_length=2, name="words"), Flatten(), Dense(1)])
    model.compile("sgd", "mse")
    data = np.array([[0, 1], [2, 3], [4, 0]])
    callback = TensorBoard(
        str(tmp_path),
        embeddings_freq=1,
        embeddings_data=data,
        embeddings_metadata="words.tsv",
        batch_size=2,
    )
    model.fit(data, np.ones(3), epochs=1, verbose=0, callbacks=[callback])
    ((name, shape),) = list_variables(str(tmp_path / "keras_embedding.ckpt-0"))
    assert (name, shape) == ("words_embedding", [3, 6])
    saved = tf.train.load_variable(str(tmp_path / "keras_embedding.ckpt-0"), name)
    table = model.get_weights()[0]
    np.testing.assert_allclose(saved, table[data].reshape(3, 6), rtol=1e-6)
    config = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), ProjectorConfig())
    assert config.embeddings[0].metadata_path == "words.tsv"
    assert config.embeddings[0].tensor_name == "words_embedding:0"
    with pytest.raises(ValueError, match="embeddings_data must be provided"):
        model.fit(
            data,
            np.ones(3),
            verbose=0,
            callbacks=[TensorBoard(str(tmp_path / "none"), embeddings_freq=1)],
        )


def test_the_best_model_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    from weft.lib.keras.saving.save import load_model

    path = str(tmp_path / "{epoch}.h5")
    model = model_of_dense()
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[ModelCheckpoint(path)])
    again = load_model(tmp_path / "2.h5")
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)
    only = ModelCheckpoint(str(tmp_path / "w"), save_weights_only=True)
    model.fit(X, Y, verbose=0, callbacks=[only])
    other = model_of_dense()
    other.load_weights(tf.train.latest_checkpoint(str(tmp_path)))
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-6)


def test_rates_and_stopping() -> None:
    model = model_of_dense()
    callbacks = [
        LearningRateScheduler(lambda epoch: 0.0),
        EarlyStopping("loss", patience=2, restore_best_weights=True),
    ]
    history = model.fit(X, Y, epochs=9, verbose=0, shuffle=False, callbacks=callbacks)
    assert history.history["lr"] == [0.0, 0.0, 0.0]
    model = model_of_dense()
    K.set_value(model.optimizer.lr, 0.0)
    slower = ReduceLROnPlateau("loss", patience=1, factor=0.5)
    history = model.fit(X, Y, epochs=2, verbose=0, callbacks=[slower])
    assert set(history.history) == {"loss", "lr", *model.metrics_names[1:]}


def test_logs_of_the_beginning_of_an_epoch_are_not_those_of_its_end() -> None:
    class Writes(Callback):
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            logs["begin"] = 1

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            logs["end"] = 2

    history = model_of_dense().fit(X, Y, verbose=0, callbacks=[Writes()]).history
    assert history["end"] == [2]
    assert "begin" not in history
