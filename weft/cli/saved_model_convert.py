"""`weft saved-model freeze` and `optimize`: a signature as a file of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from weft.cli.saved_model_run import signature_of
from weft.core.printable import escaped

# Action -> its summary and its description.
ACTIONS = {
    "freeze": (
        "write a signature as a graph of constants",
        """\
Writes the part of a SavedModel that computes a signature as one GraphDef, in which variables are
constants.

  weft saved-model freeze export --output model.pb
""",
    ),
    "optimize": (
        "write a signature folded for inference",
        """\
Writes a signature as `freeze` does, without what only training needs, with constants computed and
batch norms folded into the convolutions before them; prints what each step changed.

  weft saved-model optimize export --output model.pb
""",
    ),
}


def add_arguments(parser: argparse.ArgumentParser, action: str) -> None:
    """Adds the options of an action."""
    parser.add_argument("--output", metavar="FILE", required=True, help="what is written")
    if action in ("freeze", "optimize"):
        parser.add_argument("--text", action="store_true", help="as text, not binary")


def run(arguments: argparse.Namespace, tags: str, key: str, graph_def: Any) -> None:
    """Writes what the action makes of the signature."""
    from weft.lib.tools import signature_graph

    signature = signature_of(graph_def, key)
    frozen = signature_graph.freeze_signature(arguments.folder, tags.split(","), signature)
    _RUN[arguments.action](arguments, frozen, graph_def.graph_def)


def _freeze(arguments: argparse.Namespace, frozen: Any, before: Any) -> None:
    from weft.lib.tools.signature_graph import frozen_variables

    count = len(frozen_variables(frozen.graph_def, before))
    _say([f"{count} variable{'' if count == 1 else 's'} frozen"])
    _write_graph(arguments, frozen)


def _optimize(arguments: argparse.Namespace, frozen: Any, before: Any) -> None:
    from weft.lib.tools.inference_passes import optimize_signature

    optimized, changes = optimize_signature(frozen)
    _say(str(change) for change in changes)
    _write_graph(arguments, optimized)


def _write_graph(arguments: argparse.Namespace, made: Any) -> None:
    from weft.lib.tools.node_defs import write_message
    from weft.lib.tools.signature_graph import tables_of

    write_message(made.graph_def, arguments.output, not arguments.text)
    for kind, infos in (("input", made.inputs), ("output", made.outputs)):
        _say(f"{kind} {key}: {info.name}" for key, info in infos.items())
    tables = tables_of(made.graph_def)
    if tables:
        _say([f"tables stay empty until they are initialized: {', '.join(tables)}"])
    count, size = len(made.graph_def.node), made.graph_def.ByteSize()
    _say([f"{count} nodes, {size} bytes are written to {arguments.output}"])


def _say(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{escaped(line)}\n" for line in lines)


_RUN = {"freeze": _freeze, "optimize": _optimize}
