"""saved_model_cli: `weft saved-model` with the arguments of TensorFlow's command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from weft.cli.commands import saved_model

# What is the same under both names, but for the folder, which comes with a flag.
_RUN_FLAGS = ("inputs", "input_exprs", "input_examples")


def create_parser() -> argparse.ArgumentParser:
    """The parser of `show` and `run`."""
    parser = argparse.ArgumentParser(
        description="saved_model_cli: Command-line interface for SavedModel"
    )
    parser.add_argument("-v", "--version", action="version", version="0.1.0")
    actions = parser.add_subparsers(title="commands", dest="action", required=True)
    show = actions.add_parser("show", help="list tag-sets, signatures, inputs and outputs")
    show.add_argument("--all", action="store_true", help="everything")
    run = actions.add_parser("run", help="feed a signature and print its outputs")
    for name in _RUN_FLAGS:
        run.add_argument(f"--{name}", default="")
    run.add_argument("--outdir", help="save outputs there, as KEY.npy")
    run.add_argument("--overwrite", action="store_true", help="even over files that exist")
    for each in (show, run):
        each.add_argument("--dir", dest="folder", required=True, help="folder of the SavedModel")
        each.add_argument("--tag_set", required=each is run, help="all tags of one of its graphs")
        each.add_argument("--signature_def", required=each is run, help="a signature of that graph")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    return saved_model.run(create_parser().parse_args(arguments))


def run_main() -> None:
    """The command `saved_model_cli`."""
    sys.exit(main())
