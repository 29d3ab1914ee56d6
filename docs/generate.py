"""Writes the pages of docs/ that are printed from the code (`make docs`)."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent

FLAGS_PAGE = """\
# Switches

Set in the environment (`WEFT_DEBUG=2 python train.py`). This page is printed by `make docs` from
`weft/core/flags.py`, where every switch is declared.

{table}"""


def flags_page() -> str:
    from weft.core import flags

    return FLAGS_PAGE.format(table=flags.table())


def main() -> None:
    (HERE / "flags.md").write_text(flags_page())
    print("wrote docs/flags.md")


if __name__ == "__main__":
    main()
