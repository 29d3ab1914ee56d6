"""The documentation as a site: what its pages are made of, and that it builds."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import weft as tf

ROOT = Path(__file__).parent.parent


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "site" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build, reference = _load("build"), _load("reference")


def test_a_docstring_as_markdown() -> None:
    doc = "Adds a*b.\n\nArgs:\n    x, y: a [2] or `[3]`.\n\nExample:\n    >>> 1\n    1"
    assert list(reference.body(doc)) == [
        "Adds a\\*b.", "", "**Args**\n", "- `x, y`: a \\[2\\] or `[3]`.", "", "```pycon", ">>> 1",
        "1", "```",
    ]  # fmt: skip


def test_an_entry() -> None:
    text = reference.entry("tf.nn.relu", tf.nn.relu)
    assert text.startswith("## tf.nn.relu\n\n```python\ntf.nn.relu(features, name=None)\n```\n")
    assert ">>> session.run(tf.nn.relu([-1.0, 0.0, 2.0]))" in text


def test_every_namespace_has_a_page() -> None:
    names = [name for name, _ in reference.namespaces()]
    wanted = {"tf", "tf.nn", "tf.train", "tf.keras.layers", "tf.contrib.slim", "tf.data"}
    assert wanted <= set(names) and len(names) == len(set(names))


def test_links_to_files_that_are_no_pages(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](b.md#c), [`t.py`](../t.py), [web](https://example.org/x)")
    assert build.linked(page) == "[a](b.md#c), `t.py`, [web](https://example.org/x)"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_it_builds_without_a_warning() -> None:
    pytest.importorskip("material", reason="mkdocs-material is not installed (weft[docs])")
    program = str(ROOT / "docs" / "site" / "build.py")
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, cwd=ROOT, env={**os.environ}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (ROOT / "build" / "site" / "reference" / "tf.nn.html").exists()
