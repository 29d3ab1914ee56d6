"""Conversions between bytes and text, and the tuples of number types, that `tf.compat` offers."""

from __future__ import annotations

import numbers
import os
from typing import Any

import numpy as np

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text encoded to bytes; bytes as they are.

    Args:
        bytes_or_text: bytes or a string.
        encoding: the encoding of text.

    Returns:
        Bytes.

    Raises:
        TypeError: it is neither.

    Example:
        >>> tf.compat.as_bytes("text")
        b'text'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes decoded to text; text as it is."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text).decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """`as_text`: Python 3's `str` is text."""
    return as_text(bytes_or_text, encoding)


def as_str_any(value: Any) -> str:
    """Text of a string, or `str(value)` of anything else."""
    return as_str(value) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """The string of a path object; anything that is not one comes back as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path
