"""tf.image against what TensorFlow gave for the same programs (tests/parity/record_images.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.parity.image_programs import PROGRAMS, picture

RECORDED = np.load(Path(__file__).parents[1] / "data" / "images.npz")


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_shapes_and_draws_are_tensorflows(name: str, sess: tf.Session) -> None:
    outputs = PROGRAMS[name](tf)
    for step in range(2):
        for i, value in enumerate(sess.run(outputs)):
            want = RECORDED[f"{name}/{step}/{i}"]
            assert value.dtype == want.dtype, (name, i)
            np.testing.assert_allclose(
                value.astype(np.float64), want, 2e-5, 2e-6, err_msg=f"{name}, step {step}, {i}"
            )
    for i, tensor in enumerate(outputs):
        want_dims = [None if d < 0 else d for d in RECORDED[f"{name}/shape/{i}"].tolist()]
        assert tensor.shape.as_list() == want_dims, (name, i)


def test_checks_are_made_as_soon_as_shapes_are_known(sess: tf.Session) -> None:
    with pytest.raises(ValueError, match=r"width must be >= target \+ offset"):
        tf.image.crop_to_bounding_box(picture(), 0, 6, 2, 3)
    image = tf.placeholder(tf.float32, [None, None, 3])
    crop = tf.image.crop_to_bounding_box(image, 0, 6, 2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"width must be >= target \+ offset"):
        sess.run(crop, {image: picture()})
    assert sess.run(crop, {image: picture(width=9)}).shape == (2, 3, 3)
    with pytest.raises(ValueError, match="at least three-dimensional"):
        tf.image.flip_left_right(np.zeros((2, 2), np.float32))


def test_a_resizing_is_trained_through(sess: tf.Session) -> None:
    """Compiled, with its gradient, in a step that is run often enough."""
    start = picture(4, 4, 1, batch=1)
    small = tf.Variable(start)
    wanted = tf.image.resize_bilinear(start[:, ::-1], [8, 8])
    loss = tf.reduce_mean(tf.square(tf.image.resize_bilinear(small, [8, 8]) - wanted))
    train = tf.train.GradientDescentOptimizer(4.0).minimize(loss)
    sess.run(tf.global_variables_initializer())
    before = sess.run(loss)
    for _ in range(200):
        sess.run(train)
    assert sess.run(loss) < before * 1e-3


@pytest.mark.parametrize(
    "dims, size, wanted",
    [
        ([1, 2], [3, 2], [[1.0, 2.0]] * 3),
        ([2, 1], [1, 3], [[1.5] * 3]),
        ([1, 1], [2, 3], [[1.0] * 3] * 2),
    ],
)
def test_areas_of_a_single_row_or_column(dims: list[int], size: list[int], wanted: Any) -> None:
    image = np.arange(1.0, 1.0 + np.prod(dims), dtype=np.float32).reshape(1, *dims, 1)
    with tf.Session() as session:
        found = session.run(tf.image.resize_area(image, size, align_corners=True))
    np.testing.assert_allclose(found[0, :, :, 0], wanted, 1e-6)


@pytest.mark.parametrize("change", ["rgb_to_yiq", "yuv_to_rgb"])
def test_channels_of_integers_are_not_mixed(change):
    with pytest.raises(TypeError, match="Expected int32, got"):
        getattr(tf.image, change)(tf.ones([2, 2, 3], tf.int32))
