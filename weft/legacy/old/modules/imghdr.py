"""`imghdr`: the kind of an image file, by its first bytes."""

from __future__ import annotations

from typing import Any

_STARTS = {
    b"\x89PNG\r\n\x1a\n": "png",
    b"\xff\xd8\xff": "jpeg",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
    b"MM": "tiff",
    b"II": "tiff",
    b"BM": "bmp",
}


def what(file: Any, h: bytes | None = None) -> str | None:
    """The name of the kind, or None."""
    head = _head(file) if h is None else h
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    return next((kind for start, kind in _STARTS.items() if head.startswith(start)), None)


def _head(file: Any) -> bytes:
    if hasattr(file, "read"):
        place = file.tell()
        head: bytes = file.read(32)
        file.seek(place)
        return head
    with open(file, "rb") as opened:
        return opened.read(32)
