"""HDF5 files: those that TensorFlow wrote are read, and ours are laid out alike."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.keras.record_saving import RECORDED, build, data
from weft.lib.keras import backend as K
from weft.lib.keras.engine.sequential import Sequential
from weft.lib.keras.engine.training import Model
from weft.lib.keras.layers.convolutional import Conv2D
from weft.lib.keras.layers.core import Dense
from weft.lib.keras.layers.normalization import BatchNormalization
from weft.lib.keras.saving.hdf5 import load_attributes, save_attributes
from weft.lib.keras.saving.save import load_model, save_model

h5py = pytest.importorskip("h5py")


@pytest.fixture
def recorded() -> Any:
    with np.load(RECORDED / "values.npz") as values:
        yield dict(values)


def keras() -> Any:
    """What `build` takes the names of Keras from."""
    import weft.lib.keras.layers.merge
    import weft.lib.keras.layers.pooling
    import weft.lib.keras.layers.recurrent_v1
    import weft.lib.keras.optimizers
    from weft.lib.keras.engine.input_layer import Input
    from weft.lib.keras.layers.serialization import layer_classes

    class Names:
        layers = type("layers", (), dict(layer_classes()))
        optimizers = weft.keras.optimizers

    Names.Input, Names.Model, Names.Sequential = staticmethod(Input), Model, Sequential
    return Names


def test_a_model_of_tensorflow_computes_the_same(recorded: dict[str, np.ndarray]) -> None:
    x, y = data()
    model = load_model(str(RECORDED / "model.h5"))
    np.testing.assert_allclose(model.predict(x), recorded["predictions"], atol=1e-6)
    evaluation = model.evaluate(x, y, verbose=0)
    np.testing.assert_allclose(evaluation, recorded["evaluation"], rtol=1e-5)
    # One more step shows that the state of the optimizer is there, too.
    model.train_on_batch(x, y)
    np.testing.assert_allclose(model.predict(x), recorded["after a step"], atol=1e-6)


@pytest.mark.parametrize("by_name", [False, True])
def test_weights_of_tensorflow(by_name: bool, recorded: dict[str, np.ndarray]) -> None:
    model = build(keras())
    for name in ("weights.h5", "model.h5"):
        model.load_weights(str(RECORDED / name), by_name=by_name)
        for i, weight in enumerate(model.get_weights()):
            np.testing.assert_array_equal(weight, recorded[f"weight{i}"])
        model.set_weights([weight * 0 for weight in model.get_weights()])


def _structure(file: Any) -> dict[str, Any]:
    """Groups, datasets and attributes: names, shapes and types."""
    found: dict[str, Any] = {"/": sorted(file.attrs)}

    def visit(name: str, item: Any) -> None:
        attributes = {key: np.asarray(value).tolist() for key, value in item.attrs.items()}
        attributes.pop("keras_version", None)
        shape = (item.shape, str(item.dtype)) if hasattr(item, "shape") else None
        found[name] = (shape, attributes)

    file.visititems(visit)
    return found


def test_files_are_laid_out_alike(tmp_path: Path) -> None:
    model = load_model(str(RECORDED / "model.h5"))
    model.save(tmp_path / "ours.h5")
    with h5py.File(RECORDED / "model.h5") as theirs, h5py.File(tmp_path / "ours.h5") as ours:
        expected, found = _structure(theirs), _structure(ours)
        assert json.loads(ours.attrs["model_config"])["class_name"] == "Model"
        training = json.loads(theirs.attrs["training_config"])
        assert json.loads(ours.attrs["training_config"]) == training
    # Later versions have one more, empty, group, and call what a cell holds after the cell.
    text = repr({k: v for k, v in expected.items() if "top_level_model_weights" not in k})
    renamed = {k: v for k, v in eval(text.replace("lstm_cell/", "")).items() if "_cell" not in k}
    assert found == renamed


def test_a_model_comes_back_whole(tmp_path: Path) -> None:
    x, y = np.random.RandomState(0).rand(6, 3), np.eye(2)[[0, 1, 0, 1, 0, 1]]
    model = Sequential([Dense(4, activation="relu", input_shape=(3,)), BatchNormalization()])
    model.add(Dense(2, activation="softmax"))
    model.compile("rmsprop", "categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=2, verbose=0)
    path = tmp_path / "model.h5"
    save_model(model, path)
    again = load_model(path)
    assert again.to_json() == model.to_json()
    for _ in range(2):
        np.testing.assert_allclose(again.predict(x), model.predict(x), atol=1e-6)
        model.train_on_batch(x, y)
        again.train_on_batch(x, y)
    model.save(path, include_optimizer=False)
    assert load_model(path, compile=False).optimizer is None


def test_custom_objects(tmp_path: Path) -> None:
    class Doubled(Dense):
        def call(self, inputs: Any) -> Any:
            return 2 * super().call(inputs)

    def far(y_true: Any, y_pred: Any) -> Any:
        return K.mean(K.abs(y_true - y_pred))

    model = Sequential([Doubled(2, input_shape=(3,))])
    model.compile("sgd", far, metrics=[far])
    model.save(tmp_path / "model.h5")
    with pytest.raises(ValueError, match="Unknown layer: Doubled"):
        load_model(tmp_path / "model.h5")
    again = load_model(tmp_path / "model.h5", custom_objects={"Doubled": Doubled, "far": far})
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    assert again.evaluate(x, x[:, :2], verbose=0) == model.evaluate(x, x[:, :2], verbose=0)


def test_an_open_file_is_left_open(tmp_path: Path) -> None:
    model = Sequential([Dense(2, input_shape=(3,))])
    with h5py.File(tmp_path / "model.h5", "w") as file:
        save_model(model, file)
        assert file.attrs["backend"] == "tensorflow"
        again = load_model(file)
        assert file
    assert again.get_config() == model.get_config()


def test_files_are_not_overwritten_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.h5"
    path.write_text("mine")
    model = Sequential([Dense(2, input_shape=(3,))])
    monkeypatch.setattr("builtins.input", lambda question: "n")
    model.save(path, overwrite=False)
    model.save_weights(path, overwrite=False)
    assert path.read_text() == "mine"
    answers = iter(["what", "y"])
    monkeypatch.setattr("builtins.input", lambda question: next(answers))
    model.save(path, overwrite=False)
    assert load_model(path).name == model.name


def test_weights_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "w.h5"
    Sequential([Dense(2, input_shape=(3,), name="a")]).save_weights(path)
    with pytest.raises(ValueError, match="containing 1 layers into a model with 2 layers"):
        Sequential([Dense(2, input_shape=(3,)), Dense(2)]).load_weights(path)
    with pytest.raises(ValueError, match="expects 1 weights, but the saved weights have 2"):
        Sequential([Dense(2, input_shape=(3,), use_bias=False)]).load_weights(path)
    with pytest.raises(ValueError, match="for variable"):
        Sequential([Dense(3, input_shape=(3,), name="other")]).load_weights(path)
    with pytest.raises(ValueError, match="but the saved weight has shape"):
        Sequential([Dense(3, input_shape=(3,), name="a")]).load_weights(path, by_name=True)
    other = Sequential([Dense(3, input_shape=(3,), name="b")])
    before = other.get_weights()
    other.load_weights(path, by_name=True)  # nothing is called alike
    np.testing.assert_array_equal(before[0], other.get_weights()[0])


def test_what_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "text.h5").write_text("text")
    with pytest.raises(OSError, match="Unable to load model"):
        load_model(tmp_path / "text.h5")
    with pytest.raises(OSError, match="Unable to load model"):
        load_model(tmp_path / "none")
    Sequential([Dense(2, input_shape=(3,))]).save_weights(tmp_path / "w.h5")
    with pytest.raises(ValueError, match="No model found in config file"):
        load_model(tmp_path / "w.h5")

    class Own(Model):
        def call(self, inputs: Any) -> Any:
            return inputs

    with pytest.raises(NotImplementedError, match="does not work for subclassed models"):
        Own().save(tmp_path / "own.h5")


def test_long_lists_of_names(tmp_path: Path) -> None:
    names = [f"layer_{i:08d}".encode() for i in range(9000)]
    with h5py.File(tmp_path / "x.h5", "w") as file:
        save_attributes(file, "names", names)
        assert sorted(file.attrs) == ["names0", "names1"]
        assert load_attributes(file, "names") == [name.decode() for name in names]
        with pytest.raises(RuntimeError, match="larger than 64512 bytes"):
            save_attributes(file, "long", [b"x" * 70000])


def test_settings_of_later_versions(tmp_path: Path) -> None:
    from weft.lib.keras.saving.model_config import model_from_config

    model = Sequential([Conv2D(2, 3, input_shape=(5, 5, 1))])
    config = json.loads(model.to_json())
    config["config"]["layers"][0]["config"] |= {"groups": 1}
    assert model_from_config(config).layers[0].filters == 2
    with pytest.raises(TypeError, match="expects a dictionary, not a list"):
        model_from_config([])


def test_h5py_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    model = Sequential([Dense(2, input_shape=(3,))])
    with pytest.raises(ImportError, match=r"`save_model` requires h5py: .*extra `keras`"):
        model.save(tmp_path / "model.h5")
    with pytest.raises(ImportError, match="requires h5py"):
        model.save_weights(tmp_path / "model.h5")


def test_a_model_that_cannot_be_written_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    class Own(Dense):
        def get_config(self) -> Any:
            raise NotImplementedError

    path = tmp_path / "model.h5"
    good = Sequential([Dense(2, input_shape=(3,))])
    good.save(path)
    with pytest.raises(NotImplementedError):
        Sequential([Own(2, input_shape=(3,))]).save(path)
    again = load_model(path).get_weights()
    for found, expected in zip(again, good.get_weights(), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert [each.name for each in tmp_path.iterdir()] == ["model.h5"]


def test_no_model_at_a_path(tmp_path) -> None:
    for path in (tmp_path, tmp_path / "none.h5"):
        with pytest.raises(OSError, match="SavedModel file does not exist at: "):
            load_model(str(path))
