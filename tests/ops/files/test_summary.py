"""Image summaries, whose bytes depend on who compresses them, and what else samples cannot say."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import weft as tf
from tests.parity.record_summary_images import DATA, images
from weft.core import errors
from weft.ops.files.summary import bucket_limits

RECORDED = np.load(DATA)
IMAGES = images()


def pixels(encoded: bytes, channels: int) -> np.ndarray:
    array = np.asarray(Image.open(io.BytesIO(encoded)))
    return array[..., np.newaxis] if channels == 1 else array


@pytest.mark.parametrize("name", IMAGES)
def test_pixels_are_tensorflows(name: str, sess: tf.Session) -> None:
    batch = IMAGES[name]
    summary = tf.Summary.FromString(
        sess.run(tf.summary.image("image", tf.constant(batch), max_outputs=2))
    )
    found = [v.image for v in summary.value]
    assert [(i.height, i.width, i.colorspace) for i in found] == [batch.shape[1:]] * len(batch)
    have = np.stack([pixels(i.encoded_image_string, batch.shape[3]) for i in found])
    np.testing.assert_array_equal(have, RECORDED[name])


def test_image_tags_count_what_was_asked_for(sess: tf.Session) -> None:
    batch = np.zeros([2, 1, 1, 1], np.uint8)
    several = tf.Summary.FromString(sess.run(tf.summary.image("a", batch)))
    single = tf.Summary.FromString(sess.run(tf.summary.image("b", batch, max_outputs=1)))
    assert [v.tag for v in several.value] == ["a/image/0", "a/image/1"]
    assert [v.tag for v in single.value] == ["b/image"]


def test_the_bad_color_can_be_chosen(sess: tf.Session) -> None:
    batch = np.full([1, 1, 1, 3], np.nan, np.float32)
    node = tf.raw_ops.ImageSummary(tag="a", tensor=batch, bad_color=np.array([1, 2, 3], np.uint8))
    value = tf.Summary.FromString(sess.run(node)).value[0]
    assert pixels(value.image.encoded_image_string, 3).tolist() == [[[1, 2, 3]]]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((1, 2, 2, 2), r"Tensor must be 4-D with last dim 1, 3, or 4, not \[1,2,2,2\]"),
        ((1, 0, 2, 3), r"input tensor must have non-zero dims. Found: \[1, 0, 2, 3\]"),
    ],
)
def test_images_of_wrong_shapes(shape: tuple[int, ...], message: str, sess: tf.Session) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=message):
        sess.run(tf.summary.image("a", np.zeros(shape, np.float32)))


def test_a_histogram_error_names_the_node(sess: tf.Session) -> None:
    with tf.name_scope("layer"):
        node = tf.summary.histogram("weights", [1.0, float("nan")])
    message = "Nan in summary histogram for: layer/weights"
    with pytest.raises(errors.InvalidArgumentError, match=message):
        sess.run(node)


def test_bucket_limits() -> None:
    limits = bucket_limits()
    assert len(limits) == 1551 and np.all(np.diff(limits) > 0)
    assert limits[776] == 1e-12 and limits[775] == 0 and limits[0] == -limits[-1]
