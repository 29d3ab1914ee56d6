"""Notebooks run as programs: the code cells, in their order, in one name space.

A cell is a file of its own to Python, `notebook.ipynb[3]`, so that tracebacks say which cell and
show its line.
"""

from __future__ import annotations

import ast
import builtins
import json
import linecache
import os
import pprint
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any, Protocol

from weft.legacy.old import loading
from weft.legacy.old.python2 import translation

_MAGIC = re.compile(r"(?P<indent>\s*)(?:(?P<name>[\w, ]+?)\s*=\s*)?(?P<sign>[%!])(?P<rest>\S.*)")
_RUNTIME = "__weft_notebook__"
# Magics that are followed by a statement to run; all others are about the page.
_OF_STATEMENTS = frozenset({"time", "timeit", "prun", "memit"})
_OF_CELLS = frozenset({"time", "timeit", "capture", "prun"})
_recorder: Recorder | None = None


class Recorder(Protocol):
    """Keeps what the cells of a notebook show."""

    def cell(self, number: int) -> AbstractContextManager[None]:
        """Inside, the cell of this number (from 1 on) runs."""

    def show(self, value: Any, is_result: bool) -> None:
        """Takes the value of a cell, or one that it displays."""


def run(source: bytes, file: str, main: ModuleType, recorder: Recorder | None = None) -> None:
    """Runs the cells of a notebook in the name space of `main`."""
    global _recorder
    _recorder = recorder
    main.__dict__[_RUNTIME] = sys.modules[__name__]
    main.__dict__.setdefault("display", display)
    notebook = json.loads(source)
    texts = list(cells(notebook))
    is_python2 = says_python2(notebook) or translation.are_python2(map(plain, texts), file)
    for number, cell in enumerate(texts, 1):
        name = f"{file}[{number}]"
        lines = cell.splitlines(keepends=True)
        linecache.cache[name] = (len(cell), None, lines, name)
        with nullcontext() if recorder is None else recorder.cell(number):
            tree, _ = loading.tree_of(plain(cell).encode(), name, is_python2)
            run_cell(tree, name, main.__dict__)


def says_python2(notebook: dict[str, Any]) -> bool:
    """Whether a notebook says of itself that it is for Python 2."""
    about = notebook.get("metadata", {})
    version = str(about.get("language_info", {}).get("version", ""))
    return version.startswith("2.") or about.get("kernelspec", {}).get("name") == "python2"


def run_cell(tree: ast.Module, name: str, space: dict[str, Any]) -> None:
    """Runs the statements of a cell; the value of a last expression is shown."""
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
        exec(compile(tree, name, "exec", dont_inherit=True), space)
        expression = ast.Expression(last.value)
        show(eval(compile(expression, name, "eval", dont_inherit=True), space))
    else:
        exec(compile(tree, name, "exec", dont_inherit=True), space)


def show(value: Any) -> None:
    """Shows the value of a cell; it is `_` in the next."""
    if value is not None:
        builtins._ = value  # type: ignore[attr-defined]
        _show(value, is_result=True)


def display(*values: Any, **_: Any) -> None:
    """Shows values."""
    for value in values:
        _show(value, is_result=False)


def _show(value: Any, is_result: bool) -> None:
    if _recorder is not None:
        _recorder.show(value, is_result)
    else:
        sys.stdout.write(pprint.pformat(value) + "\n")


def cells(notebook: dict[str, Any]) -> Iterator[str]:
    """The code of a notebook, cell by cell; before version 4 cells were in worksheets."""
    sheets = notebook.get("worksheets", [notebook])
    for cell in (each for sheet in sheets for each in sheet.get("cells", ())):
        if cell.get("cell_type") == "code":
            code = cell.get("source", cell.get("input", ""))
            yield code if isinstance(code, str) else "".join(code)


def plain(cell: str) -> str:
    """The code of a cell with what only notebooks have turned into calls, line for line."""
    first, _, rest = cell.lstrip("\n").partition("\n")
    if first.startswith("%%"):
        words = first[2:].split(maxsplit=1)
        if words and words[0] in _OF_CELLS:
            return "\n" + plain(rest)
        return _call("cell_magic", first[2:], rest)
    return "\n".join(_plain_lines(cell.split("\n")))


