"""Programs in single precision, computed in half precision where that is faster."""

import numpy as np
import pytest

import weft as tf
from weft.client.process_config import config_for, settings
from weft.passes import pipeline
from weft.passes.pipeline import Options, prepare


@pytest.fixture(autouse=True)
def tensor_cores(monkeypatch):
    """The CPU is taken for a device with tensor cores."""
    monkeypatch.setattr(pipeline, "gains_from_half", lambda graph: True)


def nodes_of(fetches, feeds=(), targets=()):
    (part,) = prepare(list(feeds), list(fetches), list(targets), Options(half=tf.float16))
    return part.graph.nodes


def types(fetches, feeds=()):
    """Type and precision of the nodes, without constants, casts and arguments."""
    hidden = {"Const", "Cast", "_Arg"}
    return [
        f"{n.type} {n.dtypes[0].name}" for n in nodes_of(fetches, feeds) if n.type not in hidden
    ]


def feed(*shape):
    return tf.placeholder(tf.float32, shape)


def weights(*shape):
    return tf.constant(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


def test_what_lies_between_products_goes_with_them():
    x = feed(4, 8)
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights(8, 8)), weights(8)))
    out = tf.matmul(tf.tanh(hidden), weights(8, 2))
    assert types([out], [x]) == [
        *("MatMul float16", "BiasAdd float16", "Relu float16", "Tanh float16", "MatMul float16"),
    ]


def test_what_lies_behind_the_last_product_stays():
    x = feed(4, 8)
    out = tf.tanh(tf.matmul(x, weights(8, 2)) + 1.0)
    assert types([out], [x]) == ["MatMul float16", "AddV2 float32", "Tanh float32"]


def test_indifferent_ones_follow_their_neighbours():
    x = feed(4, 8)
    out = tf.exp(tf.reshape(tf.nn.relu(tf.matmul(tf.transpose(x), x)), [-1]))
    assert types([out], [x]) == [
        *("Transpose float16", "MatMul float16", "Relu float16", "Reshape float16", "Exp float32"),
    ]


def test_wide_ones_stay_and_so_does_what_is_between_them():
    x = feed(4, 4)
    first = tf.matmul(x, weights(4, 4))
    between = tf.sqrt(tf.exp(first) + 1.0)
    mean = tf.reduce_mean(between, axis=0, keepdims=True)
    out = tf.matmul(mean, weights(4, 4))
    assert types([out], [x]) == [
        *("MatMul float16", "Exp float32", "AddV2 float32", "Sqrt float32", "Mean float32"),
        "MatMul float16",
    ]


def test_other_types_stay():
    x = tf.placeholder(tf.float64, [4, 4])
    assert types([tf.matmul(x, x)], [x]) == ["MatMul float64"]


def test_only_some_types_of_an_operation_change():
    x = feed(2, 4, 4, 3)
    y = tf.nn.conv2d(x, weights(3, 3, 3, 3), padding="SAME")
    normal, mean, _ = tf.nn.fused_batch_norm(y, weights(3), weights(3))
    out = tf.nn.conv2d(normal, weights(1, 1, 3, 2), padding="SAME")
    norm = next(n for n in nodes_of([out, mean], [x]) if n.type == "FusedBatchNormV3")
    assert [d.name for d in norm.dtypes[:3]] == ["float16", "float32", "float32"]


def test_variables_keep_single_precision():
    x = feed(16, 8)
    w = tf.get_variable("w", [8, 8], use_resource=True)
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, w)), w)))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    found = nodes_of([loss], [x], [train])
    assert {n.dtypes[0].name for n in found if n.type == "MatMul"} == {"float16"}
    applied = next(n for n in found if n.type == "ResourceApplyGradientDescent")
    assert [node.dtypes[i].name for node, i in applied.inputs[1:]] == ["float32"] * 2


def test_variables_are_read_when_they_would_have_been():
    w = tf.Variable(np.eye(4, dtype=np.float32))
    x = weights(4, 4)
    first = tf.matmul(x, w)
    with tf.control_dependencies([first]):
        changed = w.assign_add(np.ones([4, 4], np.float32))
    with tf.control_dependencies([changed]):
        second = tf.matmul(tf.nn.relu(tf.matmul(x, w.read_value())), w.read_value())
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.auto_mixed_precision = 1
    with tf.Session(config=config) as session:
        for _ in range(3):
            session.run(w.initializer)
            a, b = session.run([first, second])
            value = session.run(x)
            np.testing.assert_allclose(a, value, rtol=1e-2)
            after = np.eye(4) + 1
            np.testing.assert_allclose(b, np.maximum(value @ after, 0) @ after, rtol=2e-2, atol=0.1)


@pytest.mark.parametrize("use_resource", [False, True])
def test_layers_with_variables(use_resource):
    x = feed(4, 8)
    with tf.variable_scope("net", use_resource=use_resource):
        out = tf.layers.dense(tf.layers.dense(x, 16, tf.nn.relu), 4)
    kinds = [t for t in types([out], [x]) if "Variable" not in t]
    assert [kind for kind in kinds if "MatMul" in kind or "Relu" in kind] == [
        *("MatMul float16", "Relu float16", "MatMul float16"),
    ]


def run(fetches, feeds, on: bool):
    config = tf.ConfigProto()
    if on:
        config.graph_options.rewrite_options.auto_mixed_precision = 1
    with tf.Session(config=config) as session:
        return [session.run(fetches, feeds) for _ in range(3)]


def test_results_are_those_of_single_precision_but_for_rounding():
    x = feed(16, 8)
    out = tf.matmul(tf.nn.relu(tf.matmul(x, weights(8, 32))), weights(32, 4))
    gradient = tf.gradients(tf.reduce_sum(out), x)[0]
    feeds = {x: np.random.default_rng(2).standard_normal((16, 8)).astype(np.float32)}
    both = [run([out, gradient], feeds, on) for on in (True, False)]
    for half, single in zip(*both, strict=True):
        for ours, theirs in zip(half, single, strict=True):
            assert ours.dtype == np.float32
            assert not np.array_equal(ours, theirs)
            np.testing.assert_allclose(ours, theirs, rtol=0.02, atol=0.05)


def test_attention_of_a_program_in_single_precision_is_recognized():
    q, k, v, g = (feed(2, 2, 64, 16) for _ in "qkvg")
    scores = tf.matmul(q, k, transpose_b=True) * 0.25 + weights(1, 1, 1, 64)
    out = tf.matmul(tf.nn.softmax(scores), v)
    fetches = [out, *tf.gradients(out, [q, k, v], g)]
    found = {n.type for n in nodes_of(fetches, [q, k, v, g])}
    assert {"_FusedAttention", "_FusedAttentionGrad"} <= found
    assert "Softmax" not in found


def test_the_function_that_turns_it_on():
    assert config_for(None) is None
    made = tf.train.experimental.enable_mixed_precision_graph_rewrite(
        tf.train.GradientDescentOptimizer(0.1)
    )
    try:
        assert settings.half_precision and made is not None
        assert config_for(None).graph_options.rewrite_options.auto_mixed_precision == 1
        config = tf.ConfigProto()
        config.graph_options.rewrite_options.auto_mixed_precision = 2
        assert config_for(config).graph_options.rewrite_options.auto_mixed_precision == 2
    finally:
        tf.train.experimental.disable_mixed_precision_graph_rewrite()
    assert not settings.half_precision


def test_a_cpu_stays_as_it_is(monkeypatch):
    monkeypatch.undo()
    x = feed(4, 4)
    assert types([tf.matmul(x, x)], [x]) == ["MatMul float32"]
