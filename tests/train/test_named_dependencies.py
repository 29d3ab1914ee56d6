"""Dependencies that objects are told of by name: `_track_trackable`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.train.checkpoint.objects import Trackable


class Words(tf.train.experimental.PythonState):
    def __init__(self, text: str) -> None:
        self.text = text

    def serialize(self) -> str:
        return self.text

    def deserialize(self, string_value: bytes) -> None:
        self.text = string_value.decode()


class Notebook(Trackable):
    """Makes what a checkpoint has of it and it does not."""

    def _lookup_dependency(self, name: str) -> Any:
        found = super()._lookup_dependency(name)
        if found is None:
            found = self._unconditional_dependency_names[name] = Words("")
        return found


OWNERS = {
    "module": tf.Module,
    "layer": lambda: tf.keras.layers.Dense(1),
    "model": tf.keras.Model,
    "optimizer": lambda: tf.train.GradientDescentOptimizer(0.1),
    "keras optimizer": lambda: tf.keras.optimizers.SGD(0.1),
    "checkpoint": tf.train.Checkpoint,
}


@pytest.mark.parametrize("kind", OWNERS)
def test_a_dependency_is_saved_and_restored(kind: str, tmp_path: Path, sess: tf.Session) -> None:
    def made(value: float) -> tuple[tf.train.Checkpoint, tf.Variable]:
        owner, variable = OWNERS[kind](), tf.Variable(value)
        assert owner._track_trackable(variable, name="kept") is variable
        assert owner._lookup_dependency("kept") is variable
        return tf.train.Checkpoint(owner=owner), variable

    saved, variable = made(3.0)
    sess.run(variable.initializer)
    path = saved.save(str(tmp_path / "saved"), session=sess)
    assert "owner/kept/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
    loaded, other = made(0.0)
    loaded.restore(path).initialize_or_restore(sess)
    assert sess.run(other) == 3.0


def test_names_are_used_once() -> None:
    module, first, second = tf.Module(), tf.Variable(1.0), tf.Variable(2.0)
    module._track_trackable(first, "v")
    module._track_trackable(first, "v")
    with pytest.raises(ValueError, match=r"name='v', but a Trackable with this name is already"):
        module._track_trackable(second, "v")
    module._track_trackable(second, "v", overwrite=True)
    assert module._unconditional_checkpoint_dependencies == [("v", second)]
    assert module.variables == ()  # only attributes are searched
    with pytest.raises(TypeError, match="not a Trackable"):
        module._track_trackable(np.ones(2), "array")


def test_an_object_may_make_what_is_restored(tmp_path: Path, sess: tf.Session) -> None:
    notebook = Notebook()
    notebook._track_trackable(Words("a page"), "page", overwrite=True)
    path = tf.train.Checkpoint(notebook=notebook).save(str(tmp_path / "saved"), session=sess)
    empty = Notebook()
    tf.train.Checkpoint(notebook=empty).restore(path)
    assert empty._unconditional_dependency_names["page"].text == "a page"
