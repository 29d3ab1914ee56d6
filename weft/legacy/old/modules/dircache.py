"""`dircache`: the names in a folder, sorted."""

from __future__ import annotations

import os


def listdir(path: str) -> list[str]:
    """The names in a folder."""
    return sorted(os.listdir(path))


opendir = listdir
