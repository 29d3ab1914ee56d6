"""inspect_checkpoint: prints the tensors of a checkpoint."""

from __future__ import annotations

import math
import re
import sys
from typing import Any

import numpy as np

from weft.core import errors
from weft.lib.tools import command_line
from weft.lib.tools.node_defs import say
from weft.lib.train.checkpoint.reader import NewCheckpointReader


def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: str | None,
    all_tensors: bool,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Prints one tensor, all of them or their names; else names, types and shapes.

    An error is printed too. Tensors that match the pattern are left out of the last line's count.
    """
    try:
        reader = NewCheckpointReader(file_name)
        shapes = reader.get_variable_to_shape_map()
        if all_tensors or all_tensor_names:
            for name in sorted(shapes):
                _print_tensor(reader, name, all_tensors)
        elif tensor_name:
            _print_tensor(reader, tensor_name, True)
        else:
            say(reader.debug_string().decode())
        say(f"# Total number of params: {_count(shapes, count_exclude_pattern)}")
    except (errors.OpError, RuntimeError, ValueError) as error:
        say(str(error))
        if isinstance(error, errors.DataLossError) and re.search(r"\.(index|meta|data)", file_name):
            say(
                "\nIt's likely that this is a V2 checkpoint and you need to provide the filename\n"
                "*prefix*.  Try removing the '.' and extension.  Try:\n"
                f"inspect checkpoint --file_name = {file_name.rpartition('.')[0]}"
            )


def _print_tensor(reader: Any, name: str, with_value: bool) -> None:
    say(f"tensor_name:  {name}")
    if with_value:
        say(str(reader.get_tensor(name)))


def _count(shapes: dict[str, list[int]], exclude: str) -> int:
    left_out = {name for name in shapes if exclude and re.search(exclude, name)}
    if exclude:
        params = sum(math.prod(shapes[name]) for name in left_out)
        say(
            f"# Excluding {len(left_out)} tensors ({params} params) that match {exclude} when"
            " counting."
        )
    return sum(math.prod(shape) for name, shape in shapes.items() if name not in left_out)


_FLAGS: tuple[command_line.Flag, ...] = (
    ("file_name", "", "prefix of the checkpoint"),
    ("tensor_name", "", "the tensor to print"),
    ("count_exclude_pattern", "", "regular expression of names that are not counted"),
    ("all_tensors", False, "print every tensor"),
    ("all_tensor_names", False, "print the names of all tensors"),
    ("printoptions", "", "an option of numpy.set_printoptions: name=value"),
)


def run_main() -> None:
    """The command `inspect_checkpoint`."""
    flags = vars(command_line.parse(_FLAGS))
    if not flags["file_name"]:
        say(
            "Usage: inspect_checkpoint --file_name=checkpoint_file_name "
            "[--tensor_name=tensor_to_print] [--all_tensors] [--all_tensor_names] [--printoptions]"
        )
        sys.exit(1)
    name, _, value = flags.pop("printoptions").partition("=")
    if name:
        settings: Any = dict(np.get_printoptions())
        kind = type(settings[name])
        settings[name] = value == "True" if kind is bool else kind(value)
        np.set_printoptions(**settings)
    print_tensors_in_checkpoint_file(**flags)
