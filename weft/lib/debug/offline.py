"""The offline analyzer: the debugger's prompt over a dump that was written before."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from weft.lib.debug.analyzer import create_analyzer_ui
from weft.lib.debug.dump import DebugDumpDir, has_inf_or_nan


def analyze(dump_root: str, ui_type: str = "curses", validate: bool = True) -> None:
    """Opens a prompt over a dump."""
    dump = DebugDumpDir(dump_root, validate=validate)
    ui = create_analyzer_ui(dump, {"has_inf_or_nan": has_inf_or_nan}, ui_type=ui_type)
    ui.run_ui(init_command="lt", title=f"tfdbg offline @ {dump_root}", title_color="black_on_white")


def _is_true(text: str) -> bool:
    return text.lower() == "true"


def main(argv: Sequence[str] | None = None) -> int:
    """`python -m tensorflow.python.debug.cli.offline_analyzer --dump_dir=...`"""
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump_dir", default="", help="the folder of one run's dump")
    parser.add_argument("--ui_type", default="curses", help="curses | readline")
    parser.add_argument("--log_usage", nargs="?", const=True, default=True, type=_is_true)
    parser.add_argument(
        "--validate_graph", nargs="?", const=True, default=True, type=_is_true,
        help="whether the order of the tensors is checked against the graph",
    )  # fmt: skip
    asked, _ = parser.parse_known_args(argv)
    if not asked.dump_dir:
        sys.stderr.write("ERROR: dump_dir flag is empty.\n")
        return 1
    sys.stdout.write(f"tfdbg offline: FLAGS.dump_dir = {asked.dump_dir}\n")
    analyze(asked.dump_dir, asked.ui_type, asked.validate_graph)
    return 0


def run_main() -> None:
    """The command `offline_analyzer`."""
    sys.exit(main())


if __name__ == "__main__":
    run_main()
