"""Batches of images for training, from an array, each transformed on its way."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator as Iterates
from typing import Any

import numpy as np

from weft.lib.keras import backend as K
from weft.lib.keras.preprocessing.pictures import array_to_img
from weft.lib.keras.utils.data_utils import Sequence

FORMATS = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")


class Iterator(Sequence):
    """Batches of `n` examples, without end, in a new order each time if `shuffle`.

    It can be indexed, as a `Sequence`, or iterated over; both draw from `numpy.random`.
    """

    white_list_formats = FORMATS

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array: Any = None
        self.index_generator = self._flow_index()

    def _set_index_array(self) -> None:
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _reseed(self) -> None:
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)

    def __len__(self) -> int:
        return (self.n + self.batch_size - 1) // self.batch_size

    def __getitem__(self, idx: int) -> Any:
        if idx >= len(self):
            raise ValueError(
                f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}"
            )
        self._reseed()
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        start = self.batch_size * idx
        return self._get_batches_of_transformed_samples(
            self.index_array[start : start + self.batch_size]
        )

    def on_epoch_end(self) -> None:
        self._set_index_array()

    def reset(self) -> None:
        self.batch_index = 0

    def _flow_index(self) -> Iterates[np.ndarray]:
        self.reset()
        while True:
            self._reseed()
            if self.batch_index == 0:
                self._set_index_array()
            start = self.batch_index * self.batch_size % self.n if self.n else 0
            chosen = slice(start, start + self.batch_size)
            self.batch_index = self.batch_index + 1 if chosen.stop < self.n else 0
            self.total_batches_seen += 1
            yield self.index_array[chosen]

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        return self.next()

    def next(self) -> Any:
        """The next batch."""
        with self.lock:
            index_array = next(self.index_generator)
        # Outside of the lock, so that several threads can transform images.
        return self._get_batches_of_transformed_samples(index_array)

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        raise NotImplementedError


class TransformingIterator(Iterator):
    """The base of both kinds, which transforms images, and saves the results if asked."""

    image_data_generator: Any
    save_to_dir: Any
    save_prefix: str
    save_format: str
    data_format: str

    def _transformed(self, x: np.ndarray) -> np.ndarray:
        generator = self.image_data_generator
        if generator is None:
            return x
        x = generator.apply_transform(x, generator.get_random_transform(x.shape))
        return generator.standardize(x)

    def _save(self, batch: np.ndarray, index_array: Any, numbers: int) -> None:
        if not self.save_to_dir:
            return
        for x, j in zip(batch, index_array, strict=True):
            number = np.random.randint(numbers)
            name = f"{self.save_prefix}_{j}_{number}.{self.save_format}"
            array_to_img(x, self.data_format, scale=True).save(os.path.join(self.save_to_dir, name))


class NumpyArrayIterator(TransformingIterator):
    """Batches of an array of images; `x` may be a pair of it and other inputs."""

    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: Any,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        dtype: Any = None,
    ) -> None:
        self.dtype = dtype or K.floatx()
        self.image_data_generator = image_data_generator
        self.data_format = data_format or K.image_data_format()
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        x, others = _inputs(x)
        _check_lengths(x, others, y, sample_weight)
        chosen = self._subset(subset, x, y)
        self.x = np.asarray(x[chosen], dtype=self.dtype)
        self.x_misc = [np.asarray(other[chosen]) for other in others]
        self.y = None if y is None else np.asarray(y)[chosen]
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self._check_images()
        super().__init__(self.x.shape[0], batch_size, shuffle, seed)

    def _subset(self, subset: str | None, x: Any, y: Any) -> slice:
        if subset is None:
            return slice(None)
        if subset not in ("training", "validation"):
            raise ValueError(
                "Invalid subset name:", subset, '; expected "training" or "validation".'
            )
        at = int(len(x) * self.image_data_generator._validation_split)
        if y is not None and not np.array_equal(np.unique(y[:at]), np.unique(y[at:])):
            raise ValueError(
                "Training and validation subsets have different number of classes after the "
                "split. If your numpy arrays are sorted by the label, you might want to shuffle "
                "them."
            )
        return slice(at) if subset == "validation" else slice(at, None)

    def _check_images(self) -> None:
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with "
                "shape",
                self.x.shape,
            )
        axis = 3 if self.data_format == "channels_last" else 1
        if self.x.shape[axis] not in (1, 3, 4):
            warnings.warn(
                f'NumpyArrayIterator is set to use the data format convention "{self.data_format}" '
                f"(channels on axis {axis}), i.e. expected either 1, 3, or 4 channels on axis "
                f"{axis}. However, it was passed an array with shape {self.x.shape} "
                f"({self.x.shape[axis]} channels).",
                stacklevel=4,
            )

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        batch = np.zeros((len(index_array), *self.x.shape[1:]), dtype=self.dtype)
        for i, j in enumerate(index_array):
            batch[i] = self._transformed(self.x[j].astype(self.dtype))
        self._save(batch, index_array, 10**4)
        inputs = [batch, *(other[index_array] for other in self.x_misc)] if self.x_misc else batch
        if self.y is None:
            return inputs
        if self.sample_weight is None:
            return inputs, self.y[index_array]
        return inputs, self.y[index_array], self.sample_weight[index_array]


def _inputs(x: Any) -> tuple[Any, list[np.ndarray]]:
    """(images, other inputs)"""
    if not isinstance(x, (tuple, list)):
        return x, []
    others = x[1] if isinstance(x[1], list) else [x[1]]
    return x[0], [np.asarray(other) for other in others]


def _check_lengths(x: Any, others: Any, y: Any, sample_weight: Any) -> None:
    for other in others:
        if len(x) != len(other):
            raise ValueError(
                "All of the arrays in `x` should have the same length. Found a pair with: "
                f"len(x[0]) = {len(x)}, len(x[?]) = {len(other)}"
            )
    for name, label, given in (
        ("y", "`y` (labels)", y),
        ("sample_weight", "`sample_weight`", sample_weight),
    ):
        if given is not None and len(x) != len(given):
            raise ValueError(
                f"`x` (images tensor) and {label} should have the same length. Found: x.shape = "
                f"{np.asarray(x).shape}, {name}.shape = {np.asarray(given).shape}"
            )
