"""Ops that decode image files. See `files.py` for the files themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.array.gather import gather
from weft.ops.control import control
from weft.ops.control.cond import cond
from weft.ops.image import files as image_files
from weft.ops.image.adjust import convert_image_dtype
from weft.ops.image.files import BadFile
from weft.ops.kit.shared import c_escaped, invalid
from weft.ops.math import math

_JPEG = (
    "channels: int = 0, ratio: int = 1, fancy_upscaling: bool = true,"
    " try_recover_truncated: bool = false, acceptable_fraction: float = 1,"
    ' dct_method: string = ""'
)


# ---- decoding ------------------------------------------------------------------------------------


def _contents(contents: Any) -> bytes:
    if np.ndim(contents):
        raise invalid(f"contents must be scalar, got shape {s.show(np.shape(contents))}")
    return np.asarray(contents, object).item()


def _format(data: bytes) -> str:
    found = image_files.format_of(data)
    if found is None:
        start = data[:16].decode("ascii", "surrogateescape")
        what = f"unknown format starting with '{c_escaped(start)}'" if data else "empty file"
        raise invalid(f"Expected image (JPEG, PNG, or GIF), got {what}")
    return found


def _check_channels(channels: int) -> None:
    if channels not in (0, 1, 3, 4):
        raise invalid(f"channels must be 0, 1, 3, or 4, got {channels}")


def _check_jpeg(ratio: int, dct_method: str) -> None:
    if ratio not in (1, 2, 4, 8):
        raise invalid(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise invalid("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")


def _decoded_jpeg(data: bytes, channels: int, ratio: int = 1, recover: bool = False) -> np.ndarray:
    if channels == 4:
        raise invalid(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    try:
        return image_files.jpeg_pixels(data, channels, ratio, recover)
    except BadFile:
        raise invalid(f"Invalid JPEG data or crop window, data size {len(data)}") from None


def _decoded_png(data: bytes, channels: int, wide: bool = False) -> np.ndarray:
    try:
        return image_files.png_pixels(data, channels, wide)
    except BadFile:
        raise invalid(f"Invalid PNG data, size {len(data)}") from None


def _decoded_gif(data: bytes, channels: int) -> np.ndarray:
    if channels not in (0, 3):
        raise invalid(f"channels must be 0 or 3 for GIF, got {channels}")
    try:
        return image_files.gif_frames(data)
    except BadFile as error:
        raise invalid(f"Invalid GIF data (size {len(data)}), {error}") from None


def _one_frame(data: bytes, channels: int) -> np.ndarray:
    frames = _decoded_gif(data, channels)
    if len(frames) > 1:
        raise invalid(
            f"Got {len(frames)} frames, but animated gifs can only be decoded by"
            " tf.image.decode_gif or tf.image.decode_image"
        )
    return frames[0]


def _decoded_shape(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(0), 0)
    channels = c.attr("channels")
    if channels < 0:
        raise ValueError(f"channels must be non-negative, got {channels}")
    return None, None, channels or None


@op(
    "DecodeJpeg", inputs="contents: string", outputs="image: uint8", attrs=_JPEG,
    shape=_decoded_shape, traits=HOST,
)  # fmt: skip
def decode_jpeg_(
    xp: Any, contents: Any, *, channels: int, ratio: int, try_recover_truncated: bool,
    dct_method: str,
) -> Any:  # fmt: skip
    _check_channels(channels)
    _check_jpeg(ratio, dct_method)
    data = _contents(contents)
    kind = _format(data)
    if kind == "JPEG":
        return _decoded_jpeg(data, channels, ratio, try_recover_truncated)
    return _decoded_png(data, channels) if kind == "PNG" else _one_frame(data, channels)


def _cropped_shape(c: ShapeContext) -> Dims:
    channels = _decoded_shape(c)[2]  # type: ignore[index]
    (length,) = s.with_rank(c.dims(1), 1)
    if length not in (None, 4):
        raise ValueError(f"Dimension must be 4 but is {length}")
    window = c.value(1)
    return (None, None, channels) if window is None else (*window[2:].tolist(), channels)


@op(
    "DecodeAndCropJpeg", inputs="contents: string, crop_window: int32", outputs="image: uint8",
    attrs=_JPEG, shape=_cropped_shape, traits=HOST,
)  # fmt: skip
def decode_and_crop_jpeg_(
    xp: Any, contents: Any, crop_window: Any, *, channels: int, ratio: int,
    try_recover_truncated: bool, dct_method: str,
) -> Any:  # fmt: skip
    _check_channels(channels)
    _check_jpeg(ratio, dct_method)
    data = _contents(contents)
    if np.ndim(crop_window) != 1:
        raise invalid(f"crop_window must be 1-D, got shape {s.show(np.shape(crop_window))}")
    if len(crop_window) != 4:
        raise invalid(f"crop_size must have four elements {s.show(np.shape(crop_window))}")
    if _format(data) != "JPEG":
        raise invalid(f"Invalid JPEG data or crop window, data size {len(data)}")
    image = _decoded_jpeg(data, channels, ratio, try_recover_truncated)
    top, left, height, width = (int(n) for n in crop_window)
    inside = top >= 0 and left >= 0 and height > 0 and width > 0
    if not inside or top + height > image.shape[0] or left + width > image.shape[1]:
        raise invalid(f"Invalid JPEG data or crop window, data size {len(data)}")
    return np.ascontiguousarray(image[top : top + height, left : left + width])


@op(
    "DecodePng", inputs="contents: string", outputs="image: dtype",
    attrs="channels: int = 0, dtype: {uint8, uint16} = uint8",
    shape=_decoded_shape, traits=HOST,
)  # fmt: skip
def decode_png_(xp: Any, contents: Any, *, channels: int, dtype: DType) -> Any:
    _check_channels(channels)
    data = _contents(contents)
    kind, wide = _format(data), dtype == dtypes.uint16
    if wide and kind != "PNG":
        raise invalid(f"{kind} does not support uint16 output")
    if kind == "PNG":
        return _decoded_png(data, channels, wide)
    return _decoded_jpeg(data, channels) if kind == "JPEG" else _one_frame(data, channels)


def _frames_shape(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(0), 0)
    return None, None, None, 3


@op(
    "DecodeGif", inputs="contents: string", outputs="image: uint8", attrs="",
    shape=_frames_shape, traits=HOST,
)  # fmt: skip
def decode_gif_(xp: Any, contents: Any) -> Any:
    data = _contents(contents)
    kind = _format(data)
    if kind == "GIF":
        return _decoded_gif(data, 3)
    return (_decoded_jpeg if kind == "JPEG" else _decoded_png)(data, 3)[np.newaxis]


@op(
    "DecodeBmp", inputs="contents: string", outputs="image: uint8", attrs="channels: int = 0",
    shape=_decoded_shape, traits=HOST,
)  # fmt: skip
def decode_bmp_(xp: Any, contents: Any, *, channels: int) -> Any:
    if channels not in (0, 1, 3, 4):
        raise invalid(f"channels must be 0, 1, 3 or 4, got {channels}")
    try:
        return image_files.bmp_pixels(_contents(contents), channels)
    except BadFile as error:
        raise invalid(str(error)) from None


def _image_shape(c: ShapeContext) -> Dims:
    """Of one image; a file of several makes another rank of it, which only its kind tells."""
    dims = _decoded_shape(c)
    return None if c.attr("expand_animations") else dims


@op(
    "DecodeImage", inputs="contents: string", outputs="image: dtype",
    attrs="channels: int = 0, dtype: {uint8, uint16, float} = uint8,"
    " expand_animations: bool = true",
    shape=_image_shape, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def decode_image_(
    xp: Any, contents: Any, *, channels: int, dtype: DType, expand_animations: bool
) -> Any:
    if channels not in (0, 1, 3, 4):
        raise invalid(f"`channels` must be 0, 1, 3 or 4 but got {channels}")
    data, wide = _contents(contents), dtype != dtypes.uint8
    if data[:2] == b"BM":
        assert decode_bmp_.kernel is not None
        return _as_type(decode_bmp_.kernel(np, contents, channels=channels), dtype)
    kind = image_files.format_of(data)
    if kind is None:
        raise invalid(
            "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required."
        )
    if kind == "PNG":
        return _as_type(_decoded_png(data, channels, wide), dtype)
    if kind == "JPEG":
        return _as_type(_decoded_jpeg(data, channels), dtype)
    frames = _decoded_gif(data, channels)
    return _as_type(frames if expand_animations else frames[0], dtype)


def _as_type(pixels: np.ndarray, dtype: DType) -> np.ndarray:
    """Pixels with the bits of another type; of floats, from 0 to 1."""
    most = np.iinfo(pixels.dtype).max
    if dtype == dtypes.float32:
        return pixels.astype(np.float32) * np.float32(1 / most)
    if pixels.dtype == np.uint8 and dtype == dtypes.uint16:
        return pixels.astype(np.uint16) << 8
    return pixels


def _three(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(0), 0)
    return (3,)


@op(
    "ExtractJpegShape", inputs="contents: string", outputs="image_shape: output_type",
    attrs="output_type: {int32, int64} = int32", shape=_three, traits=HOST,
)  # fmt: skip
def extract_jpeg_shape_(xp: Any, contents: Any, *, output_type: DType) -> Any:
    data = _contents(contents)
    try:
        return np.array(image_files.jpeg_shape(data), output_type.as_numpy_dtype)
    except BadFile:
        raise invalid(f"Invalid JPEG data, size {len(data)}") from None


# ---- public functions ----------------------------------------------------------------------------


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The pixels [height, width, channels] of a JPEG file, made smaller by `ratio`.

    Args:
        contents: a string scalar: the file.
        channels: 1 for grey, 3 for colours, 0 for what the file has.
        ratio: 1, 2, 4 or 8.
        fancy_upscaling: a smoother, slower way to scale colours up.
        try_recover_truncated: give what there is of a file that was cut off.
        acceptable_fraction: how much of it there must be.
        dct_method: "INTEGER_FAST" or "INTEGER_ACCURATE", a hint.
        name: of the operation.

    Returns:
        A uint8 tensor.

    Raises:
        tf.errors.InvalidArgumentError: from the step: it is no such file.

    Example:
        >>> file = tf.image.encode_jpeg(tf.fill([4, 6, 3], tf.constant(128, tf.uint8)))
        >>> session.run(tf.image.decode_jpeg(file)).shape
        (4, 6, 3)
    """
    return decode_jpeg_(
        contents, channels=channels or 0, ratio=ratio, fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction,
        dct_method=dct_method, name=name,
    )  # fmt: skip


