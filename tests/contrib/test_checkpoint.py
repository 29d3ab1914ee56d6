"""tf.contrib.checkpoint: lists, mappings, arrays and unique names in checkpoints of objects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

checkpoint = tf.contrib.checkpoint


def test_arrays_are_saved_and_restored(tmp_path: Path, sess: tf.Session) -> None:
    state: Any = checkpoint.NumpyState()
    state.x = np.array([1.0, 2.0])
    path = tf.train.Checkpoint(arrays=state).save(str(tmp_path / "c"), session=sess)
    keys = [name for name, _ in tf.train.list_variables(path)]
    assert "arrays/x/.ATTRIBUTES/py_state" in keys
    state.x = np.zeros(3)
    # An object that has no such array yet is given it, too.
    fresh: Any = checkpoint.NumpyState()
    for each in (state, fresh):
        tf.train.Checkpoint(arrays=each).restore(path)
        np.testing.assert_array_equal(each.x, [1.0, 2.0])
    nodes = checkpoint.object_metadata(path).nodes
    assert nodes[0].children[0].local_name == "arrays"
    with pytest.raises(NotImplementedError, match="Assigned 3 to the y property"):
        state.y = 3
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        _ = state.missing


def test_lists_and_mappings_only_grow(tmp_path: Path, sess: tf.Session) -> None:
    made = [tf.train.Checkpoint(v=tf.get_variable(name, initializer=1.0)) for name in "ab"]
    parts: Any = checkpoint.List(made[:1])
    parts.append(checkpoint.List())
    named: Any = checkpoint.Mapping(b=made[1])
    named.update({"b": made[1]})
    kinds = [type(each).__name__ for each in checkpoint.list_objects(tf.train.Checkpoint(p=parts))]
    assert kinds[:4] == ["Checkpoint", "List", "Checkpoint", "List"]
    assert len(parts) == 2 and list(named) == ["b"] and len(parts + parts) == 4
    with pytest.raises(ValueError, match=r"append-only data structure. Tried to overwrite"):
        named["b"] = made[0]
    with pytest.raises(TypeError, match="accepts only string keys, but got a key 1"):
        checkpoint.Mapping({1: made[0]})
    with pytest.raises(ValueError, match=r"Only trackable objects .* Got 3, which"):
        parts.append(3)
    sess.run(tf.global_variables_initializer())
    path = tf.train.Checkpoint(p=parts, m=named).save(str(tmp_path / "c"), session=sess)
    keys = {name.partition("/.ATTR")[0] for name, _ in tf.train.list_variables(path)}
    assert {"p/0/v", "m/b/v"} <= keys


def test_a_list_has_the_variables_of_its_layers() -> None:
    layer = tf.layers.Dense(2)
    layer(tf.ones([1, 2]))
    parts = checkpoint.List([layer])
    assert parts.layers == [layer] and len(parts.trainable_variables) == 2 and parts.losses == []


def test_names_are_made_different() -> None:
    tracker = checkpoint.UniqueNameTracker()
    for _ in range(3):
        tracker.track(tf.train.Checkpoint(), "x")
    assert [name for name, _ in tracker._checkpoint_dependencies] == ["x", "x_1", "x_2"]


def test_contrib_has_its_own_names_of_arguments(tmp_path: Path, sess: tf.Session) -> None:
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    sess.run(tf.global_variables_initializer())
    path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    framework = tf.contrib.framework
    assert framework.list_variables(checkpoint_dir=str(tmp_path)) == [("v", [2])]
    assert framework.load_checkpoint(filepattern=path).has_tensor("v")
    np.testing.assert_array_equal(framework.load_variable(checkpoint_dir=path, name="v"), [1, 2])
    with tf.Graph().as_default(), tf.Session() as other:
        v = tf.get_variable("w", initializer=[0.0, 0.0])
        framework.init_from_checkpoint(checkpoint_dir=path, assignment_map={"v": v})
        other.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(other.run(v), [1.0, 2.0])


def test_slim_has_the_columns_of_layers() -> None:
    assert tf.contrib.slim.real_valued_column is tf.contrib.layers.real_valued_column
    assert tf.contrib.slim.gdn is tf.contrib.layers.gdn


def test_functions_of_eager_are_given_tensors(sess: tf.Session) -> None:
    doubled = tf.contrib.eager.py_func(lambda x: x * 2.0 + x.numpy(), [tf.ones([2])], tf.float32)
    np.testing.assert_array_equal(sess.run(doubled), [3.0, 3.0])
