"""Images varied at random as they are used, and brought to one scale."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from weft.lib.keras import backend as K
from weft.lib.keras.preprocessing.affine import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
    flip_axis,
)
from weft.lib.keras.preprocessing.dataframe import DataFrameIterator
from weft.lib.keras.preprocessing.file_iterators import DirectoryIterator
from weft.lib.keras.preprocessing.image_settings import (
    axes_of,
    brightness_range_of,
    drawn_shift,
    drawn_within,
    zoom_range_of,
)
from weft.lib.keras.preprocessing.iterators import NumpyArrayIterator

FUZZ = 1e-6


class ImageDataGenerator:
    """Makes iterators over images that are moved, turned, flipped, ... at random.

    `featurewise_...` and `zca_whitening` need to know the data: call `fit` first.
    """

    def __init__(
        self,
        featurewise_center: bool = False,
        samplewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        samplewise_std_normalization: bool = False,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        rotation_range: float = 0,
        width_shift_range: Any = 0.0,
        height_shift_range: Any = 0.0,
        brightness_range: Any = None,
        shear_range: float = 0.0,
        zoom_range: Any = 0.0,
        channel_shift_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Any = None,
        data_format: str | None = None,
        validation_split: float = 0.0,
        dtype: Any = None,
    ) -> None:
        self.featurewise_center = featurewise_center
        self.samplewise_center = samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening, self.zca_epsilon = zca_whitening, zca_epsilon
        self.rotation_range, self.shear_range = rotation_range, shear_range
        self.width_shift_range, self.height_shift_range = width_shift_range, height_shift_range
        self.channel_shift_range = channel_shift_range
        self.fill_mode, self.cval, self.interpolation_order = fill_mode, cval, 1
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.rescale, self.preprocessing_function = rescale, preprocessing_function
        self.dtype = dtype or K.floatx()
        self.data_format = data_format or K.image_data_format()
        self.row_axis, self.col_axis, self.channel_axis = axes_of(self.data_format)
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(
                "`validation_split` must be strictly between 0 and 1.  Received: "
                f"{validation_split}"
            )
        self._validation_split = validation_split
        self.mean: Any = None
        self.std: Any = None
        self.principal_components: Any = None
        self.zoom_range = zoom_range_of(zoom_range)
        self.brightness_range = brightness_range_of(brightness_range)
        self._settle()

    def _settle(self) -> None:
        """Settings that follow from others, with a warning."""
        if self.zca_whitening:
            self._override("zca_whitening", "featurewise_center", True)
            self._override("zca_whitening", "featurewise_std_normalization", False)
        if self.featurewise_std_normalization:
            self._override("featurewise_std_normalization", "featurewise_center", True)
        if self.samplewise_std_normalization:
            self._override("samplewise_std_normalization", "samplewise_center", True)

    def _override(self, stronger: str, weaker: str, value: bool) -> None:
        if getattr(self, weaker) != value:
            setattr(self, weaker, value)
            warnings.warn(
                f"This ImageDataGenerator specifies `{stronger}`, which overrides setting of "
                f"`{weaker}`.",
                stacklevel=4,
            )

    # ---- iterators ----

    def flow(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
        sample_weight: Any = None,
        seed: int | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
    ) -> NumpyArrayIterator:
        """Batches of an array of images."""
        order = (batch_size, shuffle, sample_weight, seed)
        saving = (save_to_dir, save_prefix, save_format)
        return NumpyArrayIterator(
            x, y, self, *order, self.data_format, *saving, subset=subset, dtype=self.dtype
        )

    def flow_from_directory(
        self,
        directory: str,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
    ) -> DirectoryIterator:
        """Batches of images in folders named after their classes."""
        kinds = (target_size, color_mode, classes, class_mode)
        saving = (save_to_dir, save_prefix, save_format)
        return DirectoryIterator(
            directory,
            self,
            *kinds,
            batch_size,
            shuffle,
            seed,
            self.data_format,
            *saving,
            follow_links,
            subset,
            interpolation,
            self.dtype,
        )

    def flow_from_dataframe(
        self,
        dataframe: Any,
        directory: str | None = None,
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
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        validate_filenames: bool = True,
        **kwargs: Any,
    ) -> DataFrameIterator:
        """Batches of images whose files and classes are columns of a table."""
        for name in kwargs:
            warnings.warn(f"{name} is deprecated and ignored.", DeprecationWarning, stacklevel=2)
        if class_mode == "other":
            warnings.warn(
                '`class_mode` "other" is deprecated, please use `class_mode` "raw".',
                DeprecationWarning,
                stacklevel=2,
            )
            class_mode = "raw"
        kinds = (target_size, color_mode, classes, class_mode)
        saving = (save_to_dir, save_prefix, save_format)
        return DataFrameIterator(
            dataframe,
            directory,
            self,
            x_col,
            y_col,
            weight_col,
            *kinds,
            batch_size,
            shuffle,
            seed,
            self.data_format,
            *saving,
            subset,
            interpolation,
            self.dtype,
            validate_filenames,
        )

    # ---- one image ----

    def standardize(self, x: Any) -> Any:
        """An image on the common scale; it may be changed in place."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        return self._by_features(self._by_sample(x))

    def _by_sample(self, x: Any) -> Any:
        """An image without its own mean, and over its own deviation."""
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + FUZZ
        return x

    def _by_features(self, x: Any) -> Any:
        """An image without the mean of all, over their deviation, and whitened."""
        if self.featurewise_center and self._is_fit("featurewise_center", self.mean):
            x -= self.mean
        if self.featurewise_std_normalization and self._is_fit(
            "featurewise_std_normalization", self.std
        ):
            x /= self.std + FUZZ
        if self.zca_whitening and self._is_fit("zca_whitening", self.principal_components):
            flat = np.reshape(x, (-1, np.prod(x.shape[-3:])))
            x = np.reshape(flat @ self.principal_components, x.shape)
        return x

    def _is_fit(self, setting: str, found: Any) -> bool:
        if found is None:
            warnings.warn(
                f"This ImageDataGenerator specifies `{setting}`, but it hasn't been fit on any "
                "training data. Fit it first by calling `.fit(numpy_data)`.",
                stacklevel=3,
            )
        return found is not None

    def get_random_transform(self, img_shape: Any, seed: int | None = None) -> dict[str, Any]:
        """Parameters for `apply_transform`, drawn in a fixed order."""
        if seed is not None:
            np.random.seed(seed)
        theta = drawn_within(self.rotation_range)
        tx = drawn_shift(self.height_shift_range, img_shape[self.row_axis - 1])
        ty = drawn_shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = drawn_within(self.shear_range)
        same = self.zoom_range[0] == 1 and self.zoom_range[1] == 1
        zx, zy = (1, 1) if same else np.random.uniform(self.zoom_range[0], self.zoom_range[1], 2)
        parameters = {"theta": theta, "tx": tx, "ty": ty, "shear": shear, "zx": zx, "zy": zy}
        parameters["flip_horizontal"] = (np.random.random() < 0.5) * self.horizontal_flip
        parameters["flip_vertical"] = (np.random.random() < 0.5) * self.vertical_flip
        shift, light = self.channel_shift_range, self.brightness_range
        parameters["channel_shift_intensity"] = drawn_within(shift) if shift else None
        parameters["brightness"] = None if light is None else np.random.uniform(*light)
        return parameters

    def apply_transform(self, x: Any, transform_parameters: dict[str, Any]) -> Any:
        """One image with given parameters: theta, tx, ty, shear, zx, zy, flip_horizontal, ..."""
        given: Any = transform_parameters.get
        row, col, channel = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        moves = {name: given(name, 0) for name in ("theta", "tx", "ty", "shear")}
        zooms = {name: given(name, 1) for name in ("zx", "zy")}
        axes = {"row_axis": row, "col_axis": col, "channel_axis": channel}
        x = apply_affine_transform(
            x,
            **moves,
            **zooms,
            **axes,
            fill_mode=self.fill_mode,
            cval=self.cval,
            order=self.interpolation_order,
        )
        if given("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, given("channel_shift_intensity"), channel)
        if given("flip_horizontal", False):
            x = flip_axis(x, col)
        if given("flip_vertical", False):
            x = flip_axis(x, row)
        if given("brightness") is not None:
            x = apply_brightness_shift(x, given("brightness"))
        return x

    def random_transform(self, x: Any, seed: int | None = None) -> Any:
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    # ---- the data as a whole ----

    def fit(self, x: Any, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Learns mean, deviation and principal components of images, perhaps of varied ones."""
        x = np.array(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(
                f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}"
            )
        if x.shape[self.channel_axis] not in (1, 3, 4):
            self._warn_of_channels(x)
        if seed is not None:
            np.random.seed(seed)
        if augment:
            varied = [self.random_transform(image) for _ in range(rounds) for image in x]
            x = np.array(varied, dtype=self.dtype)
        over = (0, self.row_axis, self.col_axis)
        if self.featurewise_center:
            self.mean = np.mean(x, axis=over, keepdims=True)[0]
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=over, keepdims=True)[0]
            x /= self.std + FUZZ
        if self.zca_whitening:
            flat = np.reshape(x, (x.shape[0], -1))
            u, s, _ = np.linalg.svd(flat.T @ flat / flat.shape[0])
            self.principal_components = (u / np.sqrt(s + self.zca_epsilon)) @ u.T

    def _warn_of_channels(self, x: np.ndarray) -> None:
        axis = self.channel_axis
        warnings.warn(
            "Expected input to be images (as Numpy array) following the data format convention "
            f'"{self.data_format}" (channels on axis {axis}), i.e. expected either 1, 3 or 4 '
            f"channels on axis {axis}. However, it was passed an array with shape {x.shape} "
            f"({x.shape[axis]} channels).",
            stacklevel=3,
        )
