"""tf.contrib.slim.nets.inception: sizes and names are those of published checkpoints."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf

slim = tf.contrib.slim
inception = tf.contrib.slim.nets.inception


def variables_of(version: str, size: int) -> tuple[Any, dict[str, Any], int]:
    base = getattr(inception, f"inception_{version}_base")
    scope = getattr(inception, f"inception_{version}_arg_scope")
    with slim.arg_scope(scope()):
        net, end_points = base(tf.placeholder(tf.float32, [5, size, size, 3]))
    return net, end_points, sum(v.shape.num_elements() for v in slim.get_model_variables())


@pytest.mark.parametrize(
    ("version", "size", "name", "shape", "parameters", "odd"),
    [
        ("v1", 224, "Mixed_5c", [5, 7, 7, 1024], 5607184, "Mixed_5b/Branch_2/Conv2d_0a_3x3"),
        ("v2", 224, "Mixed_5c", [5, 7, 7, 1024], 10173112, "Mixed_4a/Branch_0/Conv2d_1a_3x3"),
        ("v3", 299, "Mixed_7c", [5, 8, 8, 2048], 21802784, "Mixed_5c/Branch_1/Conv_1_0c_5x5"),
    ],
)
def test_sizes_and_names(
    version: str, size: int, name: str, shape: list[int], parameters: int, odd: str
) -> None:
    with tf.Graph().as_default():
        net, end_points, count = variables_of(version, size)
        scope = f"InceptionV{version[1:]}/"
        assert net.op.name == scope + name + "/concat"
        assert net.shape.as_list() == shape
        assert count == parameters
        assert list(end_points)[-1] == name
        assert f"{scope}{odd}/weights" in {v.op.name for v in slim.get_model_variables()}


def test_up_to_an_end_point() -> None:
    with tf.Graph().as_default():
        images = tf.placeholder(tf.float32, [2, 96, 96, 3])
        net, end_points = inception.inception_v3_base(images, final_endpoint="MaxPool_3a_3x3")
        assert list(end_points) == [
            "Conv2d_1a_3x3", "Conv2d_2a_3x3", "Conv2d_2b_3x3", "MaxPool_3a_3x3",
        ]  # fmt: skip
        assert net is end_points["MaxPool_3a_3x3"]
        with pytest.raises(ValueError, match="Unknown final endpoint Mixed_9z"):
            inception.inception_v2_base(images, final_endpoint="Mixed_9z")
        with pytest.raises(ValueError, match="depth_multiplier is not greater than zero"):
            inception.inception_v3(images, depth_multiplier=-0.1)


def test_logits_of_small_images() -> None:
    with tf.Graph().as_default():
        images = tf.placeholder(tf.float32, [2, 112, 112, 3])
        logits, end_points = inception.inception_v3(images, 7, depth_multiplier=0.1)
        assert end_points["AuxLogits"].shape.as_list() == [2, 7]
        assert end_points["Predictions"].shape.as_list() == [2, 7]
        assert logits.op.name == "InceptionV3/Logits/SpatialSqueeze"
        assert "InceptionV3/AuxLogits/Conv2d_2a_1x1/weights" in {
            v.op.name for v in slim.get_model_variables()
        }
