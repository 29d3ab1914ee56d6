"""A mark for attributes that an object does not depend on."""

from __future__ import annotations

from typing import Any


class NoDependency:
    """A value that, assigned to an attribute, is stored there but not saved with the object."""

    def __init__(self, value: Any) -> None:
        self.value = value
