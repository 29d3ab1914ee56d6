"""The operations: a folder is a family, and a module of it is imported when it is first needed.

`places.py`, which `make stubs` writes, says which module declares what; an operation that it does
not know yet is looked for in all of them, so a new one needs no list. Which family may import
which is in `tests/test_layers.py`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

from weft.core import first_use
from weft.ops.places import PLACES

_HERE = os.path.dirname(__file__)


def modules() -> Iterator[str]:
    """The names of all modules of operations."""
    for family in sorted(os.listdir(_HERE)):
        if family.startswith("_") or "." in family:
            continue
        for file in sorted(os.listdir(os.path.join(_HERE, family))):
            if file.endswith(".py") and file != "__init__.py":
                yield f"{__name__}.{family}.{file[:-3]}"


def load(op_type: str, searches: bool = True) -> None:
    """Imports the module that declares an operation; all, if none is known to and it `searches`."""
    place = _places().get(op_type)
    if place is not None:
        first_use.module(f"{__name__}.{place}")
    elif searches:
        load_all()


@functools.cache
def load_all() -> None:
    """Imports all modules of operations."""
    for name in modules():
        first_use.module(name)


@functools.cache
def _places() -> dict[str, str]:
    return {op_type: place for place, names in PLACES.items() for op_type in names.split()}
