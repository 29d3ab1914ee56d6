"""Operations on strings, images in files, and records."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from operation_cases.case import Case, Random, below, floats, of

_WORDS = "the quick brown fox jumps over a lazy dog while 12 others, half asleep, watch it".split()


def lines(count: int, words: int) -> Any:
    """A function that makes lines of text."""

    def make(random: Random) -> Any:
        chosen = random.choice(_WORDS, (count, words))
        return np.array([" ".join(row).encode() for row in chosen], object)

    return make


def words(count: int) -> Any:
    return lambda random: np.array([b"word%d" % i for i in random.integers(0, 5000, count)], object)


def numbers(count: int) -> Any:
    return lambda random: np.array([b"%.4f" % x for x in random.standard_normal(count)], object)


def csv_lines(random: Random) -> Any:
    rows = random.integers(0, 1000, (1000, 8))
    return np.array([b",".join(b"%d" % n for n in row) for row in rows], object)


def picture(height: int, width: int, kind: str) -> Any:
    """A smooth picture with some noise, as a file of this kind."""

    def make(random: Random) -> Any:
        from PIL import Image

        y, x = np.mgrid[:height, :width]
        smooth = np.stack([np.sin(x / 40), np.cos(y / 30), np.sin((x + y) / 50)], -1)
        values = 127 + 100 * smooth + random.integers(-8, 8, (height, width, 3))
        file = io.BytesIO()
        Image.fromarray(values.clip(0, 255).astype(np.uint8)).save(file, kind)
        return np.array(file.getvalue(), object)

    return make


def raw_floats(random: Random) -> Any:
    rows = random.standard_normal((256, 1024), np.float32)
    return np.array([row.tobytes() for row in rows], object)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def examples(count: int) -> Any:
    """A function that makes serialized tf.train.Examples: floats, a label, words, a sparse list."""

    def example(random: Random) -> bytes:
        floats = _field(2, _field(1, random.standard_normal(64).astype(np.float32).tobytes()))
        label = _field(3, _field(1, _varint(int(random.integers(0, 1000)))))
        text = _field(1, b"".join(_field(1, b"word%d" % i) for i in random.integers(0, 99, 4)))
        sparse = random.integers(0, 30000, random.integers(1, 20))
        ids = _field(3, _field(1, b"".join(_varint(int(i)) for i in sparse)))
        found = {b"x": floats, b"label": label, b"text": text, b"ids": ids}
        entries = (_field(1, _field(1, key) + _field(2, v)) for key, v in found.items())
        return _field(1, b"".join(entries))

    return lambda random: np.array([example(random) for _ in range(count)], object)


def _features(tf: Any) -> dict[str, Any]:
    return {
        "x": tf.FixedLenFeature([64], tf.float32),
        "label": tf.FixedLenFeature([], tf.int64),
        "text": tf.FixedLenFeature([4], tf.string),
        "ids": tf.VarLenFeature(tf.int64),
    }


def _parse(tf: Any, serialized: Any) -> Any:
    parsed = tf.parse_example(serialized, _features(tf))
    return parsed["x"], parsed["label"], parsed["text"], parsed["ids"].values


def _parse_one(tf: Any, serialized: Any) -> Any:
    parsed = tf.parse_single_example(serialized[0], _features(tf))
    return parsed["x"], parsed["label"], parsed["text"], parsed["ids"].values


def _split(tf: Any, lines: Any) -> Any:
    found = tf.string_split(lines)
    return found.indices, found.values


def _resized(method: str) -> Any:
    def compute(tf: Any, x: Any) -> Any:
        return getattr(tf.image, method)(x, [224, 224])

    return compute


def _augmented(tf: Any, data: Any) -> Any:
    image = tf.image.resize_images(tf.image.decode_jpeg(data, channels=3), [256, 256])
    image = tf.random_crop(image, [224, 224, 3], seed=1)
    image = tf.image.random_flip_left_right(image, seed=2)
    return tf.image.random_brightness(image, 0.2, seed=3)


_JPEG = of(picture(480, 640, "jpeg"))
TEXTS = [
    Case("split 1000 lines", of(lines(1000, 12)), _split, fed=True),
    Case(
        "regex_replace in 1000 lines",
        of(lines(1000, 12)),
        lambda tf, x: tf.regex_replace(x, "[^a-z ]+", "#"),
        fed=True,
    ),
    Case(
        "lower case, 1000 lines", of(lines(1000, 12)), lambda tf, x: tf.strings.lower(x), fed=True
    ),
    Case(
        "join 10000 words",
        of(words(10_000), words(10_000)),
        lambda tf, a, b: tf.string_join([a, b], "_"),
        fed=True,
    ),
    Case(
        "hash 10000 words",
        of(words(10_000)),
        lambda tf, x: tf.string_to_hash_bucket_fast(x, 1000),
        fed=True,
    ),
    Case(
        "substrings of 10000 words",
        of(words(10_000)),
        lambda tf, x: tf.substr(x, 1, 3),
        fed=True,
    ),
    Case(
        "numbers of 10000 strings",
        of(numbers(10_000)),
        lambda tf, x: tf.string_to_number(x),
        fed=True,
    ),
    Case("10000 numbers as strings", floats((10_000,)), lambda tf, x: tf.as_string(x)),
    Case(
        "equal, 10000 words",
        of(words(10_000), words(10_000)),
        lambda tf, a, b: tf.equal(a, b),
        fed=True,
    ),
    Case(
        "CSV, 1000 lines of 8", of(csv_lines), lambda tf, x: tf.decode_csv(x, [[0]] * 8), fed=True
    ),
    Case(
        "decode_raw, 256 of 4 KB",
        of(raw_floats),
        lambda tf, x: tf.decode_raw(x, tf.float32),
        fed=True,
    ),
    Case("parse 128 examples", of(examples(128)), _parse, fed=True),
    Case("parse one example", of(examples(1)), _parse_one, fed=True),
    Case("decode JPEG 480x640", _JPEG, lambda tf, x: tf.image.decode_jpeg(x, channels=3), fed=True),
    Case(
        "decode PNG 480x640",
        of(picture(480, 640, "png")),
        lambda tf, x: tf.image.decode_png(x, channels=3),
        fed=True,
    ),
    Case(
        "encode JPEG 224x224",
        of(below(256, 224, 224, 3, dtype=np.uint8)),
        lambda tf, x: tf.image.encode_jpeg(x),
    ),
    Case("decode JPEG, resize, crop, flip", _JPEG, _augmented, fed=True),
    Case("resize bilinear, 480x640 to 224", floats((4, 480, 640, 3)), _resized("resize_bilinear")),
    Case("resize bicubic, 480x640 to 224", floats((4, 480, 640, 3)), _resized("resize_bicubic")),
    Case(
        "resize nearest, 480x640 to 224",
        floats((4, 480, 640, 3)),
        _resized("resize_nearest_neighbor"),
    ),
    Case(
        "hue, contrast, 224x224",
        lambda random: [random.random((224, 224, 3), np.float32)],
        lambda tf, x: tf.image.adjust_contrast(tf.image.adjust_hue(x, 0.1), 1.2),
    ),
]
