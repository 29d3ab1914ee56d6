"""Looking into checkpoints, and starting variables from them."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.parity.checkpoints import FOLDER, ROWS, every_dtype
from weft.lib.train.checkpoint.warm_start import VocabInfo


@pytest.fixture
def saved(tmp_path: Path) -> str:
    """A checkpoint with a/x, a/rows (of three parts) and y."""
    with tf.Graph().as_default():
        with tf.variable_scope("a"):
            tf.get_variable("x", initializer=tf.constant([1.0, 2.0]))
            cut = tf.fixed_size_partitioner(3)
            tf.get_variable("rows", initializer=tf.constant(ROWS), partitioner=cut)
        tf.get_variable("y", initializer=tf.constant(3))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return tf.train.Saver().save(sess, str(tmp_path / "m"))


def initialized_values(*variables: Any) -> list[Any]:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(list(variables))


def test_a_reader_knows_names_types_and_shapes(saved: str) -> None:
    reader = tf.train.NewCheckpointReader(saved)
    assert reader.get_variable_to_shape_map() == {"a/x": [2], "a/rows": [7, 3], "y": []}
    assert reader.get_variable_to_dtype_map()["y"] is tf.int32
    assert reader.has_tensor("y") and not reader.has_tensor("z")
    assert reader.get_tensor("y") == 3 and np.array_equal(reader.get_tensor("a/rows"), ROWS)
    assert reader.debug_string().splitlines()[1] == b"a/x (DT_FLOAT) [2]"
    with pytest.raises(tf.errors.NotFoundError, match="Key z not found"):
        reader.get_tensor("z")
    assert tf.train.list_variables(str(Path(saved).parent)) == tf.train.list_variables(saved)
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        tf.train.NewCheckpointReader(saved + "x")
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        tf.train.load_checkpoint(str(FOLDER))


def test_scalars_and_strings_come_plain() -> None:
    reader = tf.train.load_checkpoint(str(FOLDER / "every_dtype"))
    assert reader.get_tensor("text") == b"one" and type(reader.get_tensor("scalar")) is np.int64
    assert reader.get_tensor("all/string").tolist() == every_dtype()["all/string"][1].tolist()
    assert tf.train.load_variable(str(FOLDER / "v1"), "global_step:0") == 1


def test_init_from_checkpoint(saved: str) -> None:
    with tf.variable_scope("b"):
        x = tf.get_variable("x", [2])
        rows = tf.get_variable("rows", [7, 3], partitioner=tf.fixed_size_partitioner(2))
    z = tf.get_variable("z", [], tf.int32, use_resource=True)
    tf.train.init_from_checkpoint(saved, {"a/": "b/", "y": z})
    found = initialized_values(x, rows.as_tensor(), z)
    assert found[0].tolist() == [1.0, 2.0] and np.array_equal(found[1], ROWS) and found[2] == 3


def test_init_by_variable_name_and_root(saved: str) -> None:
    with tf.variable_scope("a"):
        x = tf.get_variable("x", [2])
    other = tf.get_variable("other", [2])
    tf.train.init_from_checkpoint(saved, {"a/x": "other"})
    with tf.variable_scope("new"), tf.variable_scope("a"):
        inner = tf.get_variable("x", [2])
    tf.train.init_from_checkpoint(saved, {"/": "new/", "a/x": x})
    for found in initialized_values(x, other, inner):
        assert found.tolist() == [1.0, 2.0]


def test_init_errors(saved: str) -> None:
    x = tf.get_variable("x", [3])
    for names, message in (
        ({"nothing": x}, "Tensor nothing is not found"),
        ({"a/x": x}, r"Shape of variable x:0 \(\(3,\)\) doesn't match"),
        ({"a": "scope/"}, "should map to scope only"),
        ({"y/": "/"}, r"Tensor y/x \(.* in y/\) is not found in"),
    ):
        with pytest.raises(ValueError, match=message):
            tf.train.init_from_checkpoint(saved, names)


def test_checkpoints_come_as_they_appear(tmp_path: Path) -> None:
    v = tf.Variable(1.0)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(v.initializer)
        paths = [saver.save(sess, str(tmp_path / "m"), global_step=0, write_meta_graph=False)]

        def later() -> None:
            time.sleep(0.05)
            paths.append(saver.save(sess, str(tmp_path / "m"), 1, write_meta_graph=False))

        thread = threading.Thread(target=later)
        seen = []
        for path in tf.train.checkpoints_iterator(str(tmp_path), timeout=0):
            seen.append(path)
            if len(seen) == 1:
                thread.start()
                thread.join()
        assert seen == paths
    asked: list[int] = []
    stop = lambda: bool(asked.append(1)) or len(asked) > 1  # noqa: E731
    assert list(tf.train.checkpoints_iterator(str(tmp_path / "x"), 0, 0, stop)) == []
    assert len(asked) == 2


# ---- warm starts --------------------------------------------------------------------------------


def test_warm_start(saved: str) -> None:
    with tf.variable_scope("a"):
        x = tf.get_variable("x", [2])
    y = tf.get_variable("y", [], tf.int32, trainable=False, initializer=tf.zeros_initializer())
    tf.train.warm_start(saved)
    found = initialized_values(x, y)
    assert found[0].tolist() == [1.0, 2.0] and found[1] == 0
    tf.train.warm_start(saved, [".*y"])
    assert initialized_values(y) == [3]
    with pytest.raises(ValueError, match=r"not used: \{'typo'\}"):
        tf.train.warm_start(saved, var_name_to_prev_var_name={"typo": "y"})
    with pytest.raises(ValueError, match="must be a `list` or `str`"):
        tf.train.warm_start(saved, 3)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("axis", [0, 1])
def test_warm_start_with_a_vocabulary(tmp_path: Path, axis: int, parts: int) -> None:
    (tmp_path / "old").write_text("apple\nbanana\nguava\n")
    (tmp_path / "new").write_text("guava\nkiwi\napple\n")
    old = np.arange(6, dtype=np.float32).reshape(3, 2) + 2
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("w", initializer=tf.constant(old if axis == 0 else old.T))
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    shape = [4, 2] if axis == 0 else [2, 4]
    cut = tf.fixed_size_partitioner(parts) if parts > 1 else None
    w = tf.get_variable("w", shape, partitioner=cut)
    info = VocabInfo(
        new_vocab=str(tmp_path / "new"),
        new_vocab_size=3,
        num_oov_buckets=1,
        old_vocab=str(tmp_path / "old"),
        backup_initializer=tf.ones_initializer(),
        axis=axis,
    )
    tf.train.warm_start(path, var_name_to_vocab_info={"w": info})
    (found,) = initialized_values(w if parts == 1 else w.as_tensor())
    expected = np.array([[6, 7], [1, 1], [2, 3], [1, 1]], np.float32)
    assert np.array_equal(found, expected if axis == 0 else expected.T)


def test_vocabularies_have_two_axes() -> None:
    with pytest.raises(ValueError, match="axis argument are 0 and 1"):
        VocabInfo("a", 1, 0, "b", axis=2)
