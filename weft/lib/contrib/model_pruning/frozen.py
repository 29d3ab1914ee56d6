"""Graphs for serving: masks and weights multiplied once and for all."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.client.session import Session
from weft.graph.graph import Graph
from weft.graph.graph_util import convert_variables_to_constants, extract_sub_graph
from weft.graph.importer import import_graph_def
from weft.graph.stacks import get_default_graph
from weft.lib.platform import tf_logging as logging
from weft.lib.tools import node_defs
from weft.lib.train.checkpoint.management import latest_checkpoint
from weft.lib.train.checkpoint.meta_graph import import_meta_graph

_MARK = "masked_weight"


def strip_pruning_vars_fn(input_graph_def: Any, output_node_names: list[str]) -> Any:
    """A graph of constants without its masks: the masked weights are constants instead."""
    names = [node.name for node in input_graph_def.node if _MARK in node.name]
    values = _values(input_graph_def, names)
    stripped = type(input_graph_def)()
    for node in input_graph_def.node:
        if node.name in values:
            node = node_defs.constant(node.name, values[node.name])
        stripped.node.add().CopyFrom(node)
    return extract_sub_graph(stripped, output_node_names)


def _values(graph_def: Any, names: list[str]) -> dict[str, np.ndarray]:
    with Graph().as_default() as graph:
        import_graph_def(graph_def, name="")
        with Session(graph=graph) as session:
            values = session.run({name: f"{name}:0" for name in names}) if names else {}
    for name, value in values.items():
        zeros = 100 - 100 * np.count_nonzero(value) / value.size
        logging.info("%s has %d values, %1.2f%% zeros \n", name, value.size, zeros)
    return values


def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: list[str]) -> Any:
    """The graph of the latest checkpoint, its variables turned into constants."""
    if not (path := latest_checkpoint(checkpoint_dir)):
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    saver: Any = import_meta_graph(f"{path}.meta", clear_devices=True)
    graph = get_default_graph()
    with Session(graph=graph) as session:
        saver.restore(session, path)
        return convert_variables_to_constants(session, graph.as_graph_def(), output_node_names)
