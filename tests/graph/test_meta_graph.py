"""MetaGraphDef: collections, scopes, files, and a MetaGraph that TensorFlow wrote."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from tensorboard.compat.proto.graph_debug_info_pb2 import GraphDebugInfo
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.saver_pb2 import SaverDef
from tensorboard.compat.proto.variable_pb2 import VariableDef

import weft as tf
from weft.graph import collection_def, meta_graph
from weft.graph.op_def import raw

DATA = Path(__file__).parent / "data"


def export(**options: Any) -> Any:
    return meta_graph.export_scoped_meta_graph(**options)[0]


def collections(graph: tf.Graph) -> dict[str, list[Any]]:
    return {key: graph.get_collection(key) for key in graph.get_all_collection_keys()}


def linear(scope: str | None = None) -> None:
    """y = x w + b with one variable of either kind."""
    with tf.name_scope(scope):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable([[1.0], [2.0]], name="w")
        b = tf.Variable([0.5], name="b", use_resource=True)
        raw.Add(raw.MatMul(x, w), b, name="y")


# ---- written by TensorFlow --------------------------------------------------------------------


@pytest.mark.parametrize("scope", [None, "below"])
def test_training_goes_on_from_tensorflows_meta_graph(scope: str | None) -> None:
    wanted = np.load(DATA / "linear.npz")
    variables = meta_graph.import_scoped_meta_graph(str(DATA / "linear.meta"), import_scope=scope)
    graph = tf.get_default_graph()
    prefix = f"{scope}/" if scope else ""
    assert sorted(variables) == ["global_step:0", "layer/bias:0", "layer/weights:0"]
    y, loss = graph.get_collection("outputs")
    (train, *_) = graph.get_collection("train_op")
    assert (loss.name, train.name) == (f"{prefix}loss:0", f"{prefix}train")
    feeds = {f"{prefix}x:0": wanted["x"], f"{prefix}labels:0": wanted["labels"]}
    with tf.Session() as session:
        session.run([v.initializer for v in variables.values()])
        losses = [session.run([loss, train], feeds)[0] for _ in wanted["losses"]]
        for name, variable in variables.items():
            key = name.split("/")[-1].removesuffix(":0")
            np.testing.assert_allclose(session.run(variable), wanted[key], rtol=1e-5)
        (count,) = graph.get_collection(tf.GraphKeys.LOCAL_VARIABLES)
        (tick,) = graph.get_collection("counters")
        session.run(count.initializer)
        assert session.run(tick) == 2
    np.testing.assert_allclose(losses, wanted["losses"], rtol=1e-5)
    assert y.shape.as_list() == [None, 1]
    assert graph.get_collection("sizes") == [3, 4] and graph.get_collection("rates") == [0.5]
    assert graph.get_collection("notes") == (["below/layer"] if scope else [b"layer"])


def test_tensorflows_meta_graph_survives_a_round_trip() -> None:
    theirs = meta_graph.read_meta_graph_file(str(DATA / "linear.meta"))
    with tf.Graph().as_default() as graph:
        meta_graph.import_scoped_meta_graph(theirs)
        ours = export(graph=graph)
    assert [n.name for n in ours.graph_def.node] == [n.name for n in theirs.graph_def.node]
    for node, other in zip(ours.graph_def.node, theirs.graph_def.node, strict=True):
        assert (node.op, list(node.input)) == (other.op, list(other.input))
        if "_class" not in node.attr:  # otherwise the device is that of another node
            assert node.device == other.device
        # Attributes that TensorFlow has added since are gone if they had their defaults.
        assert set(node.attr) <= set(other.attr)
        for key in node.attr:
            assert node.attr[key] == other.attr[key], (node.name, key)
    for key in ("variables", "trainable_variables", "outputs", "sizes", "rates", "local_variables"):
        assert ours.collection_def[key] == theirs.collection_def[key], key


# ---- written by weft --------------------------------------------------------------------------


def test_what_is_written() -> None:
    linear()
    message = export()
    info = message.meta_info_def
    assert info.tensorflow_version == "1.15.0" and not info.stripped_default_attrs
    used = sorted({node.op for node in message.graph_def.node})
    assert [op.name for op in info.stripped_op_list.op] == used
    by_name = {node.name: node for node in message.graph_def.node}
    assert "_output_shapes" in by_name["y"].attr
    first = VariableDef.FromString(message.collection_def["variables"].bytes_list.value[0])
    assert (first.variable_name, first.initializer_name) == ("w:0", "w/Assign")
    assert (first.snapshot_name, first.trainable) == ("w/read:0", True)


def test_round_trip_runs() -> None:
    linear()
    y = tf.get_default_graph().get_tensor_by_name("y:0")
    tf.add_to_collection("gradients", tf.gradients(y, tf.global_variables()[0])[0])
    message = export()
    with tf.Graph().as_default() as graph:
        variables = meta_graph.import_scoped_meta_graph(message, import_scope="again")
        assert list(variables) == ["w:0", "b:0"]
        assert variables["w:0"].name == "again/w:0"
        (gradient,) = graph.get_collection("gradients")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            feeds = {"again/x:0": [[3.0, 4.0]]}
            assert session.run("again/y:0", feeds) == [[11.5]]
            assert session.run(gradient, feeds).tolist() == [[3.0], [4.0]]


def test_collections_of_every_kind(caplog: pytest.LogCaptureFixture) -> None:
    x = tf.constant(1, name="x")
    for key, item in {
        "tensors": x, "ops": x.op, "numbers": 3, "floats": 2.5, "texts": "abc", "bytes": b"\xff",
        "unknown": object(),
    }.items():  # fmt: skip
        tf.add_to_collection(key, item)
    tf.get_collection_ref("empty")
    tf.get_default_graph().add_to_collection(("not", "text"), 1)  # type: ignore[arg-type]
    with caplog.at_level(logging.WARNING, "weft"):
        message = export()
    assert "Issue encountered when serializing unknown" in caplog.text
    assert sorted(message.collection_def) == [
        "bytes",
        "floats",
        "numbers",
        "ops",
        "tensors",
        "texts",
    ]
    with tf.Graph().as_default() as graph:
        meta_graph.import_scoped_meta_graph(message)
    again = collections(graph)
    assert again["tensors"][0].name == "x:0" and again["ops"][0].name == "x"
    assert again["numbers"] == [3] and again["floats"] == [2.5]
    assert again["texts"] == [b"abc"] and again["bytes"] == [b"\xff"]


def test_chosen_collections() -> None:
    for key in "abc":
        tf.add_to_collection(key, 1)
    message = export(collection_list=["a", "b"])
    assert sorted(message.collection_def) == ["a", "b"]
    with tf.Graph().as_default() as graph:
        meta_graph.import_scoped_meta_graph(
            message, restore_collections_predicate=lambda key: key == "b"
        )
    assert collections(graph) == {"b": [1]}


def test_a_variable_is_one_object_in_all_collections() -> None:
    tf.Variable(1.0, collections=["variables", "trainable_variables", "model_variables"])
    message = export()
    with tf.Graph().as_default() as graph:
        meta_graph.import_scoped_meta_graph(message)
    (a,), (b,), (c,) = collections(graph).values()
    assert a is b is c


def test_trainable_in_files_from_before_it_was_written() -> None:
    tf.Variable(1.0, name="a")
    tf.Variable(1.0, name="b", trainable=False)
    message = export()
    for collection in message.collection_def.values():
        for i, value in enumerate(collection.bytes_list.value):
            variable = VariableDef.FromString(value)
            variable.ClearField("trainable")
            collection.bytes_list.value[i] = variable.SerializeToString()
    message.meta_info_def.tensorflow_version = "1.8.0"
    with tf.Graph().as_default():
        a, b = meta_graph.import_scoped_meta_graph(message).values()
    assert a.trainable and not b.trainable


@pytest.fixture
def saver_collection() -> Iterator[None]:
    """The collection "things" holds texts, written as SaverDefs."""
    meta_graph.register_proto_function(
        "things",
        SaverDef,
        lambda item, export_scope=None: (
            None if item == "out" else SaverDef(filename_tensor_name=item)
        ),
        lambda proto, import_scope=None: f"{import_scope}:{proto.filename_tensor_name}",
    )
    yield
    del collection_def._functions["things"]


def test_objects_travel_as_messages(saver_collection: None) -> None:
    for item in ("a", "out", "b"):
        tf.add_to_collection("things", item)
    message = export()
    assert len(message.collection_def["things"].bytes_list.value) == 2
    with tf.Graph().as_default() as graph:
        meta_graph.import_scoped_meta_graph(message, import_scope="s")
    assert graph.get_collection("things") == ["s:a", "s:b"]


def test_registering_proto_functions(saver_collection: None) -> None:
    assert meta_graph.get_collection_proto_type("things") is SaverDef
    assert meta_graph.get_to_proto_function("nothing") is None
    with pytest.raises(KeyError, match="Registering two proto functions"):
        meta_graph.register_proto_function("things")
    for wrong in ({"to_proto": 1}, {"from_proto": 1}):
        with pytest.raises(TypeError, match="must be callable"):
            meta_graph.register_proto_function("others", **wrong)  # type: ignore[arg-type]


# ---- scopes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, scope, stripped",
    [
        ("s/a", "s", "a"),
        ("s/a:0", "s/", "a:0"),
        ("^s/a", "s", "^a"),
        ("loc:@s/a", "s", "loc:@a"),
        ("t/s/a", "s", "t/s/a"),
        ("s.t/a", "s.t", "a"),
        ("sxt/a", "s.t", "sxt/a"),
        ("a", None, "a"),
    ],
)
def test_names_relative_to_a_scope(name: str, scope: str | None, stripped: str) -> None:
    assert meta_graph.strip_name_scope(name, scope) == stripped
    if scope and stripped != name:
        assert meta_graph.prepend_name_scope(stripped, scope) == name


def test_part_of_a_graph() -> None:
    with tf.name_scope("outside"):
        a = tf.constant(2.0, name="a")
        n = raw.NoOp(name="n")
    with tf.name_scope("part"):
        v = tf.Variable(3.0, name="v")
        with tf.control_dependencies([n]):
            raw.Mul(v, a, name="y")
    message, variables = meta_graph.export_scoped_meta_graph(export_scope="part")
    assert list(variables) == ["v:0"]
    assert {n.name for n in message.graph_def.node} == {
        "v", "v/Assign", "v/initial_value", "v/read", "y"
    }  # fmt: skip
    y = next(n for n in message.graph_def.node if n.name == "y")
    assert list(y.input) == [
        "v/read", "$unbound_inputs_outside/a", "^$unbound_inputs_outside/n"
    ]  # fmt: skip
    unbound = message.collection_def["unbound_inputs"].bytes_list.value
    assert unbound == [b"$unbound_inputs_outside/a", b"^$unbound_inputs_outside/n"]
    assign = next(n for n in message.graph_def.node if n.name == "v/Assign")
    assert assign.attr["_class"].list.s[0] == b"loc:@v"
    with pytest.raises(ValueError, match="Graph contains unbound inputs: "):
        meta_graph.import_scoped_meta_graph(message, graph=tf.Graph())
    with tf.Graph().as_default() as graph:
        five = tf.constant(5.0)
        meta_graph.import_scoped_meta_graph(
            message,
            import_scope="new",
            input_map={name.decode(): five for name in unbound},
        )
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run("new/y:0") == 15
        assert "unbound_inputs" not in graph.get_all_collection_keys()


def test_a_finalized_graph_can_be_exported() -> None:
    with tf.name_scope("part"):
        tf.constant(1)
    tf.get_default_graph().finalize()
    assert len(export(export_scope="part").graph_def.node) == 1


def test_copies_of_a_scope() -> None:
    with tf.name_scope("first"):
        raw.Neg(tf.Variable(1.0, name="v"), name="y")
    variables = meta_graph.copy_scoped_meta_graph("first", "second")
    assert [v.name for v in variables.values()] == ["second/v:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(variables["v:0"].assign(100.0))
        assert session.run(["first/y:0", "second/y:0"]) == [-1, -100]
    with pytest.raises(ValueError, match="need to be different"):
        meta_graph.copy_scoped_meta_graph("first", "first")


def test_import_below_an_open_scope() -> None:
    linear()
    message = export()
    with tf.Graph().as_default(), tf.name_scope("outer"):
        assert list(meta_graph.import_scoped_meta_graph(message)) == ["w:0", "b:0"]
        inner = meta_graph.import_scoped_meta_graph(message, import_scope="inner")
        again = meta_graph.import_scoped_meta_graph(message, import_scope="inner")
    assert inner["w:0"].name == "outer/inner/w:0" and again["w:0"].name == "outer/inner_1/w:0"


def test_returned_elements() -> None:
    linear()
    message = export()
    with tf.Graph().as_default():
        _, (y,) = meta_graph.import_scoped_meta_graph_with_return_elements(
            message, import_scope="s", return_elements=["y:0"]
        )
    assert y.name == "s/y:0"


# ---- devices, defaults, savers ----------------------------------------------------------------


def test_devices_can_be_cleared() -> None:
    with tf.device("/job:w/gpu:3"):
        linear()
    assert not any(n.device for n in export(clear_devices=True).graph_def.node)
    message = export()
    assert any(n.device for n in message.graph_def.node)
    with tf.Graph().as_default() as graph:
        meta_graph.import_scoped_meta_graph(message, clear_devices=True)
    assert all(not op.device for op in graph.get_operations())


def test_defaults_can_be_left_out() -> None:
    x = tf.constant([[1.0]])
    raw.MatMul(x, x, transpose_b=True, name="m")
    message = export(strip_default_attrs=True)
    node = next(n for n in message.graph_def.node if n.name == "m")
    assert sorted(node.attr) == ["T", "_output_shapes", "transpose_b"]
    assert message.meta_info_def.stripped_default_attrs
    with tf.Graph().as_default() as graph:
        meta_graph.import_scoped_meta_graph(message)
    assert graph.get_operation_by_name("m").get_attr("transpose_a") is False


def test_extraneous_savers_can_be_left_out() -> None:
    message = tf.GraphDef()
    for scope in ("save", "save_1"):
        message.node.add(name=f"{scope}/Const", op="Const")
        message.node.add(name=f"{scope}/SaveV2", op="SaveV2", input=[f"{scope}/Const"])
    message.node.add(name="x", op="NoOp")
    saver = SaverDef(save_tensor_name="save/SaveV2:0", restore_op_name="save/restore_all")
    found = meta_graph.extraneous_saver_nodes(message, saver)
    assert found == {"save_1/Const", "save_1/SaveV2"}
    assert len(meta_graph.extraneous_saver_nodes(message, None)) == 4


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="graph must be of type Graph"):
        meta_graph.export_scoped_meta_graph(graph="graph")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="saver_def must be of type SaverDef"):
        meta_graph.create_meta_graph_def(saver_def=VariableDef(variable_name="v"))
    unknown = tf.GraphDef()
    unknown.node.add(name="a", op="NoSuchOp")
    with pytest.raises(ValueError, match="Op NoSuchOp is used by the graph, but is not registered"):
        meta_graph.stripped_op_list_for_graph(unknown)


def test_information_that_is_given_is_kept() -> None:
    info = MetaGraphDef.MetaInfoDef(tags=["serve"], meta_graph_version="7")
    found = meta_graph.export_meta_graph(meta_info_def=info).meta_info_def
    assert list(found.tags) == ["serve"] and found.meta_graph_version == "7"


# ---- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_text", [False, True])
def test_files(tmp_path: Path, as_text: bool) -> None:
    linear()
    path = tmp_path / "new" / "graph.meta"
    message = export(filename=str(path), as_text=as_text)
    assert meta_graph.read_meta_graph_file(str(path)) == message
    if as_text:
        text_format.Parse(path.read_text(), MetaGraphDef())
    with tf.Graph().as_default():
        assert list(meta_graph.import_scoped_meta_graph(str(path))) == ["w:0", "b:0"]
    assert [p.name for p in path.parent.iterdir()] == ["graph.meta"]


def test_files_in_memory() -> None:
    import fsspec

    linear()
    message = export(filename="memory://folder/graph.meta")
    assert meta_graph.read_meta_graph_file("memory://folder/graph.meta") == message
    fsspec.filesystem("memory").rm("/folder", recursive=True)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="does not exist"):
        meta_graph.read_meta_graph_file(str(tmp_path / "none.meta"))
    (tmp_path / "bad.meta").write_text("this is neither text nor binary")
    with pytest.raises(OSError, match="Cannot parse file"):
        meta_graph.read_meta_graph_file(str(tmp_path / "bad.meta"))


def test_where_nodes_were_made_is_written(tmp_path: Path) -> None:
    tf.constant(1, name="x")
    export(filename=str(tmp_path / "graph.meta"), save_debug_info=True)
    info = GraphDebugInfo.FromString((tmp_path / "graph.debug").read_bytes())
    first = info.traces["x"].file_line_cols[0]
    assert info.files[first.file_index] == __file__ and first.line > 1
