"""Data sets are read from the cache: here from small ones made in their format."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.lib.keras.datasets import (
    boston_housing,
    cifar10,
    cifar100,
    fashion_mnist,
    imdb,
    mnist,
    reuters,
    source,
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that all files are taken from, whatever their hash."""

    def local(fname: str, origin: str, cache_subdir: str = "datasets", **kwargs: Any) -> str:
        assert origin.startswith("https://")
        return str(tmp_path / fname)

    for module in (source, cifar10, cifar100):
        monkeypatch.setattr(module, "get_file", local)
    return tmp_path


def test_mnist(cache: Path) -> None:
    parts = {"x_train": np.ones((4, 28, 28)), "y_train": np.arange(4)}
    parts |= {"x_test": np.zeros((2, 28, 28)), "y_test": np.arange(2)}
    np.savez(cache / "mnist.npz", **parts)
    (x_train, y_train), (x_test, _) = mnist.load_data()
    assert x_train.shape == (4, 28, 28)
    assert y_train.tolist() == [0, 1, 2, 3]
    assert x_test.sum() == 0


def test_fashion_mnist(cache: Path) -> None:
    for which, count in (("train", 3), ("t10k", 2)):
        with gzip.open(cache / f"{which}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(bytes(8) + bytes(range(count)))
        with gzip.open(cache / f"{which}-images-idx3-ubyte.gz", "wb") as file:
            file.write(bytes(16) + bytes([7]) * (count * 784))
    (x_train, y_train), (x_test, _) = fashion_mnist.load_data()
    assert x_train.shape == (3, 28, 28)
    assert (x_train == 7).all()
    assert y_train.tolist() == [0, 1, 2]
    assert x_test.shape == (2, 28, 28)


def _write_cifar(path: Path, labels: dict[bytes, list[int]], value: int) -> None:
    count = len(next(iter(labels.values())))
    images = np.full((count, 3072), value, "uint8")
    images[:, :1024] += 1  # red
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(pickle.dumps({b"data": images, **labels}))


def test_cifar10(cache: Path) -> None:
    folder = cache / "cifar-10-batches-py"
    for i in range(1, 6):
        _write_cifar(folder / f"data_batch_{i}", {b"labels": [i, i]}, 10 * i)
    _write_cifar(folder / "test_batch", {b"labels": [9]}, 99)
    (x_train, y_train), (x_test, y_test) = cifar10.load_data()
    assert x_train.shape == (10, 32, 32, 3)
    assert x_train[2, 0, 0].tolist() == [21, 20, 20]
    assert y_train.ravel().tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert y_test.shape == (1, 1)
    assert x_test.dtype == y_test.dtype == np.uint8


def test_cifar100(cache: Path) -> None:
    folder = cache / "cifar-100-python"
    for name in ("train", "test"):
        _write_cifar(folder / name, {b"fine_labels": [5], b"coarse_labels": [2]}, 1)
    assert cifar100.load_data()[0][1].tolist() == [[5]]
    assert cifar100.load_data("coarse")[1][1].tolist() == [[2]]
    with pytest.raises(ValueError, match="label_mode"):
        cifar100.load_data("other")


def test_boston_housing(cache: Path) -> None:
    np.savez(cache / "boston_housing.npz", x=np.arange(20).reshape(10, 2), y=np.arange(10))
    (x_train, y_train), (x_test, y_test) = boston_housing.load_data(test_split=0.3)
    assert (len(x_train), len(x_test)) == (7, 3)
    assert sorted([*y_train, *y_test]) == list(range(10))
    np.testing.assert_array_equal(x_train[:, 0], 2 * y_train)
    np.testing.assert_array_equal(boston_housing.load_data(test_split=0.3)[0][1], y_train)


@pytest.fixture
def reviews(cache: Path) -> None:
    texts = np.empty(3, object)
    texts[:] = [[1, 2, 30], [4], [5, 6, 7, 8]]
    np.savez(cache / "imdb.npz", x_train=texts, y_train=[0, 1, 0], x_test=texts, y_test=[1, 1, 0])
    np.savez(cache / "reuters.npz", x=np.concatenate([texts, texts]), y=[0, 1, 2, 3, 4, 5])
    for name in ("imdb", "reuters"):
        (cache / f"{name}_word_index.json").write_text(json.dumps({"the": 1}))


def test_imdb(reviews: None) -> None:
    (x_train, y_train), (x_test, _) = imdb.load_data(num_words=11)
    assert sorted(map(tuple, x_train)) == [(1, 4, 5, 2), (1, 7), (1, 8, 9, 10, 2)]
    assert len(y_train) == len(x_test) == 3
    (plain, _), _ = imdb.load_data(start_char=None, index_from=0, oov_char=None, skip_top=2)
    assert sorted(map(tuple, plain)) == [(2,), (4,), (5, 6, 7, 8)]
    with pytest.raises(ValueError, match="no sequence was kept"):
        imdb.load_data(maxlen=1)
    with pytest.raises(TypeError, match="Unrecognized"):
        imdb.load_data(words=3)
    assert imdb.get_word_index() == {"the": 1}


def test_reuters(reviews: None) -> None:
    (x_train, y_train), (x_test, y_test) = reuters.load_data(test_split=0.5, maxlen=5)
    assert len(x_train) + len(x_test) == 4  # two of six are too long
    assert len(y_train) == len(x_train)
    assert all(text[0] == 1 for text in [*x_train, *x_test])
    assert reuters.get_word_index() == {"the": 1}
    assert len(y_test) == 2
