"""What the cells of a notebook show, kept in it: text, values, figures, errors.

Notebooks of version 3, whose cells are in worksheets, become ones of version 4.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import pprint
import sys
import traceback
from collections.abc import Iterator
from typing import Any, TextIO

from weft.core.tracebacks import shortening

Cell = dict[str, Any]
_RICH = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_", "text/latex": "_repr_latex_"}


def upgraded(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook as one of version 4, without what its cells have shown before."""
    sheets = notebook.pop("worksheets", [notebook])
    notebook["cells"] = [_upgraded(cell) for sheet in sheets for cell in sheet.get("cells", ())]
    notebook.setdefault("metadata", {})
    if notebook.get("nbformat", 0) < 4:
        notebook["nbformat"], notebook["nbformat_minor"] = 4, 2
    return notebook


def _upgraded(cell: Cell) -> Cell:
    kind = cell.get("cell_type", "code")
    source: Any = cell.get("source", cell.get("input", ""))
    if kind == "heading":
        kind, source = "markdown", "#" * cell.get("level", 1) + " " + "".join(source)
    kept: Cell = {key: cell[key] for key in ("id", "attachments") if key in cell}
    made: Cell = {"cell_type": kind, "metadata": cell.get("metadata", {}), "source": source, **kept}
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    return made


class Outputs:
    """Writes what is shown into the cells of a notebook, and to the terminal as well."""

    def __init__(self, notebook: dict[str, Any], goes_on: bool = False) -> None:
        self.notebook = notebook
        self.failed = False
        self._goes_on = goes_on  # after a cell that fails
        self._codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        self._cell: Cell = {"outputs": []}

    def text(self) -> str:
        """The notebook as the text of a file."""
        return json.dumps(self.notebook, indent=1, ensure_ascii=False) + "\n"

    @contextlib.contextmanager
    def cell(self, number: int) -> Iterator[None]:
        """Inside, the cell of this number (from 1 on) runs."""
        self._cell = self._codes[number - 1]
        self._cell["execution_count"] = number
        out, err = _Tee(sys.stdout, self, "stdout"), _Tee(sys.stderr, self, "stderr")
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                yield
                self._take_figures()
        except BaseException as error:
            self._take_error(error)
            if not (self._goes_on and isinstance(error, Exception)):
                raise

    def show(self, value: Any, is_result: bool) -> None:
        """Takes the value of a cell, or one that it displays."""
        text = pprint.pformat(value)
        data: dict[str, Any] = {"text/plain": text}
        for kind, method in _RICH.items():
            with contextlib.suppress(AttributeError, NotImplementedError):
                data[kind] = getattr(value, method)()
        found = {kind: content for kind, content in data.items() if content is not None}
        output: dict[str, Any] = {"output_type": "display_data", "metadata": {}, "data": found}
        if is_result:
            output["output_type"] = "execute_result"
            output["execution_count"] = self._cell["execution_count"]
        self._cell["outputs"].append(output)
        _Tee.terminal(sys.stdout).write(text + "\n")

    def write(self, name: str, text: str) -> None:
        """Takes text that a cell writes to one of its streams."""
        outputs = self._cell["outputs"]
        if not (outputs and outputs[-1].get("name") == name):
            outputs.append({"output_type": "stream", "name": name, "text": ""})
        outputs[-1]["text"] += text

    def _take_figures(self) -> None:
        """Figures of matplotlib that a cell leaves open, as its inline back end does."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return
        for number in pyplot.get_fignums():
            file = io.BytesIO()
            pyplot.figure(number).savefig(file, format="png", bbox_inches="tight")
            data = {"image/png": base64.b64encode(file.getvalue()).decode()}
            data["text/plain"] = f"<Figure {number}>"
            shown = {"output_type": "display_data", "metadata": {}, "data": data}
            self._cell["outputs"].append(shown)
        pyplot.close("all")

    def _take_error(self, error: BaseException) -> None:
        self.failed = True
        lines: list[str] = []
        keep = shortening(lambda *shown: lines.extend(traceback.format_exception(*shown)))
        keep(type(error), error, _of_cells(error.__traceback__))
        self._cell["outputs"].append(
            {
                "output_type": "error",
                "ename": type(error).__name__,
                "evalue": str(error),
                "traceback": "".join(lines).splitlines(),
            }
        )


def _of_cells(trace: Any) -> Any:
    """A traceback from the frame of a cell on."""
    while trace is not None and ".ipynb[" not in trace.tb_frame.f_code.co_filename:
        trace = trace.tb_next
    return trace


class _Tee(io.TextIOBase):
    """A stream that writes to another, and tells the outputs of it."""

    def __init__(self, stream: TextIO, outputs: Outputs, name: str) -> None:
        self._stream, self._outputs, self._name = stream, outputs, name

    @staticmethod
    def terminal(stream: Any) -> Any:
        """The stream behind one of these."""
        return stream._stream if isinstance(stream, _Tee) else stream

    def write(self, text: str) -> int:
        self._outputs.write(self._name, text)
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self._stream.fileno()
