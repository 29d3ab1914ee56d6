"""`weft debug`: the debugger's prompt over a dump."""

from __future__ import annotations

from typing import Any

from weft.cli.terminal import complain

EXAMPLES = """\
  weft debug /tmp/tfdbg/run_1_0         the tensors that a run dumped
"""


def add_parser(commands: Any) -> Any:
    debug = commands.add_parser(
        "debug",
        help="look at the tensors that a run dumped",
        description="Opens tfdbg's prompt over a dump: the folder of one run, as"
        " DumpingDebugWrapperSession writes it (docs/debugging.md).",
    )
    debug.add_argument("dump", metavar="FOLDER", help="the folder of one run")
    debug.add_argument(
        "--ui", choices=["curses", "readline"], default="curses",
        help="fill the terminal (needs weft[debug]), or go by lines",
    )  # fmt: skip
    debug.add_argument(
        "--no-validate", dest="validate", action="store_false",
        help="do not check the order of the tensors against the graph",
    )  # fmt: skip
    return debug


def run(arguments: Any) -> int:
    """Asks for commands until the user leaves."""
    from weft.lib.debug.offline import analyze

    try:
        analyze(arguments.dump, arguments.ui, arguments.validate)
    except (OSError, ValueError) as error:
        complain("debug", error)
        return 1
    return 0
