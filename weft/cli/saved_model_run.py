"""`weft saved-model run`: inputs from files and literals, through a signature, to the terminal.

Nothing of what is read is executed: expressions are literals, and files hold no pickles.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
from typing import Any

import numpy as np

from weft.core.printable import escaped, escaped_lines

_FILE = re.compile(r"([^=]+)=([^\[\]]+?)(?:\[([^\[\]]+)\])?$")


def signature_of(graph: Any, key: str) -> Any:
    """A signature of the graph; the error lists what there is."""
    if key in graph.signature_def:
        return graph.signature_def[key]
    known = ", ".join(f'"{each}"' for each in sorted(graph.signature_def)) or "none"
    raise ValueError(f'there is no SignatureDef with key "{key}"; found: {known}')


def run(arguments: argparse.Namespace, tags: str, key: str, graph_def: Any) -> None:
    """Prints the outputs of the signature, and saves them if asked to."""
    signature = signature_of(graph_def, key)
    values = inputs_of(arguments)
    for name in signature.outputs if arguments.outdir else ():
        _file_name(name)  # before anything is computed
    for name in values:
        if name not in signature.inputs:
            known = '", "'.join(sorted(signature.inputs))
            raise ValueError(
                f'"{name}" is not a valid input key. Please choose from "{known}", or use `weft '
                "saved-model show`."
            )
    for name, value in sorted(_computed(arguments.folder, tags, key, signature, values).items()):
        shown = escaped_lines(value)
        sys.stdout.write(f"Result for output key {escaped(name)}:\n{shown}\n")
        if arguments.outdir:
            _save(arguments.outdir, name, value, arguments.overwrite)


def _computed(
    folder: str, tags: str, key: str, signature: Any, values: dict[str, Any]
) -> dict[str, Any]:
    import weft as tf
    from weft.lib.saved_model.files import names_of

    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.loader.load(session, tags.split(","), folder)
        tensor = tf.saved_model.utils.get_tensor_from_tensor_info
        with names_of(f'The signature "{key}"', folder):
            fed = {name: tensor(signature.inputs[name]) for name in values}
            fetches = {name: tensor(info) for name, info in signature.outputs.items()}
        feeds = {}
        for name, value in values.items():
            ragged = isinstance(fed[name], tf.RaggedTensor)
            feeds[fed[name]] = tf.ragged.constant_value(value, fed[name].dtype) if ragged else value
        return dict(session.run(fetches, feeds))


def _save(folder: str, name: str, value: Any, overwrite: bool) -> None:
    path = os.path.join(folder, f"{_file_name(name)}.npy")
    if os.path.exists(path) and not overwrite:
        raise RuntimeError(
            f'Output file {path} already exists. Add "--overwrite" to overwrite the existing '
            "output files."
        )
    value = np.asarray(value)
    if value.dtype == object:
        value = value.astype("S")  # NumPy would write a pickle
    os.makedirs(folder, exist_ok=True)
    np.save(path, value, allow_pickle=False)
    sys.stdout.write(f"Output {escaped(name)} is saved to {escaped(path)}\n")


def _file_name(name: str) -> str:
    """The name of an output, which its model chose, if it can be that of a file in a folder."""
    if name in ("", os.curdir, os.pardir) or any(c in name for c in "/\\\0"):
        raise ValueError(
            f'the output key "{name}" cannot be the name of a file in --outdir: it leads elsewhere'
        )
    return name


# ---- inputs -------------------------------------------------------------------------------------


def inputs_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Key -> value, of all three options; the later one wins."""
    if not (arguments.inputs or arguments.input_exprs or arguments.input_examples):
        raise ValueError(
            "At least one of --inputs, --input_exprs or --input_examples must be required"
        )
    files = {key: _from_file(*where) for key, where in files_of(arguments.inputs).items()}
    return files | literals_of(arguments.input_exprs) | examples_of(arguments.input_examples)


def files_of(text: str) -> dict[str, tuple[str, str | None]]:
    """Key -> (file, name of an array in it), of "key=file[name];key=file"."""
    found = {}
    for part in filter(None, text.split(";")):
        match = _FILE.match(part)
        if match is None:
            raise RuntimeError(
                f'--inputs "{part}" format is incorrect. Please follow '
                '"<input_key>=<filename>", or "<input_key>=<filename>[<variable_name>]"'
            )
        found[match[1]] = match[2], match[3]
    return found


def _from_file(path: str, name: str | None) -> Any:
    try:
        data = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    if isinstance(data, np.ndarray):
        return data
    with data:
        if name is None and len(data.files) != 1:
            raise RuntimeError(
                f"Input file {path} contains more than one ndarrays. Please specify the name of "
                "ndarray to use."
            )
        if name is not None and name not in data:
            raise RuntimeError(f'Input file {path} does not contain variable with name "{name}".')
        return data[data.files[0] if name is None else name]


def literals_of(text: str) -> dict[str, Any]:
    """Key -> value, of "key=literal;key=literal"."""
    found = {}
    for part in _parts(text):
        key, equals, expression = part.partition("=")
        if not equals:
            raise RuntimeError(
                f'--input_exprs "{text}" format is incorrect. Please follow '
                '"<input_key>=<python expression>"'
            )
        try:
            found[key.strip()] = ast.literal_eval(expression.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise RuntimeError(
                f'Expression "{expression}" is not a valid python literal.'
            ) from None
    return found


def _parts(text: str) -> list[str]:
    """The text cut at semicolons, but not at those inside quotes."""
    pieces = re.findall(r"""(?:[^;'"]|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|['"])+""", text)
    return [piece for piece in pieces if piece.strip()]


def examples_of(text: str) -> dict[str, list[bytes]]:
    """Key -> serialized tf.Examples, of "key=[{feature: [values]}]"."""
    start = "tf.Example input must be a list of dictionaries, but"
    return {
        key: [_example(each) for each in _listed(examples, start)]
        for key, examples in literals_of(text).items()
    }


def _listed(values: Any, start: str) -> list[Any]:
    if not isinstance(values, list):
        raise ValueError(f'{start} "{values}" is {type(values)}')
    return values


def _example(features: dict[str, Any]) -> bytes:
    from weft.protos.example import Example

    example = Example()
    for name, values in features.items():
        listed = _listed(values, f"feature value must be a list, but {name}:")
        _fill(example.features.feature[name], listed)
    return bytes(example.SerializeToString())


def _fill(feature: Any, values: list[Any]) -> None:
    first = values[0] if values else 0
    if isinstance(first, float):
        feature.float_list.value.extend(values)
    elif isinstance(first, (str, bytes)):
        feature.bytes_list.value.extend(v.encode() if isinstance(v, str) else v for v in values)
    elif isinstance(first, int):
        feature.int64_list.value.extend(values)
    else:
        raise ValueError(
            f"Type {type(first)} for value {first} is not supported for tf.train.Feature."
        )
