"""Batches of images whose files and classes are columns of a pandas table."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from weft.lib.keras.preprocessing.file_iterators import BatchFromFiles, is_image_name
from weft.lib.keras.utils.io_utils import say

WITHOUT_CLASSES = ("input", "multi_output", "raw", None)


class DataFrameIterator(BatchFromFiles):
    """Images of the files named in column `x_col`, with targets from `y_col`."""

    allowed_class_modes = ("binary", "categorical", "input", "multi_output", "raw", "sparse", None)

    def __init__(
        self,
        dataframe: Any,
        directory: str | None = None,
        image_data_generator: Any = None,
        x_col: str = "filename",
        y_col: Any = "class",
        weight_col: str | None = None,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str = "channels_last",
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: Any = "float32",
        validate_filenames: bool = True,
    ) -> None:
        saving = (save_to_dir, save_prefix, save_format)
        reading = (image_data_generator, target_size, color_mode, data_format)
        self.set_processing_attrs(*reading, *saving, subset, interpolation)
        self.directory, self.class_mode, self.dtype = directory or "", class_mode, dtype
        table = dataframe.copy()
        self._check(table, x_col, y_col, weight_col, classes)
        if validate_filenames:
            table = self._existing(table, x_col)
        if class_mode not in WITHOUT_CLASSES:
            table, names = _of_classes(table, y_col, classes)
            self.class_indices = {name: i for i, name in enumerate(names)}
        if self.split:
            start, stop = (int(share * len(table)) for share in self.split)
            table = table.iloc[start:stop, :]
        self._take(table, x_col, y_col, weight_col)
        kind = "validated" if validate_filenames else "non-validated"
        belonging = (
            f" belonging to {len(names)} classes" if class_mode not in WITHOUT_CLASSES else ""
        )
        say(f"Found {self.samples} {kind} image filenames{belonging}.")
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _take(self, table: Any, x_col: str, y_col: Any, weight_col: str | None) -> None:
        self.filenames = table[x_col].tolist()
        self.filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        self.samples = len(self.filenames)
        self.sample_weight = table[weight_col].values if weight_col else None
        if self.class_mode == "multi_output":
            self.labels = [np.array(table[column].tolist()) for column in y_col]
        elif self.class_mode == "raw":
            self.labels = table[y_col].values
        elif self.class_mode not in WITHOUT_CLASSES:
            self.labels = self.classes = [self._numbers(label) for label in table[y_col]]

    def _numbers(self, label: Any) -> Any:
        if isinstance(label, (list, tuple)):
            return [self.class_indices[each] for each in label]
        return self.class_indices[label]

    def _existing(self, table: Any, x_col: str) -> Any:
        paths = [os.path.join(self.directory, name) for name in table[x_col]]
        mask = np.array([is_image_name(path) and os.path.isfile(path) for path in paths], bool)
        if not mask.all():
            warnings.warn(
                f'Found {(~mask).sum()} invalid image filename(s) in x_col="{x_col}". These '
                "filename(s) will be ignored.",
                stacklevel=4,
            )
        return table[mask]

    # ---- checks ----

    def _check(self, table: Any, x_col: str, y_col: Any, weight_col: Any, classes: Any) -> None:
        mode = self.class_mode
        if mode not in self.allowed_class_modes:
            raise ValueError(
                f"Invalid class_mode: {mode}; expected one of: {self.allowed_class_modes}"
            )
        if mode == "multi_output" and not isinstance(y_col, list):
            raise TypeError(
                f'If class_mode="{mode}", y_col must be a list. Received {type(y_col).__name__}.'
            )
        if not all(isinstance(x, str) for x in table[x_col]):
            raise TypeError(f"All values in column x_col={x_col} must be strings.")
        if mode in ("binary", "sparse") and not all(isinstance(y, str) for y in table[y_col]):
            raise TypeError(
                f'If class_mode="{mode}", y_col="{y_col}" column values must be strings.'
            )
        kinds = (str, list, tuple)
        if mode == "categorical" and not all(isinstance(y, kinds) for y in table[y_col]):
            raise TypeError(
                f'If class_mode="{mode}", y_col="{y_col}" column values must be type string, list '
                "or tuple."
            )
        if mode == "binary":
            _check_two(table[y_col], classes)
        if classes and mode in WITHOUT_CLASSES:
            warnings.warn(f'`classes` will be ignored given the class_mode="{mode}"', stacklevel=4)
        if weight_col and not issubclass(table[weight_col].dtype.type, np.number):
            raise TypeError(f"Column weight_col={weight_col} must be numeric.")


def _check_two(column: Any, classes: Any) -> None:
    wanted = 'If class_mode="binary" there must be 2 classes.'
    if classes and len(set(classes)) != 2:
        raise ValueError(f"{wanted} {len(set(classes))} class/es were given.")
    if not classes and column.nunique() != 2:
        raise ValueError(f"{wanted} Found {column.nunique()} classes.")


def _of_classes(table: Any, y_col: Any, classes: Any) -> tuple[Any, list[Any]]:
    """(the rows of the wanted classes, the classes); all there are, unless some are named."""
    if not classes:
        known = {c for v in table[y_col] for c in (v if isinstance(v, (list, tuple)) else [v])}
        return table.dropna(subset=[y_col]), sorted(known)
    wanted = list(dict.fromkeys(classes))

    def kept(label: Any) -> Any:
        match label:
            case str():
                return label if label in wanted else None
            case list() | tuple():
                return [each for each in label if each in wanted] or None
        raise TypeError(f"Expect string, list or tuple but found {type(label)} in {y_col} column ")

    table = table.copy()
    table[y_col] = table[y_col].apply(kept)
    return table.dropna(subset=[y_col]), wanted
