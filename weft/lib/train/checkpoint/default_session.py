"""The session that objects are saved and restored in when the program names none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.stacks import get_default_session

# Makes the session of a program that has no default one: Keras's, which `weft.api` puts here.
fallback: list[Callable[[], Any]] = []


def get_session() -> Any:
    """The default session, else Keras's."""
    session = get_default_session()
    return fallback[-1]() if session is None else session
