"""tf.contrib.graph_editor, copy_graph, compiler, resampler, nccl and other small parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib import graph_editor as ge
from weft.ops.math import inplace


def chain() -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    a = tf.constant(2.0, name="a")
    b = tf.square(a, name="scope/b")
    c = tf.add(b, 1.0, name="scope/c")
    return a, b, c, tf.multiply(c, b, name="d")


def names(ops: list[tf.Operation]) -> list[str]:
    return [op.name for op in ops]


def test_walks() -> None:
    a, b, c, d = chain()
    assert names(ge.get_forward_walk_ops(b.op)) == ["scope/b", "scope/c", "d"]
    assert names(ge.get_forward_walk_ops(b, inclusive=False)) == []
    backward = ge.get_backward_walk_ops(d.op, inclusive=False, stop_at_ts=[b])
    assert set(names(backward)) == {"scope/c", "scope/c/y"}
    assert names(ge.get_walks_intersection_ops(b.op, c.op)) == ["scope/b", "scope/c"]
    within = ge.get_backward_walk_ops([d.op], within_ops=[d.op, c.op])
    assert names(within) == ["d", "scope/c"]
    assert a.op in ge.get_walks_union_ops([b.op], [b.op])


def test_selecting() -> None:
    graph = tf.get_default_graph()
    a, b, c, _ = chain()
    assert names(ge.get_name_scope_ops(graph, "scope")) == ["scope/b", "scope/c/y", "scope/c"]
    assert names(ge.select_ops("^scope/.$", graph=graph)) == ["scope/b", "scope/c"]
    assert ge.filter_ts_from_regex([c.op], "b:0") == [b]
    assert ge.make_list_of_t([a, (b, c)]) == [a, b, c]
    with pytest.raises(TypeError, match="not a Tensor"):
        ge.make_list_of_t([a.op])


def test_subgraph_view() -> None:
    _, b, c, _ = chain()
    view = ge.sgv([b.op, c.op])
    assert [t.name for t in view.inputs] == ["a:0", "scope/c/y:0"]
    assert view.outputs == [b, c]
    assert view.remap_outputs([1]).outputs == [c]
    assert names(view.consumers()) == ["d"]


def test_graph_replace() -> None:
    a, _, _, d = chain()
    three = tf.constant(3.0)
    replaced = ge.graph_replace(d, {a: three}, dst_scope="copy")
    assert replaced.op.name == "copy/d"
    with tf.Session() as session:
        assert session.run([d, replaced]) == [20.0, 90.0]


def test_copy_and_reroute() -> None:
    """As programs do it that recompute in the backward pass what the forward pass forgot."""
    _, b, c, d = chain()
    view, info = ge.copy_with_input_replacements(ge.sgv([b.op, c.op]), {}, dst_scope="again")
    assert set(names(view.ops)) == {"again/scope/b", "again/scope/c"}
    copied = info._transformed_ops[c.op].outputs[0]
    assert info.transformed(c) is copied and info.original(copied) is c
    assert ge.reroute_ts([copied], [c], can_modify=[d.op]) == 1
    assert d.op.inputs[0] is copied
    ge.add_control_inputs(copied.op, [d.op.inputs[1].op])
    with tf.Session() as session:
        assert session.run(d) == 20.0
    with pytest.raises(ValueError, match="already a control_input"):
        ge.add_control_inputs(copied.op, b.op)


def test_copy_to_another_graph() -> None:
    _, b, _, d = chain()
    other = tf.Graph()
    view, info = ge.copy([b.op, d.op], other)
    placeholders = [op.name for op in other.get_operations() if op.type == "Placeholder"]
    assert placeholders == ["geph__a_0", "geph__c_0"]
    assert info.transformed(d).graph is other and len(view.ops) == 2


def scoped() -> tuple[tf.Tensor, ...]:
    with tf.name_scope("s"):
        x, w = tf.constant(2.0, name="x"), tf.constant(1.0, name="w")
        y = tf.identity(x, name="y")
        z = tf.add(y, x, name="z")
        return x, w, y, z, tf.multiply(z, w, name="v")


def sources(view: Any) -> list[tuple[str, list[str]]]:
    return [(op.name, [t.name for t in op.inputs]) for op in view.ops]


def test_a_copy_has_placeholders_for_each_use_of_what_is_outside() -> None:
    _, _, y, z, _ = scoped()
    view, _ = ge.copy([z.op, y.op], dst_scope="cp")
    assert sources(view) == [
        ("cp/s/y", ["cp/geph__x_0:0"]),
        ("cp/s/z", ["cp/s/y:0", "cp/geph__x_0_1:0"]),
    ]
    with pytest.raises(ValueError, match="s/y does not belong to source scope: q/"):
        ge.copy([y.op], dst_scope="cp", src_scope="q")


def test_only_what_comes_from_outside_is_replaced() -> None:
    x, w, y, z, v = scoped()
    view, _ = ge.copy_with_input_replacements([y.op, z.op, v.op], {y: w})
    assert sources(view) == [
        ("s/y_1", ["s/x:0"]),
        ("s/z_1", ["s/y_1:0", "s/x:0"]),
        ("s/v_1", ["s/z_1:0", "s/w:0"]),
    ]
    assert [t.name for t in ge.graph_replace([v, y, x], {y: w})] == ["s/v_2:0", "s/y:0", "s/x:0"]


def test_placeholders_are_named_in_the_scope_of_their_tensor() -> None:
    x, *_ = scoped()
    assert ge.placeholder_name(x) == "s/geph__x_0"
    assert ge.placeholder_name(x, "z") == "z/geph__x_0"
    assert ge.placeholder_name(x, "") == "geph__x_0"
    with tf.name_scope("q"):
        assert ge.ph(tf.float32, scope="z").name == "q/z/geph:0"
        assert ge.make_placeholder_from_tensor(x).name == "q/s/geph__x_0:0"


def test_what_is_given_may_be_any_iterable() -> None:
    """As `values()` of a dictionary is, by which gradients are made again from checkpoints."""
    x, w, y, z, _ = scoped()
    assert ge.make_list_of_t({1: x, 2: w}.values()) == [x, w]
    assert ge.make_list_of_op(iter([y.op])) == [y.op]
    ge.reroute_ts({1: w}.values(), {x: 1}.keys(), can_modify={1: z.op}.values())
    assert [t.name for t in z.op.inputs] == ["s/y:0", "s/w:0"]
    assert [t.name for t in y.op.inputs] == ["s/x:0"]


def test_gradients_from_checkpoints_made_again() -> None:
    """A part is copied, takes what was kept in place of its inputs, and is differentiated."""
    x = tf.constant(3.0)
    kept = tf.square(x)
    y = kept * kept
    again = tf.stop_gradient(kept)
    view, info = ge.copy_with_input_replacements(ge.sgv([y.op]), {})
    copied = info._transformed_ops.values()
    ge.reroute_ts({kept: again}.values(), {kept: again}.keys(), can_modify=copied)
    made = info._transformed_ops[y.op]._outputs[0]
    assert made.op._inputs[0] is again and view.ops == [made.op]
    (slope,) = tf.gradients(made, [again])
    ge.add_control_inputs(slope.op, [y.op])
    assert slope.op.control_inputs == [y.op]
    with tf.Session() as session:
        assert session.run(slope) == 18.0


def test_copy_graph() -> None:
    v = tf.Variable(3.0, name="v")
    y = tf.multiply(v, 2.0, name="y")
    other = tf.Graph()
    copied = tf.contrib.copy_graph.copy_variable_to_graph(v, other)
    z = tf.contrib.copy_graph.copy_op_to_graph(y, other, [copied])
    assert tf.contrib.copy_graph.get_copied_op(y, other) is z
    with tf.Session(graph=other) as session:
        session.run(copied.initializer)
        assert session.run(z) == 6.0


def test_compiler() -> None:
    with tf.contrib.compiler.jit.experimental_jit_scope():
        marked = tf.constant(1.0) + 1.0
    assert marked.op.get_attr("_XlaCompile") is True
    found = tf.contrib.compiler.xla.compile(lambda x, y: [x + y, x * y], [2.0, 3.0])
    with tf.Session() as session:
        assert session.run(found) == [5.0, 6.0]


def test_resampler() -> None:
    data = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
    points = np.array([[[1.5, 0.5], [0.0, 2.0], [3.5, 0.0], [-2.0, 0.0]]], np.float32)
    warp = tf.constant(points)
    found = tf.contrib.resampler.resampler(data, warp)
    (slope,) = tf.gradients(found, warp)
    with tf.Session() as session:
        value, slope_value = session.run([found, slope])
    # Between pixels the mean of four; half outside, half of the pixel; outside, nothing.
    np.testing.assert_allclose(value[0, :, 0], [3.5, 8.0, 1.5, 0.0])
    np.testing.assert_allclose(slope_value[0, 0], [1.0, 4.0])


def test_inplace() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.Session() as session:
        whole = session.run(inplace.alias_inplace_add(x, None, [[1.0, 1.0], [1.0, 1.0]]))
        row = session.run(inplace.alias_inplace_update(x, 1, [7.0, 8.0]))
        rows = session.run(inplace.alias_inplace_sub(x, [0, 1], [[1.0, 1.0], [2.0, 2.0]]))
    assert whole.tolist() == [[2, 3], [4, 5]]
    assert row.tolist() == [[1, 2], [7, 8]]
    assert rows.tolist() == [[0, 1], [1, 2]]


def test_nccl() -> None:
    values = []
    for i in range(2):
        with tf.device(f"/cpu:{i}"):
            values.append(tf.constant([1.0 + i, 2.0]))
    sums = tf.contrib.nccl.all_sum(values)
    assert [each.device[-5:] for each in sums] == ["CPU:0", "CPU:1"]
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        assert [each.tolist() for each in session.run(sums)] == [[3, 4], [3, 4]]
    with pytest.raises(ValueError, match="different devices"):
        tf.contrib.nccl.all_max([values[0], values[0]])


def test_projector(tmp_path: Path) -> None:
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig()
    config.embeddings.add().tensor_name = "words"
    writer = tf.summary.FileWriter(str(tmp_path))
    projector.visualize_embeddings(writer, config)
    writer.close()
    assert 'tensor_name: "words"' in (tmp_path / "projector_config.pbtxt").read_text()


def test_tpu_cluster_resolver() -> None:
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver
    known = resolver("grpc://10.0.0.1:8470")
    assert known.master() == known.get_master() == "grpc://10.0.0.1:8470"
    assert known.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470"]}
    assert resolver("local").master() == "local"
    with pytest.raises(ImportError, match="googleapiclient"):
        resolver("my-tpu")


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_loop_is_copied(elsewhere: bool) -> None:
    bound = tf.placeholder(tf.int32, [], name="bound")
    _, total = tf.while_loop(
        lambda i, s: i <= bound, lambda i, s: (i + 1, s + i), [tf.constant(1), tf.constant(0)]
    )
    graph = tf.Graph() if elsewhere else tf.get_default_graph()
    _, info = ge.copy(tf.get_default_graph(), dst_graph=graph, dst_scope="imported")
    copied, fed = info.transformed(total), info.transformed(bound)
    assert copied.op.name == "imported/" + total.op.name
    with tf.Session(graph=graph) as session:
        assert session.run(copied, {fed: 10}) == 55
        if not elsewhere:
            assert session.run([copied, total], {fed: 3, bound: 4}) == [6, 10]


def test_swap_inputs_with_tensors():
    """Tensors by themselves are passed through: the example of TensorFlow's graph editor."""
    a, b = tf.constant(10.0, name="old_a"), tf.constant(20.0, name="old_b")
    c = tf.add(a, b)
    new_a, new_b = tf.constant(1.0, name="new_a"), tf.constant(2.0, name="new_b")
    used = new_a * 3.0
    first, second = ge.swap_inputs(c.op, [new_a, new_b])
    with tf.Session() as session:
        assert session.run([c, used]) == [3.0, 30.0]
    assert first.inputs == [new_a, new_b]
    assert second.inputs == second.outputs == [a, b]


