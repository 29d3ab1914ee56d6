"""What is recorded from Keras's own preprocessing and asked of ours: name -> array.

The modules are arguments, so that both are asked the very same things.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

TEXTS = [
    "The cat sat on the mat.",
    "The dog, the cat and the bird: all sat!",
    "A bird\tsings; nobody listens (not even the cat)",
]


def results(text: Any, sequence: Any, image: Any) -> dict[str, np.ndarray]:
    parts = [_texts(text), _sequences(sequence), _transforms(image), _generators(image)]
    return {name: np.asarray(value) for part in parts for name, value in part}


def _texts(text: Any) -> Iterator[tuple[str, Any]]:
    for name, settings in {
        "plain": {},
        "few": {"num_words": 5},
        "oov": {"num_words": 6, "oov_token": "<unk>"},
        "chars": {"char_level": True, "lower": False},
    }.items():
        tokenizer = text.Tokenizer(**settings)
        tokenizer.fit_on_texts(TEXTS)
        numbers = tokenizer.texts_to_sequences([*TEXTS, "an unknown cat"])
        yield f"{name}/numbers", np.array([n for row in numbers for n in [*row, -1]])
        yield f"{name}/texts", np.array(tokenizer.sequences_to_texts(numbers))
        for mode in ("binary", "count", "freq", "tfidf"):
            yield f"{name}/{mode}", tokenizer.texts_to_matrix(TEXTS, mode)
        yield f"{name}/config", np.array(sorted(tokenizer.word_index))
    yield "words", np.array(text.text_to_word_sequence(TEXTS[1], filters=",", split=" "))
    yield "hashed", text.hashing_trick(TEXTS[1], 50, hash_function="md5")


def _sequences(sequence: Any) -> Iterator[tuple[str, Any]]:
    rows = [[1, 2, 3, 4], [], [5], [6, 7]]
    for padding in ("pre", "post"):
        for truncating in ("pre", "post"):
            name = f"pad/{padding}/{truncating}"
            yield name, sequence.pad_sequences(rows, 3, "int32", padding, truncating, value=9)
    yield "pad/longest", sequence.pad_sequences(rows)
    yield "pad/vectors", sequence.pad_sequences([[[1, 2]], [[3, 4], [5, 6]]], dtype="float32")
    yield "table", sequence.make_sampling_table(100)
    random.seed(7)
    couples, labels = sequence.skipgrams(range(1, 9), 20, window_size=2)
    yield "skipgrams/couples", couples
    yield "skipgrams/labels", labels
    couples, labels = sequence.skipgrams(
        range(1, 9), 20, 1, categorical=True, sampling_table=sequence.make_sampling_table(20, 0.1)
    )
    yield "skipgrams/categorical", labels
    data = np.arange(30)
    series = sequence.TimeseriesGenerator(
        data, data * 2, 6, sampling_rate=2, stride=3, batch_size=4
    )
    yield "series/length", len(series)
    yield "series/samples", series[1][0]
    yield "series/targets", series[1][1]


def picture(channels: int = 3) -> np.ndarray:
    y, x, c = np.mgrid[0:7, 0:5, 0:channels]
    return ((y * 31 + x * 17 + c * 53) % 256).astype("float32")


def _transforms(image: Any) -> Iterator[tuple[str, Any]]:
    x = picture()
    for name, settings in {
        "turned": {"theta": 30},
        "moved": {"tx": 1.5, "ty": -2},
        "slanted": {"shear": 20, "fill_mode": "constant", "cval": 7.0},
        "zoomed": {"zx": 0.8, "zy": 1.3, "fill_mode": "wrap"},
        "all": {"theta": 10, "tx": 1, "shear": 5, "zx": 1.1, "fill_mode": "reflect"},
    }.items():
        yield f"affine/{name}", image.apply_affine_transform(x, **settings)
    yield "channels", image.apply_channel_shift(x, 40.0, channel_axis=2)
    yield "bright", image.apply_brightness_shift(x, 1.5)
    yield "image", np.asarray(image.array_to_img(x[:, :, :1]))
    yield (
        "image/channels_first",
        image.img_to_array(
            image.array_to_img(x.transpose(2, 0, 1), "channels_first"), "channels_first"
        ),
    )


def _generators(image: Any) -> Iterator[tuple[str, Any]]:
    images = np.stack([picture() + 3 * i for i in range(6)])
    labels = np.arange(6)
    for name, settings in {
        "moved": {"rotation_range": 20, "width_shift_range": 0.2, "height_shift_range": 2},
        "flipped": {"horizontal_flip": True, "vertical_flip": True, "rescale": 1 / 255},
        "zoomed": {"zoom_range": 0.3, "shear_range": 10.0, "channel_shift_range": 20.0},
        "light": {"brightness_range": (0.5, 1.5)},
        "centred": {"featurewise_center": True, "featurewise_std_normalization": True},
        "each": {"samplewise_center": True, "samplewise_std_normalization": True},
        "white": {"featurewise_center": True, "zca_whitening": True, "zca_epsilon": 0.1},
    }.items():
        generator = image.ImageDataGenerator(**settings)
        generator.fit(images, augment=True, rounds=2, seed=3)
        batches = generator.flow(images, labels, batch_size=4, seed=11)
        for i in range(2):
            batch, numbers = next(batches)
            yield f"generator/{name}/{i}", batch
            yield f"generator/{name}/{i}/labels", numbers