def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """A window (top, left, height, width) of the pixels of a JPEG file."""
    return decode_and_crop_jpeg_(
        contents, crop_window, channels=channels or 0, ratio=ratio,
        fancy_upscaling=fancy_upscaling, try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction, dct_method=dct_method, name=name,
    )  # fmt: skip


def decode_png(
    contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None
) -> Tensor:
    """The pixels [height, width, channels] of a PNG file.

    Args:
        contents: a string scalar: the file.
        channels: 1 to 4, or 0 for what the file has.
        dtype: `tf.uint8` or `tf.uint16`.
        name: of the operation.

    Returns:
        A tensor of that type.

    Raises:
        tf.errors.InvalidArgumentError: from the step: it is no such file.

    Example:
        >>> file = tf.image.encode_png(np.array([[[7], [8]]], np.uint8))
        >>> session.run(tf.image.decode_png(file))[:, :, 0]
        array([[7, 8]], dtype=uint8)
    """
    return decode_png_(contents, channels=channels or 0, dtype=dtype, name=name)


def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """The frames [frames, height, width, 3] of a GIF file."""
    return decode_gif_(contents, name=name)


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """The pixels [height, width, channels] of a BMP file."""
    return decode_bmp_(contents, channels=channels or 0, name=name)


