"""Image files as arrays of pixels, and back: JPEG, PNG, GIF, BMP. Pillow does the work.

Where simplejpeg is installed (`weft[jpeg]`), it decodes common JPEG files in a quarter less time:
it is the same library, libjpeg-turbo, without a copy in between. What it refuses Pillow gets.

Pixels come out as TensorFlow's decoders give them: no rotation by what a camera noted, frames of an
animation drawn one over the other. Whatever is wrong with a file raises `BadFile`.
"""

from __future__ import annotations

import functools
import importlib
import io
import struct
import threading
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.ops.image import png16 as image_png16

# How much red, green and blue add to grey, in 1/32768.
_GRAY = 9798, 19235, 3735
_SAVED_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_CHANNELS = {"1": 1, "L": 1, "LA": 2, "P": 3, "RGB": 3, "RGBA": 4}
# By the colors of a JPEG file and the channels that are asked for: what simplejpeg calls them.
_JPEG_CHANNELS = {
    ("YCbCr", 0): "RGB", ("YCbCr", 1): "GRAY", ("YCbCr", 3): "RGB",
    ("Gray", 0): "GRAY", ("Gray", 1): "GRAY",
}  # fmt: skip
_MOST_JPEG_PIXELS = 1 << 26  # of larger pictures Pillow decides
_truncated = threading.Lock()  # Pillow's switch for truncated files is one for the process


class BadFile(Exception):
    """The bytes are not a whole file of their kind."""


def format_of(data: bytes) -> str | None:
    """The kind of file, by how it begins."""
    if data[:3] == b"\xff\xd8\xff":
        return "JPEG"
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return "PNG"
    return "GIF" if data[:4] == b"GIF8" else None


def _open(data: bytes, kind: str) -> Any:
    from PIL import Image

    try:
        return Image.open(io.BytesIO(data), formats=[kind])
    except (OSError, SyntaxError, ValueError, struct.error) as error:
        raise BadFile(str(error)) from None


def _loaded(image: Any) -> Any:
    try:
        image.load()
    except (OSError, SyntaxError, ValueError, EOFError, struct.error) as error:
        raise BadFile(str(error)) from None
    return image


def _array(image: Any, mode: str) -> np.ndarray:
    """The pixels of an image, as Pillow has them in this mode."""
    pixels = np.asarray(image if image.mode == mode else image.convert(mode))
    return pixels[..., np.newaxis] if pixels.ndim == 2 else pixels


# ---- channels ------------------------------------------------------------------------------------


def _gray(rgb: np.ndarray) -> np.ndarray:
    summed = (rgb.astype(np.int64) * _GRAY).sum(axis=-1, keepdims=True)
    half = 1 << 14 if rgb.dtype == np.uint16 else 0  # bytes are rounded down
    return ((summed + half) >> 15).astype(rgb.dtype)


def with_channels(pixels: np.ndarray, channels: int, opaque: int) -> np.ndarray:
    """Pixels of 1 to 4 channels as others: grey or colour, with or without opacity."""
    have = pixels.shape[-1]
    if have == channels:
        return pixels
    colors = pixels if have % 2 else pixels[..., :-1]
    if channels < 3 <= have:
        colors = _gray(colors)
    elif have < 3 <= channels:
        colors = np.repeat(colors, 3, axis=-1)
    if channels % 2:
        return colors
    opacity = np.full_like(pixels[..., -1:], opaque) if have % 2 else pixels[..., -1:]
    return np.concatenate([colors, opacity], axis=-1)


# ---- PNG -----------------------------------------------------------------------------------------


def png_pixels(data: bytes, channels: int, wide: bool) -> np.ndarray:
    """uint16 if `wide`, else uint8; as many channels as the file has if `channels` is 0."""
    if image_png16.is_wide(data):
        pixels = _wide_png_pixels(data, channels)
        return pixels if wide else (pixels >> 8).astype(np.uint8)
    image = _loaded(_open(data, "PNG"))
    clear = "transparency" in image.info
    solid = image.mode not in ("LA", "RGBA") and not clear
    gray = image.mode in ("1", "L", "LA")
    if not channels:
        channels = 4 if image.mode == "P" and clear else _CHANNELS[image.mode]
    mode = ("L" if gray else "RGB") + ("A" if channels % 2 == 0 and not solid else "")
    # As in TensorFlow, opaque is what the file would store for it, in its own number of bits.
    opaque = (1 << data[24]) - 1
    pixels = with_channels(_array(image, mode), channels, opaque)
    return pixels.astype(np.uint16) * 257 if wide else pixels


