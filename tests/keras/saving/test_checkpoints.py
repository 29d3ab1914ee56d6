"""Weights in checkpoints of objects: TensorFlow's are read, and ours have the same keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.keras.record_saving import RECORDED, build, data
from tests.keras.saving.test_hdf5 import keras
from weft.client.eager import EagerExecution
from weft.lib.keras import backend as K
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.sequential import Sequential
from weft.lib.keras.engine.training import Model
from weft.lib.keras.layers.core import Dense
from weft.lib.keras.layers.dropout import Dropout
from weft.lib.train.checkpoint.inspection import list_variables

KINDS = ("bias", "kernel")


def small() -> Any:
    model = Sequential([Dense(4, input_shape=(3,)), Dropout(0.5), Dense(2)])
    model.compile("adam", "mse")
    return model


def test_a_checkpoint_of_tensorflow() -> None:
    x, y = data()
    model = build(keras())
    status = model.load_weights(str(RECORDED / "objects"))
    status.assert_existing_objects_matched()
    with np.load(RECORDED / "values.npz") as recorded:
        np.testing.assert_allclose(model.predict(x), recorded["predictions"], atol=1e-6)
        model.train_on_batch(x, y)
        np.testing.assert_allclose(model.predict(x), recorded["after a step"], atol=1e-6)


def test_keys_are_those_of_tensorflow(tmp_path: Path) -> None:
    model = build(keras())
    model._make_train_function()
    path = str(tmp_path / "objects")
    model.save_weights(path)
    ours, theirs = dict(list_variables(path)), dict(list_variables(str(RECORDED / "objects")))
    # Later versions also keep metrics.
    theirs = {key: shape for key, shape in theirs.items() if not key.startswith("keras_api")}
    assert ours == theirs


def test_weights_and_optimizer_come_back(tmp_path: Path) -> None:
    x, y = np.random.RandomState(0).rand(8, 3), np.random.RandomState(1).rand(8, 2)
    model, other = small(), small()
    model.fit(x, y, epochs=2, verbose=0)
    path = str(tmp_path / "w")
    model.save_weights(path)
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    other.load_weights(path).assert_existing_objects_matched()
    for mine, theirs in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    other._make_train_function()  # the state of the optimizer is set when there is room for it
    values = [model.optimizer.get_weights(), other.optimizer.get_weights()]
    for mine, theirs in zip(*values, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_layers_without_weights_may_come_and_go(tmp_path: Path) -> None:
    model = small()
    model.save_weights(str(tmp_path / "w"))
    other = Sequential([Dense(4, input_shape=(3,)), Dense(2)])
    other.load_weights(str(tmp_path / "w"))
    np.testing.assert_array_equal(other.get_weights()[2], model.get_weights()[2])


def test_a_class_of_ones_own(tmp_path: Path) -> None:
    class Own(Model):
        def __init__(self) -> None:
            super().__init__()
            self.first = Dense(3)
            self.others = [Dense(2)]

        def call(self, inputs: Any) -> Any:
            return self.others[0](self.first(inputs))

    model, other = Own(), Own()
    x = np.ones((2, 4), np.float32)
    for each in (model, other):
        each.compile("sgd", "mse")
        each.train_on_batch(x, x[:, :2])
    path = str(tmp_path / "own")
    model.save_weights(path)
    keys = {key.partition("/.ATTR")[0] for key, _ in list_variables(path)}
    assert {"first/kernel", "others/0/bias"} <= keys
    other.load_weights(path)
    np.testing.assert_array_equal(model.predict(x), other.predict(x))
    unused = Own()
    unused.load_weights(path)  # before there are variables
    np.testing.assert_array_equal(model.predict(x), unused.predict(x))


def test_weights_go_by_the_names_they_were_made_with(tmp_path: Path) -> None:
    model = Model()
    weight = model.add_weight(name="v", shape=[])
    K.set_value(weight, 42.0)
    model.save_weights(str(tmp_path / "w"))
    K.set_value(weight, 43.0)
    model.load_weights(str(tmp_path / "w"))
    assert K.get_value(weight) == 42.0


def saved_keys(root: Any, folder: Path) -> list[str]:
    """The keys of variables in a checkpoint of an object, without those of all checkpoints."""
    session = None if tf.executing_eagerly() else K.get_session()
    path = tf.train.Checkpoint(m=root).save(str(folder / "keys"), session=session)
    keys = [key.partition("/.ATTRIBUTES")[0] for key, _ in list_variables(path)]
    return [key[2:] for key in keys if key.startswith("m/")]


class Variables(Model):
    """A model with variables in attributes, which all have one name."""

    def __init__(self) -> None:
        super().__init__()
        self.one = tf.Variable(1.0)
        self.several = [tf.Variable(2.0), {"k": tf.Variable(3.0)}]
        self.dense = {"d": Dense(1)}

    def call(self, inputs: Any) -> Any:
        return self.dense["d"](inputs) * self.one


def test_variables_in_attributes_go_by_these(tmp_path: Path) -> None:
    keys = ["dense/d/bias", "dense/d/kernel", "one", "several/0", "several/1/k"]
    model = Variables()
    model(tf.ones([1, 2]))
    K.get_session().run(tf.global_variables_initializer())
    assert saved_keys(model, tmp_path) == keys
    with EagerExecution().as_default():
        model = Variables()
        model(tf.ones([1, 2]))
        assert saved_keys(model, tmp_path / "eager") == keys
        model.one.assign(7.0)
        tf.train.Checkpoint(m=model).restore(str(tmp_path / "eager" / "keys-1")).assert_consumed()
        assert model.one.numpy() == 1.0


class SameNames(Layer):
    """A layer that gives a name to two weights, and one name that looks like a path."""

    def build(self, shape: Any) -> None:
        self.a = self.add_weight("w", (2,))
        self.add_weight("w", (3,))
        self.add_weight("w", (4,))
        self.add_weight("x/y", (5,))
        self.built = True

    def call(self, inputs: Any) -> Any:
        return inputs


def test_a_name_given_twice_is_that_of_the_later_weight(tmp_path: Path) -> None:
    layer = SameNames()
    layer(tf.ones([1, 2]))
    K.get_session().run(tf.global_variables_initializer())
    assert saved_keys(layer, tmp_path) == ["a", "w", "w_2", "x.Sy"]  # w_2: TensorFlow saves none


@pytest.mark.parametrize(
    ("build", "names"),
    [
        (lambda model: model(tf.ones([1, 3])), ["layer-1", "layer-1", "layer-3", "layer-3"]),
        (lambda model: model.build((None, 3)), ["layer-1", "layer-1", "layer-3", "layer-3"]),
    ],
)
def test_layers_that_had_no_weights_when_they_were_added(
    build: Any, names: list[str], tmp_path: Path
) -> None:
    model = Sequential([Dropout(0.5), Dense(2), Dropout(0.5), Dense(1)])
    build(model)
    K.get_session().run(tf.global_variables_initializer())
    assert [key.partition("/")[0] for key in saved_keys(model, tmp_path)] == names


def test_layers_on_top_of_those_that_were_called(tmp_path: Path) -> None:
    model = Sequential([Dense(2)])
    model(tf.ones([1, 3]))
    model.add(Dense(1))
    model.add(Dense(1))
    model(tf.ones([1, 3]))
    K.get_session().run(tf.global_variables_initializer())
    names = [key.partition("/")[0] for key in saved_keys(model, tmp_path)]
    assert names[::2] == ["layer-0", "layer_with_weights-1", "layer_with_weights-2"]


def test_cells_one_upon_another(tmp_path: Path) -> None:
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.LSTMCell(3)])
    cell(tf.ones([1, 3]), cell.zero_state(1, tf.float32))
    K.get_session().run(tf.global_variables_initializer())
    gates = [f"cell-0/{part}.S{kind}" for part in ("candidate", "gates") for kind in KINDS]
    assert saved_keys(cell, tmp_path) == [*gates, "cell-1/bias", "cell-1/kernel"]


def test_in_a_checkpoint_with_other_objects(tmp_path: Path) -> None:
    model = small()
    step = tf.train.get_or_create_global_step()
    checkpoint = tf.train.Checkpoint(model=model, step=step)
    session = K.get_session()
    session.run(step.initializer)
    path = checkpoint.save(str(tmp_path / "all"), session=session)
    before = model.get_weights()
    model.set_weights([w * 0 for w in before])
    checkpoint.restore(path).run_restore_ops(session)
    np.testing.assert_array_equal(model.get_weights()[0], before[0])


def test_a_class_without_weights_has_none_to_save(tmp_path: Path) -> None:
    class Own(Model):
        def call(self, inputs):
            return inputs

    Own().save_weights(str(tmp_path / "w.h5"))
    Own().load_weights(str(tmp_path / "w.h5"))


def test_what_is_refused(tmp_path: Path) -> None:
    model = small()
    model.save_weights(str(tmp_path / "w"))
    with pytest.raises(NotImplementedError, match="by_name=True"):
        model.load_weights(str(tmp_path / "w"), by_name=True)
    with pytest.raises(ValueError, match='Unknown format "other"'):
        model.save_weights(str(tmp_path / "w"), save_format="other")
    with pytest.raises(ValueError, match="looks like an HDF5 file"):
        model.save_weights(str(tmp_path / "w.h5"), save_format="tf")
    with pytest.raises(ValueError, match="have not yet been created"):
        Sequential([Dense(2)]).save_weights(str(tmp_path / "x"))
    (tmp_path / "no").write_text("no checkpoint")
    with pytest.raises(OSError):
        model.load_weights(str(tmp_path / "no"))
    with pytest.raises(tf.errors.NotFoundError):
        model.load_weights(str(tmp_path / "none"))


def test_what_is_built_later_starts_from_the_checkpoint_in_any_session(tmp_path: Path) -> None:
    class Two(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)

        def call(self, inputs):
            return self.second(self.first(inputs))

    x = np.ones((2, 3), np.float32)
    path = str(tmp_path / "weights")
    saved = Two()
    expected = saved.predict(x)
    saved.save_weights(path)
    tf.keras.backend.clear_session()
    loaded = Two()
    loaded.load_weights(path)
    y = loaded(tf.constant(x))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(y), expected, rtol=1e-6)
        # What was changed since stays so, whatever Keras makes later.
        session.run(loaded.first.bias.assign([1.0, 1.0]))
        tf.keras.layers.Dense(1)(y)
        tf.keras.backend.get_session()
        assert loaded.first.bias.eval().tolist() == [1.0, 1.0]


def test_without_a_session_objects_are_saved_in_that_of_keras(tmp_path: Path) -> None:
    model = small()
    model.fit(np.ones((8, 3)), np.ones((8, 2)), verbose=0)
    trained = model.get_weights()
    checkpoint = tf.train.Checkpoint(model=model)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path / "managed"), max_to_keep=2)
    paths = [checkpoint.save(str(tmp_path / "w")), manager.save()]
    tf.saved_model.save(model, str(tmp_path / "exported"))
    assert (tmp_path / "exported" / "saved_model.pb").exists()
    for path in paths:
        model.set_weights([np.zeros_like(value) for value in trained])
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        for mine, theirs in zip(model.get_weights(), trained, strict=True):
            np.testing.assert_array_equal(mine, theirs)
