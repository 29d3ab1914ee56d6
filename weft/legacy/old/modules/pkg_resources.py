"""`pkg_resources`: files in packages, and what is installed, by Python's own libraries."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.resources
import os
import re
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

from weft.legacy.old.modules.distutils_version import LooseVersion


class ResolutionError(Exception):
    """A package that is asked for is not there as asked."""


class DistributionNotFound(ResolutionError):
    """A package that is asked for is not installed."""


class VersionConflict(ResolutionError):
    """A package that is asked for is installed in another version."""


RequirementParseError = ValueError


class Distribution:
    """An installed package."""

    def __init__(self, found: importlib.metadata.Distribution) -> None:
        self._found = found
        self.project_name = found.metadata["Name"]
        self.key = self.project_name.lower()
        self.version = found.version
        self.location = str(found.locate_file(""))

    @property
    def parsed_version(self) -> Any:
        """The version as one that can be compared."""
        return parse_version(self.version)

    def __str__(self) -> str:
        return f"{self.project_name} {self.version}"


def get_distribution(dist: Any) -> Distribution:
    """An installed package by its name, perhaps with a condition on its version."""
    name = re.split(r"[^\w.-]", str(dist).strip(), maxsplit=1)[0]
    try:
        return Distribution(importlib.metadata.distribution(name))
    except importlib.metadata.PackageNotFoundError:
        raise DistributionNotFound(f"The {str(dist)!r} distribution was not found") from None


def require(*requirements: Any) -> list[Distribution]:
    """The packages of the given names."""
    names = [n for each in requirements for n in ([each] if isinstance(each, str) else each)]
    return [get_distribution(name) for name in names]


def parse_version(text: str) -> Any:
    """A version that can be compared with others."""
    try:
        version: Any = importlib.import_module("packaging.version")
        return version.Version(text)
    except (ImportError, ValueError):
        return LooseVersion(text)


def iter_entry_points(group: str, name: str | None = None) -> Iterator[Any]:
    """The entry points of a group."""
    found = importlib.metadata.entry_points(group=group)
    return (each for each in found if name in (None, each.name))


def _path(package: Any, resource: str) -> str:
    name = package if isinstance(package, str) else package.key
    module = sys.modules.get(name) or importlib.import_module(name)
    folder = os.path.dirname(os.path.abspath(str(module.__file__)))
    return os.path.join(folder, *resource.split("/"))


def resource_filename(package: Any, resource: str) -> str:
    """The path of a file beside a module."""
    return _path(package, resource)


def resource_string(package: Any, resource: str) -> bytes:
    """The bytes of a file beside a module."""
    with resource_stream(package, resource) as file:
        return file.read()


def resource_stream(package: Any, resource: str) -> BinaryIO:
    """A file beside a module, opened."""
    return open(_path(package, resource), "rb")


def resource_exists(package: Any, resource: str) -> bool:
    """Whether there is such a file or folder beside a module."""
    return os.path.exists(_path(package, resource))


def resource_isdir(package: Any, resource: str) -> bool:
    """Whether there is such a folder beside a module."""
    return os.path.isdir(_path(package, resource))


def resource_listdir(package: Any, resource: str) -> list[str]:
    """The names in a folder beside a module."""
    return os.listdir(_path(package, resource))


def declare_namespace(name: str) -> None:
    """A package in several folders: `pkgutil` adds those on the path."""
    import pkgutil

    module = sys.modules[name]
    module.__path__ = pkgutil.extend_path(module.__path__, name)


class _WorkingSet:
    """Everything that is installed."""

    def __iter__(self) -> Iterator[Distribution]:
        return map(Distribution, importlib.metadata.distributions())

    @property
    def by_key(self) -> dict[str, Distribution]:
        """By name, in lower case."""
        return {each.key: each for each in self}


working_set = _WorkingSet()
