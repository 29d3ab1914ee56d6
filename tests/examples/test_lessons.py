"""The ordinary programs among the examples, as scripts and as notebooks."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.examples.test_examples import number, run

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = {  # example -> (its options, what it prints at the end)
    "digits_cnn": (["--steps", "5"], r"Test accuracy: [0-9.]+"),
    "char_rnn": (["--steps", "5"], r"(?s)Loss at the end: [0-9.]+\nthe .{160}"),
    "fine_tuning": (["--steps", "5"], r"5 to 9, from nothing: +accuracy [0-9.]+"),
    "keras_digits": (["--epochs", "1"], r"Loaded weights give the same answers: True"),
    "estimator_columns": (["--steps", "5"], r"9.0, 0.0, sun, ulm: goes by bicycle with \d+%"),
    "gan": (["--steps", "5"], r"Brightness: drawn [0-9.]+, real 0.1"),
}


def making() -> ModuleType:
    path = EXAMPLES / "make_notebooks.py"
    spec = importlib.util.spec_from_file_location("make_notebooks", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_a_test_for_each() -> None:
    assert [path.stem for path in making().scripts()] == sorted(SHORT)


@pytest.mark.parametrize("name", SHORT)
def test_notebooks_are_what_the_scripts_are(name: str) -> None:
    script = (EXAMPLES / f"{name}.py").read_text()
    written = (EXAMPLES / f"{name}.ipynb").read_text()
    assert written == making().notebook(script), "run `python examples/make_notebooks.py`"
    code = [cell["source"] for cell in json.loads(written)["cells"] if cell["cell_type"] == "code"]
    lines = [line.rstrip("\n") for cell in code for line in cell if line.strip()]
    kept = [line for line in script.splitlines() if line.strip() and not line.startswith("# ")]
    assert lines == [line for line in kept if line != "#"]


@pytest.mark.parametrize("name", SHORT)
def test_scripts(name: str) -> None:
    options, expected = SHORT[name]
    printed = run(f"examples/{name}.py", *options)
    assert re.search(expected, printed), printed


@pytest.mark.slow
def test_a_notebook(tmp_path: Path) -> None:
    target = tmp_path / "done.ipynb"
    run("-m", "weft", "notebook", "examples/digits_cnn.ipynb", "--output", str(target))
    cells = json.loads(target.read_text())["cells"]
    assert number(r"Test accuracy: ([0-9.]+)", cells[-1]["outputs"][0]["text"]) > 0.9
