"""tf.saved_model.Builder and loader: what they refuse, and what a folder holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.lib.saved_model.files import read_saved_model
from weft.lib.saved_model.loader import get_train_op
from weft.storage import file_io

SERVE = tf.saved_model.SERVING


def initialized() -> tf.Session:
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def export(folder: Path, value: float = 1.5, **options: Any) -> None:
    """A model of one variable `v`."""
    with tf.Graph().as_default():
        tf.get_variable("v", initializer=value)
        builder = tf.saved_model.Builder(str(folder))
        with initialized() as session:
            builder.add_meta_graph_and_variables(session, [SERVE], **options)
        builder.save()


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    tf.saved_model.Builder(str(tmp_path))  # empty: fine
    (tmp_path / "x").write_text("")
    with pytest.raises(AssertionError, match="Export directory already exists, and isn't empty"):
        tf.saved_model.Builder(str(tmp_path))


def test_variables_are_saved_once_and_first(tmp_path: Path) -> None:
    builder = tf.saved_model.Builder(str(tmp_path))
    with pytest.raises(AssertionError, match=r"invoke `add_meta_graph_and_variables\(\)` first"):
        builder.add_meta_graph(["a"])
    tf.get_variable("v", initializer=1.0)
    with initialized() as session:
        builder.add_meta_graph_and_variables(session, ["a"])
        with pytest.raises(AssertionError, match="already been saved"):
            builder.add_meta_graph_and_variables(session, ["b"])


def test_a_reader_never_sees_half_a_model(tmp_path: Path, monkeypatch: Any) -> None:
    """The message is written beside and renamed: what stops the writer leaves the old one."""
    export(tmp_path / "m")
    before = (tmp_path / "m" / "saved_model.pb").read_bytes()
    builder = tf.saved_model.Builder(str(tmp_path / "other"))
    builder._export_dir = str(tmp_path / "m")

    def stopped(path: Any, content: Any) -> None:
        Path(path).write_bytes(bytes(content)[:1])
        raise OSError("disk full")

    monkeypatch.setattr(file_io, "write_string_to_file", stopped)
    with pytest.raises(OSError, match="disk full"):
        builder.save()
    assert (tmp_path / "m" / "saved_model.pb").read_bytes() == before


def test_tags_must_match_exactly(tmp_path: Path) -> None:
    export(tmp_path / "m")
    with tf.Session() as session:
        message = (
            "MetaGraphDef associated with tags 'serve', 'gpu' could not be found in SavedModel. To"
            " inspect available tag-sets in the SavedModel, please use the SavedModel CLI:"
            " `saved_model_cli`\navailable_tags: [{'serve'}]"
        )
        with pytest.raises(RuntimeError, match=re.escape(message)):
            tf.saved_model.load(session, [SERVE, "gpu"], str(tmp_path / "m"))


def test_folders_that_hold_none(tmp_path: Path) -> None:
    assert not tf.saved_model.contains_saved_model(str(tmp_path))
    with pytest.raises(OSError, match=r"SavedModel file does not exist at: .*/\{saved_model.pbtxt"):
        tf.saved_model.load(tf.Session(), [SERVE], str(tmp_path))
    (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff")
    assert tf.saved_model.maybe_saved_model_directory(str(tmp_path))
    with pytest.raises(OSError, match=r"Cannot parse file .*saved_model.pb: "):
        tf.saved_model.load(tf.Session(), [SERVE], str(tmp_path))
    (tmp_path / "saved_model.pb").unlink()
    (tmp_path / "saved_model.pbtxt").write_text("invalid { x")
    with pytest.raises(OSError, match=r"Cannot parse file .*saved_model.pbtxt: "):
        tf.saved_model.load(tf.Session(), [SERVE], str(tmp_path))


def info(tensor: Any) -> Any:
    return tf.saved_model.build_tensor_info(tensor)


def test_signatures_that_are_refused(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [], "x")
    builder = tf.saved_model.Builder(str(tmp_path))
    whole, nameless, typeless = info(x), info(x), info(x)
    nameless.ClearField("name")
    typeless.ClearField("dtype")
    for bad, match in ((nameless, "'encoding' fields"), (typeless, "the dtype field set")):
        for sides in ((bad, whole), (whole, bad)):
            signature = tf.saved_model.build_signature_def({"x": sides[0]}, {"y": sides[1]}, "m")
            with tf.Session() as session, pytest.raises(AssertionError, match=match):
                builder.add_meta_graph_and_variables(session, ["a"], {"s": signature})
    signature = tf.saved_model.build_signature_def({"x": whole}, {"y": whole}, "m")
    with tf.Session() as session, pytest.raises(KeyError, match="reserved for initialization"):
        builder.add_meta_graph_and_variables(session, ["a"], {"__saved_model_init_op": signature})
    assert not (tmp_path / "variables").exists()


def test_a_missing_asset_is_an_error(tmp_path: Path) -> None:
    file = tf.constant(str(tmp_path / "nowhere.txt"))
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        export_with_assets(tmp_path / "m", [file])
    with pytest.raises(TypeError, match="must be of dtype string"):
        export_with_assets(tmp_path / "n", [tf.constant(1)])
    with pytest.raises(TypeError, match="must be of type constant"):
        export_with_assets(tmp_path / "o", [tf.placeholder(tf.string, [])])


def export_with_assets(folder: Path, assets: list[Any]) -> None:
    with tf.Session() as session:
        builder = tf.saved_model.Builder(str(folder))
        builder.add_meta_graph_and_variables(session, [SERVE], assets_collection=assets)


def test_assets_with_one_name(tmp_path: Path) -> None:
    """The same content is copied once; other content gets a number."""
    files = []
    for number, content in enumerate(["one", "one", "two", "three"]):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "w.txt").write_text(content)
        files.append(tf.constant(str(tmp_path / str(number) / "w.txt")))
    export_with_assets(tmp_path / "m", files)
    found = {p.name: p.read_text() for p in (tmp_path / "m" / "assets").iterdir()}
    assert found == {"w.txt": "one", "w.txt_1": "two", "w.txt_2": "three"}


def test_main_op_runs_after_the_variables_are_restored(tmp_path: Path) -> None:
    for name in ("main_op", "legacy_init_op"):
        with tf.Graph().as_default():
            v = tf.get_variable("v", initializer=1.0)
            doubled = tf.get_variable("d", initializer=0.0)
            op = tf.group(doubled.assign(v * 2.0))
            tf.add_to_collection("saved_model_train_op", v.assign_add(1.0))
            builder = tf.saved_model.Builder(str(tmp_path / name))
            with initialized() as session:
                session.run(v.assign(21.0))
                builder.add_meta_graph_and_variables(session, [SERVE], **{name: op})
                with pytest.raises(ValueError, match="Graph already contains one or more main ops"):
                    builder.add_meta_graph(["b"], main_op=op)
                with pytest.raises(TypeError, match="main_op needs to be an Operation"):
                    builder.add_meta_graph(["b"], main_op=doubled)
            builder.save()
        with tf.Graph().as_default(), tf.Session() as session:
            graph = tf.saved_model.load(session, [SERVE], str(tmp_path / name))
            assert session.run("d:0") == 42.0
            session.run(get_train_op(graph))
            assert session.run("v:0") == 22.0


def test_main_op_of_everything(tmp_path: Path) -> None:
    v = tf.get_variable("v", initializer=3.0)
    local = tf.get_variable("l", initializer=4.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    op = tf.saved_model.main_op.main_op()
    after = tf.saved_model.main_op_with_restore(tf.assign(v, 5.0).op)
    with tf.Session() as session:
        session.run(op)
        assert session.run([v, local]) == [3.0, 4.0]
        session.run(after)
        assert session.run(v) == 5.0


def test_import_scope_and_two_models_in_one_graph(tmp_path: Path) -> None:
    for name, value in (("a", 1.0), ("b", 2.0)):
        with tf.Graph().as_default():
            v = tf.get_variable("v", initializer=value)
            w = tf.get_variable("w", initializer=0.0)
            x = tf.placeholder_with_default(10.0, [], name="x")
            builder = tf.saved_model.Builder(str(tmp_path / name))
            signature = tf.saved_model.predict_signature_def({"x": x}, {"y": x * v})
            with initialized() as session:
                builder.add_meta_graph_and_variables(
                    session, [SERVE], {"s": signature}, main_op=w.assign(v + 100.0).op
                )
            builder.save()
    with tf.Session() as session:
        for name in ("a", "b"):
            graph = tf.saved_model.load(session, [SERVE], str(tmp_path / name), import_scope=name)
            tensor_info = graph.signature_def["s"].outputs["y"]
            y = tf.saved_model.get_tensor_from_tensor_info(tensor_info, import_scope=name)
            assert y.name.startswith(f"{name}/")
            assert session.run(y) == {"a": 10.0, "b": 20.0}[name]
        assert session.run(["a/w:0", "b/w:0"]) == [101.0, 102.0]


def test_devices_defaults_and_savers(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        with tf.device("/device:CPU:0"):
            v = tf.get_variable("v", initializer=1.0)
            tf.get_variable("unsaved", initializer=2.0)
            tf.complex(1.0, 2.0, name="c")
        builder = tf.saved_model.Builder(str(tmp_path))
        saver = tf.train.Saver([v])
        with initialized() as session:
            builder.add_meta_graph_and_variables(
                session, ["a"], clear_devices=True, strip_default_attrs=True, saver=saver
            )
            builder.add_meta_graph(["b"])
        builder.save()
    bare, whole = read_saved_model(tmp_path).meta_graphs
    nodes = [{node.name: node for node in graph.graph_def.node} for graph in (bare, whole)]
    assert [set(each["c"].attr) & {"T", "Tout"} for each in nodes] == [set(), {"T", "Tout"}]
    assert [each["v"].device for each in nodes] == ["", "/device:CPU:0"]
    assert bare.saver_def.save_tensor_name == saver.saver_def.save_tensor_name
    shapes = tf.train.NewCheckpointReader(str(tmp_path / "variables" / "variables"))
    assert set(shapes.get_variable_to_shape_map()) == {"v"}
    with tf.Graph().as_default(), tf.Session() as session:
        graph = tf.saved_model.load(session, ["a"], str(tmp_path))
        assert session.run("v:0") == 1.0
        attrs = next(n for n in graph.graph_def.node if n.name == "c").attr
        assert {"T", "Tout"} <= set(attrs)  # the defaults are back


def test_a_model_without_variables(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [], "x")
    with tf.Session() as session:
        tf.saved_model.simple_save(session, str(tmp_path), {"x": x}, {"y": x + 1.0})
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, [SERVE], str(tmp_path))
        assert session.run("add:0", {"x:0": 1.0}) == 2.0
