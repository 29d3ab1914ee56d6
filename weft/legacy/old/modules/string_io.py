"""`StringIO` and `cStringIO`: files in memory, of text or of bytes."""

from __future__ import annotations

import io
from typing import Any


class _Text(io.StringIO):
    """Text; bytes that are written to it are decoded."""

    def write(self, data: Any) -> int:
        return super().write(data.decode("latin1") if isinstance(data, bytes) else data)

    @property
    def len(self) -> int:
        """How many characters there are."""
        return len(self.getvalue())


def StringIO(data: Any = "") -> Any:
    """A file in memory with `data` in it."""
    return io.BytesIO(data) if isinstance(data, bytes) else _Text(data)
