"""tf.train.Saver: its graph, its files, and what TensorFlow makes of them."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.parity.checkpoint_programs import model, on_two_devices, partitioned
from tests.parity.checkpoints import FOLDER, ROWS
from weft.lib.train.checkpoint import saver_kept
from weft.lib.train.checkpoint.saver_builder import BaseSaverBuilder


def initialized() -> tf.Session:
    session = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))
    session.run(tf.global_variables_initializer())
    return session


# ---- against TensorFlow -------------------------------------------------------------------------


def nodes_added(before: set[str]) -> list[dict[str, Any]]:
    def groups(op: tf.Operation) -> list[str]:
        names = [group.decode() for group in op.colocation_groups()]
        return [name for name in names if name != f"loc:@{op.name}"]

    return [
        {
            "name": op.name,
            "op": op.type,
            "inputs": [t.name for t in op.inputs] + sorted(f"^{c.name}" for c in op.control_inputs),
            "colocated": groups(op),
        }
        for op in tf.get_default_graph().get_operations()
        if op.name not in before
    ]


@pytest.mark.parametrize(
    ("name", "build", "version"),
    [("partitioned", partitioned, 2), ("adam", model, 2), ("v1", model, 1)],
)
def test_nodes_are_those_of_tensorflow(name: str, build: Callable, version: int) -> None:
    build(tf)
    before = {op.name for op in tf.get_default_graph().get_operations()}
    tf.train.Saver(write_version=version)
    expected = json.loads((FOLDER / f"{name}.nodes.json").read_text())
    found = nodes_added(before)
    assert [node["name"] for node in found] == [node["name"] for node in expected]
    assert found == expected


def test_nodes_of_a_sharded_saver() -> None:
    """As TensorFlow 1.15 makes them: later ones ask for the kind of file system in between."""
    on_two_devices(tf)
    before = {op.name for op in tf.get_default_graph().get_operations()}
    tf.train.Saver(sharded=True)
    names = [node["name"].removeprefix("save/") for node in nodes_added(before)]
    save = "SaveV2{0}/tensor_names SaveV2{0}/shape_and_slices SaveV2{0} control_dependency{0}"
    restore = "RestoreV2{0}/tensor_names RestoreV2{0}/shape_and_slices RestoreV2{0}"
    assert names == [
        *"filename/input filename Const StringJoin/inputs_1 StringJoin num_shards".split(),
        *["ShardedFilename/shard", "ShardedFilename", *save.format("").split()],
        *["ShardedFilename_1/shard", "ShardedFilename_1", *save.format("_1").split()],
        *"MergeV2Checkpoints/checkpoint_prefixes MergeV2Checkpoints Identity".split(),
        *[*restore.format("").split(), "Assign", "Assign_1", "restore_shard"],
        *[*restore.format("_1").split(), "Assign_2", "restore_shard_1"],
        *["restore_all/NoOp", "restore_all/NoOp_1", "restore_all"],
    ]


@pytest.mark.parametrize(
    ("name", "build", "sharded"),
    [("partitioned", partitioned, False), ("sharded", on_two_devices, True)],
)
def test_files_are_those_of_tensorflow(
    name: str, build: Callable, sharded: bool, tmp_path: Path
) -> None:
    build(tf)
    saver = tf.train.Saver(sharded=sharded)
    with initialized() as sess:
        saver.save(sess, str(tmp_path / name), write_meta_graph=False, write_state=False)
    files = sorted(os.listdir(tmp_path))
    assert files == sorted(p.name for p in FOLDER.glob(f"{name}.[id]*"))
    for file in files:
        assert (tmp_path / file).read_bytes() == (FOLDER / file).read_bytes(), file


@pytest.mark.parametrize(("name", "steps"), [("adam", 3), ("v1", 1)])
def test_training_goes_on_from_tensorflows_checkpoint(name: str, steps: int) -> None:
    """Slots and step as TensorFlow left them are those that weft comes to by itself."""
    train = model(tf)
    saver = tf.train.Saver()
    variables = tf.global_variables()
    with initialized() as sess:
        for _ in range(steps):
            sess.run(train)
        trained = sess.run(variables)
    with tf.Session() as sess:
        saver.restore(sess, str(FOLDER / name))
        restored = sess.run(variables)
    for mine, theirs in zip(trained, restored, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


def test_a_checkpoint_of_objects_is_read_by_name() -> None:
    w = tf.get_variable("w", [2], use_resource=True)
    b = tf.get_variable("b", [], use_resource=True)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        saver.restore(sess, str(FOLDER / "objects"))
        assert sess.run(w).tolist() == [1.0, 2.0] and sess.run(b) == 3.0


# ---- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("sharded", [False, True])
def test_save_and_restore(tmp_path: Path, use_resource: bool, version: int, sharded: bool) -> None:
    values = [np.arange(6, dtype=np.float32).reshape(2, 3), np.array(7, np.int64)]
    variables = [
        tf.get_variable(f"v{i}", initializer=tf.constant(v), use_resource=use_resource)
        for i, v in enumerate(values)
    ]
    saver = tf.train.Saver(write_version=version, sharded=sharded)
    with initialized() as sess:
        path = saver.save(sess, str(tmp_path / "m"), global_step=3)
        sess.run([v.assign(tf.zeros_like(v)) for v in variables])
        saver.restore(sess, path)
        for found, value in zip(sess.run(variables), values, strict=True):
            assert found.dtype == value.dtype and np.array_equal(found, value)
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    assert tf.train.checkpoint_exists(path)
    assert not [name for name in os.listdir(tmp_path) if "temp" in name]


@pytest.mark.parametrize("content", [b"model_checkpoint_path: ", b"a\x80", b"nothing"])
def test_a_state_that_cannot_be_read_is_ignored(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "checkpoint").write_bytes(content)
    assert tf.train.latest_checkpoint(str(tmp_path)) is None


def test_old_checkpoints_are_deleted(tmp_path: Path) -> None:
    tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=2)
    with initialized() as sess:
        paths = [saver.save(sess, str(tmp_path / "m"), global_step=i) for i in range(4)]
        assert saver.last_checkpoints == paths[2:]
        state = tf.train.get_checkpoint_state(str(tmp_path))
        assert list(state.all_model_checkpoint_paths) == paths[2:]
        assert not tf.train.checkpoint_exists(paths[1])
        assert not (tmp_path / "m-1.meta").exists() and (tmp_path / "m-2.meta").exists()
        again = tf.train.Saver(max_to_keep=2)
        again.recover_last_checkpoints([paths[0], *paths[2:]])
        assert again.last_checkpoints == paths[2:]
        again.save(sess, paths[2])  # known already: goes to the end
        assert again.last_checkpoints == [paths[3], paths[2]]


def test_some_are_kept_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tf.Variable(1.0)
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1)
    now = [saver._next_checkpoint_time - 3600]
    monkeypatch.setattr(saver_kept.time, "time", lambda: now[0])
    with initialized() as sess:
        for i in range(5):
            saver.save(sess, str(tmp_path / "m"), global_step=i, write_meta_graph=False)
            now[0] += 1500
    assert sorted(p.name for p in tmp_path.glob("*.index")) == ["m-3.index", "m-4.index"]


def test_names_and_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    step = tf.train.get_or_create_global_step()
    saver = tf.train.Saver(pad_step_number=True, save_relative_paths=True)
    with initialized() as sess:
        assert saver.save(sess, str(tmp_path / "m"), global_step=step) == f"{tmp_path}/m-00000000"
        text = (tmp_path / "checkpoint").read_text()
        assert 'model_checkpoint_path: "m-00000000"' in text
        assert tf.train.latest_checkpoint(str(tmp_path)) == f"{tmp_path}/m-00000000"
        assert saver.save(sess, "n", latest_filename="latest") == "n"
        assert tf.train.latest_checkpoint(".", "latest") == "./n"
        with pytest.raises(ValueError, match="collides with 'save_path'"):
            saver.save(sess, "checkpoint")
        with pytest.raises(ValueError, match="must not contain path components"):
            saver.save(sess, "n", latest_filename="a/b")
        with pytest.raises(ValueError, match="Parent directory of x/y/z doesn't exist"):
            saver.save(sess, "x/y/z")
        with pytest.raises(TypeError, match="'sess' must be a Session"):
            saver.save(None, "n")


# ---- what is saved ------------------------------------------------------------------------------


def test_names_of_a_dict_and_partitions_read_differently(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        tf.get_variable("v", initializer=tf.constant(ROWS))
        with initialized() as sess:
            path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    cut = tf.fixed_size_partitioner(2, axis=1)
    with tf.variable_scope("", partitioner=cut):
        parts = tf.get_variable("v", ROWS.shape)
    other = tf.get_variable("other", ROWS.shape)
    with tf.Session() as sess:
        tf.train.Saver({"v": parts}).restore(sess, path)
        tf.train.Saver({"v": other}).restore(sess, path)
        assert np.array_equal(sess.run(parts.as_tensor()), ROWS)
        assert np.array_equal(sess.run(other), ROWS)


def test_reshape(tmp_path: Path) -> None:
    a = tf.Variable(tf.reshape(tf.range(6), [2, 3]), name="a")
    with initialized() as sess:
        path = tf.train.Saver([a]).save(sess, str(tmp_path / "m"))
    b = tf.Variable(tf.zeros([3, 2], tf.int32), name="b")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="mismatch between the current"):
            tf.train.Saver({"a": b}).restore(sess, path)
        tf.train.Saver({"a": b}, reshape=True).restore(sess, path)
        assert sess.run(b).tolist() == [[0, 1], [2, 3], [4, 5]]


def test_errors_name_what_is_wrong(tmp_path: Path) -> None:
    v = tf.Variable([1.0], name="v")
    saver = tf.train.Saver()
    with initialized() as sess:
        path = saver.save(sess, str(tmp_path / "m"))
        with pytest.raises(ValueError, match=r"not a valid checkpoint: .*nothing"):
            saver.restore(sess, str(tmp_path / "nothing"))
        with pytest.raises(tf.errors.NotFoundError, match="Key w not found in checkpoint"):
            tf.train.Saver({"w": v}).restore(sess, path)
        integer = tf.Variable([1], name="i")
        with pytest.raises(
            tf.errors.InvalidArgumentError,
            match="tensor_name = v; expected dtype int32 does not equal original dtype float",
        ):
            tf.train.Saver({"v": integer}).restore(sess, path)
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value i"):
            tf.train.Saver().save(sess, path)
        data = tmp_path / "m.data-00000-of-00001"
        data.write_bytes(b"\x01" + data.read_bytes()[1:])
        with pytest.raises(tf.errors.DataLossError, match=r"tensor v in .*m.data-00000"):
            saver.restore(sess, path)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    assert tf.train.Saver(allow_empty=True).as_saver_def() is None
    v = tf.Variable(1.0, name="v")
    with pytest.raises(ValueError, match="restored with two names: b"):
        tf.train.Saver({"a": v, "b": v})
    with pytest.raises(ValueError, match="At least two variables have the same name: v"):
        tf.train.Saver([v, v])
    with pytest.raises(TypeError, match="passed in a dict or a list"):
        tf.train.Saver(v)
    with pytest.raises(TypeError, match="Not a variable"):
        tf.train.Saver({"x": tf.constant(1.0)})
    with pytest.raises(ValueError, match="build cannot be deferred"):
        tf.train.Saver([v], defer_build=True)
    deferred = tf.train.Saver(defer_build=True)
    with tf.Session() as sess, pytest.raises(RuntimeError, match="should be called before save"):
        deferred.save(sess, "x")
    deferred.build()
    assert deferred.as_saver_def().restore_op_name == "save/restore_all"


def test_one_restore_for_each_tensor(tmp_path: Path) -> None:
    variables = [tf.Variable([float(i)]) for i in range(2)]
    saver = tf.train.Saver(builder=BaseSaverBuilder(), restore_sequentially=True)
    kinds = [op.type for op in tf.get_default_graph().get_operations()]
    assert kinds.count("RestoreV2") == 2
    with initialized() as sess:
        path = saver.save(sess, str(tmp_path / "m"))
        sess.run(tf.assign(variables[1], [9.0]))
        saver.restore(sess, path)
        assert sess.run(variables[1]).tolist() == [1.0]


# ---- MetaGraphs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", [None, "imported"])
def test_a_saver_comes_with_the_meta_graph(tmp_path: Path, scope: str | None) -> None:
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0], name="v")
        tf.multiply(v, 2.0, name="twice")
        with initialized() as sess:
            path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    saver = tf.train.import_meta_graph(f"{path}.meta", import_scope=scope)
    prefix = f"{scope}/" if scope else ""
    with tf.Session() as sess:
        saver.restore(sess, path)
        assert sess.run(f"{prefix}twice:0").tolist() == [2.0, 4.0]
    assert saver.as_saver_def().restore_op_name == f"{prefix}save/restore_all"


def test_savers_in_collections(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        with tf.name_scope("s"):
            v = tf.Variable(1.0, name="v")
            saver = tf.train.Saver([v])
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
        assert saver.to_proto("s").save_tensor_name == "save/control_dependency:0"
        assert saver.to_proto("elsewhere") is None
        message = saver.export_meta_graph()
    assert tf.train.import_meta_graph(message) is not None
    (found,) = tf.get_collection(tf.GraphKeys.SAVERS)
    assert found.as_saver_def() == saver.as_saver_def()


def test_nothing_to_save_is_no_saver() -> None:
    with tf.Graph().as_default():
        tf.constant(1.0)
        message = tf.train.export_meta_graph()
    assert tf.train.import_meta_graph(message) is None


# ---- in the background --------------------------------------------------------------------------


@pytest.mark.parametrize("use_resource", [False, True])
def test_values_of_the_moment_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use_resource: bool
) -> None:
    """The writer is held until training has gone on: it must not see what came later."""
    from weft.storage import bundle

    trained = threading.Event()
    write_values = bundle.write_values

    def late(*args: Any) -> Any:
        assert trained.wait(20)
        return write_values(*args)

    monkeypatch.setattr(bundle, "write_values", late)
    size = 1 << 16
    v = tf.get_variable("v", initializer=tf.zeros([size]), use_resource=use_resource)
    w = tf.get_variable("w", initializer=tf.zeros([size]), use_resource=use_resource)
    train = tf.group(v.assign_add(tf.ones([size])), w.assign_add(tf.ones([size])))
    saver = tf.train.Saver()
    with initialized() as sess:
        for _ in range(4):
            sess.run(train)
        path = saver.save(sess, str(tmp_path / "m"), background=True)
        assert path == str(tmp_path / "m") and not tf.train.checkpoint_exists(path)
        for _ in range(4):
            sess.run(train)
        trained.set()
        saver.wait()
        assert tf.train.latest_checkpoint(str(tmp_path)) == path
        saver.restore(sess, path)
        for found in sess.run([v, w]):
            assert np.all(found == 4.0)


def test_an_error_in_the_background_is_raised_later(tmp_path: Path) -> None:
    tf.Variable(1.0)
    saver = tf.train.Saver()
    with initialized() as sess:
        saver.save(sess, str(tmp_path / "x/y/z/m"), background=True, write_meta_graph=False)
        with pytest.raises(ValueError, match=r"Parent directory of .* doesn't exist"):
            saver.wait()
        saver.save(sess, str(tmp_path / "m"))


def test_a_save_sees_one_moment(tmp_path: Path) -> None:
    """Two variables that are always equal are equal in checkpoints saved while training."""
    size = 1 << 12
    v = tf.Variable(tf.zeros([size]), name="v")
    w = tf.Variable(tf.zeros([size]), name="w")
    train = tf.group(v.assign_add(tf.ones([size])), w.assign_add(tf.ones([size])))
    saver = tf.train.Saver()
    stop = threading.Event()
    with initialized() as sess:

        def work() -> None:
            while not stop.is_set():
                sess.run(train)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for i in range(10):
                saver.save(
                    sess, str(tmp_path / "m"), global_step=i, write_meta_graph=False,
                    background=i % 2 == 0,
                )  # fmt: skip
                saver.wait()
                path = tf.train.latest_checkpoint(str(tmp_path))
                found = [tf.train.load_variable(path, name) for name in "vw"]
                assert np.array_equal(*found) and np.ptp(found[0]) == 0
        finally:
            stop.set()
            thread.join()


@pytest.mark.on_host
def test_a_first_step_is_one_update_too() -> None:
    """Steps that run for the first time are interpreted; what others see is never half of one."""
    cells = [tf.Variable(0.0, name=name) for name in "vw"]
    steps = [tf.group(*[v.assign(float(i)) for v in cells]) for i in range(200)]
    with initialized() as sess:
        store = sess._runner.store
        held = {name: cell for _, kind, name, cell in store if kind == "variable"}
        thread = threading.Thread(target=lambda: [sess.run(step) for step in steps])
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            thread.start()
            while thread.is_alive():
                with store.lock:
                    assert held["v"].read() == held["w"].read()
        finally:
            sys.setswitchinterval(before)
            thread.join()
        assert sess.run(cells) == [199.0, 199.0]


def test_the_last_of_two_threads_saves_is_the_latest(tmp_path, monkeypatch):
    """A save that was begun before, by another thread, is over before the next one begins."""
    value = tf.get_variable("value", initializer=1.0)
    saver = tf.train.Saver()
    begun, go_on = threading.Event(), threading.Event()
    plain = saver._after_save

    def slowly(*args: Any) -> None:
        if "early" in args[0]:
            begun.set()
            go_on.wait(10)
        plain(*args)

    monkeypatch.setattr(saver, "_after_save", slowly)
    with initialized() as session:
        early = threading.Thread(target=saver.save, args=(session, str(tmp_path / "early")))
        late = threading.Thread(target=saver.save, args=(session, str(tmp_path / "late")))
        early.start()
        assert begun.wait(10)
        session.run(value.assign(2.0))
        late.start()
        late.join(0.5)
        go_on.set()
        early.join()
        late.join()
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "late")
