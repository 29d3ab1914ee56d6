"""Files that a graph names by string constants: copied on export, fed by new paths on load."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef

from weft.core import compat, dtypes
from weft.graph.collection_def import prepend_name_scope
from weft.graph.graph import add_to_collection
from weft.graph.tensor import Tensor
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model import constants
from weft.lib.saved_model.files import asset_path, assets_dir, packed
from weft.storage import file_io


def save_assets(assets: Iterable[Any] | None, export_dir: Any) -> None:
    """Notes the assets in the graph's collection and copies the files."""
    sources = _noted(assets)
    if not sources:
        logging.info("No assets to write.")
        return
    target = assets_dir(export_dir)
    file_io.makedirs(target)
    for name, source in sources.items():
        path = os.path.join(target, name)
        if not file_io.exists(path):
            file_io.copy(source, path)
    logging.info("Assets written to: %s", target)


def _noted(assets: Iterable[Any] | None) -> dict[str, str]:
    """Name in the SavedModel -> the file it is copied from."""
    sources: dict[str, str] = {}
    for tensor in () if assets is None else assets:
        if not (source := _path_of(tensor)):
            raise ValueError(f"Invalid asset filepath tensor {tensor}")
        name = _new_name(source, sources)
        _note(name, tensor)
        sources[name] = source
    logging.info("No assets to save." if assets is None else "Assets added to graph.")
    return sources


def _note(name: str, tensor: Tensor) -> None:
    asset = AssetFileDef(filename=name)
    asset.tensor_info.name = tensor.name
    add_to_collection(constants.ASSETS_KEY, packed(asset))


_ASSET_PATH_MUST: dict[str, Callable[[Any], bool]] = {
    "be a Tensor": lambda tensor: isinstance(tensor, Tensor),
    "be of type constant": lambda tensor: tensor.op.definition.is_constant,
    "be of dtype string": lambda tensor: tensor.dtype == dtypes.string,
    "be a scalar": lambda tensor: len(tensor.op.get_attr("value").string_val) == 1,
}


def _path_of(tensor: Any) -> str:
    for what, holds in _ASSET_PATH_MUST.items():
        if not holds(tensor):
            raise TypeError(f"Asset path tensor must {what}.")
    return compat.as_text(tensor.op.get_attr("value").string_val[0])


def _new_name(source: str, sources: dict[str, str]) -> str:
    """The file's own name, with a number if another file has it already."""
    name = os.path.basename(source)
    other = sources.get(name, source)
    if other == source or file_io.filecmp(source, other):
        return name
    number = 1
    while f"{name}_{number}" in sources:
        number += 1
    return f"{name}_{number}"


def get_asset_tensors(
    export_dir: Any, meta_graph_def: Any, import_scope: str | None = None
) -> dict[str, str]:
    """Name of a tensor -> the path of its file in the SavedModel."""
    assets = list(meta_graph_def.asset_file_def)
    collections = meta_graph_def.collection_def
    if not assets and constants.ASSETS_KEY in collections:
        values = collections[constants.ASSETS_KEY].any_list.value
        assets = [AssetFileDef.FromString(value.value) for value in values]
    return {
        prepend_name_scope(asset.tensor_info.name, import_scope): asset_path(
            export_dir, asset.filename
        )
        for asset in assets
    }
