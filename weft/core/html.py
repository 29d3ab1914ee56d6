"""Small pieces of HTML for notebooks: tables, and pages of their own inside of a frame."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_TABLE = "border-collapse:collapse;font-size:90%"
_CELL = "text-align:left;vertical-align:top;padding:2px 10px;border-bottom:1px solid #8884"


def escape(value: object) -> str:
    """The text of a value, for use between tags and in attributes."""
    return html.escape(str(value))


def card(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A title, and lines of a name and a value; those whose value is empty are left out."""
    lines = [[f"<b>{escape(name)}</b>", escape(value)] for name, value in rows if value != ""]
    return f"<div><code>{escape(title)}</code>{_table(lines)}</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with a line of titles."""
    titles = "".join(f'<th style="{_CELL}">{escape(title)}</th>' for title in head)
    return _table([[escape(cell) for cell in row] for row in rows], f"<tr>{titles}</tr>")


def _table(rows: Iterable[Sequence[str]], head: str = "") -> str:
    lines = ("".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table style="{_TABLE}">{head}{body}</table>'


def framed(page: str, height: int) -> str:
    """A whole page inside of another, which it can neither read nor change."""
    allowed = "allow-scripts allow-popups allow-popups-to-escape-sandbox"
    style = f"width:100%;height:{height}px;border:1px solid #8884"
    return f'<iframe sandbox="{allowed}" style="{style}" srcdoc="{escape(page)}"></iframe>'
