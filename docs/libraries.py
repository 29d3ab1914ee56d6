"""Writes docs/libraries.md anew from reports of the tests of libraries: `libraries.py FOLDER`.

FOLDER has a folder NAME-VERSION for each library, with one or more files of reports: a line of JSON
for each test (`test`, `when`, `outcome`, `message`). Reasons are taken over from the page as it is;
a test that failed and has none there is given its message, to be replaced by a reason. Tests whose
reason begins with "needs" cannot run here, and do not count in the share that passes. What stands
before and after the part that is written stays as it is.
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


def tables(libraries: dict[str, Outcomes], reasons: dict[str, str]) -> str:
    """The counts, and for each library a table of what failed."""
    columns = "library", "passed", "failed", "cannot run here", "skipped", "share"
    lines = [f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]
    counts = {name: _counted(found, reasons) for name, found in libraries.items()}
    counts["all"] = sum(counts.values(), Counter())
    for name, of in counts.items():
        numbers = " | ".join(str(of[kind]) for kind in ("passed", "failed", "needs", "skipped"))
        share = 100 * of["passed"] / max(1, of["passed"] + of["failed"])
        lines.append(f"| {name} | {numbers} | {share:.1f} % |")
    for name, found in libraries.items():
        lines += _failures(name, found, reasons)
    return "\n".join(["", *lines, ""])


def _counted(found: Outcomes, reasons: dict[str, str]) -> Counter[str]:
    """How many tests passed, failed, were skipped, or need what is not here."""
    return Counter(
        "needs" if outcome == "failed" and reasons.get(test, "").startswith("needs") else outcome
        for test, (outcome, _) in found.items()
    )


def _failures(name: str, found: Outcomes, reasons: dict[str, str]) -> Iterator[str]:
    failed = {test: message for test, (outcome, message) in found.items() if outcome == "failed"}
    if not failed:
        return
    yield from ("", f"## {name}", "", "| test | reason |", "| --- | --- |")
    for test, message in failed.items():
        first = message.partition("\n")[0].replace("|", "/")[:160]
        yield f"| `{test}` | {reasons.get(test, first)} |"


def main(folder: str) -> None:
    text = PAGE.read_text()
    reasons = {row["test"]: row["reason"] for row in _ROW.finditer(text)}
    reports = sorted((each for each in Path(folder).iterdir() if each.is_dir()), key=_by_name)
    libraries = {" ".join(each.name.rsplit("-", 1)): outcomes(each) for each in reports}
    before, begin, written = text.partition(_BEGIN)
    after = "".join(written.partition(_END)[1:])
    PAGE.write_text(before + begin + tables(libraries, reasons) + after)


def _by_name(folder: Path) -> str:
    return folder.name.lower()


if __name__ == "__main__":
    main(sys.argv[1])
