"""PNG files of 16 bits per channel, which Pillow reads and writes in grey only."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np

from weft.core.expansion import inflate

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by the colour type of the file
_COLOR_TYPES = {channels: color_type for color_type, channels in _CHANNELS.items()}
# Passes of an interlaced file: first column and row, then the steps.
_ADAM7 = (
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)
)  # fmt: skip


def is_wide(data: bytes) -> bool:
    """Whether `data` begins as a PNG file of 16 bits per channel does."""
    return data[:8] == _SIGNATURE and data[12:16] == b"IHDR" and data[24:25] == b"\x10"


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        yield kind, data[at + 8 : at + 8 + length]
        at += length + 12


def read(data: bytes) -> tuple[np.ndarray, np.ndarray | None]:
    """(pixels [height, width, channels] of uint16, the colour that is transparent)"""
    chunks: dict[bytes, bytes] = {}
    for kind, content in _chunks(data):
        chunks[kind] = chunks.get(kind, b"") + content
    header = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    width, height, _, color_type, _, _, interlaced = header
    channels = _CHANNELS[color_type]
    stream = inflate(chunks[b"IDAT"], zlib.MAX_WBITS, "A PNG image")
    pixels = np.zeros((height, width, channels), np.uint16)
    at = 0
    for left, top, across, down in _ADAM7 if interlaced else ((0, 0, 1, 1),):
        part = pixels[top::down, left::across]
        if part.size:
            rows, length = part.shape[0], part.shape[1] * channels * 2 + 1
            lines = np.frombuffer(stream, np.uint8, rows * length, at).reshape(rows, length)
            at += rows * length
            part[...] = _unfiltered(lines, channels * 2).view(">u2").reshape(part.shape)
    clear = np.frombuffer(chunks[b"tRNS"], ">u2") if b"tRNS" in chunks else None
    return pixels, clear


def _unfiltered(lines: np.ndarray, step: int) -> np.ndarray:
    """Rows of bytes, of which each begins with the kind of prediction it holds the errors of."""
    above = np.zeros(lines.shape[1] - 1, np.uint8)
    rows = np.empty((len(lines), len(above)), np.uint8)
    for line, row in zip(lines, rows, strict=True):
        kind, row[:] = line[0], line[1:]
        if kind == 1:
            by_byte = row.reshape(-1, step)
            row[:] = np.cumsum(by_byte, axis=0, dtype=np.uint8).reshape(-1)
        elif kind == 2:
            row += above
        elif kind:
            _predict(row.reshape(-1, step), above.reshape(-1, step), average=kind == 3)
        above = row
    return rows


def _predict(row: np.ndarray, above: np.ndarray, average: bool) -> None:
    left = upper_left = np.zeros(row.shape[1], np.int32)
    for pixel, up in zip(row, above.astype(np.int32), strict=True):
        guess = (left + up) // 2 if average else _paeth(left, up, upper_left)
        pixel += guess.astype(np.uint8)
        left, upper_left = pixel.astype(np.int32), up


def _paeth(left: np.ndarray, up: np.ndarray, upper_left: np.ndarray) -> np.ndarray:
    """Of the three neighbours the one nearest to left + up - upper_left."""
    to_left, to_up = abs(up - upper_left), abs(left - upper_left)
    to_corner = abs(left + up - 2 * upper_left)
    straight = np.where(to_up <= to_corner, up, upper_left)
    return np.where((to_left <= to_up) & (to_left <= to_corner), left, straight)


def write(pixels: np.ndarray, compression: int) -> bytes:
    """A file of [height, width, channels] pixels of uint16."""
    height, width, channels = pixels.shape
    lines = _filtered(pixels.astype(">u2").reshape(height, -1).view(np.uint8), channels * 2)
    header = struct.pack(">IIBBBBB", width, height, 16, _COLOR_TYPES[channels], 0, 0, 0)
    body = zlib.compress(lines.tobytes(), compression)
    parts = ((b"IHDR", header), (b"IDAT", body), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in parts)


def _filtered(rows: np.ndarray, step: int) -> np.ndarray:
    """Each row as errors of the prediction that leaves the smallest, and which one that is."""
    wide = np.pad(rows.astype(np.int32), ((1, 0), (step, 0)))
    left, up, upper_left = wide[1:, :-step], wide[:-1, step:], wide[:-1, :-step]
    guesses = [0, left, up, (left + up) // 2, _paeth(left, up, upper_left)]
    errors = np.stack([(rows - guess).astype(np.uint8) for guess in guesses])
    kinds = abs(errors.view(np.int8).astype(np.int32)).sum(axis=2).argmin(axis=0)
    best = errors[kinds, np.arange(len(rows))]
    return np.concatenate([kinds[:, None].astype(np.uint8), best], axis=1)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
