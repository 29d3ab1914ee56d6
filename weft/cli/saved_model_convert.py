"""`weft saved-model freeze`, `optimize` and `export`: a signature as a file of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import Any

from weft.cli.numbers import positive
from weft.cli.saved_model_run import inputs_of, signature_of
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
    "export": (
        "write a signature for other systems",
        """\
Writes a signature as a StableHLO artifact, a function of a dict of arrays that jax.export loads.
Sizes that the signature leaves open stay open where that can be traced. What was written is loaded
again and compared with weft on the inputs that are given, else on random ones.

  weft saved-model export model --to stablehlo --output model.stablehlo
  python -c 'import jax; f = jax.export.deserialize(open("model.stablehlo", "rb").read()); ...'
""",
    ),
}


def add_arguments(parser: argparse.ArgumentParser, action: str) -> None:
    """Adds the options of an action."""
    parser.add_argument("--output", metavar="FILE", required=True, help="what is written")
    if action in ("freeze", "optimize"):
        parser.add_argument("--text", action="store_true", help="as text, not binary")
    if action == "export":
        parser.add_argument("--to", choices=sorted(_EXPORT), required=True, help="the format")
        parser.add_argument(
            "--batch_size", metavar="N", type=positive, default=1, help="where it must be known"
        )
    if action == "export":
        for name in ("inputs", "input_exprs", "input_examples"):
            parser.add_argument(
                f"--{name}", metavar="KEY=...", default="", help="values to compare with, as in run"
            )


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


def _export(arguments: argparse.Namespace, frozen: Any, before: Any) -> None:
    from weft.lib.tools.inference_passes import optimize_signature

    _EXPORT[arguments.to](arguments, frozen, optimize_signature(frozen)[0])


def _export_stablehlo(arguments: argparse.Namespace, frozen: Any, optimized: Any) -> None:
    from weft.lib.tools import stablehlo

    given = _given(arguments, frozen)
    sizes = {key: value.shape for key, value in (given or {}).items()}
    made = stablehlo.export_stablehlo(optimized, sizes, arguments.batch_size)
    content = stablehlo.serialized(made)
    if made.fixed_because is not None:
        _say([f"sizes are fixed, for open ones cannot be traced: {made.fixed_because}"])
    for key, dims in made.shapes.items():
        _say([f"input {key}: ({', '.join('?' if n is None else str(n) for n in dims)})"])
    trials = stablehlo.trials(optimized, made) if given is None else [given]
    _compare(frozen, trials, lambda values: stablehlo.called(content, values))
    _write_bytes(arguments.output, content)


def _given(arguments: argparse.Namespace, frozen: Any) -> dict[str, Any] | None:
    """The inputs of the command line; None if there are none."""
    from weft.lib.tools.compare_outputs import as_inputs

    if not (arguments.inputs or arguments.input_exprs or arguments.input_examples):
        return None
    return as_inputs(frozen, inputs_of(arguments))


def _compare(frozen: Any, trials: list[Any], call: Callable[[Any], Any]) -> None:
    """Prints how far what was exported is from weft; ValueError if it is too far."""
    from weft.lib.tools.compare_outputs import check_close, differences
    from weft.lib.tools.signature_graph import run_signature

    for values in trials:
        expected, found = run_signature(frozen, values), call(values)
        check_close(expected, found)
        _say(str(each) for each in differences(expected, found))


def _write_bytes(path: str, content: bytes) -> None:
    from weft.storage import file_io

    with file_io.FileIO(path, "wb") as file:
        file.write(content)
    _say([f"{len(content)} bytes are written to {path}"])


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


_RUN = {"freeze": _freeze, "optimize": _optimize, "export": _export}
_EXPORT = {"stablehlo": _export_stablehlo}
