"""Filters that say which of several exports are kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from weft.storage import file_io


class Path(NamedTuple):
    """A directory, and the version of the export in it."""

    path: str
    export_version: int | None


Filter = Callable[[list[Path]], list[Path]]


def _numbered(paths: Iterable[Path]) -> list[Any]:
    return [path for path in paths if path.export_version is not None]


def largest_export_versions(n: int) -> Filter:
    """Keeps the `n` largest versions."""

    def keep(paths: list[Path]) -> list[Path]:
        # Of equal versions the later ones are kept.
        places = sorted((path.export_version, i) for i, path in enumerate(_numbered(paths)))
        numbered = _numbered(paths)
        return sorted(numbered[i] for _, i in places[max(len(places) - n, 0) :])

    return keep


def one_of_every_n_export_versions(n: int) -> Filter:
    """Keeps the largest version of each interval [0, n], (n, 2n], (2n, 3n], ..."""

    def keep(paths: list[Path]) -> list[Path]:
        ordered = sorted(_numbered(paths), key=lambda path: path.export_version, reverse=True)
        largest: dict[int, Path] = {}
        for path in ordered:
            largest.setdefault(max(path.export_version - 1, 0) // n, path)
        return sorted(largest.values())

    return keep


def mod_export_version(n: int) -> Filter:
    """Keeps the versions that are multiples of `n`."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)  # type: ignore[operator]


def union(lf: Filter, rf: Filter) -> Filter:
    """Keeps what either filter keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def negation(f: Filter) -> Filter:
    """Keeps what a filter does not keep."""
    return lambda paths: sorted(set(paths).difference(f(paths)))


def get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """The directories in `base_dir`, as `parser` completes them; None leaves one out."""
    names = file_io.ListDirectory(base_dir)
    parsed = (parser(Path(os.path.join(base_dir, name), None)) for name in names)
    return sorted(path for path in parsed if path)