def _plain_lines(lines: list[str]) -> Iterator[str]:
    quotes = _Quotes()
    for line in lines:
        found = None if quotes.is_open else _MAGIC.fullmatch(line)
        if found is not None:
            yield found["indent"] + _plain_line(found["name"], found["sign"], found["rest"])
        elif not quotes.is_open and re.fullmatch(r"\s*\??\??[\w.]+\?\??\s*|\s*\?[\w.]+\s*", line):
            yield "pass"  # a question about a name
        else:
            quotes.read(line)
            yield line


class _Quotes:
    """Whether the lines so far end within a string of several lines or an open bracket."""

    def __init__(self) -> None:
        self._text = ""
        self.is_open = False

    def read(self, line: str) -> None:
        self._text += line + "\n"
        bare = re.sub(r"'''.*?'''|\"\"\".*?\"\"\"|#[^\n]*", "", self._text, flags=re.DOTALL)
        bare_of_strings = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", "", bare)
        depth = sum(bare_of_strings.count(c) for c in "([{")
        depth -= sum(bare_of_strings.count(c) for c in ")]}")
        self.is_open = "'''" in bare or '"""' in bare or depth > 0


def _plain_line(name: str | None, sign: str, rest: str) -> str:
    words = rest.split(maxsplit=1)
    if sign == "%" and words[0] in _OF_STATEMENTS and not name:
        return words[1] if len(words) > 1 else "pass"
    made = _call("magic", rest)
    if sign == "!":
        made = _call("shell", rest) if not name else f"{_call('output', rest)}.splitlines()"
    return f"{name} = {made}" if name else f"{made};pass"


def _call(function: str, *args: str) -> str:
    return f"{_RUNTIME}.{function}({', '.join(map(repr, args))})"


def shell(command: str) -> None:
    """`!command`: run by the shell, its output shown."""
    sys.stdout.write(_output(command, sys._getframe(1).f_globals))


def output(command: str) -> str:
    """`x = !command`: what the command prints."""
    return _output(command, sys._getframe(1).f_globals)


def _output(command: str, space: dict[str, Any]) -> str:
    command = re.sub(r"(?<!\$)\{(\w+)\}|\$(\w+)", lambda found: _value(found, space), command)
    return subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True).stdout


def _value(found: re.Match[str], space: dict[str, Any]) -> str:
    name = found[1] or found[2]
    return str(space[name]) if name in space else found[0]


def magic(text: str) -> Any:
    """`%name rest`: the few that have an effect; the others are about the page."""
    name, _, rest = text.partition(" ")
    return _MAGICS.get(name, lambda _: None)(rest.strip())


def _change_folder(folder: str) -> None:
    os.chdir(os.path.expanduser(folder or "~"))


def _set_variable(text: str) -> Any:
    name, equals, value = (each.strip() for each in text.replace(" ", "=", 1).partition("="))
    if not equals:
        return os.environ.get(name)
    os.environ[name] = value.lstrip("= ")
    return None


def _run_file(text: str) -> None:
    main = sys.modules["__main__"].__dict__
    name = text.split()[0]
    with open(name, "rb") as file:
        exec(loading.compile_users(file.read(), name), main)


_MAGICS: dict[str, Callable[[str], Any]] = {
    "cd": _change_folder,
    "env": _set_variable,
    "set_env": _set_variable,
    "pwd": lambda _: os.getcwd(),
    "run": _run_file,
    "sh": shell,
}


def cell_magic(first: str, rest: str) -> None:
    """`%%name`: a cell that is a script of the shell or a file; pages are left out."""
    name, _, argument = first.strip().partition(" ")
    if name in ("bash", "sh", "script"):
        shell(rest)
    elif name in ("writefile", "file"):
        append, path = "-a" in argument.split(), argument.split()[-1]
        with open(path, "a" if append else "w") as file:
            file.write(rest)
