"""The MNIST reader, which is also `tensorflow.examples.tutorials.mnist.input_data`.

Reads the four files of handwritten digits from a folder, and fetches those that are not there.
"""

from __future__ import annotations

import gzip
import math
import struct
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from weft.core import dtypes
from weft.graph.random_seed import get_seed
from weft.lib.contrib.learn.datasets.base import Datasets

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
PIXELS = 28 * 28


class DataSet:
    """Images and labels, handed out in batches of a new random order every epoch."""

    def __init__(
        self,
        images: np.ndarray,
        labels: np.ndarray,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ):
        # The global generator, seeded from the graph: programs that set a seed get the batches
        # they got from TensorFlow.
        graph_seed, op_seed = get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot = one_hot
        self._epochs_completed = 0
        self._index_in_epoch = 0
        if fake_data:
            self._num_examples = 10000
            return
        if len(images) != len(labels):
            raise ValueError(f"images.shape: {images.shape} labels.shape: {labels.shape}")
        if reshape:
            images = images.reshape(len(images), math.prod(images.shape[1:]))
        if dtype == dtypes.float32:
            images = images.astype(np.float32) * (1.0 / 255.0)
        self._images, self._labels = images, labels
        self._num_examples = len(images)

    @property
    def images(self) -> np.ndarray:
        return self._images

    @property
    def labels(self) -> np.ndarray:
        return self._labels

    @property
    def num_examples(self) -> int:
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[Any, Any]:
        """The next `batch_size` examples; a batch may reach into the next epoch."""
        if fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * PIXELS] * batch_size, [label] * batch_size
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        rest = self._num_examples - start
        if batch_size <= rest:
            self._index_in_epoch = start + batch_size
            return self._images[start : start + batch_size], self._labels[
                start : start + batch_size
            ]
        images, labels = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        if shuffle:
            self._shuffle()
        self._index_in_epoch = wanted = batch_size - rest
        return (
            np.concatenate([images, self._images[:wanted]]),
            np.concatenate([labels, self._labels[:wanted]]),
        )

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """Training, validation and test sets from the files in `train_dir`.

    Args:
        train_dir: the folder with MNIST's four files; they are downloaded if they are not there.
        fake_data: give made-up data, for tests.
        one_hot: labels as rows of 0 and 1 instead of numbers.
        dtype: of the images: `tf.float32` (from 0 to 1) or `tf.uint8`.
        reshape: images as rows of 784 pixels.
        validation_size: how many training images to set aside.
        seed: makes the shuffling repeatable.
        source_url: where to download from.

    Returns:
        A named tuple of `train`, `validation` and `test`, each with `next_batch`.

    Raises:
        ValueError: there are fewer images than `validation_size`.

    Example:
        >>> from weft.examples.tutorials.mnist import input_data
        >>> input_data.read_data_sets("unused", fake_data=True).train.num_examples
        10000
    """
    options = {"one_hot": one_hot, "dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        empty = np.zeros(0)
        return Datasets(*[DataSet(empty, empty, fake_data=True, **options) for _ in range(3)])
    folder, url = Path(train_dir), source_url or DEFAULT_SOURCE_URL
    with _open(folder, "train-images-idx3-ubyte.gz", url) as f:
        images = extract_images(f)
    with _open(folder, "train-labels-idx1-ubyte.gz", url) as f:
        labels = extract_labels(f, one_hot=one_hot)
    with _open(folder, "t10k-images-idx3-ubyte.gz", url) as f:
        test_images = extract_images(f)
    with _open(folder, "t10k-labels-idx1-ubyte.gz", url) as f:
        test_labels = extract_labels(f, one_hot=one_hot)
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. Received: {validation_size}."
        )
    return Datasets(
        DataSet(images[validation_size:], labels[validation_size:], **options),
        DataSet(images[:validation_size], labels[:validation_size], **options),
        DataSet(test_images, test_labels, **options),
    )


def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    return read_data_sets(train_dir)


def extract_images(f: BinaryIO) -> np.ndarray:
    """A gzipped IDX file of images, as [number, rows, columns, 1] of uint8."""
    with gzip.GzipFile(fileobj=f) as stream:
        count, rows, columns = _header(stream, 2051, 3, f)
        return np.frombuffer(stream.read(count * rows * columns), np.uint8).reshape(
            count, rows, columns, 1
        )


def extract_labels(f: BinaryIO, one_hot: bool = False, num_classes: int = 10) -> np.ndarray:
    """A gzipped IDX file of labels, as [number] of uint8 or [number, num_classes] of float64."""
    with gzip.GzipFile(fileobj=f) as stream:
        (count,) = _header(stream, 2049, 1, f)
        labels = np.frombuffer(stream.read(count), np.uint8)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
    return np.eye(num_classes)[labels_dense]


def _header(stream: gzip.GzipFile, magic: int, sizes: int, f: BinaryIO) -> tuple[int, ...]:
    found, *dims = struct.unpack(f">{1 + sizes}I", stream.read(4 * (1 + sizes)))
    if found != magic:
        raise ValueError(
            f"Invalid magic number {found} in MNIST file: {getattr(f, 'name', f)}; wanted {magic}"
        )
    return tuple(dims)


def _open(folder: Path, name: str, source_url: str) -> BinaryIO:
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        try:
            urllib.request.urlretrieve(source_url + name, part)
        except urllib.error.URLError as error:
            raise FileNotFoundError(
                f"{path} is not there and cannot be fetched from {source_url + name}: "
                f"{error.reason}. Put the four MNIST files into {folder}."
            ) from error
        part.rename(path)
    return path.open("rb")