def test_views_are_changed_in_place():
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    one, two = ge.make_view(tf.negative(a).op), ge.make_view(tf.abs(b).op)
    assert ge.swap_inputs(one, two) == (one, two)
    assert (one.inputs, two.inputs) == ([b], [a])
    ge.reroute_inputs(one, two)
    assert (one.inputs, two.inputs) == ([b], [b])


def test_reroute_ios_leads_outputs_and_inputs():
    a, b = tf.constant(1.0), tf.constant(-2.0)
    one, two = tf.negative(a), tf.abs(b)
    user_of_two = two * 10.0
    ge.reroute_ios(one.op, two.op)
    with tf.Session() as session:
        assert session.run([one, two, user_of_two]) == [-1.0, 1.0, -10.0]


@pytest.mark.parametrize(
    "first, second, message",
    [
        ([1.0, 2.0], [3.0], "ts0 and ts1 have different sizes: 2 != 1"),
        ([1.0], [3], "Dtypes <dtype: 'float32'> and <dtype: 'int32'> are not compatible."),
        ([[1.0, 2.0]], [[1.0]], r"Shapes \(2,\) and \(1,\) are not compatible."),
    ],
)
def test_tensors_that_do_not_fit(first, second, message):
    with pytest.raises(ValueError, match=message):
        ge.swap_ts([tf.constant(x) for x in first], [tf.constant(x) for x in second])
