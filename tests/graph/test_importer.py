"""import_graph_def: names, maps, what is returned, devices, control inputs, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from tensorboard.compat.proto.op_def_pb2 import OpList

import weft as tf
from weft.core.errors import NotFoundError
from weft.graph.graph import PRODUCER_VERSION
from weft.graph.op_def import raw


def graph_def(text: str, **versions: Any) -> Any:
    message = text_format.Parse(text, tf.GraphDef())
    message.versions.producer = PRODUCER_VERSION
    for key, value in versions.items():
        setattr(message.versions, key, value)
    return message


def constant(name: str, value: float = 1.0) -> str:
    return f"""
    node {{ name: '{name}' op: 'Const'
      attr {{ key: 'dtype' value {{ type: DT_FLOAT }} }}
      attr {{ key: 'value' value {{ tensor {{
        dtype: DT_FLOAT tensor_shape {{}} float_val: {value} }} }} }} }}"""


def node(name: str, op: str, *inputs: str, device: str = "", group: str = "") -> str:
    lines = "".join(f" input: '{i}'" for i in inputs)
    if group:
        lines += f" attr {{ key: '_class' value {{ list {{ s: '{group}' }} }} }}"
    if op in ("Identity", "Add", "Neg"):
        lines += " attr { key: 'T' value { type: DT_FLOAT } }"
    return f"node {{ name: '{name}' op: '{op}' device: '{device}' {lines} }}"


PAIR = graph_def(constant("a") + node("b", "Identity", "a"))


def names() -> list[str]:
    return [op.name for op in tf.get_default_graph().get_operations()]


# ---- names ------------------------------------------------------------------------------------


def test_names_are_below_a_scope() -> None:
    tf.import_graph_def(PAIR)
    tf.import_graph_def(PAIR)
    tf.import_graph_def(PAIR, name="mine")
    with tf.name_scope("outer"):
        tf.import_graph_def(PAIR)
        tf.import_graph_def(PAIR, name="")
    want = "import import_1 mine outer/import".split()
    assert names() == [f"{scope}/{name}" for scope in want for name in "ab"] + ["a", "b"]


def test_names_that_are_taken() -> None:
    tf.import_graph_def(PAIR, name="")
    tf.import_graph_def(PAIR, name="")
    tf.import_graph_def(PAIR, name="s/")
    b, b_1 = tf.import_graph_def(PAIR, return_elements=["b", "b:0"], name="s/")
    assert names() == ["a", "b", "a_1", "b_1", "s/a", "s/b", "s/a_1", "s/b_1"]
    assert b.inputs[0].name == "s/a_1:0" and b_1.op is b
    assert raw.NoOp(name="a").name == "a_2"


def test_a_scope_takes_a_name_too() -> None:
    with tf.name_scope("a"):
        tf.constant(1, name="inner")
    tf.import_graph_def(PAIR, name="")
    assert names() == ["a/inner", "a_1", "b"]


def test_a_node_may_have_the_name_of_a_scope_beside_it() -> None:
    tf.import_graph_def(graph_def(constant("x/y") + constant("x")), name="")
    assert names() == ["x/y", "x"]


def test_scopes_of_imported_nodes_stay_open() -> None:
    tf.import_graph_def(graph_def(constant("layer/w")), name="")
    with tf.name_scope("layer") as scope:
        assert scope == "layer/"
        assert raw.NoOp(name="w").name == "layer/w_1"


def test_numbered_names_avoid_names_of_the_import() -> None:
    tf.import_graph_def(graph_def(constant("a")), name="")
    tf.import_graph_def(graph_def(constant("a") + constant("a_1")), name="")
    assert names() == ["a", "a_2", "a_1"]


# ---- maps and returned elements ---------------------------------------------------------------


def test_input_map() -> None:
    x = tf.constant(5.0, name="x")
    b, a = tf.import_graph_def(PAIR, {"a:0": x}, ["b", "a"])
    assert b.inputs[0] is x and a.name == "import/a"
    b, a = tf.import_graph_def(PAIR, {"a": x}, ["b:0", "a:0"])
    assert b.op.inputs[0] is x and a is x  # a tensor that was mapped is returned as what it became


def test_input_map_takes_values_and_variables() -> None:
    v = tf.Variable(3.0, name="v")
    (b,) = tf.import_graph_def(PAIR, {"a:0": v}, ["b:0"])
    assert b.op.inputs[0].name == "v/read:0"
    (b,) = tf.import_graph_def(PAIR, {"a:0": 7.0}, ["b:0"], name="scope")
    assert b.op.inputs[0].name == "scope/_inputs/Const:0"
    with tf.Session() as session:
        assert session.run(b) == 7
    with pytest.raises(ValueError, match="requires a non-empty `name`"):
        tf.import_graph_def(PAIR, {"a:0": 7.0}, name="")


def test_input_map_replaces_a_node_that_is_not_there() -> None:
    x = tf.constant(5.0)
    (b,) = tf.import_graph_def(graph_def(node("b", "Identity", "a:0")), {"a:0": x}, ["b"])
    assert b.inputs[0] is x


def test_control_inputs_can_be_mapped() -> None:
    x = tf.constant(5.0, name="x")
    (b,) = tf.import_graph_def(graph_def(node("b", "NoOp", "^a")), {"^a": x}, ["b"])
    assert b.control_inputs == [x.op]


def test_unknown_names_in_input_map() -> None:
    x = tf.constant(5.0)
    tf.import_graph_def(graph_def(constant("a")), {"a:0": x})  # there, though nobody uses it
    for key in ("a:2", "z:0"):
        with pytest.raises(ValueError, match=rf"not found in graph_def: \[{key}\]"):
            tf.import_graph_def(graph_def(constant("a")), {key: x})


@pytest.mark.parametrize(
    "element, message",
    [
        ("z", "Requested return node 'z' not found in graph def"),
        ("z:0", "Requested return tensor 'z:0' not found in graph def"),
        ("a:1", r"Invalid return output 1 of node 'a', which has 1 output\(s\)"),
        ("a:b:0", "Cannot convert 'a:b:0' to a tensor name."),
        ("a:b", "Cannot convert 'a:b' to a tensor name."),
    ],
)
def test_return_elements_that_are_not_there(element: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.import_graph_def(PAIR, return_elements=[element])


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="graph_def must be a GraphDef proto"):
        tf.import_graph_def("")
    with pytest.raises(TypeError, match="input_map must be a dictionary"):
        tf.import_graph_def(PAIR, [tf.constant(1)])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="return_elements must be a list of strings"):
        tf.import_graph_def(PAIR, return_elements=[7])  # type: ignore[list-item]
    assert tf.import_graph_def(PAIR) is None
    assert tf.import_graph_def(PAIR, return_elements=[]) == []


# ---- edges ------------------------------------------------------------------------------------


def test_nodes_may_come_in_any_order() -> None:
    message = graph_def(node("c", "Neg", "b") + node("b", "Identity", "a", "^n") + constant("a"))
    message.MergeFrom(text_format.Parse(node("n", "NoOp"), tf.GraphDef()))
    (c,) = tf.import_graph_def(message, return_elements=["c"], name="")
    assert c.inputs[0].op.name == "b" and c.inputs[0].op.control_inputs[0].name == "n"
    assert c.inputs[0].op.inputs[0].name == "a:0"


def test_a_loop() -> None:
    message = graph_def(
        constant("zero", 0)
        + """
        node { name: 'enter' op: 'Enter' input: 'zero'
          attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'frame_name' value { s: 'f' } } }
        node { name: 'merge' op: 'Merge' input: 'enter' input: 'next'
          attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'N' value { i: 2 } } }
        node { name: 'next' op: 'NextIteration' input: 'merge'
          attr { key: 'T' value { type: DT_FLOAT } } }"""
    )
    (merge,) = tf.import_graph_def(message, return_elements=["merge"], name="")
    assert [t.op.name for t in merge.inputs] == ["enter", "next"]
    assert merge.inputs[1].consumers() == [merge]


def test_a_graph_imported_into_the_body_of_a_loop() -> None:
    """Its nodes are of the loop, and so may take what is inside of it."""
    message = graph_def(constant("a") + node("b", "Neg", "a"))

    def body(value: Any) -> Any:
        inside = value + 1.0
        (b,) = tf.import_graph_def(message, {"a": inside}, ["b:0"])
        return b

    result = tf.while_loop(lambda value: value > 0.0, body, [4.0])
    assert tf.Session().run(result) == -5.0


def test_what_is_inside_of_a_loop_cannot_be_mapped_outside() -> None:
    seen = []
    tf.while_loop(lambda value: value < 5.0, lambda value: seen.append(value) or value + 1, [4.0])
    message = graph_def(constant("a") + node("b", "Neg", "a"))
    with pytest.raises(ValueError, match="Cannot use 'while/Identity' as input to 'import/b'"):
        tf.import_graph_def(message, {"a": seen[0]})


def test_control_inputs_are_kept_as_written() -> None:
    message = graph_def(constant("a") + node("b", "Identity", "a", "^a", "^a"))
    (b,) = tf.import_graph_def(message, return_elements=["b"])
    assert [op.name for op in b.control_inputs] == ["import/a"]


@pytest.mark.parametrize(
    "text, message",
    [
        (node("b", "Identity", "a:0"), "Node 'b': Unknown input node 'a:0'"),
        (node("b", "NoOp", "^a"), r"Node 'b': Unknown input node '\^a'"),
        (
            constant("a") + node("b", "Identity", "a:1"),
            "Node 'b': Connecting to invalid output 1 of source node a which has 1 outputs",
        ),
        (
            constant("a") + node("b", "NoOp", "a"),
            "NodeDef expected inputs '' do not match 1 inputs specified",
        ),
        (
            constant("a") + node("b", "Add", "a"),
            "NodeDef expected inputs 'float, float' do not match 1 inputs specified",
        ),
        (constant("a") + constant("b") + constant("a"), "Node 'a' is not unique"),
        (
            constant("a") + "node { name: 'b' op: 'Identity' input: 'a'"
            " attr { key: 'T' value { type: DT_INT32 } } }",
            "Input 0 of node import/b was passed float from import/a:0 incompatible with expected"
            " int32.",
        ),
        (
            node("b", "NoOp", group="loc:@a"),
            "Node 'b' expects to be colocated with unknown node 'a'",
        ),
        (
            constant("a") + "node { name: 'b' op: 'Identity' input: 'a'"
            " attr { key: 'T' value { type: DT_FLOAT } }"
            " attr { key: '_output_shapes' value { list { shape { dim { size: 43 } } } } } }",
            "Node 'import/b' has an _output_shapes attribute inconsistent",
        ),
    ],
)
def test_graphs_that_do_not_fit(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.import_graph_def(graph_def(text))


def test_unknown_ops() -> None:
    with pytest.raises(NotFoundError, match="Op type not registered NoSuchOp"):
        tf.import_graph_def(graph_def(node("a", "NoSuchOp")))


def test_mapped_type_must_fit() -> None:
    with pytest.raises(ValueError, match="was passed int32 from Const:0 incompatible with"):
        tf.import_graph_def(PAIR, {"a:0": tf.constant(1)})


# ---- attributes and shapes --------------------------------------------------------------------


def test_defaults_are_filled_in() -> None:
    text = """
    node { name: 'm' op: 'Sum' input: 'a' input: 'i' attr { key: 'T' value { type: DT_FLOAT } } }
    node { name: 'i' op: 'Const'
      attr { key: 'dtype' value { type: DT_INT32 } }
      attr { key: 'value' value {
        tensor { dtype: DT_INT32 tensor_shape { dim { size: 0 } } } } } }"""
    (m,) = tf.import_graph_def(graph_def(constant("a") + text), return_elements=["m"])
    assert m.get_attr("keep_dims") is False and m.get_attr("Tidx") == tf.int32


def test_attributes_from_the_future() -> None:
    text = constant("a") + (
        "node { name: 'b' op: 'Identity' input: 'a' attr { key: 'T' value { type: DT_FLOAT } }"
        " attr { key: 'newer' value { i: 456 } } }"
    )
    ops = text_format.Parse(
        "op { name: 'Identity' attr { name: 'newer' type: 'int' default_value { i: 456 } } }",
        OpList(),
    )
    (b,) = tf.import_graph_def(graph_def(text), return_elements=["b"], producer_op_list=ops)
    with pytest.raises(ValueError, match="Operation 'import/b' has no attr named 'newer'"):
        b.get_attr("newer")


def test_written_shapes_add_to_inferred_ones() -> None:
    text = """
    node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }
      attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 3 } } } }
      attr { key: '_output_shapes' value { list { shape { dim { size: 2 } dim { size: -1 } } } } } }
    node { name: 'n' op: 'Neg' input: 'p' attr { key: 'T' value { type: DT_FLOAT } } }"""
    (n,) = tf.import_graph_def(graph_def(text), return_elements=["n:0"])
    assert n.shape.as_list() == [2, 3]
    assert "_output_shapes" not in n.op.inputs[0].op.node_def.attr


# ---- devices and colocation -------------------------------------------------------------------


def test_devices_merge_with_open_scopes() -> None:
    message = graph_def(
        node("a", "NoOp") + node("b", "NoOp", device="/cpu:0") + node("c", "NoOp", device="/job:w")
    )
    for scope, want in (
        ("", ["", "/device:CPU:0", "/job:w"]),
        ("/task:0", ["/task:0", "/task:0/device:CPU:0", "/job:w/task:0"]),
        ("/job:ps", ["/job:ps", "/job:ps/device:CPU:0", "/job:w"]),
        ("/gpu:0", ["/device:GPU:0", "/device:CPU:0", "/job:w/device:GPU:0"]),
    ):
        with tf.device(scope):
            found = tf.import_graph_def(message, return_elements=["a", "b", "c"])
        assert [op.device for op in found] == want


def test_device_functions_see_the_inputs() -> None:
    seen = []

    def place(op: Any) -> str:
        seen.append((op.type, len(op.inputs)))
        return ""

    with tf.device(place):
        tf.import_graph_def(PAIR)
    assert seen == [("Const", 0), ("Identity", 1)]


def test_colocation_groups_get_the_new_names() -> None:
    message = graph_def(node("a", "NoOp") + node("b", "NoOp", group="loc:@a"))
    for name, want in (("", b"loc:@a"), ("", b"loc:@a_1"), ("s", b"loc:@s/a")):
        (b,) = tf.import_graph_def(message, return_elements=["b"], name=name)
        assert b.colocation_groups() == [want]


def test_colocation_goes_before_devices() -> None:
    on_first = graph_def(
        node("a", "NoOp", device="/cpu:0", group="loc:@a") + node("b", "NoOp", group="loc:@a")
    )
    a, b = tf.import_graph_def(on_first, return_elements=["a", "b"])
    assert (a.device, b.device) == ("/device:CPU:0", "/device:CPU:0")
    on_second = graph_def(
        node("a", "NoOp", group="loc:@a") + node("b", "NoOp", device="/cpu:0", group="loc:@a")
    )
    with tf.device(lambda op: "/gpu:0" if "b" in op.name else ""):
        a, b = tf.import_graph_def(on_second, return_elements=["a", "b"], name="x")
    assert (a.device, b.device) == ("", "")


def test_open_control_dependencies_apply() -> None:
    n = raw.NoOp(name="n")
    with tf.control_dependencies([n]):
        a, b = tf.import_graph_def(PAIR, return_elements=["a", "b"])
        after = raw.Identity(b.outputs[0])
    assert a.control_inputs == [n] and b.control_inputs == [n]
    assert after.op.control_inputs == []


def test_other_scopes_do_not_apply() -> None:
    graph = tf.get_default_graph()
    with graph.gradient_override_map({"Identity": "Mine"}), graph.container("c"):
        (b,) = tf.import_graph_def(PAIR, return_elements=["b"])
    assert "_gradient_op_type" not in b.node_def.attr


# ---- versions ---------------------------------------------------------------------------------


def test_versions() -> None:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def("", producer=20, min_consumer=12))
        tf.import_graph_def(graph_def("", producer=PRODUCER_VERSION + 1000))
    assert graph.graph_def_versions.producer == 20
    assert graph.graph_def_versions.min_consumer == 12
    assert graph.as_graph_def().versions.min_consumer == 12


@pytest.mark.parametrize(
    "versions, message",
    [
        ({"producer": -1}, "GraphDef producer version -1 below min producer 0 supported by"),
        ({"min_consumer": 1 << 30}, "GraphDef min consumer version 1073741824 above current"),
    ],
)
def test_versions_out_of_range(versions: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.import_graph_def(graph_def("", **versions))


def test_graphs_that_disallow_this_version() -> None:
    message = graph_def("")
    message.versions.bad_consumers.append(PRODUCER_VERSION)
    with pytest.raises(ValueError, match="GraphDef disallows consumer version"):
        tf.import_graph_def(message)


# ---- there and back ---------------------------------------------------------------------------


def test_round_trip_keeps_everything() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        with tf.device("/cpu:0"):
            y = raw.MatMul(x, tf.constant(np.eye(2, dtype=np.float32)), transpose_b=True, name="y")
        with tf.control_dependencies([y]):
            tf.constant([b"\xff", b"a"], name="bytes")
    message = graph.as_graph_def()
    with tf.Graph().as_default() as again:
        tf.import_graph_def(message, name="")
    assert again.as_graph_def() == message
    assert again.get_tensor_by_name("x:0").shape.as_list() == [None, 2]


def test_parts_of_a_graph() -> None:
    graph = tf.get_default_graph()
    tf.constant(1, name="a")
    version = graph.version
    tf.constant(1, name="b")
    assert [n.name for n in graph.as_graph_def(from_version=version).node] == ["b"]


def test_shapes_are_written_on_request() -> None:
    graph = tf.get_default_graph()
    tf.placeholder(tf.float32, [None, 2], name="x")
    raw.NoOp(name="n")
    x, n = graph.as_graph_def(add_shapes=True).node
    assert [d.size for d in x.attr["_output_shapes"].list.shape[0].dim] == [-1, 2]
    assert "_output_shapes" not in n.attr


def test_names_given_as_bytes() -> None:
    source = tf.constant(1.0, name="a")
    tf.identity(source, name="b")
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        two = tf.constant(2.0)
        (found,) = tf.import_graph_def(
            graph_def, {b"a:0": two}, return_elements=[b"b:0"], name=b"scope"
        )
        assert found.name == "scope/b:0" and found.op.inputs[0] is two


def test_defaults_are_filled_in_next_to_attributes_that_no_op_declares() -> None:
    with tf.Graph().as_default() as graph:
        tf.reduce_sum(tf.constant([1.0, 2.0]), name="total")
    written = graph.as_graph_def()
    total = next(node for node in written.node if node.op == "Sum")
    del total.attr["keep_dims"]
    total.attr["_extra"].b = True
    tf.import_graph_def(written, name="")
    assert tf.get_default_graph().get_operation_by_name("total").get_attr("keep_dims") is False
    with tf.Session() as sess:
        assert sess.run("total:0") == 3.0
