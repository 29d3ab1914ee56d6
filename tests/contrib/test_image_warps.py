"""tf.contrib.image: warps, splines, colors in YIQ and regions, against NumPy."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
import pytest

import weft as tf

IMAGE = tf.contrib.image
RANDOM = np.random.RandomState(3)


def run(value: Any) -> Any:
    with tf.Session() as session:
        return session.run(value)


# ---- warps ---------------------------------------------------------------------------------------


def _pixel(image: np.ndarray, row: float, column: float) -> np.ndarray:
    """Linear interpolation; beyond the edge, the pixel at the edge."""
    row, column = np.clip([row, column], 0, np.subtract(image.shape[:2], 1))
    top, left = min(int(row), image.shape[0] - 2), min(int(column), image.shape[1] - 2)
    down, right = row - top, column - left
    rows = [image[top + i, left] * (1 - right) + image[top + i, left + 1] * right for i in (0, 1)]
    return rows[0] * (1 - down) + rows[1] * down


def test_each_pixel_comes_from_where_its_flow_says() -> None:
    image = RANDOM.rand(2, 4, 5, 3).astype(np.float32)
    flow = RANDOM.uniform(-3, 3, (2, 4, 5, 2)).astype(np.float32)
    expected = [
        [[_pixel(i, y - f[y, x, 0], x - f[y, x, 1]) for x in range(5)] for y in range(4)]
        for i, f in zip(image, flow, strict=True)
    ]
    np.testing.assert_allclose(run(IMAGE.dense_image_warp(image, flow)), expected, atol=1e-5)


def test_what_cannot_be_warped() -> None:
    with pytest.raises(ValueError, match="Grid must be 4 dimensional"):
        IMAGE.dense_image_warp(tf.zeros([3, 3]), tf.zeros([1, 3, 3, 2]))
    line = tf.placeholder_with_default(np.zeros([1, 1, 3, 1], np.float32), [1, None, 3, 1])
    thin = IMAGE.dense_image_warp(line, np.zeros([1, 1, 3, 2], np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Grid height must be at least 2"):
        run(thin)


def _radial(r: np.ndarray, order: int) -> np.ndarray:
    r = np.maximum(r, 1e-5)
    return r**order * np.log(r) if order % 2 == 0 else r**order


@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("smooth", [0.0, 0.1])
def test_a_spline_through_points(order: int, smooth: float) -> None:
    points, queries = RANDOM.rand(1, 8, 2), RANDOM.rand(1, 5, 2)
    values = np.sin(points.sum(-1, keepdims=True) * 3)
    found = run(IMAGE.interpolate_spline(points, values, queries, order, smooth))

    distance = np.linalg.norm(points[0, :, None] - points[0], axis=-1)
    affine = np.concatenate([points[0], np.ones([8, 1])], 1)
    kernel = _radial(distance, order) + smooth * np.eye(8)
    system = np.block([[kernel, affine], [affine.T, np.zeros([3, 3])]])
    weights = np.linalg.solve(system, np.concatenate([values[0], np.zeros([3, 1])]))
    near = _radial(np.linalg.norm(queries[0, :, None] - points[0], axis=-1), order)
    expected = near @ weights[:8] + np.concatenate([queries[0], np.ones([5, 1])], 1) @ weights[8:]
    np.testing.assert_allclose(found[0], expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("boundary", [0, 1, 2])
def test_points_of_an_image_go_to_other_places(boundary: int) -> None:
    image = np.zeros([1, 9, 9, 1], np.float32)
    image[0, 3, 3, 0] = 1
    source, target = np.float32([[[3, 3]]]), np.float32([[[4, 5]]])
    if not boundary:
        corners = np.float32([[[0, 0], [8, 0], [0, 8]]])
        source, target = (np.concatenate([p, corners], 1) for p in (source, target))
    warped, flow = run(IMAGE.sparse_image_warp(image, source, target, num_boundary_points=boundary))
    np.testing.assert_allclose(flow[0, 4, 5], [1, 2], atol=1e-4)
    np.testing.assert_allclose(flow[0, 0, 0], [0, 0], atol=1e-4)
    assert warped[0, 4, 5, 0] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("boundary", "at_top"),  # the flow of the second and third pixel of the first row
    [
        (1, [-0.5121, -0.2997, -0.715, -0.3325]),
        (2, [-0.2031, -0.6912, -0.0841, -0.3104]),
        (3, [-0.1354, -0.3509, 0.0181, 0.0472]),
    ],
)
def test_how_many_points_of_the_edges_stay(boundary: int, at_top: list[float]) -> None:
    random = np.random.RandomState(0)  # and the flows are those of TensorFlow 1.15
    image = random.rand(1, 6, 6, 1).astype(np.float32)
    source, target = ((random.rand(1, 3, 2) * 5).astype(np.float32) for _ in range(2))
    _, flow = run(IMAGE.sparse_image_warp(image, source, target, num_boundary_points=boundary))
    np.testing.assert_allclose(flow[0, 0, 1:3].ravel(), at_top, atol=1e-3)


# ---- colors and regions --------------------------------------------------------------------------


def test_hue_saturation_and_value_by_one_matrix() -> None:
    image = RANDOM.rand(2, 3, 3).astype(np.float32)
    found = run(IMAGE.adjust_hsv_in_yiq(image, 0.4, 0.7, 1.3))
    expected = np.empty_like(image)
    for at in np.ndindex(2, 3):
        y, i, q = colorsys.rgb_to_yiq(*image[at])
        turned = (i + 1j * q) * np.exp(0.4j) * 0.7
        # Not colorsys.yiq_to_rgb, which cuts off what is outside of 0 and 1.
        red = y + 0.9562 * turned.real + 0.6214 * turned.imag
        green = y - 0.2727 * turned.real - 0.6468 * turned.imag
        blue = y - 1.1037 * turned.real + 1.7006 * turned.imag
        expected[at] = np.multiply([red, green, blue], 1.3)
    np.testing.assert_allclose(found, expected, atol=0.01)
    np.testing.assert_allclose(run(IMAGE.adjust_hsv_in_yiq(image)), image, atol=1e-5)


def test_random_colors() -> None:
    image = tf.constant(RANDOM.rand(2, 3, 3).astype(np.float32))
    scaled = IMAGE.random_hsv_in_yiq(image, lower_value=2, upper_value=3, seed=1)
    ratio = run(scaled / image)
    assert ratio.min() == pytest.approx(ratio.max(), rel=1e-3) and 2 <= ratio.mean() < 3
    with pytest.raises(ValueError, match="lower_value must be < upper_value"):
        IMAGE.random_hsv_in_yiq(image, lower_value=2)
    with pytest.raises(ValueError, match="max_delta must be non-negative"):
        IMAGE.random_hsv_in_yiq(image, -1)


def _filled(image: np.ndarray) -> np.ndarray:
    """Regions by flood fill, pixel by pixel."""
    regions, last = np.zeros(image.shape, int), 0
    for start in np.ndindex(*image.shape):
        if not image[start] or regions[start]:
            continue
        last += 1
        waiting = [start]
        while waiting:
            at = waiting.pop()
            inside = all(0 <= i < size for i, size in zip(at, image.shape, strict=True))
            if inside and image[at] == image[start] and not regions[at]:
                regions[at] = last
                waiting += [(at[0] + y, at[1] + x) for y, x in ((0, 1), (0, -1), (1, 0), (-1, 0))]
    return regions


@pytest.mark.parametrize("size", [(1, 1), (7, 9), (40, 30)])
@pytest.mark.parametrize("dtype", [bool, np.int32, np.float32])
def test_regions_of_equal_pixels(size: tuple[int, int], dtype: Any) -> None:
    image = RANDOM.randint(0, 3, size).astype(dtype)
    found = run(IMAGE.connected_components(image))
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, _filled(image))


def test_regions_of_a_batch_and_of_words() -> None:
    words = np.array([[["a", "a"], ["", "b"]], [["b", ""], ["b", "c"]]])
    expected = [[[1, 1], [0, 2]], [[3, 0], [3, 4]]]
    np.testing.assert_array_equal(run(IMAGE.connected_components(words)), expected)
    with pytest.raises(TypeError, match="images should have rank 2"):
        IMAGE.connected_components(tf.zeros([3]))


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (lambda x: tf.contrib.image.rotate(x, 0.3, "BILINEAR"), 104),
        (lambda x: tf.contrib.image.translate(x, [1, 2]), 69),
        (lambda x: tf.image.resize_image_with_pad(x, 5, 12), 118),
        (lambda x: tf.image.psnr(x, x, 1.0), 36),
        (lambda x: tf.image.ssim(x, x, 1.0), 211),
        (lambda x: tf.image.ssim_multiscale(x, x, 255), 1172),
    ],
)
def test_the_number_of_nodes_is_that_of_1_15(make: Any, count: int) -> None:
    """It is the seed of a random operation that comes next."""
    make(tf.placeholder(tf.float32, [None, None, None, 3]))
    assert len(tf.get_default_graph().get_operations()) == count
