"""Writes docs/libraries.md anew from reports of the tests of libraries: `libraries.py FOLDER`.

FOLDER has a folder NAME-VERSION for each library, with one or more files of reports: a line of JSON
for each test (`test`, `when`, `outcome`, `message`). Reasons are taken over from the page as it is;
a test that failed and has none there is given its message, to be replaced by a reason. Tests whose
reason begins with "needs" cannot run here, and do not count in the share that passes. A library
that has no folder keeps its counts and its table. What stands before and after the part that is
written stays as it is.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).with_suffix(".md")
_ROW = re.compile(r"^\| `(?P<test>[^`]+)` \| (?P<reason>.*) \|$", re.MULTILINE)
_COUNTS = re.compile(
    r"^\| (?P<name>\S+ \S+) \|(?P<numbers>( \d+ \|){4}) [\d.]+ % \|$", re.MULTILINE
)
_SECTION = re.compile(r"^## (?P<name>.+)\n\n(?P<table>(\|.*\n)+)", re.MULTILINE)
_KINDS = "passed", "failed", "needs", "skipped"
_BEGIN = "\n<!-- From here on, this page is written by docs/libraries.py. -->\n"
_END = "\n<!-- Up to here, this page is written by docs/libraries.py. -->\n"

Outcomes = dict[str, tuple[str, str]]


def outcomes(folder: Path) -> Outcomes:
    """Test -> (outcome, message); a file that could not be imported counts as one that failed."""
    found: Outcomes = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            if found.get(record["test"], ("", ""))[0] != "failed":
                found[record["test"]] = record["outcome"], record["message"]
    return found


def tables(libraries: dict[str, Outcomes], written: str) -> str:
    """The counts, and for each library a table of what failed; `written` is what stood there."""
    reasons = {row["test"]: row["reason"] for row in _ROW.finditer(written)}
    counts = {row["name"]: _read(row["numbers"]) for row in _COUNTS.finditer(written)}
    failures = {each["name"]: each["table"].splitlines() for each in _SECTION.finditer(written)}
    counts |= {name: _counted(found, reasons) for name, found in libraries.items()}
    failures |= {name: list(_failures(found, reasons)) for name, found in libraries.items()}
    columns = "library", "passed", "failed", "cannot run here", "skipped", "share"
    lines = [f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]
    names = sorted(counts, key=str.lower)
    counts["all"] = sum(counts.values(), Counter())
    for name in (*names, "all"):
        of = counts[name]
        numbers = " | ".join(str(of[kind]) for kind in _KINDS)
        share = 100 * of["passed"] / max(1, of["passed"] + of["failed"])
        lines.append(f"| {name} | {numbers} | {share:.1f} % |")
    for name in names:
        if failures.get(name):
            lines += ["", f"## {name}", "", *failures[name]]
    return "\n".join(["", *lines, ""])


def _read(numbers: str) -> Counter[str]:
    """The counts of a row of the page."""
    return Counter(dict(zip(_KINDS, map(int, re.findall(r"\d+", numbers)), strict=True)))


def _counted(found: Outcomes, reasons: dict[str, str]) -> Counter[str]:
    """How many tests passed, failed, were skipped, or need what is not here."""
    return Counter(
        "needs" if outcome == "failed" and reasons.get(test, "").startswith("needs") else outcome
        for test, (outcome, _) in found.items()
    )


def _failures(found: Outcomes, reasons: dict[str, str]) -> Iterator[str]:
    failed = {test: message for test, (outcome, message) in found.items() if outcome == "failed"}
    if not failed:
        return
    yield from ("| test | reason |", "| --- | --- |")
    for test, message in failed.items():
        first = message.partition("\n")[0].replace("|", "/")[:160]
        yield f"| `{test}` | {reasons.get(test, first)} |"


def main(folder: str) -> None:
    before, begin, rest = PAGE.read_text().partition(_BEGIN)
    written, end, after = rest.partition(_END)
    reports = [each for each in Path(folder).iterdir() if each.is_dir()]
    libraries = {" ".join(each.name.rsplit("-", 1)): outcomes(each) for each in reports}
    PAGE.write_text(before + begin + tables(libraries, written) + end + after)


if __name__ == "__main__":
    main(sys.argv[1])
