from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import text_format

import weft as tf


def types(graph_def) -> dict[str, str]:
    return {node.name: node.op for node in graph_def.node}


def rerun(graph_def, fetch: str, feeds: dict | None = None):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.Session(graph=graph) as session:
            return session.run(fetch, feeds)


def test_a_part_of_a_graph() -> None:
    a = tf.constant(1.0, name="a")
    with tf.control_dependencies([tf.no_op(name="first")]):
        b = tf.identity(a, name="b")
    with tf.colocate_with(tf.constant(2.0, name="host").op):
        tf.add(b, b, name="c")
    tf.identity(b, name="not_needed")
    graph_def = tf.get_default_graph().as_graph_def()
    part = tf.graph_util.extract_sub_graph(graph_def, ["c"])
    assert list(types(part)) == ["a", "first", "b", "host", "c"]
    assert part.versions == graph_def.versions
    with pytest.raises(AssertionError, match="nowhere is not in graph"):
        tf.graph_util.extract_sub_graph(graph_def, ["nowhere"])
    with pytest.raises(TypeError, match="must be a list"):
        tf.graph_util.extract_sub_graph(graph_def, "c")
    with pytest.raises(TypeError, match="GraphDef"):
        tf.graph_util.extract_sub_graph({}, ["c"])


@pytest.mark.parametrize("use_resource", [True, False])
def test_freezing(sess, use_resource) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    w = tf.get_variable("w", initializer=[3.0, 4.0], use_resource=use_resource)
    b = tf.get_variable("b", initializer=1.0, use_resource=use_resource)
    tf.add(x * w, b, name="y")
    sess.run(tf.global_variables_initializer())
    sess.run(w.assign([5.0, 6.0]))
    graph_def = sess.graph.as_graph_def()
    frozen = tf.graph_util.convert_variables_to_constants(sess, graph_def, ["y"])
    assert types(frozen)["w"] == types(frozen)["b"] == "Const"
    np.testing.assert_array_equal(rerun(frozen, "y:0", {"x:0": [1.0, 2.0]}), [6.0, 13.0])
    some = tf.graph_util.convert_variables_to_constants(
        sess, graph_def, ["y"], variable_names_blacklist=["b"]
    )
    assert types(some)["w"] == "Const"
    assert types(some)["b"] == ("VarHandleOp" if use_resource else "VariableV2")
    same = tf.graph_util.convert_variables_to_constants(
        sess, graph_def, ["y"], variable_names_whitelist=["w"]
    )
    assert types(same) == types(some)


def test_freezing_a_table_of_rows(sess) -> None:
    table = tf.get_variable("table", initializer=[[1.0], [2.0], [3.0]], use_resource=True)
    tf.identity(tf.gather(table, [2, 0]), name="rows")
    sess.run(table.initializer)
    frozen = tf.graph_util.convert_variables_to_constants(sess, sess.graph.as_graph_def(), ["rows"])
    assert "ResourceGather" not in types(frozen).values()
    np.testing.assert_array_equal(rerun(frozen, "rows:0"), [[3.0], [1.0]])


def test_freezing_a_variable_read_in_a_loop(sess) -> None:
    w = tf.get_variable("w", initializer=2.0, use_resource=True)
    _, total = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + w), [0, tf.constant(0.0)])
    tf.identity(total, name="total")
    sess.run(w.initializer)
    frozen = tf.graph_util.convert_variables_to_constants(
        sess, sess.graph.as_graph_def(), ["total"]
    )
    assert "VarHandleOp" not in types(frozen).values()
    assert rerun(frozen, "total:0") == 6.0


def test_removing_what_only_training_needs() -> None:
    a = tf.constant(1.0, name="a")
    checked = tf.identity(a, name="i1")
    tf.check_numerics(a, "bad", name="check")
    with tf.control_dependencies([tf.identity(a, name="awaited")]):
        tf.identity(checked, name="waits")
    tf.add(tf.identity(checked, name="i2"), 1.0, name="sum")
    graph_def = tf.get_default_graph().as_graph_def()
    kept = tf.graph_util.remove_training_nodes(graph_def, protected_nodes=["i2"])
    assert list(types(kept)) == ["a", "awaited", "waits", "i2", "sum/y", "sum"]
    assert {n.name: list(n.input) for n in kept.node}["i2"] == ["a"]
    assert "i2" not in types(tf.graph_util.remove_training_nodes(graph_def))


def test_questions_about_nodes() -> None:
    text, number = tf.constant("a"), tf.constant(1.0, shape=[2, 3])
    assert tf.graph_util.must_run_on_cpu(text.op)
    assert not tf.graph_util.must_run_on_cpu(number.op.node_def)
    variable = tf.Variable(1.0, use_resource=False)
    assert tf.graph_util.must_run_on_cpu(variable.op, pin_variables_on_cpu=True)
    graph = tf.get_default_graph()
    shape = tf.graph_util.tensor_shape_from_node_def_name(graph, number.op.name)
    assert shape.as_list() == [2, 3]


@pytest.mark.parametrize("as_text", [True, False])
def test_write_graph(tmp_path, as_text) -> None:
    tf.constant(1.0, name="a")
    graph = tf.get_default_graph()
    path = tf.train.write_graph(graph, str(tmp_path / "made"), "graph.pb", as_text=as_text)
    assert path == str(tmp_path / "made" / "graph.pb")
    data = (tmp_path / "made" / "graph.pb").read_bytes()
    read = text_format.Parse(data, tf.GraphDef()) if as_text else tf.GraphDef.FromString(data)
    assert read == graph.as_graph_def()
    assert tf.io.write_graph(read, tmp_path, "again.pb").endswith("again.pb")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.pb", "made"]


def test_a_constant_that_repeats_one_element_is_written_as_that_element() -> None:
    values = [(1.5, np.float32), (0, np.int32), (True, np.bool_), (b"a", np.object_), (1, np.uint8)]
    for value, kind in values:
        with tf.Graph().as_default() as graph:
            made = tf.constant(value, tf.as_dtype(kind), shape=[2, 300])
            message = graph.as_graph_def().node[0].attr["value"].tensor
            assert message.ByteSize() < 30 and not message.tensor_content
            again = tf.import_graph_def(graph.as_graph_def(), return_elements=[made.name])[0]
            with tf.Session() as session:
                for tensor in (made, again):
                    found = session.run(tensor)
                    assert np.array_equal(found, np.full([2, 300], value, kind))
                    found[0, 0] = value  # it is the caller's own
        assert tf.make_ndarray(message).flags.writeable
