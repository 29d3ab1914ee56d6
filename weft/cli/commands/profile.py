"""`weft profile`: the costliest lines of a program."""

from __future__ import annotations

import argparse
import linecache
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.cli.numbers import positive
from weft.cli.terminal import print_while_read

EXAMPLES = """\
  weft profile train.py --epochs 1      the ten costliest lines of a program
"""
_DESCRIPTION = """\
Runs a program as `weft run` does, and prints which of its lines cost most time: the lines that made
the operations that ran, also inside of compiled programs. Everything after PROGRAM is the
program's own. Times add up over threads; what belongs to no line is listed below.
"""


def add_parser(commands: Any) -> Any:
    parser = commands.add_parser(
        "profile", help="print the costliest lines of a program", description=_DESCRIPTION,
        usage="weft profile [-h] [--top N] PROGRAM [ARGS ...]",
    )  # fmt: skip
    parser.add_argument("--top", metavar="N", type=positive, default=10, help="so many lines (10)")
    parser.add_argument("target", metavar="PROGRAM", help="a Python file")
    parser.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS", help="of the program")
    return parser


@print_while_read
def run(arguments: Any) -> int:
    """Runs the program in a process of its own, then prints; its exit code is this one's."""
    from weft.core import flags
    from weft.runtime.recording.control import unpacked
    from weft.runtime.recording.environment import SUFFIX

    with tempfile.TemporaryDirectory(prefix="weft-profile-") as folder:
        environment = {**os.environ, flags.TRACE.name: folder, flags.TRACE_OPS.name: "all"}
        command = [sys.executable, "-m", "weft", "run", arguments.target, *arguments.args]
        code = subprocess.run(command, env=environment, check=False).returncode
        files = sorted(Path(folder).glob(f"*{SUFFIX}"))
        recordings = [unpacked(file.read_bytes()) for file in files]
    return _print(recordings, arguments.top, arguments.target) or code


def _print(recordings: list[Any], top: int, target: str) -> int:
    from weft.core.printable import escaped
    from weft.lib.profiler.costs import costs_of

    found = costs_of(recordings)
    if not found.total:
        sys.stdout.write(f"{escaped(target)} has run no step of a graph.\n")
        return 0
    rows = [("time", "share", "runs", "line", "")]
    for (path, number), cost in found.costliest(top):
        text = escaped(linecache.getline(path, number).strip())
        place = escaped(f"{os.path.relpath(path)}:{number}")
        rows.append((*_numbers(cost, found.total), place, text))
    for name, cost in sorted(found.apart.items(), key=lambda each: -each[1].micros):
        rows.append((*_numbers(cost, found.total), f"({name})", ""))
    _write(rows)
    sys.stdout.write(f"{found.total / 1e6:.3f} s in {found.steps} steps\n")
    return 0


def _numbers(cost: Any, total: float) -> tuple[str, str, str]:
    return f"{cost.micros / 1e3:,.3f} ms", f"{100 * cost.micros / total:.1f}%", f"{cost.runs:,.0f}"


def _write(rows: Sequence[Sequence[str]]) -> None:
    """Columns, the numbers to the right; on a terminal no line is wider than that."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widest = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in rows:
        numbers = [text.rjust(width) for text, width in zip(row[:3], widths, strict=False)]
        line = "  ".join([*numbers, row[3].ljust(widths[3]), row[4]]).rstrip()
        sys.stdout.write(f"{line[:widest]}\n")
