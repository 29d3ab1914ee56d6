"""The `weft` command: finds its commands in `cli/commands/` and runs one."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import platform
import sys
from collections.abc import Sequence
from types import ModuleType

from weft.cli import commands
from weft.cli.commands.run import split
from weft.cli.terminal import print_while_read


def find_commands(only: str = "") -> list[ModuleType]:
    """The modules of all commands, in the order of their names; or of the one that is asked for."""
    names = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    asked = only.replace("-", "_")
    chosen = [asked] if asked in names else names
    return [importlib.import_module(f"{commands.__name__}.{name}") for name in chosen]


def version() -> str:
    """weft's version and what it stands on, found without importing any of it."""
    import importlib.metadata

    try:
        own = importlib.metadata.version("weft")
    except importlib.metadata.PackageNotFoundError:
        own = "(not installed)"
    return (
        f"weft {own} (TensorFlow 1.15 API; Python {platform.python_version()}, "
        f"jax {importlib.metadata.version('jax')}, numpy {importlib.metadata.version('numpy')})"
    )


def parser(only: str = "") -> argparse.ArgumentParser:
    """The parser of the command line, of one command where `only` names it."""
    modules = find_commands(only)
    top = argparse.ArgumentParser(
        prog="weft",
        description="TensorFlow 1's graphs and sessions, on NumPy and XLA.",
        epilog="examples:\n" + "".join(module.EXAMPLES for module in modules),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="store_true", help="print the versions and exit")
    top.set_defaults(run=_print_about)
    added = top.add_subparsers(dest="command", metavar="COMMAND")
    for module in modules:
        module.add_parser(added).set_defaults(run=module.run)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    own, of_program = split(list(sys.argv[1:] if argv is None else argv))
    arguments = parser(*own[:1]).parse_args(own)
    if arguments.command == "run":
        arguments.args = of_program
    code: int = arguments.run(arguments)
    return code


@print_while_read
def _print_about(arguments: argparse.Namespace) -> int:
    if arguments.version:
        sys.stdout.write(version() + "\n")
        return 0
    parser().print_help()
    return 2


if __name__ == "__main__":
    sys.exit(main())
