"""`weft check`: what an old program needs, before anything of it runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli.terminal import print_while_read

if TYPE_CHECKING:
    from rich.console import Console

    from weft.legacy.checking.program import Finding, Report

EXAMPLES = """\
  weft check project/                   what a program needs, before it runs
"""

_HELP = """\
Reads every Python file and notebook at or below PATH, without running any: TensorFlow's names
that weft lacks, old names that `weft run` translates, packages, data. Exits with 1 when something
is lacking.
"""
_TITLES = (
    ("syntax", "Cannot be read"),
    ("lacking", "Not in weft"),
    ("package", "Not installed"),
    ("old", "Translated by weft run"),
)


def add_parser(commands: Any) -> Any:
    check = commands.add_parser(
        "check", help="say what a TensorFlow program needs, without running it", description=_HELP
    )
    check.add_argument("path", metavar="PATH", help="a Python file, a notebook or a folder")
    check.add_argument("--json", action="store_true", help="print everything as one JSON object")
    return check


@print_while_read
def run(arguments: argparse.Namespace) -> int:
    """Runs `check`; returns the exit code."""
    from weft.legacy.checking.program import check
    from weft.legacy.checking.sources import CannotRead

    try:
        report = check(Path(arguments.path))
    except CannotRead as error:
        sys.stderr.write(f"weft check: {error}\n")
        return 2
    if arguments.json:
        sys.stdout.write(json.dumps(as_json(report), indent=2) + "\n")
    else:
        show(report)
    return 0 if report.is_fine else 1


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain lists and dictionaries."""
    return {
        "path": str(report.path),
        "verdict": report.verdict,
        "fine": report.is_fine,
        "files": [
            {"file": str(each.path), "python": each.python, "error": each.error}
            for each in report.sources
        ],
        "findings": [{**vars(each), "file": str(each.file)} for each in report.findings],
        "packages": [vars(each) for each in report.packages],
        "data": [
            {
                "path": datum.path,
                "file": str(source.path),
                "line": source.place(datum.offset)[1],
                "exists": datum.exists,
                "flag": datum.flag,
                "written": datum.is_written,
            }
            for source, datum in report.data
        ],
        "next": next_steps(report),
    }


def show(report: Report) -> None:
    """Prints the report for people."""
    from rich.console import Console

    console = Console(markup=False, highlight=False, emoji=False)
    count = len(report.sources)
    pythons = _pythons(report)
    console.print(f"{count} {'file' if count == 1 else 'files'}, {pythons}", soft_wrap=True)
    for kind, title in _TITLES:
        _show_findings(console, title, report.of(kind))
    _show_findings(
        console, "Only tried, or for another version", (f for f in report.findings if f.tried)
    )
    _show_data(console, report)
    console.print()
    console.print(f"Verdict: {report.verdict}", style="bold", soft_wrap=True)
    for step in next_steps(report):
        console.print(f"  {step}", soft_wrap=True)


def _pythons(report: Report) -> str:
    old = len(report.python2)
    if not old:
        return "Python 3"
    return "Python 2" if old == len(report.sources) else f"{old} of them Python 2"


def _show_findings(console: Console, title: str, findings: Iterable[Finding]) -> None:
    """Findings by name: the name once, then its places."""
    by_name: dict[tuple[str, str], list[str]] = {}
    for each in findings:
        by_name.setdefault((each.name, each.advice), []).append(each.where)
    if not by_name:
        return
    console.print()
    console.print(title, style="bold")
    for (name, advice), places in sorted(by_name.items()):
        console.print(f"  {_printable(name)}{f': {advice}' if advice else ''}", soft_wrap=True)
        for place in places:
            console.print(f"    {_printable(place)}", style="dim", soft_wrap=True)


def _show_data(console: Console, report: Report) -> None:
    if not report.data:
        return
    console.print()
    console.print("Files and folders it names", style="bold")
    seen = set()
    for source, datum in report.data:
        if datum.path in seen:
            continue
        seen.add(datum.path)
        state = "there" if datum.exists else "will be made" if datum.is_written else "not there"
        option = f", --{datum.flag}" if datum.flag else ""
        where = source.where(datum.offset)
        text = f"  {_printable(datum.path)}: {state} ({_printable(where + option)})"
        console.print(text, soft_wrap=True)


def _printable(text: str) -> str:
    """Names of others, with what would move the cursor or colour the terminal escaped."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def next_steps(report: Report) -> list[str]:
    """What to do about it, in order."""
    installable = [
        each.advice.removeprefix("pip install ")
        for each in report.missing_packages
        if each.status == "missing"
    ]
    steps = []
    if installable:
        steps.append(f"pip install {' '.join(dict.fromkeys(installable))}")
    if report.lacking:
        steps.append("change or leave out the names that are not in weft (see the places above)")
    if any(each.status == "gone" for each in report.missing_packages):
        steps.append("replace the packages that are gone")
    if report.is_fine or not report.of("syntax"):
        program = report.path if report.path.is_file() else "PROGRAM"
        steps.append(f"weft run {program}")
        steps.append(f"weft upgrade {report.path}  (to see it with `import weft as tf`)")
    return steps
