"""simplejpeg and Pillow give the same pixels, and the same errors, of the same JPEG file."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from weft.ops.image import files

Image = pytest.importorskip("PIL.Image")
simplejpeg = pytest.importorskip("simplejpeg", reason="simplejpeg is not installed (weft[jpeg])")


def jpeg(mode: str, height: int, width: int, **options: Any) -> bytes:
    channels = {"L": 1, "RGB": 3, "CMYK": 4}[mode]
    y, x, c = np.mgrid[:height, :width, :channels]
    noise = np.random.default_rng(height * width).integers(0, 40, x.shape)
    pixels = (100 + 90 * np.sin(x / 7 + c) * np.cos(y / 5) + noise).clip(0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.frombytes(mode, (width, height), pixels.tobytes()).save(file, "JPEG", **options)
    return file.getvalue()


SAVED = [
    {}, {"quality": 5}, {"quality": 100, "subsampling": "4:4:4"}, {"subsampling": "4:2:2"},
    {"subsampling": "4:2:0", "progressive": True}, {"optimize": True}, {"restart_marker_rows": 1},
]  # fmt: skip


@pytest.mark.parametrize("options", SAVED, ids=str)
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_the_same_pixels(mode: str, options: dict[str, Any]) -> None:
    taken = 0
    for height, width in [(1, 1), (7, 5), (8, 16), (17, 33), (64, 1), (120, 90)]:
        data = jpeg(mode, height, width, **options)
        for channels in (0, 1, 3):
            expected = files._any_jpeg_pixels(data, channels, 1, False)
            found = files._common_jpeg_pixels(data, channels)
            taken += found is not None
            found = files.jpeg_pixels(data, channels, 1, False)
            assert found.shape == expected.shape and found.dtype == np.uint8
            np.testing.assert_array_equal(found, expected)
    assert taken == 6 * (3 if mode == "RGB" else 2)


def test_what_only_one_of_them_takes() -> None:
    data = jpeg("CMYK", 16, 16)
    assert files._common_jpeg_pixels(data, 3) is None
    assert files.jpeg_pixels(data, 3, 1, False).shape == (16, 16, 3)


@pytest.mark.parametrize("keep", [2, 100, 400, -2])
def test_files_that_end_too_early(keep: int) -> None:
    data = jpeg("RGB", 40, 40)[:keep]
    assert files._common_jpeg_pixels(data, 3) is None
    try:
        expected: Any = files._any_jpeg_pixels(data, 3, 1, False)
    except files.BadFile:
        with pytest.raises(files.BadFile):
            files.jpeg_pixels(data, 3, 1, False)
    else:
        np.testing.assert_array_equal(files.jpeg_pixels(data, 3, 1, False), expected)


def test_bytes_that_were_changed() -> None:
    """Whatever the one refuses or reads, the other decides in the end."""
    whole, random = jpeg("RGB", 48, 48), np.random.default_rng(5)
    for _ in range(300):
        data = bytearray(whole)
        for at in random.integers(2, len(data), 3):
            data[at] = random.integers(0, 256)
        outcomes = []
        for read in (files._any_jpeg_pixels, files.jpeg_pixels):
            try:
                outcomes.append(read(bytes(data), 3, 1, False).tobytes())
            except files.BadFile:
                outcomes.append(b"")
        assert outcomes[0] == outcomes[1]
