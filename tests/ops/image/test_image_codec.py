"""Image files written and read back, and tf.image.decode_image."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.parity.image_programs import bytes_of, picture

FOLDER = Path(__file__).parents[1] / "data" / "images"


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_png_keeps_pixels(channels: int, dtype: type, sess: tf.Session) -> None:
    pixels = (picture(9, 7, channels) * np.iinfo(dtype).max).astype(dtype)
    for compression in (-1, 0, 9):
        file = tf.image.encode_png(tf.constant(pixels), compression=compression)
        again = sess.run(tf.image.decode_png(file, dtype=dtype))
        np.testing.assert_array_equal(again, pixels)


def test_rows_of_16_bits_are_predicted_from_others(sess: tf.Session) -> None:
    ramp = tf.constant((np.mgrid[0:64, 0:64].sum(0)[..., None] * 500).astype(np.uint16))
    assert len(sess.run(tf.image.encode_png(ramp))) < 600
    assert len(sess.run(tf.image.encode_png(ramp, compression=0))) > 8000


def test_decode_image_finds_the_kind_of_file(sess: tf.Session) -> None:
    contents = tf.placeholder(tf.string, [])
    image = tf.image.decode_image(contents)
    shapes = {
        "full.jpg": (19, 21, 3), "rgba.png": (6, 5, 4), "animation.gif": (2, 6, 5, 3),
        "rgb.bmp": (6, 5, 3),
    }  # fmt: skip
    for name, shape in shapes.items():
        assert sess.run(image, {contents: (FOLDER / name).read_bytes()}).shape == shape
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to decode bytes as JPEG"):
        sess.run(image, {contents: b"something else"})
    first = tf.image.decode_image(contents, expand_animations=False)
    animation = (FOLDER / "animation.gif").read_bytes()
    assert sess.run(first, {contents: animation}).shape == (6, 5, 3)
    floats = tf.image.decode_image((FOLDER / "wide_3.png").read_bytes(), dtype=tf.float32)
    narrow = tf.image.decode_png((FOLDER / "wide_3.png").read_bytes())
    wide, coarse = sess.run([floats, narrow])
    np.testing.assert_allclose(wide, coarse / 255, atol=1 / 255)


def test_the_default_transform_of_jpeg_is_the_accurate_one(sess: tf.Session) -> None:
    data = (FOLDER / "photo.jpg").read_bytes()
    exact = tf.image.decode_jpeg(data, dct_method="INTEGER_ACCURATE")
    plain, accurate = sess.run([tf.image.decode_jpeg(data), exact])
    np.testing.assert_array_equal(plain, accurate)


def test_a_truncated_jpeg_is_read_as_far_as_it_goes(sess: tf.Session) -> None:
    data = (FOLDER / "full.jpg").read_bytes()[:-200]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid JPEG data"):
        sess.run(tf.image.decode_jpeg(data))
    recovered = sess.run(tf.image.decode_jpeg(data, try_recover_truncated=True))
    whole = sess.run(
        tf.image.decode_jpeg((FOLDER / "full.jpg").read_bytes(), try_recover_truncated=True)
    )
    np.testing.assert_array_equal(recovered[:8, :8], whole[:8, :8])


def test_quality_costs_detail(sess: tf.Session) -> None:
    rows, columns, channels = np.mgrid[0:16, 0:16, 0:3]
    image = bytes_of(np.sin(rows * 0.4 + channels) * np.cos(columns * 0.3) * 0.4 + 0.5)
    low, high, drawn = sess.run([
        tf.image.adjust_jpeg_quality(image, 5),
        tf.image.adjust_jpeg_quality(image, 95),
        tf.image.random_jpeg_quality(image, 5, 96, seed=1),
    ])  # fmt: skip
    errors = [np.abs(x.astype(int) - image).mean() for x in (high, drawn, low)]
    assert errors[0] < errors[1] < errors[2]
    assert sess.run(tf.image.is_jpeg([b"\xff\xd8\xff\xe0", b"GIF"])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({}, 77),
        ({"channels": 4}, 77),
        ({"dtype": tf.float32}, 85),
        ({"dtype": tf.uint16}, 83),
        ({"expand_animations": False}, 80),
    ],
)
def test_decoding_any_image_adds_the_nodes_of_1_15(options: dict[str, Any], count: int) -> None:
    """The seed of a random operation after it is their number."""
    tf.image.decode_image(tf.placeholder(tf.string, [], name="c"), **options)
    operations = {op.name: op for op in tf.get_default_graph().get_operations()}
    assert len(operations) == count
    branch = "decode_image/cond_jpeg/cond_png"
    is_gif = operations[f"{branch}/is_gif/Switch"]
    assert is_gif.inputs[0].op is operations["decode_image/Substr"]
    assert operations["decode_image/cond_jpeg/is_png/Equal"].type == "Equal"
    for name in ("check_gif_channels", "check_gif_channels_1", "check_channels"):
        assert operations[f"{branch}/cond_gif/{name}"].type == "NotEqual"
    assert operations["decode_image/cond_jpeg/check_jpeg_channels"].type == "NotEqual"