def extract_jpeg_shape(
    contents: Any, output_type: Any = dtypes.int32, name: str | None = None
) -> Tensor:
    """Height, width and channels of a JPEG file, from its header."""
    return extract_jpeg_shape_(contents, output_type=output_type, name=name)


def _start(contents: Any, length: int) -> Tensor:
    start: Tensor = raw.Substr(contents, 0, length)
    return start


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether `contents` begins like a JPEG file."""
    with name_scope(name, "is_jpeg"):
        return math.equal(_start(contents, 3), b"\xff\xd8\xff", name=name)


def _is_png(contents: Any) -> Tensor:
    with name_scope("is_png"):
        return math.equal(_start(contents, 3), b"\x89PN")


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = dtypes.uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The pixels of a JPEG, PNG, GIF or BMP file; of a GIF, a batch of frames.

    Args:
        contents: a string scalar: the file.
        channels: how many; None or 0: what the file has.
        dtype: the type of the pixels; floating-point ones go from 0 to 1.
        name: of the operations.
        expand_animations: False gives the first frame of a GIF.

    Returns:
        A tensor of three dimensions, or of four for a GIF.

    Raises:
        ValueError: a type or number of channels is not supported.
        tf.errors.InvalidArgumentError: from the step: it is none of these files.

    Example:
        >>> file = tf.image.encode_png(np.array([[[7], [8]]], np.uint8))
        >>> session.run(tf.image.decode_image(file))[:, :, 0]
        array([[7, 8]], dtype=uint8)
    """
    with name_scope(name, "decode_image"):
        if channels not in (None, 0, 1, 3, 4):
            raise ValueError("channels must be in (None, 0, 1, 3, 4)")
        contents = convert_to_tensor(contents, name="contents", dtype=dtypes.string)
        asked, start = channels or 0, _start(contents, 3)
        readers = _readers(contents, asked, dtypes.as_dtype(dtype), expand_animations)

        def or_gif() -> Tensor:
            is_gif = math.equal(start, b"GIF", name="is_gif")
            return cond(is_gif, readers["gif"], readers["bmp"], name="cond_gif")

        def or_png() -> Tensor:
            return cond(_is_png(contents), readers["png"], or_gif, name="cond_png")

        return cond(is_jpeg(contents), readers["jpeg"], or_png, name="cond_jpeg")


