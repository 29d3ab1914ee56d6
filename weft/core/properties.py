"""Properties that only tell what a constructor was given."""

from __future__ import annotations

from operator import attrgetter
from typing import Any


def stored(name: str, doc: str) -> Any:
    """A property that cannot be set: the attribute of that name, with an underscore before it."""
    return property(attrgetter(f"_{name}"), doc=doc)
