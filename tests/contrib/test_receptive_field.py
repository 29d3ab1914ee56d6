"""tf.contrib.receptive_field: the fields of TensorFlow's test networks, by the values it has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from weft.contrib import receptive_field, slim

import weft as tf

compute = receptive_field.compute_receptive_field_from_graph_def


def conv(x: Any, size: Any, stride: int, scope: str, padding: str = "VALID") -> Any:
    return slim.conv2d(x, 1, size, stride=stride, scope=scope, padding=padding)


def network(kind: str) -> tf.Graph:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, (None, None, None, 1), name="input_image")
        if kind == "misaligned":
            padded = tf.pad(x, [[0, 0], [2, 1], [2, 1], [0, 0]])
            left = conv(padded, [5, 5], 2, "L1")
            right = conv(conv(x, [3, 3], 1, "L2"), [3, 3], 1, "L3")
        elif kind == "oblong":
            left = conv(x, [5, 7], 4, "L1")
            left = tf.identity(left, name="kept")
            right = left
        else:
            left = conv(x, [1, 1], 4, "L1")
            padded = tf.pad(x, [[0, 0], [1, 0], [1, 0], [0, 0]])
            if kind == "pools":
                inner = slim.max_pool2d(padded, [3, 3], stride=2, scope="L2", padding="VALID")
                right = slim.max_pool2d(inner, [1, 1], stride=2, scope="L3", padding="VALID")
            elif kind == "same":
                right = conv(conv(x, [3, 3], 2, "L2", "SAME"), [1, 1], 2, "L3")
            else:
                right = conv(conv(padded, [3, 3], 2, "L2"), [1, 1], 2, "L3")
            if kind == "unknown":
                right = tf.nn.softmax(right)
        tf.nn.relu(left + right, name="output")
    return graph


FIELDS = [
    ("plain", None, [3, 3, 4, 4, 1, 1]),
    ("pools", None, [3, 3, 4, 4, 1, 1]),
    ("same", None, [3, 3, 4, 4, None, None]),
    ("same", [33, 33], [3, 3, 4, 4, 1, 1]),
    ("oblong", None, [7, 5, 4, 4, 0, 0]),
]


@pytest.mark.parametrize(("kind", "size", "expected"), FIELDS)
def test_fields(kind: str, size: Any, expected: list[Any]) -> None:
    graph = network(kind)
    found = compute(graph.as_graph_def(), "input_image", "output", input_resolution=size)
    assert list(found) == expected
    tensors = graph.get_tensor_by_name("input_image:0"), graph.get_tensor_by_name("output:0")
    assert list(compute(graph, *tensors, input_resolution=size)) == expected


@pytest.mark.parametrize(
    ("kind", "size", "message"),
    [
        ("misaligned", None, "effective stride from different paths is different in horizontal"),
        ("same", [32, 32], "center shift from different paths is different in horizontal"),
        ("unknown", None, "Unknown layer for operation '.*': Softmax"),
    ],
)
def test_networks_that_do_not_line_up(kind: str, size: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute(network(kind), "input_image", "output", input_resolution=size)


def test_paths_that_stop() -> None:
    graph = network("misaligned")
    found = compute(graph, "input_image", "output", stop_propagation=["L1"])
    assert list(found) == [5, 5, 1, 1, 0, 0]
    with pytest.raises(ValueError, match="Output node was not found"):
        compute(graph, "input_image", "nothing")
    with pytest.raises(ValueError, match="Input node was not found"):
        compute(graph, "nothing", "output", stop_propagation=["L1", "L3"])


def test_coordinates() -> None:
    field = compute(network("plain"), "input_image", "output")
    points = np.random.default_rng(0).integers(0, 100, (10, 2))
    there = field.compute_input_center_coordinates(points)
    np.testing.assert_array_equal(there, points * 4)
    np.testing.assert_allclose(field.compute_feature_coordinates(there), points)
    np.testing.assert_array_equal(field.compute_input_center_coordinates([[2]], [1]), [[8]])
    with pytest.raises(ValueError, match=r"\(2\) does not match dimensionality of `axis` \(1\)"):
        field.compute_input_center_coordinates(points, [0])


def test_order_and_sizes() -> None:
    info, nodes = receptive_field.get_compute_order(
        network("plain").as_graph_def(), "input_image", [224, 224]
    )
    assert info["input_image"].order == 0 and set(info) == set(nodes)
    assert info["L1/Conv2D"].output_size == [56, 56]
    assert info["L2/Conv2D"].input_size == [225, 225]
    assert info["L2/Conv2D"].output_size == [112, 112]
    assert info["output"].order > info["L3/Conv2D"].order