def _readers(contents: Tensor, channels: int, dtype: DType, expand: bool) -> dict[str, Any]:
    """A function for each kind of file, which decodes it and checks that `channels` suits it."""
    narrow = dtype == dtypes.uint8

    def differs(wrong: int, name: str) -> Tensor:
        return math.not_equal(channels, wrong, name=name)

    def required(condition: Tensor, kind: str, allowed: str = "(None, 0, 3)") -> Any:
        message = f"Channels must be in {allowed} when decoding {kind} images"
        return control.Assert(condition, [message])

    def bmp() -> Tensor:
        is_bmp = math.equal(_start(contents, 2), b"BM", name="is_bmp")
        known = control.Assert(is_bmp, ["Unable to decode bytes as JPEG, PNG, GIF, or BMP"])
        with control_dependencies([known, required(differs(1, "check_channels"), "BMP")]):
            return convert_image_dtype(decode_bmp(contents), dtype)

    def gif() -> Tensor:
        good = [differs(wrong, "check_gif_channels") for wrong in (1, 4)]
        with control_dependencies([required(math.logical_and(*good), "GIF")]):
            frames = convert_image_dtype(decode_gif(contents), dtype)
            return frames if expand else gather(frames, 0)

    def png() -> Tensor:
        stored = dtypes.uint8 if narrow else dtypes.uint16
        return convert_image_dtype(decode_png(contents, channels, dtype=stored), dtype)

    def jpeg() -> Tensor:
        good = differs(4, "check_jpeg_channels")
        with control_dependencies([required(good, "JPEG", "(None, 0, 1, 3)")]):
            return convert_image_dtype(decode_jpeg(contents, channels), dtype)

    return {"bmp": bmp, "gif": gif, "png": png, "jpeg": jpeg}
