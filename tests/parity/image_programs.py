"""Small programs of tf.image, each a function of the library: TensorFlow's or weft's.

`record_images.py` keeps what TensorFlow gives, in two steps; `test_image.py` compares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[function.__name__] = function
    return function


def picture(height: int = 6, width: int = 8, channels: int = 3, batch: int = 0) -> np.ndarray:
    shape = (batch, height, width, channels) if batch else (height, width, channels)
    return (np.sin(np.arange(np.prod(shape)) * 0.7).reshape(shape) * 0.5 + 0.5).astype(np.float32)


def bytes_of(image: np.ndarray) -> np.ndarray:
    return np.round(image * 255).astype(np.uint8)


@program
def resized(tf: Any) -> Any:
    one, many = picture(), picture(batch=2)
    return [
        *(tf.image.resize_images(many, [5, 9], method) for method in range(4)),
        tf.image.resize_images(one, [5, 9], align_corners=True),
        tf.image.resize_images(one, [12, 9], preserve_aspect_ratio=True),
        tf.image.resize_images(one, tf.placeholder_with_default([3, 3], [2])),
        tf.image.resize_image_with_crop_or_pad(one, 4, 11),
        tf.image.resize_image_with_crop_or_pad(many, 9, 3),
        tf.image.resize_image_with_pad(one, 10, 9),
        tf.image.resize_image_with_pad(many, 5, 12, method=1),
    ]


@program
def cropped(tf: Any) -> Any:
    one, many = picture(), picture(batch=2)
    unknown = tf.placeholder_with_default(many, [None, None, None, 3])
    return [
        tf.image.central_crop(one, 0.6),
        tf.image.central_crop(unknown, 0.4),
        tf.image.crop_to_bounding_box(one, 1, 2, 3, 4),
        tf.image.crop_to_bounding_box(unknown, 1, 2, 3, 4),
        tf.image.pad_to_bounding_box(many, 1, 2, 9, 12),
        tf.image.pad_to_bounding_box(unknown, 0, 2, 9, 12),
    ]


@program
def turned(tf: Any) -> Any:
    one, many = picture(), picture(batch=2)
    return [
        tf.image.flip_left_right(one),
        tf.image.flip_up_down(many),
        tf.image.transpose_image(one),
        tf.image.transpose_image(many),
        *(tf.image.rot90(one, k) for k in range(-1, 4)),
        tf.image.rot90(many, 3),
    ]


@program
def converted(tf: Any) -> Any:
    floats, small = picture(3, 3), bytes_of(picture(3, 3))
    return [
        tf.image.convert_image_dtype(small, tf.float32),
        tf.image.convert_image_dtype(small, tf.int16),
        tf.image.convert_image_dtype(small.astype(np.int32) * 2**23, tf.uint8),
        tf.image.convert_image_dtype(floats, tf.uint8),
        tf.image.convert_image_dtype(floats * 3 - 1, tf.uint8, saturate=True),
        tf.image.convert_image_dtype(floats, tf.uint16),
        tf.image.convert_image_dtype(floats, tf.float64),
    ]


@program
def adjusted(tf: Any) -> Any:
    floats, small = picture(), bytes_of(picture())
    found = []
    for image in (floats, small):
        found += [
            tf.image.adjust_brightness(image, 0.3),
            tf.image.adjust_contrast(image, 1.7),
            tf.image.adjust_hue(image, 0.2),
            tf.image.adjust_saturation(image, 0.4),
            tf.image.adjust_gamma(image, 0.5, 0.9),
            tf.image.rgb_to_grayscale(image),
            tf.image.grayscale_to_rgb(tf.constant(image[..., :1])),
        ]
    return found


@program
def colors(tf: Any) -> Any:
    image = picture()
    kinds = ("yiq", "yuv", "hsv")
    return [getattr(tf.image, f"rgb_to_{kind}")(image) for kind in kinds] + [
        getattr(tf.image, f"{kind}_to_rgb")(image) for kind in kinds
    ]


@program
def standardized(tf: Any) -> Any:
    return [
        tf.image.per_image_standardization(picture()),
        tf.image.per_image_standardization(picture(batch=2) * 9),
        tf.image.per_image_standardization(np.full((4, 4, 1), 0.5, np.float32)),
    ]


@program
def random(tf: Any) -> Any:
    tf.set_random_seed(7)
    one, many = picture(), picture(batch=5)
    return [
        tf.image.random_flip_left_right(one, seed=1),
        tf.image.random_flip_up_down(one, seed=2),
        tf.image.random_flip_left_right(many, seed=3),
        tf.image.random_brightness(one, 0.4, seed=4),
        tf.image.random_contrast(one, 0.2, 1.8, seed=5),
        tf.image.random_hue(one, 0.3, seed=6),
        tf.image.random_saturation(one, 0.2, 1.8, seed=7),
        tf.image.random_crop(one, [3, 4, 3], seed=8),
    ]


@program
def random_boxes(tf: Any) -> Any:
    boxes = np.array([[[0.1, 0.2, 0.7, 0.9], [0.4, 0.5, 0.6, 0.6]]], np.float32)
    none = np.zeros((1, 0, 4), np.float32)
    draw = tf.image.sample_distorted_bounding_box
    return [
        *draw([100, 130, 3], boxes, seed=1),
        *draw([37, 29, 3], boxes, seed=2, seed2=5, min_object_covered=0.9),
        *draw(
            [299, 211, 3], none, seed=3, aspect_ratio_range=[0.5, 2.0], area_range=[0.3, 0.6],
            max_attempts=5, use_image_if_no_bounding_boxes=True,
        ),
        *draw([50, 50, 3], boxes, seed=9, min_object_covered=1.0, area_range=[0.01, 0.02]),
    ]  # fmt: skip


@program
def measured(tf: Any) -> Any:
    a, b = picture(12, 13, 2, batch=2), picture(12, 13, 2, batch=2)[::-1] * 0.5
    large = picture(20, 21, 1, batch=1)
    images = tf.constant(picture(batch=2))
    return [
        tf.image.psnr(a, b, 1.0),
        tf.image.psnr(tf.constant(bytes_of(a)), tf.constant(bytes_of(b)), 255),
        tf.image.ssim(tf.constant(a), tf.constant(b), 1.0),
        tf.image.ssim_multiscale(
            tf.constant(large), tf.constant(large * 0.8), 1.0, (0.4, 0.6), filter_size=5
        ),
        tf.image.total_variation(images),
        tf.image.total_variation(images[0]),
        *tf.image.image_gradients(images),
        tf.image.sobel_edges(images),
        tf.image.extract_image_patches(images, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
    ]


@program
def boxes(tf: Any) -> Any:
    corners = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 3, 1, 4]], np.float32)
    scores = np.array([0.9, 0.8, 0.7], np.float32)
    return [
        tf.image.non_max_suppression(corners, scores, 3),
        *tf.image.non_max_suppression_with_scores(corners, scores, 3, 0.9, soft_nms_sigma=0.5),
        *tf.image.non_max_suppression_padded(corners, scores, 3, pad_to_max_output_size=True),
        tf.image.non_max_suppression_overlaps(np.eye(3, dtype=np.float32), scores, 2),
        *tf.image.combined_non_max_suppression(corners[None, :, None], scores[None, :, None], 2, 2),
        tf.image.draw_bounding_boxes(picture(batch=1), corners[None, :1] * 0.6),
        tf.image.crop_and_resize(picture(batch=1), corners[:2], [0, 0], [3, 4]),
        tf.image.extract_glimpse(picture(batch=1), [2, 2], [[0.1, 0.2]]),
    ]
