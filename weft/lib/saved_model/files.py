"""The folder of a SavedModel: where its parts are, reading and writing the message."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from weft.core import compat, errors
from weft.lib.saved_model import constants
from weft.protos.saved_model import SavedModel
from weft.protos.text import merge_text
from weft.storage import file_io

# Messages have TensorFlow's names on disk and the tensorboard package's in memory; only an `Any`
# says the name of what it holds.
_ON_DISK, _IN_MEMORY = "type.googleapis.com/tensorflow.", "type.googleapis.com/tensorboard."


def path_in(export_dir: Any, *names: str) -> str:
    return os.path.join(compat.as_text(compat.path_to_str(export_dir)), *names)


def variables_path(export_dir: Any) -> str:
    """The prefix of the checkpoint."""
    return path_in(export_dir, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)


def assets_dir(export_dir: Any) -> str:
    return path_in(export_dir, constants.ASSETS_DIRECTORY)


def asset_path(export_dir: Any, filename: str) -> str:
    """The path of an asset. InvalidArgumentError for a name that leads out of the folder."""
    if os.path.isabs(filename) or os.pardir in filename.split("/") or "\0" in filename:
        raise errors.InvalidArgumentError(
            None, None, f"The SavedModel at {compat.as_str_any(export_dir)} names the asset"
            f" {filename!r}, which is not in its folder of assets",
        )  # fmt: skip
    return os.path.join(assets_dir(export_dir), filename)


@contextmanager
def names_of(part: str, export_dir: Any) -> Iterator[None]:
    """Inside, names in a part of a SavedModel are looked up. InvalidArgumentError if one is not."""
    try:
        yield
    except KeyError as error:
        raise errors.InvalidArgumentError(
            None, None, f"{part} of the SavedModel at {compat.as_str_any(export_dir)} does not fit"
            f" its graph: {error.args[0]}",
        ) from None  # fmt: skip


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether the folder holds the files of a SavedModel; what is in them is not looked at."""
    names = constants.SAVED_MODEL_FILENAME_PBTXT, constants.SAVED_MODEL_FILENAME_PB
    return any(file_io.exists(path_in(export_dir, name)) for name in names)


def contains_saved_model(export_dir: Any) -> bool:
    """Whether there is a SavedModel in a folder."""
    return maybe_saved_model_directory(export_dir)


def write_saved_model(message: Any, export_dir: Any, as_text: bool) -> bytes:
    """Writes the message, of which a reader never sees a part; returns the path."""
    file_io.makedirs(export_dir)
    if as_text:
        path = path_in(export_dir, constants.SAVED_MODEL_FILENAME_PBTXT)
        content = text_format.MessageToString(message).encode("utf-8")
    else:
        path = path_in(export_dir, constants.SAVED_MODEL_FILENAME_PB)
        content = message.SerializeToString()
    file_io.atomic_write_string_to_file(path, content)
    return compat.as_bytes(path)


def parse_saved_model(export_dir: Any) -> Any:
    """The message in the folder: the binary form if there is one, else the text."""
    binary = path_in(export_dir, constants.SAVED_MODEL_FILENAME_PB)
    text = path_in(export_dir, constants.SAVED_MODEL_FILENAME_PBTXT)
    if file_io.exists(binary):
        return _parsed(binary, SavedModel.FromString)
    if file_io.exists(text):
        return _parsed(text, _from_text)
    raise OSError(
        f"SavedModel file does not exist at: {compat.as_str_any(export_dir)}/"
        f"{{{constants.SAVED_MODEL_FILENAME_PBTXT}|{constants.SAVED_MODEL_FILENAME_PB}}}"
    )


def _parsed(path: str, parse: Any) -> Any:
    try:
        return parse(file_io.read_file_to_string(path, binary_mode=True))
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from None


def _from_text(content: bytes) -> Any:
    text = content.decode("utf-8").replace(f"[{_ON_DISK}", f"[{_IN_MEMORY}")
    message = merge_text(text, SavedModel())
    for meta_graph in message.meta_graphs:
        for collection in meta_graph.collection_def.values():
            for value in collection.any_list.value:
                value.type_url = value.type_url.replace(_IN_MEMORY, _ON_DISK)
    return message


def packed(message: Any) -> Any:
    """The message in an `Any`, under TensorFlow's name for it."""
    from google.protobuf.any_pb2 import Any as AnyMessage

    return AnyMessage(
        type_url=_ON_DISK + message.DESCRIPTOR.name, value=message.SerializeToString()
    )


def get_saved_model_tag_sets(saved_model_dir: Any) -> list[list[str]]:
    """The tags of each graph of a SavedModel."""
    graphs = parse_saved_model(saved_model_dir).meta_graphs
    return [list(meta_graph.meta_info_def.tags) for meta_graph in graphs]


read_saved_model = parse_saved_model
