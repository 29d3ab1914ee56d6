"""`weft cache`: the compiled programs that are kept for the next run."""

from __future__ import annotations

import sys
import time
from typing import Any

from weft.cli.terminal import print_while_read
from weft.core import cache, flags
from weft.core.printable import escaped

EXAMPLES = """\
  weft cache show                       what is kept of compiled programs, and where
"""
_DAY = 86400.0


def add_parser(commands: Any) -> Any:
    parser = commands.add_parser(
        "cache",
        help="show or empty the cache of compiled programs",
        description="Compiled programs are kept for the next run, up to WEFT_CACHE_LIMIT megabytes"
        " in the folder that WEFT_CACHE names (by default the user's cache folder).",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("show", help="where it is, how much is in it, and how much may be")
    actions.add_parser("clear", help="remove what is in it; what is needed is compiled again")
    return parser


@print_while_read
def run(arguments: Any) -> int:
    """Prints what is kept, or removes it."""
    if arguments.action == "clear":
        removed = cache.clear()
        sys.stdout.write(f"removed {_counted(removed)}\n")
        return 0
    for title, text in _about().items():
        sys.stdout.write(f"{title + ':':<9}{escaped(text)}\n")
    return 0


def _about() -> dict[str, str]:
    folder = flags.cache_directory()
    if folder is None:
        return {"folder": "none (WEFT_CACHE=0)"}
    found = cache.entries()
    limit = f"{flags.CACHE_LIMIT.value} MB" if flags.CACHE_LIMIT else "none"
    about = {"folder": folder, "limit": f"{limit} (WEFT_CACHE_LIMIT)", "holds": _counted(found)}
    if found:
        about["oldest"] = f"last used {(time.time() - found[0].used) / _DAY:.0f} days ago"
    return about


def _counted(entries: list[cache.Entry]) -> str:
    programs = sum(entry.is_program for entry in entries)
    megabytes = sum(entry.size for entry in entries) / 2**20
    return f"{programs} programs, {len(entries) - programs} other files, {megabytes:.1f} MB"
