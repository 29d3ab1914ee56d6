"""Ops that encode images as files. See `files.py` for the files themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST
from weft.ops.image import files as image_files
from weft.ops.kit.shared import invalid


def _one_image(c: ShapeContext) -> Dims:
    s.with_rank(c.dims(0), 3)
    return ()


_JPEG_SIDE = 65500  # pixels


def _check_image(image: Any) -> None:
    if image.ndim != 3:
        raise invalid(f"image must be 3-dimensional{s.show(image.shape)}")


def _check_jpeg_image(image: Any, quality: int) -> None:
    _check_image(image)
    if not 0 <= quality <= 100:
        raise invalid(f"quality must be in [0,100], got {quality}")
    if not all(0 < size <= _JPEG_SIDE for size in image.shape[:2]):
        raise invalid(f"JPEG encoding failed: no image has the sides {s.show(image.shape[:2])}")


def _check_detected(image: Any) -> None:
    if image.shape[2] not in (1, 3):
        raise invalid(f"image must have 1 or 3 channels, got {s.show(image.shape)}")


def _boxed(data: bytes) -> np.ndarray:
    return np.array(data, object)


@op(
    "EncodeJpeg", inputs="image: uint8", outputs="contents: string",
    attrs='format: {"", "grayscale", "rgb"} = "", quality: int = 95, progressive: bool = false,'
    " optimize_size: bool = false, chroma_downsampling: bool = true,"
    ' density_unit: {"in", "cm"} = "in", x_density: int = 300, y_density: int = 300,'
    ' xmp_metadata: string = ""',
    shape=_one_image, traits=HOST,
)  # fmt: skip
def encode_jpeg_(
    xp: Any, image: Any, *, format: str, quality: int, progressive: bool, optimize_size: bool,
    chroma_downsampling: bool, density_unit: str, x_density: int, y_density: int,
    xmp_metadata: str,
) -> Any:  # fmt: skip
    _check_jpeg_image(image, quality)
    if format:
        wanted = 1 if format == "grayscale" else 3
        if image.shape[2] != wanted:
            got = s.show(image.shape)
            raise invalid(f"format {format} expects {wanted} channels, got {got}")
    else:
        _check_detected(image)
    density = (1 if density_unit == "in" else 2, x_density, y_density)
    metadata = xmp_metadata.encode() if isinstance(xmp_metadata, str) else xmp_metadata
    return _boxed(
        image_files.jpeg_file(
            image, quality, progressive, optimize_size, chroma_downsampling, density, metadata
        )
    )


@op(
    "EncodeJpegVariableQuality", inputs="images: uint8, quality: int32",
    outputs="contents: string", attrs="", shape=_one_image, traits=HOST,
)  # fmt: skip
def encode_jpeg_variable_quality_(xp: Any, images: Any, quality: Any) -> Any:
    if np.ndim(quality):
        raise invalid(f"quality must be scalar: {s.show(np.shape(quality))}")
    _check_jpeg_image(images, int(quality))
    _check_detected(images)
    return _boxed(image_files.jpeg_file(images, int(quality)))


@op(
    "EncodePng", inputs="image: T", outputs="contents: string",
    attrs="compression: int = -1, T: {uint8, uint16} = uint8",
    shape=_one_image, traits=HOST,
)  # fmt: skip
def encode_png_(xp: Any, image: Any, *, compression: int) -> Any:
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}")
    _check_image(image)
    if not 1 <= image.shape[2] <= 4:
        raise invalid(f"image must have 1, 2, 3, or 4 channels, got {image.shape[2]}")
    return _boxed(image_files.png_file(image, compression))


def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """A JPEG file of [height, width, 1 or 3] bytes."""
    return encode_jpeg_(
        image, format=format, quality=quality, progressive=progressive,
        optimize_size=optimize_size, chroma_downsampling=chroma_downsampling,
        density_unit=density_unit, x_density=x_density, y_density=y_density,
        xmp_metadata=xmp_metadata, name=name,
    )  # fmt: skip


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """A PNG file of [height, width, 1 to 4] pixels, uint8 or uint16.

    Args:
        image: a tensor of three dimensions.
        compression: from 0 to 9, or -1 for the usual.
        name: of the operation.

    Returns:
        A string scalar.

    Raises:
        ValueError: the shape or the compression is not possible.

    Example:
        >>> file = session.run(tf.image.encode_png(np.zeros([2, 2, 3], np.uint8)))
        >>> file[1:4]
        b'PNG'
    """
    return encode_png_(image, compression=compression, name=name)
