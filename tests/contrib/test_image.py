"""tf.contrib.image."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def board(size: int = 5) -> np.ndarray:
    return np.arange(size * size, dtype=np.float32).reshape(size, size)


def test_rotations_by_quarters_move_pixels(sess: tf.Session) -> None:
    image = board()
    angles = [0.0, np.pi / 2, np.pi, 3 * np.pi / 2]
    batch = np.stack([image] * 4)[..., None]
    turned = sess.run(tf.contrib.image.rotate(batch, angles))
    for k, found in enumerate(turned):
        np.testing.assert_array_equal(found[..., 0], np.rot90(image, k))
    one = sess.run(tf.contrib.image.rotate(image, np.pi / 2, interpolation="BILINEAR"))
    np.testing.assert_allclose(one, np.rot90(image), atol=1e-4)


def test_translations_fill_with_zeros(sess: tf.Session) -> None:
    image = board(4)
    moved = sess.run(tf.contrib.image.translate(image, [1, -2]))
    wanted = np.zeros_like(image)
    wanted[:2, 1:] = image[2:, :3]
    np.testing.assert_array_equal(moved, wanted)
    half = sess.run(tf.contrib.image.translate(image, [0.5, 0.0], interpolation="bilinear"))
    np.testing.assert_allclose(half[:, 1:], (image[:, 1:] + image[:, :-1]) / 2)


def test_composed_transforms_are_one_after_the_other(sess: tf.Session) -> None:
    there, back = [1, 0, 3, 0, 1, -1, 0, 0], [1, 0, -3, 0, 1, 1, 0, 0]
    composed = tf.contrib.image.compose_transforms(
        tf.constant(there, tf.float32), tf.constant(back, tf.float32)
    )
    np.testing.assert_allclose(sess.run(composed), [[1, 0, 0, 0, 1, 0, 0, 0]], atol=1e-6)


def test_the_gradient_moves_back(sess: tf.Session) -> None:
    image = tf.constant(board(4))
    weights = board(4) + 1
    moved = tf.contrib.image.translate(image, [1, 2])
    (grad,) = tf.gradients(tf.reduce_sum(moved * weights), image)
    wanted = np.zeros((4, 4), np.float32)
    wanted[:2, :3] = weights[2:, 1:]
    np.testing.assert_allclose(sess.run(grad), wanted)


def test_images_must_have_a_type_and_a_rank() -> None:
    with pytest.raises(TypeError, match="Invalid dtype"):
        tf.contrib.image.transform(tf.constant([["a"]]), [1.0] * 8)
    with pytest.raises(TypeError, match="rank between 2 and 4"):
        tf.contrib.image.rotate(tf.zeros([3]), 1.0)


def test_bipartite_match_is_greedy(sess: tf.Session) -> None:
    distances = [[0.5, 0.1, 0.8], [0.3, 0.2, 0.4], [0.0, 0.0, 0.0]]
    rows, columns = sess.run(tf.contrib.image.bipartite_match(distances, [2.0]))
    assert rows.tolist() == [1, 0, -1] and columns.tolist() == [1, 0, -1]
    rows, columns = sess.run(tf.contrib.image.bipartite_match(distances, -1.0, top_k=2))
    assert rows.tolist() == [1, -1, 0] and columns.tolist() == [2, 0, -1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 4 rows"):
        sess.run(tf.contrib.image.bipartite_match(distances, 4.0))
