"""Reads an export into a graph and a session."""

from __future__ import annotations

import os
from typing import Any

from tensorboard.compat.proto import graph_pb2, meta_graph_pb2

from weft.client.session import Session
from weft.graph.graph import get_collection
from weft.graph.stacks import reset_default_graph
from weft.lib.contrib.session_bundle import constants
from weft.lib.train.checkpoint.meta_graph import import_meta_graph
from weft.protos import manifest
from weft.storage import file_io


def maybe_session_bundle_dir(export_dir: str) -> bool:
    """Whether a directory has the file with an export's graph."""
    return file_io.Exists(os.path.join(export_dir, constants.META_GRAPH_DEF_FILENAME))


def read_meta_graph(export_dir: str) -> Any:
    """The graph of an export and its collections."""
    path = os.path.join(export_dir, constants.META_GRAPH_DEF_FILENAME)
    if not file_io.Exists(path):
        raise RuntimeError(f"Expected meta graph file missing {path}")
    with file_io.GFile(path, "rb") as file:
        return meta_graph_pb2.MetaGraphDef.FromString(file.read())


# What to restore from, for each file whose being there shows it.
_CHECKPOINTS = (
    (constants.VARIABLES_INDEX_FILENAME_V2, constants.VARIABLES_FILENAME),
    (constants.VARIABLES_FILENAME, constants.VARIABLES_FILENAME),
    (constants.VARIABLES_FILENAME_PATTERN, constants.VARIABLES_FILENAME_PATTERN),
)


def _checkpoint(export_dir: str) -> str | None:
    there = (name for shown_by, name in _CHECKPOINTS
             if file_io.Glob(os.path.join(export_dir, shown_by)))  # fmt: skip
    name = next(there, None)
    return None if name is None else os.path.join(export_dir, name)


def _only(values: Any, what: str, meta_graph: Any) -> Any:
    if len(values) != 1:
        raise RuntimeError(f"Expected exactly one serving {what} in : {meta_graph}")
    return values[0]


def load_session_bundle_from_path(
    export_dir: str, target: str = "", config: Any = None, meta_graph_def: Any = None
) -> tuple[Session, Any]:
    """A session with an export's graph, which becomes the default one, and its variables."""
    meta_graph = meta_graph_def or read_meta_graph(export_dir)
    collections = meta_graph.collection_def
    if constants.GRAPH_KEY in collections:
        packed = _only(collections[constants.GRAPH_KEY].any_list.value, "GraphDef", meta_graph)
        meta_graph.graph_def.CopyFrom(graph_pb2.GraphDef.FromString(packed.value))
    reset_default_graph()
    session = Session(target, graph=None, config=config)
    saver: Any = import_meta_graph(meta_graph)
    if checkpoint := _checkpoint(export_dir):
        saver.restore(session, checkpoint)
    if constants.INIT_OP_KEY in collections:
        _only(collections[constants.INIT_OP_KEY].node_list.value, "init op", meta_graph)
        init_op = get_collection(constants.INIT_OP_KEY)[0]
        session.run([init_op], _assets(export_dir, collections))
    return session, meta_graph


def _assets(export_dir: str, collections: Any) -> dict[str, str]:
    """Name of a tensor -> the path of its file in the export."""
    if constants.ASSETS_KEY not in collections:
        return {}
    values = collections[constants.ASSETS_KEY].any_list.value
    assets = [manifest.AssetFile.FromString(value.value) for value in values]
    folder = os.path.join(export_dir, constants.ASSETS_DIRECTORY)
    return {
        asset.tensor_binding.tensor_name: os.path.join(folder, asset.filename) for asset in assets
    }
