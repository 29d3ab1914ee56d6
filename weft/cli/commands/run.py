"""`weft run`: a program written for TensorFlow, on weft."""

from __future__ import annotations

from typing import Any

from weft.cli.terminal import complain

EXAMPLES = """\
  weft run train.py --batch_size 64     a program that says `import tensorflow as tf`
  weft run -m my_package.train          a module, as with python -m
  weft run notebook.ipynb               the code cells of a notebook, in order
"""
_HELP = """\
Runs a program written for TensorFlow 1 with weft in TensorFlow's place. The program is not
changed: `import tensorflow as tf`, `import tensorflow.compat.v1 as tf` and
`from tensorflow.python... import ...` find weft; names that are gone from Python, NumPy and other
libraries are there, Python 2 is translated. Everything after PROGRAM is the program's own.
"""


def add_parser(commands: Any) -> Any:
    run = commands.add_parser(
        "run",
        help="run a TensorFlow program on weft",
        description=_HELP,
        usage="weft run [-h] [--strict] PROGRAM [ARGS ...]\n"
        "       weft run [-h] [--strict] -m MODULE [ARGS ...]",
    )
    run.add_argument(
        "--strict", action="store_true", help="names that are gone are errors, as without weft"
    )
    program = "a Python file, a notebook, an installed command, or - for standard input"
    run.add_argument("-m", dest="is_module", action="store_true", help="PROGRAM is a module's name")
    run.add_argument("program", metavar="PROGRAM", help=program)
    return run


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """(weft's own arguments, those of the program that `run` names: passed on untouched)."""
    if argv[:1] != ["run"]:
        return argv, []
    end = 1
    while argv[end : end + 1] in (["--strict"], ["-m"]):
        end += 1
    return argv[: end + 1], argv[end + 1 :]


def run(arguments: Any) -> int:
    """Runs the program in this process; its exceptions leave through the interpreter."""
    from weft.cli import programs

    if arguments.strict:
        programs.be_strict()
    start = programs.run_module if arguments.is_module else programs.run_script
    try:
        start(arguments.program, arguments.args)
    except programs.CannotRun as error:
        complain("run", error)
        return 2
    return 0
