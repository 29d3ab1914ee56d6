"""tf.contrib.graph_editor: parts taken out of a graph, connected, and passed over."""

from __future__ import annotations

import re

import pytest

import weft as tf
from weft.lib.contrib import graph_editor as ge


def run(fetch: tf.Tensor, **feeds: float) -> float:
    graph = tf.get_default_graph()
    with tf.Session() as session:
        given = {graph.get_tensor_by_name(f"{name}:0"): value for name, value in feeds.items()}
        return float(session.run(fetch, given))


def chain() -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    a = tf.constant(3.0, name="a")
    b = tf.square(a, name="b")
    return a, b, tf.negative(b, name="c")


def test_inputs_become_placeholders() -> None:
    _, b, c = chain()
    view, made = ge.detach_inputs(b.op)
    assert [each.name for each in made] == ["geph__a_0:0"]
    assert view.inputs == made and b.op.inputs[0] is made[0]
    assert run(c, geph__a_0=5.0) == -25
    with pytest.raises(tf.errors.InvalidArgumentError, match="geph__a_0"):
        run(c)


def test_outputs_become_placeholders() -> None:
    _, b, c = chain()
    view, made = ge.detach_outputs(b.op)
    assert view.outputs == [b] and [each.name for each in made] == ["geph__b_0:0"]
    assert run(c, geph__b_0=7.0) == -7 and run(b) == 9
    assert ge.detach_outputs(c.op)[1] == []


def test_a_part_is_taken_out() -> None:
    a, before = tf.constant(3.0), tf.no_op(name="before")
    with tf.control_dependencies([before]):
        b = tf.square(a, name="b")
    c = tf.negative(b)
    assert b.op.control_inputs == [before]
    with tf.control_dependencies([b]):
        after = tf.no_op(name="after")
    waiting = ge.ControlOutputs(tf.get_default_graph())
    assert waiting.get(b.op) == [after] and waiting.get(after) == []
    view, inputs, outputs = ge.detach(b.op, control_ios=waiting)
    assert view.ops == [b.op] and b.op.control_inputs == [] and after.control_inputs == []
    assert b.op.inputs[0] is inputs[0] and c.op.inputs[0] is outputs[0]
    assert waiting.update().get_all().get(b.op) is None


def test_control_edges_stay_unless_asked() -> None:
    a = tf.constant(3.0)
    with tf.control_dependencies([tf.no_op(name="before")]):
        b = tf.square(a)
    ge.detach(b.op)
    assert [op.name for op in b.op.control_inputs] == ["before"]


def test_parts_are_connected() -> None:
    _, b, c = chain()
    half = tf.multiply(tf.placeholder(tf.float32, [], name="x"), tf.constant(0.5), name="half")
    first, second = ge.connect(ge.sgv(b.op), ge.sgv(half.op).remap_inputs([0]))
    assert first.outputs == [b] and second.inputs == [b]
    assert run(half) == 4.5 and run(c) == -9
    ge.connect(ge.sgv(b.op), ge.sgv(half.op).remap_inputs([0]), disconnect_first=True)
    assert run(c, geph__b_0=1.0) == -1


def test_connected_parts_fit() -> None:
    _, b, c = chain()
    with pytest.raises(ValueError, match="different sizes: 1 != 2"):
        ge.connect(ge.sgv(b.op), ge.sgv(tf.add(c, tf.constant(1.0)).op))
    with tf.Graph().as_default():
        other = chain()[1]
    with pytest.raises(ValueError, match="several graphs"):
        ge.connect(ge.sgv(b.op), ge.sgv(other.op))


def test_a_part_is_passed_over() -> None:
    _, b, c = chain()
    view, made = ge.bypass(b.op)
    assert run(c) == -3
    assert view.ops == [b.op] and b.op.inputs[0] is made[0]


def test_what_makes_and_takes_tensors() -> None:
    a, b, c = chain()
    assert ge.get_generating_ops([a, b]) == [a.op, b.op]
    assert ge.get_consuming_ops([a, b, a]) == [b.op, c.op]


def test_patterns_and_names() -> None:
    assert ge.can_be_regex("a") and ge.can_be_regex(re.compile("a")) and not ge.can_be_regex(1)
    assert ge.make_regex("^a$") is ge.make_regex(re.compile("^a$"))
    with pytest.raises(ValueError, match="Expected a string or a regex"):
        ge.make_regex(1)
    a = chain()[0]
    assert ge.placeholder_name() == "geph" and ge.placeholder_name(a, "in/", "p") == "in/p__a_0"
    with pytest.raises(TypeError, match=r"Expected a tf\.Tensor"):
        ge.placeholder_name("a")  # type: ignore[arg-type]


def test_what_control_edges_are_given_as() -> None:
    outputs = ge.ControlOutputs(tf.get_default_graph())
    assert ge.check_cios() == (False, None)
    assert ge.check_cios(control_ios=outputs) == (True, outputs)
    assert ge.check_cios(True, outputs) == (True, outputs)
    with pytest.raises(TypeError, match="Expected a util"):
        ge.check_cios(control_outputs=[])
    with pytest.raises(ValueError, match="should be None when using control_ios"):
        ge.check_cios(control_outputs=outputs, control_ios=outputs)
    with pytest.raises(TypeError, match=r"Expected a tf\.Graph"):
        ge.ControlOutputs("graph")  # type: ignore[arg-type]