def _wide_png_pixels(data: bytes, channels: int) -> np.ndarray:
    try:
        pixels, clear = image_png16.read(data)
    except (zlib.error, struct.error, KeyError, ValueError) as error:
        raise BadFile(str(error)) from None
    if clear is not None and channels and channels % 2 == 0:
        opacity = np.where((pixels == clear).all(-1, keepdims=True), 0, 0xFFFF)
        pixels = np.concatenate([pixels, opacity.astype(np.uint16)], axis=-1)
    return with_channels(pixels, channels or pixels.shape[-1], 0xFFFF)


def png_file(pixels: np.ndarray, compression: int) -> bytes:
    """A PNG file of [height, width, channels] pixels of uint8 or uint16."""
    from PIL import Image

    if pixels.dtype == np.uint16:
        return image_png16.write(pixels, compression)
    height, width, channels = pixels.shape
    mode = _SAVED_MODES[channels]
    image = Image.frombytes(mode, (width, height), np.ascontiguousarray(pixels))
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=6 if compression < 0 else compression)
    return file.getvalue()


# ---- JPEG ----------------------------------------------------------------------------------------


def jpeg_pixels(data: bytes, channels: int, ratio: int, recover: bool) -> np.ndarray:
    """Pixels at 1/ratio of the size; as many channels as the file has if `channels` is 0."""
    pixels = _common_jpeg_pixels(data, channels) if ratio == 1 and not recover else None
    return _any_jpeg_pixels(data, channels, ratio, recover) if pixels is None else pixels


def _common_jpeg_pixels(data: bytes, channels: int) -> np.ndarray | None:
    """The same of a file as most are, without a flaw; None if it is none, or not for simplejpeg."""
    decoder = _jpeg_decoder()
    if decoder is None:
        return None
    try:
        height, width, colors, _ = decoder.decode_jpeg_header(data)
        asked = _JPEG_CHANNELS.get((colors, channels))
        if asked is None or height * width > _MOST_JPEG_PIXELS:
            return None
        pixels: np.ndarray = decoder.decode_jpeg(data, asked)
    except ValueError:
        return None
    return pixels


@functools.cache
def _jpeg_decoder() -> Any:
    try:
        return importlib.import_module("simplejpeg")
    except ImportError:
        return None


