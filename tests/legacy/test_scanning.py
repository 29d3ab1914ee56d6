"""Tokens, imports and dotted names of programs, with their places."""

from __future__ import annotations

import pytest

from weft.legacy.checking.scanning import Scan


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a.b.c(d.e)", ["a.b.c", "d.e"]),
        ("f().g.h", ["f"]),
        ("a.b \\\n  .c", ["a.b.c"]),
        ("x[a\n.b]", ["x", "a.b"]),
        ("'a.b' # c.d\ne", ["e"]),
        ('"""a\nb.c"""\nd', ["d"]),
        ("1.5e-3 + .5 + a", ["a"]),
        ("ur'a.b' + b", ["b"]),
        ("import a.b\nc", ["c"]),
    ],
)
def test_dotted_names(text: str, found: list[str]) -> None:
    assert [chain.path for chain in Scan(text).chains] == found


@pytest.mark.parametrize(
    ("text", "module", "names"),
    [
        ("import a.b as c, d", None, [("a.b", "c"), ("d", None)]),
        ("from a.b import c as d, e", "a.b", [("c", "d"), ("e", None)]),
        ("from . import x", ".", [("x", None)]),
        ("from ..a import (x,\n  # why\n  y as z,\n)", "..a", [("x", None), ("y", "z")]),
        ("from a import *", "a", [("*", None)]),
        ("try: import a\nexcept E: b", None, [("a", None)]),
        ("x = 1; import a", None, [("a", None)]),
    ],
)
def test_imports(text: str, module: str | None, names: list[tuple[str, str | None]]) -> None:
    (found,) = Scan(text).imports
    assert found.module == module
    assert [(alias.name, alias.bound) for alias in found.names] == names


def test_places() -> None:
    scan = Scan("a\n\n  b.c\n")
    assert [scan.place(chain.parts[0].start) for chain in scan.chains] == [(1, 1), (3, 3)]


def test_targets_are_told_apart() -> None:
    assert [chain.is_assigned for chain in Scan("a.b = c.d\nf(e=g)\nh == i").chains] == [
        *(True, False),
        *(False, False, False),
        *(False, False),
    ]
