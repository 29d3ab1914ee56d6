"""tf.train.Checkpoint and CheckpointManager."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.parity.checkpoints import FOLDER
from weft.client.eager import EagerExecution


def variable(name: str, value: Any) -> Any:
    return tf.get_variable(name, initializer=tf.constant(value), use_resource=True)


def test_reads_what_tensorflow_wrote() -> None:
    w, b = variable("x", [0.0, 0.0]), variable("y", 0.0)
    checkpoint = tf.train.Checkpoint(w=w, inner=tf.train.Checkpoint(b=b))
    with tf.Session() as sess:
        status = checkpoint.restore(str(FOLDER / "objects"))
        status.assert_consumed().run_restore_ops()
        assert sess.run(w).tolist() == [1.0, 2.0] and sess.run(b) == 3.0


def test_keys_are_those_of_tensorflow(tmp_path: Path) -> None:
    w, b = variable("w", [1.0, 2.0]), variable("b", 3.0)
    checkpoint = tf.train.Checkpoint(w=w, inner=tf.train.Checkpoint(b=b))
    with tf.Session() as sess:
        sess.run([w.initializer, b.initializer, checkpoint.save_counter.initializer])
        path = checkpoint.write(str(tmp_path / "sub" / "m"))
    assert tf.train.list_variables(path) == tf.train.list_variables(str(FOLDER / "objects"))


def trained(layer: Any, optimizer: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    loss = tf.reduce_mean(tf.square(layer(x) - 1.0))
    return optimizer.minimize(loss)


def test_layers_optimizers_and_slots(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        layer, optimizer = tf.layers.Dense(1), tf.train.AdamOptimizer(0.1)
        train = trained(layer, optimizer)
        checkpoint = tf.train.Checkpoint(layer=layer, optimizer=optimizer)
        checkpoint.restore(None).initialize_or_restore()
        sess.run(train)
        path = checkpoint.save(str(tmp_path / "m"))
        assert path == str(tmp_path / "m-1") == tf.train.latest_checkpoint(str(tmp_path))
        sess.run(train)
        expected = sess.run([layer.kernel, optimizer.get_slot(layer.kernel, "m")])
    names = [name for name, _ in tf.train.list_variables(path)]
    value = ".ATTRIBUTES/VARIABLE_VALUE"
    assert f"layer/kernel/.OPTIMIZER_SLOT/optimizer/m/{value}" in names
    assert f"optimizer/beta1_power/{value}" in names and f"save_counter/{value}" in names
    layer, optimizer = tf.layers.Dense(1, name="other"), tf.train.AdamOptimizer(0.1)
    checkpoint = tf.train.Checkpoint(layer=layer, optimizer=optimizer)
    status = checkpoint.restore(path)
    with tf.Session() as sess:
        with pytest.raises(AssertionError, match="Unresolved object"):
            status.assert_consumed()
        train = trained(layer, optimizer)  # the variables come only now
        status.assert_consumed().initialize_or_restore()
        sess.run(train)
        found = sess.run([layer.kernel, optimizer.get_slot(layer.kernel, "m")])
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_lists_dicts_and_odd_names(tmp_path: Path) -> None:
    values = [variable(f"v{i}", float(i)) for i in range(3)]
    checkpoint = tf.train.Checkpoint(many=[values[0], {"a/b.c": values[1]}])
    checkpoint.later = values[2]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = checkpoint.write(str(tmp_path / "m"))
        names = [name for name, _ in tf.train.list_variables(path)]
        assert "many/1/a.Sb..c/.ATTRIBUTES/VARIABLE_VALUE" in names
        sess.run([v.assign(9.0) for v in values])
        checkpoint.restore(path).run_restore_ops()
        assert sess.run(values) == [0.0, 1.0, 2.0]
        checkpoint.more = variable("more", 5.0)
        status = checkpoint.restore(path).expect_partial()
        with pytest.raises(AssertionError, match=r"not bound to checkpointed values.*more"):
            status.assert_existing_objects_matched()
        status.initialize_or_restore()
        assert sess.run(checkpoint.more) == 5.0


def test_what_does_not_match(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expecting a trackable object"):
        tf.train.Checkpoint(x=3)
    v = variable("v", 1.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = tf.train.Checkpoint(v=v).write(str(tmp_path / "m"))
        with pytest.raises(AssertionError, match="Nothing except the root object matched"):
            tf.train.Checkpoint(w=v).restore(path).assert_nontrivial_match()
        nothing = tf.train.Checkpoint(w=v).restore(None)
        for method in (nothing.assert_consumed, nothing.run_restore_ops):
            with pytest.raises(AssertionError, match="No checkpoint specified"):
                method()


def test_a_savers_checkpoint_is_read_by_name(tmp_path: Path) -> None:
    v = variable("v", 7.0)
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = tf.train.Saver([v]).save(sess, str(tmp_path / "m"))
        sess.run(v.assign(0.0))
        tf.train.Checkpoint(thing=v).restore(path).assert_consumed().run_restore_ops()
        assert sess.run(v) == 7.0


def test_manager(tmp_path: Path) -> None:
    v = variable("v", 0.0)
    checkpoint = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert manager.latest_checkpoint is None
    with tf.Session() as sess:
        sess.run(v.initializer)
        paths = [manager.save() for _ in range(3)]
        assert paths == [str(tmp_path / f"ckpt-{i}") for i in (1, 2, 3)]
        assert manager.checkpoints == paths[1:] and not tf.train.checkpoint_exists(paths[0])
        again = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=1)
        assert again.latest_checkpoint == paths[2] and again.checkpoints == paths[1:]
        assert again.save(checkpoint_number=9) == str(tmp_path / "ckpt-9")
        assert sorted(p.name for p in tmp_path.glob("*.index")) == ["ckpt-9.index"]
    with pytest.raises(ValueError, match="Expected a positive integer"):
        tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=0)


def test_a_manager_in_eager_execution(tmp_path: Path) -> None:
    with EagerExecution().as_default():
        checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=1)
        assert [os.path.basename(manager.save()) for _ in range(2)] == ["ckpt-1", "ckpt-2"]
        assert os.path.basename(manager.save(tf.Variable(7))) == "ckpt-7"
        assert manager.checkpoints == [str(tmp_path / "ckpt-7")]
