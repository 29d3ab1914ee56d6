"""Lines of Python and the nodes and tensors that they made."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from typing import Any

_HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_SUFFIXES = (".py",)
_COMPILED = (".pyc", ".pyo")


def _absolute(path: str) -> str:
    return os.path.normpath(os.path.abspath(path))


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def is_extension_uncompiled_python_source(file_path: str) -> bool:
    return _suffix(file_path) in _SUFFIXES


def is_extension_compiled_python_source(file_path: str) -> bool:
    return _suffix(file_path) in _COMPILED


def guess_is_tensorflow_py_library(py_file_path: str) -> bool:
    """Whether a file is one of weft's own."""
    if _suffix(py_file_path) not in _SUFFIXES + _COMPILED:
        raise ValueError(f"Input file path ({py_file_path}) is not a Python source file.")
    path = _absolute(py_file_path)
    return path.startswith(_HERE + os.sep) and not path.endswith("_test.py")


def load_source(source_file_path: str) -> tuple[list[str], int]:
    """The lines of a file, and how wide the column of their numbers is."""
    with open(source_file_path) as file:
        lines = file.read().split("\n")
    return lines, len(str(max(len(lines) - 1, 0))) + 3 if len(lines) > 1 else 3


def annotate_source(
    dump: Any, source_file_path: str, do_dumped_tensors: bool = False, file_stack_top: bool = False,
    min_line: int | None = None, max_line: int | None = None,
) -> dict[int, list[str]]:  # fmt: skip
    """Line number -> the nodes it made, or their dumped tensors.

    `file_stack_top`: only the innermost line of the file counts for a node.
    """
    if not dump.python_graph:
        raise ValueError(
            "Cannot perform source annotation due to a lack of set Python graph in the dump object"
        )
    wanted, found = _absolute(source_file_path), defaultdict[int, list[str]](list)
    low = -1 if min_line is None else min_line
    high = float("inf") if max_line is None else max_line
    for op in dump.python_graph.get_operations():
        frames = [f for f in reversed(dump.node_traceback(op.name)) if low <= f[1] < high]
        numbers = [f[1] for f in frames if _absolute(f[0]) == wanted]
        for number in numbers[:1] if file_stack_top else numbers:
            found[number] += _dumped(dump, op.name) if do_dumped_tensors else [op.name]
    return dict(found)


def _dumped(dump: Any, node_name: str) -> list[str]:
    return sorted({key.rpartition(":")[0] for key in dump.debug_watch_keys(node_name)})


def list_source_files_against_dump(
    dump: Any, path_regex_whitelist: str | None = None,
    node_name_regex_whitelist: str | None = None,
) -> list[tuple[str, bool, int, int, int, int]]:  # fmt: skip
    """(path, whether it is weft's, nodes, tensors, dumps, first line) of every file, by path."""
    if not dump.python_graph:
        raise ValueError(
            "Cannot generate source list due to a lack of set Python graph in the dump object"
        )
    nodes, first = defaultdict[str, set[Any]](set), dict[str, int]()
    for op in dump.python_graph.get_operations():
        if node_name_regex_whitelist and not re.match(node_name_regex_whitelist, op.name):
            continue
        for frame in dump.node_traceback(op.name):
            path = _absolute(frame[0])
            if path_regex_whitelist and not re.match(path_regex_whitelist, path):
                continue
            nodes[path].add(op)
            first[path] = min(frame[1], first.get(path, frame[1]))
    return [
        (path, guess_is_tensorflow_py_library(path), len(ops), *_counts(dump, ops), first[path])
        for path, ops in sorted(nodes.items()) if os.path.isfile(path)
    ]  # fmt: skip


def _counts(dump: Any, ops: set[Any]) -> tuple[int, int]:
    """How many tensors some operations have, and how many dumps there are of them."""
    keys = [key for op in ops for key in dump.debug_watch_keys(op.name)]
    return sum(len(op.outputs) for op in ops), sum(len(dump.watch_key_to_data(k)) for k in keys)
