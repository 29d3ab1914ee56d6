"""Batches of images that are in files, each read and transformed on its way."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from weft.lib.keras import backend as K
from weft.lib.keras.preprocessing.iterators import FORMATS, TransformingIterator
from weft.lib.keras.preprocessing.pictures import img_to_array, load_img
from weft.lib.keras.utils.io_utils import say

CHANNELS = {"grayscale": 1, "rgb": 3, "rgba": 4}


class BatchFromFiles(TransformingIterator):
    """Batches of images that are in files, with targets by `class_mode`."""

    filepaths: list[str]
    labels: Any
    sample_weight: Any
    classes: Any
    class_indices: dict[str, int]
    class_mode: Any
    dtype: Any

    def set_processing_attrs(
        self,
        image_data_generator: Any,
        target_size: Any,
        color_mode: str,
        data_format: str | None,
        save_to_dir: Any,
        save_prefix: str,
        save_format: str,
        subset: str | None,
        interpolation: str,
    ) -> None:
        """Keeps how images are read."""
        if color_mode not in CHANNELS:
            raise ValueError(
                "Invalid color mode:", color_mode, '; expected "rgb", "rgba", or "grayscale".'
            )
        self.image_data_generator = image_data_generator
        self.target_size, self.color_mode = tuple(target_size), color_mode
        self.data_format = data_format or K.image_data_format()
        channels = (CHANNELS[color_mode],)
        last = self.data_format == "channels_last"
        self.image_shape = self.target_size + channels if last else channels + self.target_size
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        self.interpolation, self.subset = interpolation, subset
        self.split = self._split(subset)

    def _split(self, subset: str | None) -> tuple[float, float] | None:
        """The part of the files that is used, from and to; None means all."""
        if subset is None:
            return None
        share = self.image_data_generator._validation_split
        if subset == "validation":
            return 0, share
        if subset == "training":
            return share, 1
        raise ValueError(f'Invalid subset name: {subset};expected "training" or "validation"')

    def _get_batches_of_transformed_samples(self, index_array: Any) -> Any:
        batch = np.zeros((len(index_array), *self.image_shape), dtype=self.dtype)
        for i, j in enumerate(index_array):
            image = load_img(
                self.filepaths[j],
                color_mode=self.color_mode,
                target_size=self.target_size,
                interpolation=self.interpolation,
            )
            batch[i] = self._transformed(img_to_array(image, self.data_format))
        self._save(batch, index_array, 10**7)
        if self.class_mode is None:
            return batch
        targets = self._targets_of(batch, index_array)
        if self.sample_weight is None:
            return batch, targets
        return batch, targets, self.sample_weight[index_array]

    def _targets_of(self, batch: np.ndarray, index_array: Any) -> Any:
        match self.class_mode:
            case "input":
                return batch.copy()
            case "binary" | "sparse":
                return np.array([self.classes[j] for j in index_array], dtype=self.dtype)
            case "categorical":
                rows = np.zeros((len(batch), len(self.class_indices)), dtype=self.dtype)
                for row, j in zip(rows, index_array, strict=True):
                    row[self.classes[j]] = 1.0
                return rows
            case "multi_output":
                return [output[index_array] for output in self.labels]
        return self.labels[index_array]


class DirectoryIterator(BatchFromFiles):
    """Images in folders that are named after their classes."""

    allowed_class_modes = ("categorical", "binary", "sparse", "input", None)

    def __init__(
        self,
        directory: str,
        image_data_generator: Any,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: Any = None,
    ) -> None:
        saving = (save_to_dir, save_prefix, save_format)
        self.set_processing_attrs(
            image_data_generator,
            target_size,
            color_mode,
            data_format,
            *saving,
            subset,
            interpolation,
        )
        if class_mode not in self.allowed_class_modes:
            raise ValueError(
                f"Invalid class_mode: {class_mode}; expected one of: {self.allowed_class_modes}"
            )
        self.directory, self.class_mode, self.dtype = directory, class_mode, dtype or K.floatx()
        names = list(classes) if classes else _folders(directory)
        self.num_classes = len(names)
        self.class_indices = {name: i for i, name in enumerate(names)}
        found = [self._files(name, follow_links) for name in names]
        self.filenames = [file for files in found for file in files]
        self.samples = len(self.filenames)
        self.classes = np.repeat(np.arange(len(found), dtype="int32"), [len(f) for f in found])
        self.labels, self.sample_weight = self.classes, None
        self.filepaths = [os.path.join(directory, name) for name in self.filenames]
        say(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _files(self, name: str, follow_links: bool) -> list[str]:
        """The images of a class, as paths below the directory."""
        files = []
        top = os.path.join(self.directory, name)
        for root, _, inside in sorted(os.walk(top, followlinks=follow_links)):
            files += [os.path.join(root, f) for f in sorted(inside) if is_image_name(f)]
        if self.split:
            start, stop = (int(share * len(files)) for share in self.split)
            files = files[start:stop]
        # The class may be given as a path: files go by its last component.
        base = os.path.basename(top)
        return [os.path.join(base, os.path.relpath(file, top)) for file in files]


def _folders(directory: str) -> list[str]:
    below = sorted(os.listdir(directory))
    return [name for name in below if os.path.isdir(os.path.join(directory, name))]


def is_image_name(name: str) -> bool:
    return name.lower().endswith(tuple(f".{each}" for each in FORMATS))
