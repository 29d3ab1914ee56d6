"""`weft saved-model`: `show` and `run`, what saved_model_cli does; and ways out of a SavedModel."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from weft.cli import saved_model_convert, saved_model_run
from weft.cli.saved_model_run import signature_of
from weft.cli.terminal import complain, print_while_read
from weft.core import errors
from weft.core.printable import escaped

EXAMPLES = """\
  weft saved-model show export --all    the signatures of a SavedModel
  weft saved-model freeze export --output model.pb    one of them as a graph of constants
"""

_DEFAULT_TAGS, _DEFAULT_SIGNATURE = "serve", "serving_default"
_SHOW_HELP = """\
Lists the tag-sets of a SavedModel; with --tag_set the signatures of that graph; with
--signature_def too, its inputs and outputs; with --all everything.
"""
_RUN_HELP = """\
Feeds inputs to a signature of a SavedModel and prints its outputs.

  --inputs 'x=values.npz[x];y=y.npy'            arrays in files of NumPy's (no pickles)
  --input_exprs 'x=[[1.0, 2.0]];y=3'            Python literals
  --input_examples 'x=[{"age": [22], "name": ["bob"]}]'   tf.Examples
"""


def add_parser(commands: Any) -> Any:
    model = commands.add_parser("saved-model", help="look into a SavedModel, run it or convert it")
    actions = model.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = _action(actions, "show", "list tag-sets, signatures, inputs and outputs", _SHOW_HELP)
    show.add_argument("--all", action="store_true", help="everything")
    run_ = _action(actions, "run", "feed a signature and print its outputs", _RUN_HELP)
    run_.add_argument("--inputs", metavar="KEY=FILE[NAME];...", default="", help="from files")
    run_.add_argument("--input_exprs", metavar="KEY=LITERAL;...", default="", help="from literals")
    run_.add_argument(
        "--input_examples", metavar="KEY=[{...}];...", default="", help="tf.Examples of features"
    )
    run_.add_argument("--outdir", metavar="DIR", help="save outputs there, as KEY.npy")
    run_.add_argument("--overwrite", action="store_true", help="even over files that exist")
    for name, (summary, description) in saved_model_convert.ACTIONS.items():
        saved_model_convert.add_arguments(_action(actions, name, summary, description), name)
    return model


def _action(actions: Any, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(
        name,
        help=summary,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="DIR", help="the folder of the SavedModel")
    parser.add_argument("--tag_set", metavar="TAG,...", help="all tags of one of its graphs")
    parser.add_argument("--signature_def", metavar="KEY", help="a signature of that graph")
    return parser


@print_while_read
def run(arguments: argparse.Namespace) -> int:
    """Runs an action of `saved-model`; returns the exit code."""
    try:
        if arguments.action == "show":
            sys.stdout.writelines(f"{escaped(line)}\n" for line in shown(arguments))
        else:
            tags = arguments.tag_set or _DEFAULT_TAGS
            key = arguments.signature_def or _DEFAULT_SIGNATURE
            work = saved_model_run if arguments.action == "run" else saved_model_convert
            work.run(arguments, tags, key, meta_graph(arguments.folder, tags))
    except errors.OpError as error:
        return _failed(error.message)
    except BrokenPipeError:
        raise  # nobody reads on, which is no mistake
    except (OSError, RuntimeError, ValueError) as error:
        return _failed(str(error))
    return 0


def _failed(message: str) -> int:
    complain("saved-model", message)
    return 1


def meta_graph(folder: str, tag_set: str) -> Any:
    """The graph with exactly these tags."""
    from weft.lib.saved_model.loader import SavedModelLoader

    return SavedModelLoader(folder).get_meta_graph_def_from_tags(tag_set.split(","))


# ---- show ---------------------------------------------------------------------------------------


def shown(arguments: argparse.Namespace) -> Iterator[str]:
    """The lines that `show` prints."""
    from weft.lib.saved_model.files import get_saved_model_tag_sets

    folder, tags, key = arguments.folder, arguments.tag_set, arguments.signature_def
    if arguments.all:
        for tag_set in sorted(get_saved_model_tag_sets(folder)):
            yield from _everything(meta_graph(folder, ",".join(tag_set)), tag_set)
    elif tags is None:
        yield "The given SavedModel contains the following tag-sets:"
        for tag_set in sorted(get_saved_model_tag_sets(folder)):
            yield ", ".join(sorted(tag_set))
    elif key is None:
        yield "The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:"
        for each in sorted(meta_graph(folder, tags).signature_def):
            yield f'SignatureDef key: "{each}"'
    else:
        yield from _signature_lines(signature_of(meta_graph(folder, tags), key), "")


def _everything(graph: Any, tag_set: list[str]) -> Iterator[str]:
    tags = ", ".join(tag_set)
    yield ""
    yield f"MetaGraphDef with tag-set: '{tags}' contains the following SignatureDefs:"
    for key in sorted(graph.signature_def):
        yield ""
        yield f"signature_def['{key}']:"
        yield from _signature_lines(graph.signature_def[key], "  ")


def _signature_lines(signature: Any, indent: str) -> Iterator[str]:
    for kind, infos in (("input", signature.inputs), ("output", signature.outputs)):
        yield f"{indent}The given SavedModel SignatureDef contains the following {kind}(s):"
        for key, info in sorted(infos.items()):
            yield f"{indent}  {kind}s['{key}'] tensor_info:"
            yield from (f"{indent}      {line}" for line in _info_lines(info))
    yield f"{indent}Method name is: {signature.method_name}"


def _info_lines(info: Any) -> Iterator[str]:
    from tensorboard.compat.proto.types_pb2 import DataType

    yield f"dtype: {DataType.Name(info.dtype)}"
    sizes = ", ".join(str(dim.size) for dim in info.tensor_shape.dim)
    yield f"shape: {'unknown_rank' if info.tensor_shape.unknown_rank else f'({sizes})'}"
    encoding = info.WhichOneof("encoding")
    if encoding == "coo_sparse":
        sparse = info.coo_sparse
        names = sparse.indices_tensor_name, sparse.values_tensor_name
        yield f"name: {', '.join((*names, sparse.dense_shape_tensor_name))} (sparse)"
    elif encoding == "composite_tensor":
        parts = ", ".join(part.name for part in info.composite_tensor.components)
        yield f"name: {parts} ({info.composite_tensor.type_spec.type_spec_class_name})"
    else:
        yield f"name: {info.name}"
