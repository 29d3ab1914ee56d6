"""`cgi`: the functions on texts; forms are read by today's web libraries."""

from __future__ import annotations

from email.message import Message
from urllib.parse import parse_qs, parse_qsl

from weft.legacy.old.python_behaviour import escape

__all__ = ["escape", "parse_header", "parse_qs", "parse_qsl"]


def parse_header(line: str) -> tuple[str, dict[str, str]]:
    """(value, options) of a header: `text/html; charset=utf-8`."""
    message = Message()
    message["content-type"] = line
    (value, _), *options = message.get_params() or [("", "")]
    return value, dict(options)
