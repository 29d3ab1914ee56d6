"""`weft notebook`: a notebook written for TensorFlow, run on weft, its outputs written into it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from weft.cli.terminal import complain

EXAMPLES = """\
  weft notebook lesson.ipynb            runs it; lesson.out.ipynb has what it shows
"""
_HELP = """\
Runs the code cells of a notebook in their order, as `weft run` runs a script: TensorFlow is weft,
Python 2 is translated, no kernel and no Jupyter is needed. What cells show (text, values, figures,
errors) is written into a copy of the notebook.
"""


def add_parser(commands: Any) -> Any:
    notebook = commands.add_parser(
        "notebook", help="run a notebook and keep its outputs", description=_HELP
    )
    notebook.add_argument("file", metavar="FILE", help="a notebook (.ipynb)")
    where = notebook.add_mutually_exclusive_group()
    where.add_argument("--output", metavar="PATH", help="the copy (default: FILE.out.ipynb)")
    where.add_argument("--in-place", action="store_true", help="write into FILE itself")
    notebook.add_argument(
        "--allow-errors", action="store_true", help="go on after a cell that fails"
    )
    notebook.add_argument("--strict", action="store_true", help="as of `weft run`")
    return notebook


def run(arguments: Any) -> int:
    """Runs the notebook in this process; an error of a cell leaves through the interpreter."""
    from weft.cli import programs

    if arguments.strict:
        programs.be_strict()
    file = Path(arguments.file)
    target = Path(arguments.output) if arguments.output else file.with_suffix(".out.ipynb")
    target = file if arguments.in_place else target
    try:
        return programs.run_notebook(str(file), target.absolute(), arguments.allow_errors)
    except programs.CannotRun as error:
        complain("notebook", error)
        return 2
