"""SavedModels whose parts do not fit each other: a clear error, whoever reads them."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from tests.saved_model.objects import STORED
from weft.cli.main import main
from weft.protos.saved_model import SavedModel

KEY = "serving_default"
Edit = Callable[[Any], None]


def edited(folder: Path, edit: Edit) -> str:
    """The folder, after a change of the one graph in its file."""
    path = folder / "saved_model.pb"
    message = SavedModel.FromString(path.read_bytes())
    edit(message.meta_graphs[0])
    path.write_bytes(message.SerializeToString())
    return str(folder)


@pytest.fixture
def doubles(tmp_path: Path) -> Path:
    folder = tmp_path / "doubles"
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        scale = tf.get_variable("scale", initializer=2.0, use_resource=True)
        session.run(scale.initializer)
        tf.saved_model.simple_save(session, str(folder), {"x": x}, {"y": x * scale})
    return folder


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    with zipfile.ZipFile(STORED / "toy.zip") as file:
        file.extractall(tmp_path / "toy")
    return tmp_path / "toy"


# ---- signatures ---------------------------------------------------------------------------------


def _other_input(graph: Any) -> None:
    graph.signature_def[KEY].inputs["x"].name = "nobody:0"


def _other_output(graph: Any) -> None:
    graph.signature_def[KEY].outputs["y"].name = "x:7"


def _predict(folder: str) -> None:
    tf.contrib.predictor.from_saved_model(folder)


def _load_object(folder: str) -> None:
    with tf.Graph().as_default():
        tf.saved_model.load_v2(folder)


@pytest.mark.parametrize("edit", [_other_input, _other_output])
@pytest.mark.parametrize("read", [_predict, _load_object])
def test_signatures_of_tensors_that_are_not_there(
    doubles: Path, edit: Edit, read: Callable[[str], None]
) -> None:
    folder = edited(doubles, edit)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f'signature "{KEY}".*doubles.*exist'):
        read(folder)


def test_names_that_a_program_gives_itself_are_its_own_mistake(doubles: Path) -> None:
    with pytest.raises(KeyError, match="nobody"):
        tf.contrib.predictor.from_saved_model(
            str(doubles), input_names={"x": "nobody:0"}, output_names={"y": "x:0"}
        )


@pytest.mark.parametrize("edit", [_other_input, _other_output])
def test_the_command_line_says_what_is_wrong(
    doubles: Path, edit: Edit, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = edited(doubles, edit)
    assert main(["saved-model", "run", folder, "--input_exprs", "x=[1.0]"]) == 1
    assert f'The signature "{KEY}"' in capsys.readouterr().err


def test_freezing_a_signature_of_nothing(
    doubles: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = edited(doubles, _other_input)
    assert main(["saved-model", "freeze", folder, "--output", str(tmp_path / "frozen.pb")]) == 1
    assert "['nobody']" in capsys.readouterr().err
    assert not (tmp_path / "frozen.pb").exists()


# ---- the other names in a graph -----------------------------------------------------------------


def _other_saver(graph: Any) -> None:
    graph.saver_def.restore_op_name = "nobody"


def _other_variable(graph: Any) -> None:
    values = graph.collection_def["variables"].bytes_list.value
    values[0] = values[0].replace(b"scale", b"scald")


def _other_main_op(graph: Any) -> None:
    graph.collection_def["saved_model_main_op"].node_list.value.append("nobody")


@pytest.mark.parametrize(
    ("edit", "part"),
    [(_other_saver, "saver"), (_other_variable, "variables"), (_other_main_op, "main op")],
)
def test_a_graph_that_names_what_is_not_there(doubles: Path, edit: Edit, part: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"The .*{part}.* does not fit"):
        _load_object(edited(doubles, edit))


def test_a_collection_that_names_what_is_not_there(doubles: Path) -> None:
    folder = edited(doubles, _other_main_op)
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="collection 'saved_model_main_op' does not fit"):
            tf.saved_model.loader.load(session, ["serve"], folder)


# ---- objects ------------------------------------------------------------------------------------


def _first(graph: Any, kind: str) -> Any:
    nodes = graph.object_graph_def.nodes
    return next(getattr(node, kind) for node in nodes if node.WhichOneof("kind") == kind)


def _no_objects(graph: Any) -> None:
    del graph.object_graph_def.nodes[:]


def _other_child(graph: Any) -> None:
    graph.object_graph_def.nodes[0].children[0].node_id = 999


def _negative_child(graph: Any) -> None:
    graph.object_graph_def.nodes[0].children[0].node_id = -1


def _other_capture(graph: Any) -> None:
    traces = graph.object_graph_def.concrete_functions
    next(trace for trace in traces.values() if trace.bound_inputs).bound_inputs[0] = 999


def _no_functions(graph: Any) -> None:
    graph.graph_def.library.Clear()


def _other_trace(graph: Any) -> None:
    _first(graph, "function").concrete_functions[0] = "nobody"


def _other_bare_trace(graph: Any) -> None:
    _first(graph, "bare_concrete_function").concrete_function_name = "nobody"


def _other_asset(graph: Any) -> None:
    _first(graph, "asset").asset_file_def_index = 9


def _other_constant(graph: Any) -> None:
    _first(graph, "constant").operation = "nobody"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (_no_objects, "object graph .* needs the object 0"),
        (_other_child, "object 0 .* needs the object 999"),
        (_negative_child, "object 0 .* needs the object -1"),
        (_other_capture, "trace .* needs the object 999"),
        (_no_functions, "trace .* needs the function"),
        (_other_trace, "needs the trace 'nobody'"),
        (_other_bare_trace, "needs the trace 'nobody'"),
        (_other_asset, "needs the asset 9"),
        (_other_constant, "needs the node 'nobody'"),
    ],
)
def test_an_object_graph_that_names_what_is_not_there(toy: Path, edit: Edit, said: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        _load_object(edited(toy, edit))


def test_tuples_that_hold_themselves(toy: Path) -> None:
    def edit(graph: Any) -> None:
        nodes = graph.object_graph_def.nodes
        number = next(
            i for i, n in enumerate(nodes) if n.user_object.identifier.endswith("list_wrapper")
        )
        nodes[number].user_object.identifier = "trackable_tuple_wrapper"
        nodes[number].children[0].node_id = number

    with pytest.raises(ValueError, match="hold themselves"):
        _load_object(edited(toy, edit))


def test_a_variable_without_a_value(toy: Path) -> None:
    def edit(graph: Any) -> None:
        nodes = graph.object_graph_def.nodes
        for node in nodes:
            for child in node.children:
                if child.local_name == "w":
                    child.local_name = "u"

    with pytest.raises(tf.errors.NotFoundError, match="No value for the variable 'w'"):
        _load_object(edited(toy, edit))


def _call_scaled(folder: str) -> None:
    with tf.Graph().as_default():
        tf.saved_model.load_v2(folder).scaled(tf.constant([1.0, 2.0]))


def _signature_of_scaled(graph: Any) -> Any:
    nodes = graph.object_graph_def.nodes
    number = next(c.node_id for c in nodes[0].children if c.local_name == "scaled")
    return nodes[number].function.function_spec.fullargspec.named_tuple_value


def test_a_function_that_does_not_say_its_parameters(toy: Path) -> None:
    def edit(graph: Any) -> None:
        values = _signature_of_scaled(graph).values
        del values[next(i for i, pair in enumerate(values) if pair.key == "kwonlyargs")]

    with pytest.raises(ValueError, match="does not say its kwonlyargs"):
        _call_scaled(edited(toy, edit))


def test_a_function_with_a_parameter_that_is_no_name(toy: Path) -> None:
    def edit(graph: Any) -> None:
        pairs = {pair.key: pair.value for pair in _signature_of_scaled(graph).values}
        pairs["args"].list_value.values[1].string_value = ""

    with pytest.raises(ValueError, match="a parameter '', which is no name"):
        _call_scaled(edited(toy, edit))


def test_a_function_with_more_results_than_it_computes(toy: Path) -> None:
    def edit(graph: Any) -> None:
        for trace in graph.object_graph_def.concrete_functions.values():
            for each in trace.output_signature.dict_value.fields.values():
                listed = each.tuple_value.values
                if listed:
                    listed.add().CopyFrom(listed[0])

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"3 results, of which .* lists 4"):
        _call_scaled(edited(toy, edit))