def _any_jpeg_pixels(data: bytes, channels: int, ratio: int, recover: bool) -> np.ndarray:
    from PIL import ImageFile

    image = _open(data, "JPEG")
    channels = channels or (1 if image.mode == "L" else 3)
    width, height = image.size
    if channels == 1 and image.mode == "CMYK":
        raise BadFile("Unsupported color conversion request")
    image.draft("L" if channels == 1 else None, (max(width // ratio, 1), max(height // ratio, 1)))
    if recover:
        with _truncated:
            before, ImageFile.LOAD_TRUNCATED_IMAGES = ImageFile.LOAD_TRUNCATED_IMAGES, True
            try:
                _loaded(image)
            finally:
                ImageFile.LOAD_TRUNCATED_IMAGES = before
    else:
        _loaded(image)
    small = -(-width // ratio), -(-height // ratio)
    if image.size != small:  # less than one block of the file in one direction
        image = image.resize(small)
    return _array(image, "L" if channels == 1 else "RGB")


def jpeg_shape(data: bytes) -> tuple[int, int, int]:
    """(height, width, channels)"""
    image = _open(data, "JPEG")
    return image.size[1], image.size[0], len(image.getbands())


def jpeg_file(
    pixels: np.ndarray,
    quality: int = 95,
    progressive: bool = False,
    optimize: bool = False,
    chroma_downsampling: bool = True,
    density: tuple[int, int, int] = (1, 300, 300),
    xmp_metadata: bytes = b"",
) -> bytes:
    """A JPEG file of [height, width, 1 or 3] bytes. `density`: unit of the header, x, y."""
    from PIL import Image

    height, width, channels = pixels.shape
    mode = _SAVED_MODES[channels]
    image = Image.frombytes(mode, (width, height), np.ascontiguousarray(pixels))
    options: dict[str, Any] = {"xmp": xmp_metadata} if xmp_metadata else {}
    if channels == 3:
        options["subsampling"] = "4:2:0" if chroma_downsampling else "4:4:4"
    file = io.BytesIO()
    image.save(
        file, "JPEG", quality=quality, progressive=progressive, optimize=optimize,
        dpi=density[1:], **options,
    )  # fmt: skip
    with file.getbuffer() as saved:
        saved[13] = density[0]  # Pillow counts per inch; the unit has a fixed place in the file
    return file.getvalue()


# ---- GIF -----------------------------------------------------------------------------------------


def gif_frames(data: bytes) -> np.ndarray:
    """[frames, height, width, 3]; a frame that is smaller than the first is drawn over the last."""
    frames: list[np.ndarray] = []
    found = list(_gif_images(data))
    if not found:
        raise BadFile("gif file does not contain any image")
    width = max(place[2] for place, _ in found)
    height = max(place[3] for place, _ in found)
    for (left, top, wide, high), file in found:
        drawn = _array(_loaded(_open(file, "GIF")), "RGB")
        whole = (left, top, wide, high) == (0, 0, width, height)
        if not whole and not frames:
            raise BadFile("the first frame does not fill the canvas")
        canvas = drawn if whole else frames[-1].copy()
        if not whole:
            canvas[top : top + high, left : left + wide] = drawn[: height - top, : width - left]
        frames.append(canvas)
    return np.stack(frames)


def _gif_images(data: bytes) -> Iterator[tuple[tuple[int, int, int, int], bytes]]:
    """(left, top, width, height) of every image, and a file in which it stands alone."""
    try:
        flags = data[10]
        at = 13 + _table_size(flags)
        colors = data[13:at]
        while at < len(data) and data[at] != 0x3B:
            start, kind = at, data[at]
            at += 2 if kind == 0x21 else 10
            if kind not in (0x21, 0x2C):
                raise BadFile("failed to slurp gif file: wrong record type detected")
            if kind == 0x2C:
                own = data[start + 9]
                at += _table_size(own) + 1
            at = _after_blocks(data, at)
            if kind == 0x2C:
                place = struct.unpack("<4H", data[start + 1 : start + 9])
                size = struct.pack("<HH", *place[2:])
                head = data[:6] + size + data[10:13] + colors
                image = b"," + b"\0" * 4 + size + data[start + 9 : at]
                yield place, head + image + b";"
    except (IndexError, struct.error):
        raise BadFile("failed to slurp gif file") from None


def _table_size(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _after_blocks(data: bytes, at: int) -> int:
    while data[at]:
        at += data[at] + 1
    return at + 1


# ---- BMP -----------------------------------------------------------------------------------------


def bmp_pixels(data: bytes, channels: int) -> np.ndarray:
    if len(data) < 32:
        raise BadFile(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width,"
            f" height, and bpp, got {len(data)} bytes"
        )
    start, width, height, bits = (struct.unpack_from("<i", data, at)[0] for at in (10, 18, 22, 28))
    if channels and channels != bits // 8:
        raise BadFile(
            f"channels attribute {channels} does not match bits per pixel from file {bits // 8}"
        )
    channels = bits // 8
    for wrong, message in (
        (channels not in (1, 3, 4), f"Number of channels must be 1, 3 or 4, was {channels}"),
        (width <= 0, "Width must be positive"),
        (height == 0, "Height must be nonzero"),
        (start < 0, "header size must be nonnegative"),
        (width * abs(height) >= (2**31 - 1) // 8,
         "Total possible pixel bytes must be less than 2^30"),
    ):  # fmt: skip
        if wrong:
            raise BadFile(message)
    rows, row_size = abs(height), (channels * width + 3) // 4 * 4
    expected = start + (rows - 1) * row_size + width * channels
    if expected > len(data):
        raise BadFile(
            f"Incomplete bmp content, requires at least {expected} bytes, got {len(data)} bytes"
        )
    flat = np.frombuffer(data, np.uint8)[start:expected]
    flat = np.pad(flat, (0, rows * row_size - flat.size)).reshape(rows, row_size)
    pixels = flat[:, : width * channels].reshape(rows, width, channels)
    pixels = pixels[..., [2, 1, 0, 3][:channels]] if channels > 1 else pixels
    return np.ascontiguousarray(pixels if height < 0 else pixels[::-1])
