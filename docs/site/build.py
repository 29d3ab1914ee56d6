"""Builds the documentation as a site: python docs/site/build.py (`make docs`); needs weft[docs].

The pages of the repository are copied in their places, so that links between them hold; the tour is
run, and the reference printed from the docstrings. A warning of mkdocs ends the build.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SOURCE = ROOT / "build" / "site-source"
TOUR = """\
# A tour: one step, stage by stage

`python docs/tour.py` prints this page; the program is below.

```text
{told}
```

## The program

```python
{program}
```
"""


def copy_pages() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        target = SOURCE / page.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(linked(page))


def linked(page: Path) -> str:
    """The text of a page; a link to a file that is no page becomes the name of the file."""

    def shown(match: re.Match[str]) -> str:
        path = match[2].partition("#")[0]
        is_page = "://" in path or path.endswith(".md") or not path
        return match[0] if is_page else f"`{match[1].strip('`')}`"

    return re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", shown, page.read_text())


def write_tour() -> None:
    program = ROOT / "docs" / "tour.py"
    run = [sys.executable, str(program)]
    told = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    text = TOUR.format(told=told.strip().replace(str(ROOT) + "/", ""), program=program.read_text())
    (SOURCE / "docs" / "tour.md").write_text(text)


def write_configuration(pages: list[str]) -> Path:
    """mkdocs.yml with the pages of the reference in its place."""
    lines = "".join(f"\n      - {page}" for page in pages)
    text = (HERE / "mkdocs.yml").read_text().replace("API: REFERENCE", f"API:{lines}")
    path = ROOT / "build" / "mkdocs.yml"
    path.write_text(text.replace("../../build/", ""))
    return path


def main() -> int:
    import reference

    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    copy_pages()
    write_tour()
    configuration = write_configuration(reference.write(SOURCE))
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean"]
    # The theme prints an advertisement for its successor, which would look like a warning.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.call([*command, "--config-file", str(configuration)], env=environment)


if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(ROOT)]
    sys.exit(main())
