"""The `weft` command."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sys
from collections.abc import Sequence
from typing import Any

from weft.cli import check, completion, credentials, launch, saved_model, upgrade
from weft.cli.numbers import count, positive
from weft.cli.terminal import complain

# As a shell reports a process that wrote to a pipe without a reader.
_ENDED_BY_PIPE = 128 + 13

_RUN_HELP = """\
runs a program written for TensorFlow 1 with weft in TensorFlow's place. The program is not
changed: `import tensorflow as tf`, `import tensorflow.compat.v1 as tf` and
`from tensorflow.python... import ...` find weft; names that are gone from Python, NumPy and other
libraries are there, Python 2 is translated. Everything after PROGRAM is the program's own.
"""

_EXAMPLES = """\
examples:
  weft run train.py --batch_size 64     a program that says `import tensorflow as tf`
  weft run -m my_package.train          a module, as with python -m
  weft run notebook.ipynb               the code cells of a notebook, in order
  weft devices                          where graphs can run on this machine
  weft checkpoint show model.ckpt-1000  what a checkpoint holds
  weft saved-model show export --all    the signatures of a SavedModel
  weft check project/                   what a program needs, before it runs
  weft upgrade train.py                 the same program with `import weft as tf`, as a diff
  weft server --cluster 'ps=localhost:2222;worker=localhost:2223' --job ps --task 0
                                        one task of a cluster
  weft launch --ps 2 --workers 4 train.py
                                        a whole cluster on this machine
  weft completion bash                  a script that completes these in a shell
"""


def version() -> str:
    """weft's version and what it stands on, found without importing any of it."""
    try:
        own = importlib.metadata.version("weft")
    except importlib.metadata.PackageNotFoundError:
        own = "(not installed)"
    return (
        f"weft {own} (TensorFlow 1.15 API; Python {platform.python_version()}, "
        f"jax {importlib.metadata.version('jax')}, numpy {importlib.metadata.version('numpy')})"
    )


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="weft",
        description="TensorFlow 1's graphs and sessions, on NumPy and XLA.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="store_true", help="print the versions and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    run = commands.add_parser(
        "run",
        help="run a TensorFlow program on weft",
        description="weft run " + _RUN_HELP,
        usage="weft run [-h] [--strict] PROGRAM [ARGS ...]\n"
        "       weft run [-h] [--strict] -m MODULE [ARGS ...]",
    )
    run.add_argument(
        "--strict", action="store_true", help="names that are gone are errors, as without weft"
    )
    program = "a Python file, a notebook, an installed command, or - for standard input"
    run.add_argument("-m", dest="is_module", action="store_true", help="PROGRAM is a module's name")
    run.add_argument("program", metavar="PROGRAM", help=program)
    commands.add_parser(
        "devices",
        help="list the devices of this machine",
        description="Lists where graphs can run on this machine: the host, and what XLA sees.",
    )
    check.add_parser(commands)
    upgrade.add_parser(commands)
    _add_checkpoint(commands)
    saved_model.add_parser(commands)
    _add_server(commands)
    launch.add_parser(commands)
    completion.add_parser(commands)
    return top


def _add_checkpoint(commands: Any) -> None:
    checkpoint = commands.add_parser("checkpoint", help="look into a checkpoint")
    actions = checkpoint.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = actions.add_parser(
        "show",
        help="list names, types, shapes and sizes",
        description="Lists the tensors of a checkpoint, written by weft or by TensorFlow.",
    )
    where = "a checkpoint's prefix or one of its files, or a folder (its latest)"
    show.add_argument("path", metavar="PATH", help=where)
    show.add_argument(
        "--values", metavar="NAME", action="append", help="print the values of this tensor"
    )


def _add_server(commands: Any) -> None:
    server = commands.add_parser(
        "server",
        help="run one task of a cluster",
        description="Serves a task of a cluster until it is stopped. What the options leave out,"
        " TF_CONFIG says.",
    )
    where = "the addresses by job, as 'ps=host:port,host:port;worker=host:port', or as JSON"
    server.add_argument("--cluster", metavar="SPEC", help=where)
    server.add_argument("--job", metavar="NAME", help="the job of this task")
    server.add_argument("--task", metavar="N", type=count, help="its number in the job (0)")
    credentials.add_arguments(server)
    server.add_argument(
        "--insecure", action="store_true",
        help="listen to other machines without a token or TLS: anyone who reaches the port may run"
        " anything",
    )  # fmt: skip
    files = server.add_argument_group("files that graphs may read and write (default: all)")
    only = files.add_mutually_exclusive_group()
    only.add_argument("--no-file-ops", action="store_true", help="none")
    only.add_argument("--file-root", metavar="DIR", help="those below this folder")
    limits = server.add_argument_group("limits (default: what the WEFT_MAX_* switches say)")
    limits.add_argument("--max-sessions", metavar="N", type=positive, help="sessions at once")
    for name, what in (
        ("message", "one message"),
        ("held", "tensors that wait for other tasks"),
        ("graphs", "graphs"),
    ):
        limits.add_argument(f"--max-{name}", metavar="MB", type=positive, help=f"memory for {what}")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    own, programs = split(list(sys.argv[1:] if argv is None else argv))
    arguments = parser().parse_args(own)
    if arguments.command == "run":
        return _run(arguments, programs)
    if arguments.command == "server":
        from weft.cli import server

        return server.run(arguments)
    if arguments.command == "launch":
        return launch.run(arguments)
    return _print(arguments)


def _print(arguments: argparse.Namespace) -> int:
    """A command that prints, for as long as somebody reads it: `weft saved-model show m | head`."""
    try:
        code = _show(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # What is still buffered must not fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _ENDED_BY_PIPE


def _show(arguments: argparse.Namespace) -> int:
    if arguments.version:
        sys.stdout.write(version() + "\n")
        return 0
    if arguments.command == "check":
        return check.run(arguments)
    if arguments.command == "upgrade":
        return upgrade.run(arguments)
    if arguments.command == "checkpoint":
        from weft.cli import checkpoint

        return checkpoint.run(arguments)
    if arguments.command == "completion":
        sys.stdout.write(completion.script(arguments.shell, parser()))
        return 0
    if arguments.command == "saved-model":
        return saved_model.run(arguments)
    if arguments.command == "devices":
        from weft.cli import devices

        devices.show()
        return 0
    parser().print_help()
    return 2


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """(weft's own arguments, those of the program that `run` names: passed on untouched)."""
    if argv[:1] != ["run"]:
        return argv, []
    end = 1
    while argv[end : end + 1] in (["--strict"], ["-m"]):
        end += 1
    return argv[: end + 1], argv[end + 1 :]


def _run(arguments: argparse.Namespace, args: list[str]) -> int:
    from weft.cli import run

    if arguments.strict:
        run.be_strict()
    start = run.run_module if arguments.is_module else run.run_script
    try:
        start(arguments.program, args)
    except run.CannotRun as error:
        complain("run", error)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
