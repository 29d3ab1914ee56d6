"""`distutils.version`: versions that can be compared."""

from __future__ import annotations

import functools
import re
from typing import Any


@functools.total_ordering
class Version:
    """A version, by its parts; texts are taken for versions in comparisons."""

    version: Any

    def __init__(self, vstring: str | None = None) -> None:
        if vstring:
            self.parse(vstring)

    def parse(self, vstring: str) -> None:
        """Sets the parts from a text."""
        self.vstring = vstring
        self.version = [
            int(part) if part.isdigit() else part
            for part in re.findall(r"\d+|[a-z]+", vstring, re.IGNORECASE)
        ]

    def _key(self) -> list[tuple[bool, Any]]:
        return [(isinstance(part, int), part) for part in self.version]

    def _other(self, other: Any) -> Version:
        return type(self)(other) if isinstance(other, str) else other

    def __eq__(self, other: object) -> bool:
        return self._key() == self._other(other)._key()

    def __lt__(self, other: Any) -> bool:
        return self._key() < self._other(other)._key()

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"{type(self).__name__} ('{self}')"


class LooseVersion(Version):
    """Any text of numbers and words."""


class StrictVersion(Version):
    """Two or three numbers, perhaps with `a1` or `b2` at the end."""

    _FORM = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?")

    def parse(self, vstring: str) -> None:
        """Sets the numbers from a text."""
        found = self._FORM.fullmatch(vstring)
        if found is None:
            raise ValueError(f"invalid version number '{vstring}'")
        major, minor, patch, letter, number = found.groups()
        self.vstring = vstring
        self.version = (int(major), int(minor), int(patch or 0))
        self.prerelease = (letter, int(number)) if letter else None

    def _key(self) -> list[tuple[bool, Any]]:
        return [(True, self.version), (self.prerelease is None, self.prerelease or ())]
