"""`weft checkpoint show`: what is in a checkpoint."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from weft.cli.terminal import complain, print_while_read
from weft.core import errors
from weft.core.printable import escaped, escaped_lines
from weft.lib.train.checkpoint.management import checkpoint_exists, latest_checkpoint
from weft.lib.train.checkpoint.reader import CheckpointReader

EXAMPLES = """\
  weft checkpoint show model.ckpt-1000  what a checkpoint holds
"""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def add_parser(commands: Any) -> Any:
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
    return checkpoint


@print_while_read
def run(arguments: argparse.Namespace) -> int:
    """Runs `checkpoint show`; returns the exit code."""
    try:
        prefix = find(arguments.path)
        reader = CheckpointReader(prefix)
        if arguments.values:
            for name in arguments.values:
                print_values(reader, name)
        else:
            print_list(reader, prefix)
    except errors.OpError as error:
        complain("checkpoint", error.message)
        return 1
    return 0


def find(path: str) -> str:
    """The prefix of the checkpoint that `path` means."""
    if Path(path).is_dir():
        latest = latest_checkpoint(path)
        if latest is None:
            raise errors.NotFoundError(None, None, f"{path} holds no checkpoint")
        return latest
    prefix = re.sub(r"\.(index|meta|data-\d{5}-of-\d{5})$", "", path)
    if checkpoint_exists(prefix):
        return prefix
    raise errors.NotFoundError(None, None, f"there is no checkpoint at {path}")


def print_list(reader: CheckpointReader, prefix: str) -> None:
    from rich.console import Console
    from rich.table import Table

    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    table = Table(box=None, pad_edge=False)
    for title in ("name", "type", "shape"):
        table.add_column(title, overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    total = 0
    for name in sorted(shapes):
        count = reader.byte_count(name)
        total += count
        shape = " x ".join(map(str, shapes[name])) or "scalar"
        table.add_row(escaped(name), types[name].name, shape, size_text(count))
    console = Console(markup=False, highlight=False)
    console.print(table)
    console.print(f"{len(shapes)} tensors, {size_text(total)} in {escaped(prefix)}", soft_wrap=True)


def print_values(reader: CheckpointReader, name: str) -> None:
    value = reader.get_tensor(name)
    with np.printoptions(threshold=1000, edgeitems=5):
        sys.stdout.write(f"{escaped(name)} =\n{escaped_lines(value)}\n")


def size_text(count: int) -> str:
    """A number of bytes for people: 512 B, 1.5 KiB."""
    size, unit = float(count), 0
    while size >= 1024 and unit + 1 < len(_UNITS):
        size, unit = size / 1024, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{count} B"
