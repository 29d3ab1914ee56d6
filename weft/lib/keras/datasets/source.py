"""The sources of the data sets, and how they are taken apart."""

from __future__ import annotations

import json
import os
import pickle
from typing import Any

import numpy as np

from weft.lib.keras import backend as K
from weft.lib.keras.utils.files import get_file
from weft.lib.platform import tf_logging as logging

STORE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
TORONTO = "https://www.cs.toronto.edu/~kriz/"

Arrays = tuple[np.ndarray, np.ndarray]


def stored(path: str, name: str, file_hash: str | None = None, **kwargs: Any) -> str:
    """The local path of a file of the store."""
    return get_file(path, origin=STORE + name, file_hash=file_hash, **kwargs)


def word_index(path: str, name: str, file_hash: str) -> dict[str, int]:
    """Word -> its rank, in a file of the store."""
    with open(stored(path, name, file_hash)) as file:
        return json.load(file)


def shuffled(x: Any, y: Any, random: Any) -> tuple[Any, Any]:
    order = np.arange(len(x))
    random.shuffle(order)
    return x[order], y[order]


def split(x: Any, y: Any, at: int) -> tuple[Arrays, Arrays]:
    def part(which: slice) -> Arrays:
        return np.array(x[which]), np.array(y[which])

    return part(slice(at)), part(slice(at, None))


# ---- images ----


def cifar_batch(path: str, label_key: str = "labels") -> tuple[np.ndarray, np.ndarray]:
    """Images [n, 3, 32, 32] and labels of one of the files of the CIFAR sets."""
    with open(path, "rb") as file:
        content = pickle.load(file, encoding="bytes")
    images, labels = content[b"data"], content[label_key.encode()]
    return images.reshape(-1, 3, 32, 32), np.array(labels, "uint8")


def cifar(
    folder: str, train: list[str], test: str, label_key: str, label_dtype: Any
) -> tuple[Arrays, Arrays]:
    """Training and test set, with channels where Keras is set to have them."""
    parts = [cifar_batch(os.path.join(folder, name), label_key) for name in [*train, test]]
    images = [x.transpose(0, 2, 3, 1) if _channels_last() else x for x, _ in parts]
    labels = [y.astype(label_dtype).reshape(-1, 1) for _, y in parts]
    return (np.concatenate(images[:-1]), np.concatenate(labels[:-1])), (images[-1], labels[-1])


def _channels_last() -> bool:
    return K.image_data_format() == "channels_last"


# ---- texts as lists of the ranks of their words ----


def renamed_num_words(num_words: int | None, kwargs: dict[str, Any]) -> int | None:
    """`num_words`, which used to be called `nb_words`."""
    if "nb_words" in kwargs:
        logging.warning("The `nb_words` argument in `load_data` has been renamed `num_words`.")
        num_words = kwargs.pop("nb_words")
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
    return num_words


def marked(texts: Any, start_char: int | None, index_from: int) -> list[list[int]]:
    """Ranks moved up by `index_from`, each text after `start_char`."""
    start = [] if start_char is None else [start_char]
    return [start + [word + index_from for word in text] for text in texts]


def shorter(maxlen: int | None, texts: Any, labels: Any) -> tuple[Any, Any]:
    """Only the texts of fewer than `maxlen` words."""
    if not maxlen:
        return texts, labels
    kept = [(x, y) for x, y in zip(texts, labels, strict=True) if len(x) < maxlen]
    return [x for x, _ in kept], [y for _, y in kept]


def common(
    texts: Any, num_words: int | None, skip_top: int, oov_char: int | None
) -> list[list[int]]:
    """Words that are too rare or too common become `oov_char`, or go."""
    top = num_words or max(max(text) for text in texts)
    if oov_char is None:
        return [[word for word in text if skip_top <= word < top] for text in texts]
    return [[word if skip_top <= word < top else oov_char for word in text] for text in texts]


def ragged(texts: list[list[int]]) -> np.ndarray:
    """An array whose elements are lists."""
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array
