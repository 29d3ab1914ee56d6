"""Notebooks are programs: their cells in order."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from weft.legacy import notebooks


def notebook(*cells: str, **about: Any) -> bytes:
    made = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    page = {"cell_type": "markdown", "source": ["not code"]}
    return json.dumps(
        {"nbformat": 4, "cells": [page, *made], "metadata": {"a": True, **about}}
    ).encode()


def run(*cells: str, **about: Any) -> dict[str, Any]:
    main = ModuleType("__main__")
    notebooks.run(notebook(*cells, **about), "book.ipynb", main)
    return main.__dict__


def test_cells_share_names() -> None:
    assert run("x = 1", "y = x + 1", "")["y"] == 2


def test_the_last_value_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    run("x = [1, 2]\nx", "None", "_ + [3]", "x;\ny = 1")
    assert capsys.readouterr().out == "[1, 2]\n[1, 2, 3]\n"


PLAIN = [
    ("%matplotlib inline", "__weft_notebook__.magic('matplotlib inline');pass"),
    ("    !ls -l", "    __weft_notebook__.shell('ls -l');pass"),
    ("a = !ls", "a = __weft_notebook__.output('ls').splitlines()"),
    ("%time x = 1", "x = 1"),
    ("%%time\nx = 1", "\nx = 1"),
    ("x = 5 %2", "x = 5 %2"),
    ("x = (5\n%2)", "x = (5\n%2)"),
    ("x = '''\n%no\n'''", "x = '''\n%no\n'''"),
    ("np.array?", "pass"),
    ("x", "x"),
    ("%%bash\nls", "__weft_notebook__.cell_magic('bash', 'ls')"),
]


@pytest.mark.parametrize(("cell", "expected"), PLAIN, ids=[cell for cell, _ in PLAIN])
def test_what_only_notebooks_have(cell: str, expected: str) -> None:
    assert notebooks.plain(cell) == expected


def test_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OF_THE_BOOK", raising=False)
    (tmp_path / "below").mkdir()
    space = run(
        "name = 'weft'\nwords = !echo hello {name}",
        "!echo shown",
        "%%writefile file.py\nz = 3 / 2",
        "%run file.py\n%cd below\nimport os\nwhere = os.getcwd()",
        "%env OF_THE_BOOK=1\nset_ = os.environ['OF_THE_BOOK']",
    )
    assert space["words"] == ["hello weft"]
    assert space["where"].endswith("below") and space["set_"] == "1"
    assert capsys.readouterr().out == "shown\n"
    monkeypatch.delenv("OF_THE_BOOK")


def test_old_names_and_python_2() -> None:
    space = run("import numpy as np\nx = np.float(1)", "print 'a'\ny = 1 / 2")
    assert (space["x"], space["y"]) == (1.0, 0)


@pytest.mark.parametrize(
    ("cell", "about", "expected"),
    [
        ("print(1)", {}, 0.5),
        ("print 1", {}, 0),
        ("xrange(3)", {}, 0),
        ("xrange = range", {}, 0.5),
        ("print(1)", {"language_info": {"version": "2.7.11"}}, 0),
        ("print(1)", {"kernelspec": {"name": "python2"}}, 0),
        ("print(1)", {"language_info": {"version": "3.5.1"}}, 0.5),
    ],
)
def test_a_notebook_is_of_one_python(cell: str, about: dict[str, Any], expected: float) -> None:
    """One cell tells for all of them how `/` divides."""
    assert run(cell, "x = 1 / 2", **about)["x"] == expected


def test_notebooks_of_version_3() -> None:
    cell = {"cell_type": "code", "input": ["x = 1"]}
    book = {"nbformat": 3, "worksheets": [{"cells": [cell]}]}
    assert list(notebooks.cells(book)) == ["x = 1"]
