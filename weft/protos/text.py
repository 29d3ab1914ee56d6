"""Messages as text."""

from __future__ import annotations

from typing import TypeVar

from google.protobuf import text_format
from google.protobuf.message import Message

M = TypeVar("M", bound=Message)


def merge_text(text: str, message: M) -> M:
    """Reads text into a message. ParseError also where it is nested deeper than Python goes."""
    try:
        return text_format.Merge(text, message)
    except RecursionError:
        raise text_format.ParseError("The text is nested too deeply") from None
