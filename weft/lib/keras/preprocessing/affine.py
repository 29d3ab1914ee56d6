"""Images turned, moved, stretched, made lighter: with given parameters or random ones.

The random ones draw from `numpy.random`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.lib.keras.preprocessing.pictures import array_to_img, img_to_array, import_pillow


def random_rotation(
    x: Any,
    rg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """`x` turned by up to `rg` degrees."""
    theta = np.random.uniform(-rg, rg)
    axes = (row_axis, col_axis, channel_axis)
    return apply_affine_transform(
        x, theta, 0, 0, 0, 1, 1, *axes, fill_mode, cval, interpolation_order
    )


def random_shift(
    x: Any,
    wrg: float,
    hrg: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """`x` moved by up to `wrg` of its width and `hrg` of its height."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    axes = (row_axis, col_axis, channel_axis)
    return apply_affine_transform(
        x, 0, tx, ty, 0, 1, 1, *axes, fill_mode, cval, interpolation_order
    )


def random_shear(
    x: Any,
    intensity: float,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """`x` slanted by up to `intensity` degrees."""
    shear = np.random.uniform(-intensity, intensity)
    axes = (row_axis, col_axis, channel_axis)
    return apply_affine_transform(
        x, 0, 0, 0, shear, 1, 1, *axes, fill_mode, cval, interpolation_order
    )


def random_zoom(
    x: Any,
    zoom_range: Any,
    row_axis: int = 1,
    col_axis: int = 2,
    channel_axis: int = 0,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    interpolation_order: int = 1,
) -> Any:
    """`x` enlarged or made smaller, by factors between the two of `zoom_range`."""
    if len(zoom_range) != 2:
        raise ValueError(
            f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}"
        )
    same = zoom_range[0] == 1 and zoom_range[1] == 1
    zx, zy = (1, 1) if same else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    axes = (row_axis, col_axis, channel_axis)
    return apply_affine_transform(
        x, 0, 0, 0, 0, zx, zy, *axes, fill_mode, cval, interpolation_order
    )


def apply_channel_shift(x: Any, intensity: float, channel_axis: int = 0) -> np.ndarray:
    """`intensity` added to all channels, within the range of the values there are."""
    return np.clip(x + intensity, np.min(x), np.max(x))


def random_channel_shift(x: Any, intensity_range: float, channel_axis: int = 0) -> np.ndarray:
    """An image with a random number added to all of each channel."""
    intensity = np.random.uniform(-intensity_range, intensity_range)
    return apply_channel_shift(x, intensity, channel_axis)


def apply_brightness_shift(x: Any, brightness: float) -> np.ndarray:
    """Lighter for a `brightness` over 1, darker below; values become 0 to 255."""
    pillow = import_pillow("apply_brightness_shift")
    return img_to_array(pillow.ImageEnhance.Brightness(array_to_img(x)).enhance(brightness))


def random_brightness(x: Any, brightness_range: Any) -> np.ndarray:
    """An image made brighter or darker by a random factor in a range."""
    if len(brightness_range) != 2:
        raise ValueError(
            f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}"
        )
    return apply_brightness_shift(x, np.random.uniform(*brightness_range))


def flip_axis(x: Any, axis: int) -> np.ndarray:
    return np.flip(np.asarray(x), axis)


def transform_matrix_offset_center(matrix: Any, x: int, y: int) -> np.ndarray:
    """The matrix of a transformation about the middle of an image of `x` rows, `y` columns."""
    rows, columns = x / 2 + 0.5, y / 2 + 0.5
    return _shift(rows, columns) @ matrix @ _shift(-rows, -columns)


def _shift(rows: float, columns: float) -> np.ndarray:
    return np.array([[1, 0, rows], [0, 1, columns], [0, 0, 1]])


def apply_affine_transform(
    x: Any,
    theta: float = 0,
    tx: float = 0,
    ty: float = 0,
    shear: float = 0,
    zx: float = 1,
    zy: float = 1,
    row_axis: int = 0,
    col_axis: int = 1,
    channel_axis: int = 2,
    fill_mode: str = "nearest",
    cval: float = 0.0,
    order: int = 1,
) -> Any:
    """Turns by `theta` degrees, moves by `tx` rows and `ty` columns, slants, and zooms an image.

    `fill_mode` says what is beyond its edges (with "constant": `cval`), `order` how its pixels are
    interpolated.
    """
    matrix = _matrix(theta, tx, ty, shear, zx, zy)
    if matrix is None:
        return x
    ndimage = _import_ndimage()
    centred = transform_matrix_offset_center(matrix, x.shape[row_axis], x.shape[col_axis])
    channels = [
        ndimage.affine_transform(
            channel, centred[:2, :2], centred[:2, 2], order=order, mode=fill_mode, cval=cval
        )
        for channel in np.moveaxis(x, channel_axis, 0)
    ]
    return np.moveaxis(np.stack(channels), 0, channel_axis)


def _matrix(theta: float, tx: float, ty: float, shear: float, zx: float, zy: float) -> Any:
    """The product of what is asked for; None if that is nothing."""
    parts = []
    if theta:
        cos, sin = np.cos(np.deg2rad(theta)), np.sin(np.deg2rad(theta))
        parts.append([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
    if tx or ty:
        parts.append([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    if shear:
        cos, sin = np.cos(np.deg2rad(shear)), np.sin(np.deg2rad(shear))
        parts.append([[1, -sin, 0], [0, cos, 0], [0, 0, 1]])
    if zx != 1 or zy != 1:
        parts.append([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])
    matrix = None
    for part in parts:
        matrix = np.array(part) if matrix is None else matrix @ np.array(part)
    return matrix


def _import_ndimage() -> Any:
    try:
        from scipy import ndimage
    except ImportError as error:
        raise ImportError("Image transformations require SciPy. Install SciPy.") from error
    return ndimage
