"""Makes a notebook of each example that is written in cells, beside it: the two cannot differ.

    python examples/make_notebooks.py

A line `# %%` begins a cell of code, `# %% [markdown]` one of text, whose lines are comments.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MARK, TEXT = "# %%", "# %% [markdown]"


def scripts() -> list[Path]:
    """The examples that are written in cells."""
    return [path for path in sorted(HERE.glob("*.py")) if path.read_text().startswith(MARK)]


def notebook(script: str) -> str:
    """The text of the notebook of a script."""
    cells: list[tuple[bool, list[str]]] = []
    for line in script.splitlines():
        if line in (MARK, TEXT):
            cells.append((line == TEXT, []))
        else:
            cells[-1][1].append(line)
    made = [_cell(number, is_text, lines) for number, (is_text, lines) in enumerate(cells)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    whole = {"cells": made, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cell(number: int, is_text: bool, lines: list[str]) -> dict[str, Any]:
    if is_text:
        lines = [line.removeprefix("#").removeprefix(" ") for line in lines]
    source = "\n".join(lines).strip("\n").splitlines(keepends=True)
    common = {"id": f"cell-{number}", "metadata": {}, "source": source}
    if is_text:
        return {"cell_type": "markdown", **common}
    return {"cell_type": "code", "execution_count": None, "outputs": [], **common}


if __name__ == "__main__":
    for path in scripts():
        target = path.with_suffix(".ipynb")
        target.write_text(notebook(path.read_text()))
        print(f"wrote {target.relative_to(HERE.parent)}")
