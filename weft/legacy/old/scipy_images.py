"""`scipy.misc` as it was: images as arrays, by Pillow."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

_FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "lanczos": Image.Resampling.LANCZOS,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "cubic": Image.Resampling.BICUBIC,
}


def bytescale(
    data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0
) -> np.ndarray:
    """Values from `cmin` to `cmax` (of the data by default) as bytes from `low` to `high`."""
    data = np.asarray(data)
    if data.dtype == np.uint8:
        return data
    least = data.min() if cmin is None else cmin
    most = data.max() if cmax is None else cmax
    if most < least:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scale = float(high - low) / ((most - least) or 1)
    scaled = (data.astype(np.float64) - least) * scale + low
    clipped: np.ndarray = scaled.clip(low, high) + 0.5
    return clipped.astype(np.uint8)


def toimage(
    arr: Any,
    high: int = 255,
    low: int = 0,
    cmin: Any = None,
    cmax: Any = None,
    pal: Any = None,
    mode: str | None = None,
    channel_axis: int | None = None,
) -> Image.Image:
    """An image of an array of shape (rows, columns) or with 3 or 4 channels on some axis."""
    data = np.asarray(arr)
    if np.iscomplexobj(data):
        raise ValueError("Cannot convert a complex-valued array.")
    if data.ndim == 2:
        return _gray(data, high, low, cmin, cmax, pal, mode)
    if data.ndim != 3 or not {3, 4} & set(data.shape):
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    if channel_axis is None:
        channel_axis = next(i for n in (3, 4) for i in (0, 1, 2) if data.shape[i] == n)
        if data.shape[2] in (3, 4) and 3 not in data.shape[:2]:
            channel_axis = 2
    data = np.moveaxis(bytescale(data, cmin, cmax, high, low), channel_axis, 2)
    kinds = {3: ("RGB", "YCbCr"), 4: ("RGBA", "CMYK")}[data.shape[2]]
    if mode is not None and mode not in kinds:
        raise ValueError("Invalid array shape for mode")
    return _image(data, mode or kinds[0])


def _gray(
    data: np.ndarray, high: int, low: int, cmin: Any, cmax: Any, pal: Any, mode: str | None
) -> Image.Image:
    if mode == "F":
        return _image(data.astype(np.float32), "F")
    if mode in (None, "L", "P"):
        image = _image(bytescale(data, cmin, cmax, high, low), "L")
        if pal is not None or mode == "P":
            palette = np.arange(256).repeat(3) if pal is None else np.asarray(pal)
            image.putpalette(palette.astype(np.uint8).tobytes())
        return image
    if mode == "1":
        return Image.fromarray(bytescale(data, cmin, cmax, 255, 0) > 0)
    if mode == "I":
        return _image(data.astype(np.int32), "I")
    raise ValueError(f"Mode {mode!r} is unknown or not supported.")


def _image(data: np.ndarray, mode: str) -> Image.Image:
    size = (data.shape[1], data.shape[0])
    return Image.frombytes(mode, size, np.ascontiguousarray(data).tobytes())


def fromimage(im: Image.Image, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """The array of an image, turned into `mode`, and into gray numbers where asked for."""
    if mode is not None and mode != im.mode:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")  # black and white are 0 and 255
    return np.array(im)


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """The array of an image file."""
    with Image.open(name) as image:
        return fromimage(image, flatten, mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Writes an array as an image file; values are stretched to 0 to 255."""
    image = toimage(arr, channel_axis=2 if np.ndim(arr) == 3 else None)
    image.save(name, format) if format else image.save(name)


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> np.ndarray:
    """An image of another size: a percentage (int), a fraction (float) or (rows, columns)."""
    image = toimage(arr, mode=mode)
    if isinstance(size, int | np.integer):
        wanted = tuple((np.array(image.size) * (size / 100.0)).astype(int))
    elif isinstance(size, float | np.floating):
        wanted = tuple((np.array(image.size) * size).astype(int))
    else:
        wanted = (size[1], size[0])
    columns, rows = (int(each) for each in wanted)
    return fromimage(image.resize((columns, rows), _FILTERS[interp]))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> np.ndarray:
    """An image turned counter-clockwise by `angle` degrees."""
    resample: Any = _FILTERS[interp]
    return fromimage(toimage(arr).rotate(angle, resample))


def imshow(arr: Any) -> None:
    """Shows an array as an image in a window."""
    toimage(arr).show()


def __getattr__(name: str) -> Any:
    """The rest of `scipy.misc`, by the table; a whole module stands in for it here."""
    from weft.legacy.old import table

    row = table.NAMES.get(("scipy.misc", name))
    if row is None:
        raise AttributeError(f"module 'scipy.misc' has no attribute {name!r}")
    return row.value()
