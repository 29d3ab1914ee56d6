"""Which versions of a model there should be, and what is to be done about it: decisions alone."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from weft.core import errors
from weft.lib.saved_model.files import maybe_saved_model_directory
from weft.serve.config import ModelConfig
from weft.storage import file_io

_NUMBER = re.compile(r"[+-]?\d{1,19}")
_MOST_FILES = 10_000  # of one version that are looked at
# What a model takes in memory, by its files.
_MEMORY_PER_BYTE = 1.2


class State(IntEnum):
    """How far a version is; the numbers are those of ModelVersionStatus."""

    START = 10
    LOADING = 20
    AVAILABLE = 30
    UNLOADING = 40
    END = 50


@dataclass(frozen=True)
class Status:
    """A version's state, and the error that ended it, if one did."""

    state: State
    code: int = 0
    message: str = ""


@dataclass(frozen=True)
class Found:
    """The folder of a version. `mark` changes when its files do."""

    version: int
    path: str
    mark: Any
    size: int

    @property
    def memory(self) -> int:
        """Bytes that it will take, estimated."""
        return int(self.size * _MEMORY_PER_BYTE)


@dataclass(frozen=True)
class Actions:
    """What to do: versions to load first, then those to let go."""

    load: tuple[int, ...] = ()
    unload: tuple[int, ...] = ()


def decide(wanted: set[int], statuses: dict[int, Status], changed: set[int]) -> Actions:
    """Loads what is wanted and not there; lets go of what is not wanted, if something good stays.

    `changed`: versions whose files are other than when they failed.
    """
    good = {v for v, s in statuses.items() if s.state is State.AVAILABLE}
    load = [v for v in sorted(wanted, reverse=True) if _should_load(v, statuses.get(v), changed)]
    unload = sorted(good - wanted) if not wanted or good & wanted else []
    return Actions(tuple(load), tuple(unload))


def _should_load(version: int, status: Status | None, changed: set[int]) -> bool:
    if status is None:
        return True
    if status.state is not State.END:
        return False
    return not status.code or version in changed


# ---- folders ------------------------------------------------------------------------------------


def look(config: ModelConfig) -> dict[int, str]:
    """The folders of the versions that the policy chooses. OpError if there is nothing to read.

    A folder that is a SavedModel itself is version 1, or the number it is named by.
    """
    if maybe_saved_model_directory(config.path):
        base = os.path.basename(os.path.normpath(config.path))
        there = {int(base) if _NUMBER.fullmatch(base) else 1: config.path}
    else:
        names = [name.rstrip("/") for name in file_io.listdir(config.path)]
        there = {
            int(name): os.path.join(config.path, name)
            for name in sorted(names)
            if _NUMBER.fullmatch(name)
        }
    return {version: there[version] for version in config.policy.choose(there)}


def examine(version: int, path: str) -> Found:
    """What is in the folder of a version, as far as it can be read."""
    marks, size = [], 0
    for folder, _, files in file_io.walk(path):
        for name in files:
            with suppress(errors.OpError, OSError):  # it may have gone in the meantime
                file = file_io.stat(os.path.join(folder, name))
                marks.append((folder, name, file.length, file.mtime_nsec))
                size += file.length
            if len(marks) >= _MOST_FILES:
                break
    return Found(version, path, tuple(sorted(marks)), size)
