"""tf.io.write_graph: a graph as a file."""

from __future__ import annotations

import os
import uuid
from typing import Any

from weft.core.compat import path_to_str
from weft.graph.graph import Graph


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Writes a graph to `logdir/name`, as text or as bytes, and returns that path.

    The folder is made if need be. Readers see the file whole or not at all.

    Args:
        graph_or_graph_def: a `Graph` or a `GraphDef`.
        logdir: the folder.
        name: of the file.
        as_text: whether it is written as text.

    Returns:
        The path of the file.

    Example:
        >>> tf.train.write_graph(tf.get_default_graph(), "./graphs", "model.pbtxt")
        './graphs/model.pbtxt'
    """
    from google.protobuf import text_format

    graph_def = graph_or_graph_def
    if isinstance(graph_def, Graph):
        graph_def = graph_def.as_graph_def()
    path = os.path.join(path_to_str(logdir), name)
    if as_text:
        data = text_format.MessageToString(graph_def).encode()
    else:
        data = graph_def.SerializeToString()
    _write(path, data)
    return path


def _write(path: str, data: bytes) -> None:
    if "://" in path:
        import fsspec

        with fsspec.open(path, "wb") as file:  # object stores show a file once it is closed
            file.write(data)
        return
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    unfinished = f"{path}.{uuid.uuid4().hex}"
    with open(unfinished, "wb") as file:
        file.write(data)
    os.replace(unfinished, path)
