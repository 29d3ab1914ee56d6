"""tf.train.do_quantize_training_on_graphdef: nodes as TensorFlow names them, saved variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

rewrite = tf.train.do_quantize_training_on_graphdef


def test_saved_extremes(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    with tf.Graph().as_default() as graph:
        a = tf.constant(6.0, shape=[1, 1], name="a")
        b = tf.Variable(tf.constant(7.0, shape=[1, 1]), name="b", use_resource=False)
        c = tf.matmul(a, b, name="matmul")
        init, saver = tf.global_variables_initializer(), tf.train.Saver({"b": b})
        result = rewrite(graph.as_graph_def(), 8)
    with tf.Session(graph=tf.Graph()) as session:
        tf.import_graph_def(result, name="")
        session.run(init.name)
        assert session.run(c.name) == 42.0
        saver.save(session, path)
    with tf.Session(graph=tf.Graph()) as session:
        tf.import_graph_def(result, name="")
        saver.restore(session, path)
        kept = ["b", "a/Min/Variable", "a/Max/Variable", "b/read/Min/Variable"]
        found = session.run([f"{name}:0" for name in kept])
        assert [np.ravel(each)[0] for each in found] == [7.0, 6.0, 6.0, 7.0]


def test_ranges_that_are_known() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 2], name="x")
        weights = tf.constant([[1.0], [0.3]], name="w")
        tf.matmul(tf.nn.relu6(x, name="r"), weights, name="product")
        result = rewrite(graph.as_graph_def(), 3)
    nodes = {node.name: node for node in result.node}
    assert list(nodes["product"].input) == [
        "r/QuantizeAndDequantizeV2", "w/QuantizeAndDequantizeV2",
    ]  # fmt: skip
    made = nodes["r/QuantizeAndDequantizeV2"]
    assert list(made.input) == ["r", "r/InputMin", "r/InputMax"]
    assert not made.attr["signed_input"].b and made.attr["num_bits"].i == 3
    assert nodes["w/QuantizeAndDequantizeV2"].attr["signed_input"].b
    with tf.Session(graph=tf.Graph()) as session:
        tf.import_graph_def(result, name="")
        # 7 steps of 6/7 from 0 to 6; weights in steps of 1/3.
        found = session.run("product:0", {"x:0": [[2.0, 6.0]]})
        np.testing.assert_allclose(found, [[12 / 7 + 6 / 3]], rtol=1e-5)


def test_extremes_move() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 1], name="x")
        tf.matmul(x, tf.constant([[1.0]]), name="product")
        result = rewrite(graph.as_graph_def(), 8)
    with tf.Session(graph=tf.Graph()) as session:
        tf.import_graph_def(result, name="")
        seen = []
        for value in (1.0, 2.0, 2.0):
            session.run("product:0", {"x:0": [[value]]})
            seen.append(session.run("x/Max/Variable:0"))
    np.testing.assert_allclose(seen, [1.0, 1.001, 1.001 + 0.999e-3], rtol=1e-6)


def test_what_cannot_be_rewritten() -> None:
    with tf.Graph().as_default() as graph:
        given: list[Any] = [tf.placeholder(tf.float32, [1, 1], name=f"p{i}") for i in range(3)]
        tf.matmul(tf.matmul(given[0], given[1]), given[2])
    with pytest.raises(tf.errors.UnimplementedError, match="Found an unknown op: "):
        rewrite(graph.as_graph_def(), 8)
    with pytest.raises(tf.errors.OutOfRangeError, match=r"in range \[1, 63\] but is: 64"):
        rewrite(graph.as_graph_def(), 64)


def test_gradients_stay() -> None:
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", [1, 1], use_resource=False)
        loss = tf.reduce_sum(tf.matmul(tf.constant([[2.0]]), w))
        tf.gradients(loss, w)
        result = rewrite(graph.as_graph_def(), 8)
    for node in result.node:
        if node.op == "MatMul":
            is_gradient = node.name.startswith("gradients")
            assert is_gradient != any("Quantize" in name for name in node.input)
