"""What the cells of a notebook show is written into it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from weft.legacy import notebooks
from weft.legacy.notebook_outputs import Outputs, upgraded

ROOT = Path(__file__).parents[2]


def book(*cells: str) -> dict[str, Any]:
    made = [{"cell_type": "code", "source": cell, "outputs": ["old"]} for cell in cells]
    return {"cells": made, "nbformat": 4, "nbformat_minor": 4, "metadata": {}}


def outputs_of(notebook: dict[str, Any], goes_on: bool = False) -> list[list[dict[str, Any]]]:
    """The outputs of each code cell, once it has run."""
    source = json.dumps(notebook).encode()
    recorder = Outputs(upgraded(notebook), goes_on)
    try:
        notebooks.run(source, "book.ipynb", ModuleType("__main__"), recorder)
    finally:
        notebooks._recorder = None
    made = json.loads(recorder.text())
    return [cell["outputs"] for cell in made["cells"] if cell["cell_type"] == "code"]


def test_text_and_values(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = outputs_of(
        book("import sys\nprint(1)\nprint(2)\nprint(3, file=sys.stderr)\n4", "display(5)\nNone")
    )
    assert first == [
        {"output_type": "stream", "name": "stdout", "text": "1\n2\n"},
        {"output_type": "stream", "name": "stderr", "text": "3\n"},
        {
            "output_type": "execute_result",
            "metadata": {},
            "data": {"text/plain": "4"},
            "execution_count": 1,
        },
    ]
    shown = {"output_type": "display_data", "metadata": {}, "data": {"text/plain": "5"}}
    assert second == [shown]
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("1\n2\n4\n5\n", "3\n")


def test_html() -> None:
    ((output,),) = outputs_of(book("import weft as tf\ntf.constant(1, name='one')"))
    assert "Tensor one:0" in output["data"]["text/html"]
    assert output["data"]["text/plain"].startswith("<tf.Tensor 'one:0'")


def test_errors() -> None:
    cells = ["def f():\n    return 1 / 0", "f()", "'after'"]
    with pytest.raises(ZeroDivisionError):
        outputs_of(book(*cells))
    first, second, third = outputs_of(book(*cells), goes_on=True)
    assert first == []
    (error,) = second
    assert (error["output_type"], error["ename"]) == ("error", "ZeroDivisionError")
    assert error["evalue"] == "division by zero"
    files = [line for line in error["traceback"] if "File" in line]
    assert [line.partition(",")[0].strip() for line in files] == [
        'File "book.ipynb[2]"',
        'File "book.ipynb[1]"',
    ]
    assert third[0]["data"] == {"text/plain": "'after'"}


def test_errors_of_weft_come_without_its_own_causes() -> None:
    code = """import weft as tf
x = tf.placeholder(tf.float32, [], name="x")
with tf.Session() as session:
    session.run(x + 1.0)"""
    ((error,),) = outputs_of(book(code), goes_on=True)
    text = "\n".join(error["traceback"])
    assert text.count("You must feed a value") == 1 and "direct cause" not in text
    lines = text.partition("Original stack trace")[0].splitlines()
    own = [line for line in lines if "File" in line and "ipynb" not in line]
    assert len(own) == 1 and "session.py" in own[0]


def test_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    figure = SimpleNamespace(savefig=lambda file, **_: file.write(b"png"))
    pyplot = SimpleNamespace(
        get_fignums=lambda: [1], figure=lambda number: figure, close=closed.append
    )
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    ((output,),) = outputs_of(book("x = 1"))
    assert output["data"] == {"image/png": "cG5n", "text/plain": "<Figure 1>"}
    assert closed == ["all"]


def test_version_3() -> None:
    heading = {"cell_type": "heading", "level": 2, "source": ["A ", "title"]}
    code = {"cell_type": "code", "input": ["1 + ", "1"], "prompt_number": 7, "language": "python"}
    old = {"worksheets": [{"cells": [heading, code]}], "nbformat": 3, "metadata": {}}
    new = upgraded(json.loads(json.dumps(old)))
    assert (new["nbformat"], new["nbformat_minor"]) == (4, 2)
    assert new["cells"][0] == {"cell_type": "markdown", "metadata": {}, "source": "## A title"}
    ((output,),) = outputs_of(old)
    assert output["data"] == {"text/plain": "2"}


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(book("import tensorflow as tf", "print 3 / 2", "tf.no_such_name")))

    def weft(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "weft", "notebook", *args]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )

    done = weft("book.ipynb")
    assert done.returncode == 1 and "AttributeError" in done.stderr
    assert 'File "book.ipynb[3]", line 1' in done.stderr
    cells = json.loads((tmp_path / "book.out.ipynb").read_text())["cells"]
    assert [len(cell["outputs"]) for cell in cells] == [0, 1, 1]
    assert cells[1]["outputs"][0]["text"] == "1\n"
    assert json.loads(path.read_text())["cells"][0]["outputs"] == ["old"]
    path.write_text("[]")
    done = weft("book.ipynb", "--in-place")
    assert done.returncode == 2 and "is not a notebook" in done.stderr
