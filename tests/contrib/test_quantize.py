"""tf.contrib.quantize: where graphs are rewritten, and what they compute then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.quantize import common, fold_batch_norms, graph_matcher, quant_ops

LAYERS = tf.contrib.layers


def _names(end: str) -> list[str]:
    found = (op.name for op in tf.get_default_graph().get_operations())
    return [name for name in found if name.endswith(end)]


def _network(images: Any, fused: bool = True, is_training: bool = True) -> Any:
    norm = {"fused": fused, "scale": True, "is_training": is_training, "decay": 0.9}
    with tf.contrib.framework.arg_scope(
        [LAYERS.conv2d, LAYERS.separable_conv2d, LAYERS.fully_connected],
        normalizer_fn=LAYERS.batch_norm, normalizer_params=norm,
    ):  # fmt: skip
        net = LAYERS.conv2d(images, 4, 3, scope="a")
        net = LAYERS.separable_conv2d(net, None, 3, 1, scope="b")
        net = LAYERS.flatten(net)
        return LAYERS.fully_connected(net, 3, scope="c")


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("is_training", [True, False])
def test_folded_normalizations_change_nothing(fused: bool, is_training: bool) -> None:
    values = np.random.default_rng(0).normal(size=(4, 6, 6, 2)).astype(np.float32)
    results = []
    for fold in (False, True):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            tf.set_random_seed(5)
            net = _network(tf.constant(values), fused, is_training)
            loss = tf.reduce_sum(tf.square(net))
            if fold:
                fold_batch_norms.FoldBatchNorms(graph, is_training)
                assert [n.rpartition("/")[0] for n in _names("/add_fold")] == ["a", "b", "c"]
            gradients = tf.gradients(loss, tf.trainable_variables())
            session.run(tf.global_variables_initializer())
            results.append(session.run([loss, *gradients]))
    for plain, folded in zip(*results, strict=True):
        np.testing.assert_allclose(plain, folded, rtol=2e-3, atol=2e-3)


def test_a_training_graph_is_rounded_after_weights_and_activations() -> None:
    _network(tf.zeros([2, 6, 6, 2]))
    tf.contrib.quantize.create_training_graph(quant_delay=3)
    rounded = [n.rpartition("/")[0] for n in _names("/FakeQuantWithMinMaxVars")]
    assert sorted(rounded) == sorted(
        f"{layer}/{place}_quant" for layer in "abc" for place in ("weights", "act")
    )
    assert [op.name for op in tf.global_variables("fake_quantization_step")] == [
        "fake_quantization_step:0"
    ]
    assert len(_names("delayed_quant/Merge")) == 6


def test_evaluation_adds_no_updates_and_honours_its_scope() -> None:
    _network(tf.zeros([2, 6, 6, 2]), is_training=False)
    tf.contrib.quantize.experimental_create_eval_graph(weight_bits=4, scope="b")
    graph = tf.get_default_graph()
    (weights,) = _names("weights_quant/FakeQuantWithMinMaxVars")
    assert weights.startswith("b/")
    attrs = graph.get_operation_by_name(weights)
    assert (attrs.get_attr("num_bits"), attrs.get_attr("narrow_range")) == (4, True)
    assert not _names("AssignMinLast")


def test_a_sum_and_its_bypass_are_rounded_once() -> None:
    images = tf.ones([1, 4, 4, 2])
    with tf.variable_scope("test"):
        conv = LAYERS.conv2d(images, 2, 3, activation_fn=None, scope="conv")
    total = conv + images
    with tf.name_scope("test"):
        tf.nn.relu(total)
    tf.contrib.quantize.create_eval_graph()
    assert sorted(_names("/FakeQuantWithMinMaxVars")) == [
        f"test/{place}_quant/FakeQuantWithMinMaxVars"
        for place in ("act", "conv/conv", "conv/weights")
    ]


def test_training_operations_are_refused() -> None:
    v = tf.Variable(1.0)
    tf.train.GradientDescentOptimizer(0.1).minimize(v * v)
    with pytest.raises(ValueError, match="Training op found in graph, exiting"):
        tf.contrib.quantize.create_training_graph()


@pytest.mark.parametrize(
    ("symmetric", "narrow", "ends"),
    [(False, False, (-1.0, 3.0)), (True, True, (-3.0, 3.0)), (True, False, (-384 / 127, 3.0))],
)
def test_the_last_range_is_kept(symmetric: bool, narrow: bool, ends: tuple[float, float]) -> None:
    given = tf.constant([[-1.0, 3.0]])
    quant_ops.LastValueQuantize(given, name_prefix="q", symmetric=symmetric, narrow_range=narrow)
    tensor = tf.get_default_graph().get_tensor_by_name
    low, high = tensor("q/AssignMinLast:0"), tensor("q/AssignMaxLast:0")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run([low, high]), ends, rtol=1e-6)


def test_a_range_per_channel() -> None:
    rounded = quant_ops.LastValueQuantize(
        tf.constant([[0.31, -4.0], [1.0, 12.0]]), per_channel=True
    )
    assert rounded.op.type == "FakeQuantWithMinMaxVarsPerChannel"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        # Steps of 1/255, and of 16/255 moved so that zero is one of them.
        expected = [[79 / 255, -64 * 16 / 255], [1.0, 191 * 16 / 255]]
        np.testing.assert_allclose(session.run(rounded), expected, rtol=1e-5)
    with pytest.raises(AssertionError, match="Expected 1D, 2D or 4D input"):
        quant_ops.MovingAvgQuantize(tf.zeros([1, 2, 3]), per_channel=True)


def test_patterns_fit_inputs_in_either_order() -> None:
    x, y = tf.placeholder(tf.float32, name="x"), tf.nn.relu(1.0)
    total = x + y
    relu = graph_matcher.OpTypePattern("Relu", name="relu")
    for ordered, found in ((True, None), (False, y.op)):
        pattern = graph_matcher.OpTypePattern(
            "Add|AddV2", inputs=[relu, "*"], ordered_inputs=ordered
        )
        result = graph_matcher.GraphMatcher(pattern).match_op(total.op)
        assert (result and result.get_op("relu")) == found
    assert common.BatchNormGroups(tf.get_default_graph()) == []


def test_the_product_of_the_values_is_the_first_of_a_normalization() -> None:
    x = tf.placeholder(tf.float32, name="x")
    tf.nn.batch_normalization(x, 0.5, 1.0, 0.0, 2.0, 0.1)
    product = tf.get_default_graph().get_operation_by_name("batchnorm/mul_1")
    assert product.inputs[0] is x
