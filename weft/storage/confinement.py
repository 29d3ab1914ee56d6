"""The files that graphs which run in this process may read and write.

A server runs what its clients send: it can be confined to a folder, or to no files at all.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from weft.core import errors

ANYWHERE, NOWHERE = "", os.devnull
_root = ANYWHERE  # or a folder, by its real path


def confine(root: str) -> None:
    """From now on only files below `root` can be used; ANYWHERE and NOWHERE mean what they say."""
    global _root
    if root not in (ANYWHERE, NOWHERE):
        if not os.path.isdir(root):
            raise errors.NotFoundError(None, None, f"{root} is not a folder to confine files to")
        root = os.path.realpath(root)
    _root = root


@contextlib.contextmanager
def confined(root: str) -> Iterator[None]:
    """The same inside of a `with` block, in all threads."""
    global _root
    before = _root
    confine(root)
    try:
        yield
    finally:
        _root = before


def is_confined() -> bool:
    return _root != ANYWHERE


def permitted(path: str) -> str:
    """`path`, which may be a pattern. PermissionDeniedError if it leads out of where files may be.

    Links count for where they lead. Other file systems than the machine's are outside.
    """
    if _root == ANYWHERE:
        return path
    plain = path.removeprefix("file://")
    if _root != NOWHERE and "://" not in plain:
        real = os.path.realpath(plain)
        if os.path.commonpath([real, _root]) == _root:
            return path
    where = "no files" if _root == NOWHERE else f"files below {_root} only"
    raise errors.PermissionDeniedError(
        None, None, f"{path}; this server lets graphs use {where} (--no-file-ops, --file-root)"
    )
