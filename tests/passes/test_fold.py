"""Folding loops and conditionals into nodes that hold them."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.passes.client_graph import ClientGraph
from weft.passes.control_flow import fold_branches
from weft.passes.control_flow.fold import fold_control_flow
from weft.passes.prune import prune
from weft.passes.ref_reads import sink_ref_reads


def client_graph(fetches: list[tf.Tensor]) -> ClientGraph:
    graph = prune([], fetches, [])
    sink_ref_reads(graph)
    return graph


def conditionals(count: int) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """One after another, each on a predicate of its own."""
    predicates = [tf.placeholder(tf.bool, [], name=f"p{i}") for i in range(count)]
    value = tf.Variable(2.0)
    for predicate in predicates:
        value = tf.cond(predicate, lambda v=value: v * 3.0, lambda v=value: tf.sin(v))
    return value, predicates


def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many nodes the graph has each time that contexts are looked up."""
    sizes: list[int] = []
    contexts_of = fold_branches.contexts_of

    def counted(graph: ClientGraph) -> dict:
        sizes.append(len(graph.nodes))
        return contexts_of(graph)

    monkeypatch.setattr(fold_branches, "contexts_of", counted)
    return sizes


def test_conditionals_beside_each_other_are_folded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    value, _ = conditionals(6)
    gradient = tf.gradients(value, tf.trainable_variables())[0]
    sizes = looked_up(monkeypatch)
    graph = client_graph([value, gradient])
    assert fold_control_flow(graph)
    # The gradient of the last one needs nothing of it: they are one.
    assert sum(n.type == "_If" for n in graph.nodes) == 11
    assert len(sizes) == 1


def test_conditionals_inside_each_other_go_inside_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = tf.placeholder(tf.float32, [])

    def nested(depth: int) -> tf.Tensor:
        if not depth:
            return x * 2.0
        return tf.cond(x > depth, lambda: nested(depth - 1), lambda: x + depth)

    sizes = looked_up(monkeypatch)
    graph = client_graph([nested(3)])
    assert fold_control_flow(graph)
    assert [n.type for n in graph.nodes].count("_If") == 1
    assert len(sizes) == 3 and sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", [False, True])
def test_conditionals_that_use_each_other_crosswise(a: bool, b: bool) -> None:
    """As one node for each predicate, each would wait for the other."""
    x = tf.Variable(1.0)
    p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    on_p = tf.cond(p, lambda: x * 2.0, lambda: x * 3.0)
    on_q = tf.cond(q, lambda: x * 5.0, lambda: x * 7.0)
    then_q = tf.cond(q, lambda: on_p * 11.0, lambda: on_p * 13.0)
    then_p = tf.cond(p, lambda: on_q * 17.0, lambda: on_q * 19.0)
    graph = client_graph([then_p, then_q])
    assert fold_control_flow(graph)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        got = sess.run([then_p, then_q], {p: a, q: b})
    assert got == [(5 if b else 7) * (17 if a else 19), (2 if a else 3) * (11 if b else 13)]


def test_what_happens_after_a_loop_inside_a_loop_is_folded_with_it() -> None:
    total = tf.Variable(0.0)

    def body(i: tf.Tensor) -> tf.Tensor:
        _, count = tf.while_loop(lambda j, _: j < 3, lambda j, k: (j + 1, k + 1.0), [0, 0.0])
        with tf.control_dependencies([tf.assign_add(total, count)]):
            return i + 1

    last = tf.while_loop(lambda i: i < 4, body, [0])
    graph = client_graph([last])
    assert fold_control_flow(graph)
    assert [n.type for n in graph.nodes].count("_While") == 1
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(last) == 4
        np.testing.assert_equal(sess.run(total), 12.0)


@pytest.mark.parametrize("control_flow", ["whole", "loops", "bodies", "nodes"])
@pytest.mark.parametrize("what", ["a constant", "a handle"])
def test_what_a_constant_waits_for_happens_before_a_branch_or_loop_uses_it(
    control_flow: str, what: str
) -> None:
    """An Identity with control inputs is more than the constant or handle that it passes on."""
    with flags.CONTROL_FLOW.override(control_flow), tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
        w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=True)
        sess.run(tf.global_variables_initializer())
        with tf.control_dependencies([v.assign_add(1.0)]):
            x = tf.identity(tf.constant([1.0, 2.0]) if what == "a constant" else w.handle)

        def at(i: int) -> tf.Tensor:
            if what == "a constant":
                return x[i]
            return tf.raw_ops.ReadVariableOp(resource=x, dtype=tf.float32)[i]

        p = tf.placeholder(tf.bool, [])
        chosen = tf.cond(p, lambda: at(0), lambda: at(1))
        _, total = tf.while_loop(lambda i, _: i < 3, lambda i, t: (i + 1, t + at(1)), [0, 0.0])
        for step in range(1, 4):
            assert sess.run(chosen, {p: step % 2 == 0}) == (1 if step % 2 == 0 else 2)
            assert sess.run(v) == 2 * step - 1
            assert sess.run(total) == 6
            assert sess.run(v) == 2 * step
