"""`weft saved-model freeze`, `optimize`, `quantize`, `export`: a signature as a file of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from weft.cli.numbers import positive
from weft.cli.saved_model_run import inputs_of, signature_of
from weft.core.printable import escaped

_RANDOM_ROWS = 64

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
    "quantize": (
        "write a signature with weights in int8 or bfloat16",
        """\
Writes a signature as a SavedModel (or, with --graph, a GraphDef), with large weights in 8 or 16
bits, of which floats are made where they are used; an int8 has a scale for each output channel.
Prints the weights that were rounded, and how far outputs are from those of before on the inputs
that are given, else on random ones.

  weft saved-model quantize export --output small --inputs 'x=test.npz[images]'
  weft saved-model quantize export --to bfloat16 --output small
""",
    ),
    "export": (
        "write a signature for other systems",
        """\
Writes a signature as a StableHLO artifact, a function of a dict of arrays that jax.export loads,
or as an ONNX model. Sizes that the signature leaves open stay open where that can be traced. What
was made is loaded again (by onnxruntime, of ONNX) and compared with weft on the inputs that are
given, else on random ones, before it is written.

  weft saved-model export model --to onnx --output model.onnx
  weft saved-model export model --to stablehlo --output model.stablehlo
  python -c 'import jax; f = jax.export.deserialize(open("model.stablehlo", "rb").read()); ...'
""",
    ),
}


class Asked(NamedTuple):
    """The signature that the command line names, and the graph it is of."""

    tags: list[str]
    key: str
    signature: Any
    graph_def: Any


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
    if action == "quantize":
        parser.add_argument(
            "--to", choices=("int8", "bfloat16"), default="int8", help="the type of the weights"
        )
        parser.add_argument("--graph", action="store_true", help="write a GraphDef")
        parser.add_argument(
            "--fewest", metavar="N", type=positive, default=1024,
            help="weights with fewer elements stay as they are",
        )  # fmt: skip
    if action in ("export", "quantize"):
        for name in ("inputs", "input_exprs", "input_examples"):
            parser.add_argument(
                f"--{name}", metavar="KEY=...", default="", help="values to compare with, as in run"
            )


def run(arguments: argparse.Namespace, tags: str, key: str, graph_def: Any) -> None:
    """Writes what the action makes of the signature."""
    from weft.lib.tools import signature_graph

    signature = signature_of(graph_def, key)
    frozen = signature_graph.freeze_signature(arguments.folder, tags.split(","), signature)
    asked = Asked(tags.split(","), key, signature, graph_def.graph_def)
    _RUN[arguments.action](arguments, frozen, asked)


def _freeze(arguments: argparse.Namespace, frozen: Any, asked: Asked) -> None:
    from weft.lib.tools.signature_graph import frozen_variables

    count = len(frozen_variables(frozen.graph_def, asked.graph_def))
    _say([f"{count} variable{'' if count == 1 else 's'} frozen"])
    _write_graph(arguments, frozen)


def _optimize(arguments: argparse.Namespace, frozen: Any, asked: Asked) -> None:
    from weft.lib.tools.inference_passes import optimize_signature

    optimized, changes = optimize_signature(frozen)
    _say(str(change) for change in changes)
    _write_graph(arguments, optimized)


def _quantize(arguments: argparse.Namespace, frozen: Any, asked: Asked) -> None:
    from weft.lib.tools.compare_outputs import differences, random_inputs
    from weft.lib.tools.inference_passes import optimize_signature
    from weft.lib.tools.signature_graph import run_signature
    from weft.lib.tools.weight_quantization import quantize_signature
    from weft.lib.tools.write_saved_model import write_saved_model

    optimized, _ = optimize_signature(frozen)
    made, done = quantize_signature(optimized, arguments.to, arguments.fewest)
    _say(f"{arguments.to}: {each}" for each in done)
    if not done:
        raise ValueError(f"there are no weights of {arguments.fewest} elements or more to quantize")
    values = _given(arguments, frozen) or random_inputs(frozen, _RANDOM_ROWS)
    expected, found = run_signature(frozen, values), run_signature(made, values)
    before, after = optimized.graph_def.ByteSize(), made.graph_def.ByteSize()
    if arguments.graph:
        _write_graph(arguments, made)
    else:
        write_saved_model(made, arguments.output, asked.tags, asked.key, asked.signature)
    _say([f"{before} bytes before, {after} after, are written to {arguments.output}"])
    _say(str(each) for each in differences(expected, found))


def _export(arguments: argparse.Namespace, frozen: Any, asked: Asked) -> None:
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


def _export_onnx(arguments: argparse.Namespace, frozen: Any, optimized: Any) -> None:
    from weft.lib.tools import onnx_export
    from weft.lib.tools.compare_outputs import random_inputs

    given = _given(arguments, frozen)
    content = onnx_export.export_onnx(optimized)
    trials = [random_inputs(frozen, size) for size in (2, 3)] if given is None else [given]
    keys = list(frozen.outputs)
    _compare(frozen, trials, lambda values: onnx_export.run_onnx(content, values, keys))
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

    write_message(made.graph_def, arguments.output, not getattr(arguments, "text", False))
    for kind, infos in (("input", made.inputs), ("output", made.outputs)):
        _say(f"{kind} {key}: {info.name}" for key, info in infos.items())
    tables = tables_of(made.graph_def)
    if tables:
        _say([f"tables stay empty until they are initialized: {', '.join(tables)}"])
    count, size = len(made.graph_def.node), made.graph_def.ByteSize()
    _say([f"{count} nodes, {size} bytes are written to {arguments.output}"])


def _say(lines: Iterable[str]) -> None:
    sys.stdout.writelines(f"{escaped(line)}\n" for line in lines)


_RUN = {"freeze": _freeze, "optimize": _optimize, "quantize": _quantize, "export": _export}
_EXPORT = {"stablehlo": _export_stablehlo, "onnx": _export_onnx}
