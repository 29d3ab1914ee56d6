"""The tutorials' MNIST reader, on a few made-up digits."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.learn.datasets import mnist

COUNTS = {"train": 12, "t10k": 5}


@pytest.fixture
def folder(tmp_path: Path, rng: np.random.Generator) -> str:
    """The four files; the first pixel of every image is its label."""
    for name, count in COUNTS.items():
        images = rng.integers(0, 256, (count, 28, 28), np.uint8)
        labels = (np.arange(count) % 10).astype(np.uint8)
        images[:, 0, 0] = labels
        header = struct.pack(">4I", 2051, count, 28, 28)
        _write(tmp_path / f"{name}-images-idx3-ubyte.gz", header + images.tobytes())
        header = struct.pack(">2I", 2049, count)
        _write(tmp_path / f"{name}-labels-idx1-ubyte.gz", header + labels.tobytes())
    return str(tmp_path)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data))


def test_shapes_and_types(folder: str) -> None:
    data = mnist.read_data_sets(folder, one_hot=True, validation_size=2)
    assert [part.num_examples for part in data] == [10, 2, 5]
    assert data.train.images.shape == (10, 784)
    assert data.train.images.dtype == np.float32
    assert 0 <= data.train.images.min() and data.train.images.max() <= 1
    assert data.train.labels.shape == (10, 10)
    assert data.test.labels[3].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_plain_images(folder: str) -> None:
    data = mnist.read_data_sets(folder, dtype=tf.uint8, reshape=False, validation_size=0)
    assert data.train.images.shape == (12, 28, 28, 1)
    assert data.train.images.dtype == np.uint8
    assert data.train.labels[11] == 1


def test_batches_go_through_every_epoch(folder: str) -> None:
    train = mnist.read_data_sets(folder, dtype=tf.uint8, validation_size=0).train
    seen = []
    for _ in range(6):
        images, labels = train.next_batch(4)
        assert images.shape == (4, 784)
        np.testing.assert_array_equal(images[:, 0], labels)
        seen.extend(labels)
    assert sorted(seen[:12]) == sorted(seen[12:]) == sorted(np.arange(12) % 10)
    assert train.epochs_completed == 1
    images, labels = train.next_batch(5)
    assert len(images) == len(labels) == 5
    assert train.epochs_completed == 2


def test_without_shuffling(folder: str) -> None:
    train = mnist.read_data_sets(folder, validation_size=0).train
    assert train.next_batch(3, shuffle=False)[1].tolist() == [0, 1, 2]
    assert train.next_batch(11, shuffle=False)[1].tolist() == [3, 4, 5, 6, 7, 8, 9, 0, 1, 0, 1]


def test_fake_data() -> None:
    images, labels = mnist.read_data_sets("", fake_data=True, one_hot=True).train.next_batch(
        2, True
    )
    assert len(images[0]) == 784
    assert labels == [[1] + [0] * 9] * 2


def test_the_wrong_file(folder: str) -> None:
    images = Path(folder) / "train-images-idx3-ubyte.gz"
    images.write_bytes((Path(folder) / "train-labels-idx1-ubyte.gz").read_bytes())
    with pytest.raises(ValueError, match=r"Invalid magic number 2049 in MNIST file"):
        mnist.read_data_sets(folder)


def test_a_missing_file_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"cannot be fetched from file:.*train-images"):
        mnist.read_data_sets(str(tmp_path / "data"), source_url=f"file://{tmp_path}/nowhere/")


def test_the_validation_set_must_fit(folder: str) -> None:
    with pytest.raises(ValueError, match=r"between 0 and 12\. Received: 13"):
        mnist.read_data_sets(folder, validation_size=13)
