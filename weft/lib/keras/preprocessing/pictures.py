"""Images as files, as Pillow's objects and as arrays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from weft.lib.keras import backend as K

MODES = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}
METHODS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")


def import_pillow(purpose: str) -> Any:
    """Pillow, or an error that says what it is needed for."""
    try:
        import PIL.Image
        import PIL.ImageEnhance
    except ImportError as error:
        message = f"Could not import PIL.Image. The use of `{purpose}` requires PIL."
        raise ImportError(message) from error
    return PIL


def load_img(
    path: Any,
    grayscale: bool = False,
    color_mode: str = "rgb",
    target_size: Any = None,
    interpolation: str = "nearest",
) -> Any:
    """An image of Pillow's, in the given mode and (height, width)."""
    pillow = import_pillow("load_img")
    if grayscale:
        warnings.warn('grayscale is deprecated. Please use color_mode = "grayscale"', stacklevel=2)
        color_mode = "grayscale"
    if color_mode not in MODES:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    with pillow.Image.open(path) as image:
        # Converting reads the file, which is then closed; `convert` copies even if nothing changes.
        image = image.convert(MODES[color_mode])
    if target_size is None or image.size == (target_size[1], target_size[0]):
        return image
    if interpolation not in METHODS:
        raise ValueError(
            f"Invalid interpolation method {interpolation} specified. Supported methods are "
            f"{', '.join(METHODS)}"
        )
    method = pillow.Image.Resampling[interpolation.upper()]
    return image.resize((target_size[1], target_size[0]), method)


def save_img(
    path: Any,
    x: Any,
    data_format: str | None = None,
    file_format: str | None = None,
    scale: bool = True,
    **kwargs: Any,
) -> None:
    """Writes an array as an image file."""
    image = array_to_img(x, data_format=data_format, scale=scale)
    is_opaque_format = file_format in ("jpg", "jpeg")
    if is_opaque_format and image.mode == "RGBA":
        told = "The JPG format does not support RGBA images, converting to RGB."
        warnings.warn(told, stacklevel=2)
        image = image.convert("RGB")
    image.save(path, file_format, **kwargs)


def array_to_img(
    x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None
) -> Any:
    """An array of one image as Pillow's object; with `scale` its values become 0 to 255."""
    pillow = import_pillow("array_to_img")
    x = np.asarray(x, dtype=dtype or K.floatx())
    if x.ndim != 3:
        raise ValueError(
            f"Expected image array to have rank 3 (single image). Got array with shape: {x.shape}"
        )
    if _format(data_format) == "channels_first":
        x = x.transpose(1, 2, 0)
    if scale:
        x = x - np.min(x)
        top = np.max(x)
        x = (x / top if top != 0 else x) * 255
    channels = x.shape[2]
    if channels in (3, 4):
        return pillow.Image.fromarray(x.astype("uint8"))
    if channels == 1:
        grey = x[:, :, 0]
        return pillow.Image.fromarray(grey.astype("int32" if np.max(x) > 255 else "uint8"))
    raise ValueError(f"Unsupported channel number: {channels}")


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = None) -> np.ndarray:
    """Pillow's image as an array of three dimensions."""
    x = np.asarray(img, dtype=dtype or K.floatx())
    if x.ndim not in (2, 3):
        raise ValueError(f"Unsupported image shape: {x.shape}")
    x = x[:, :, np.newaxis] if x.ndim == 2 else x
    return x.transpose(2, 0, 1) if _format(data_format) == "channels_first" else x


def _format(data_format: str | None) -> str:
    data_format = data_format or K.image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Invalid data_format:", data_format)
    return data_format
