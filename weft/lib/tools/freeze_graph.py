"""freeze_graph: a graph and the variables of a checkpoint become one graph of constants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.saver_pb2 import SaverDef

from weft.client.session import Session
from weft.graph.graph import get_default_graph
from weft.graph.graph_util import convert_variables_to_constants
from weft.graph.importer import import_graph_def
from weft.lib.saved_model import loader, tag_constants
from weft.lib.tools import command_line
from weft.lib.tools.node_defs import listed, read_message, say, write_message
from weft.lib.train.checkpoint.management import checkpoint_exists
from weft.lib.train.checkpoint.meta_graph import import_meta_graph
from weft.lib.train.checkpoint.reader import NewCheckpointReader
from weft.lib.train.checkpoint.saver import Saver


def freeze_graph(
    input_graph: str,
    input_saver: str,
    input_binary: bool,
    input_checkpoint: str,
    output_node_names: str,
    restore_op_name: str,
    filename_tensor_name: str,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: str | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: str = tag_constants.SERVING,
    checkpoint_version: int = SaverDef.V2,
) -> Any:
    """Freezes the graph in a file (a GraphDef, a MetaGraphDef or a SavedModel); writes and returns
    the part of it that computes the outputs."""
    graph_def = meta_graph = saver_def = None
    if input_saved_model_dir:
        models = loader.SavedModelLoader(input_saved_model_dir)
        graph_def = models.get_meta_graph_def_from_tags(listed(saved_model_tags)).graph_def
    elif input_graph:
        graph_def = read_message(GraphDef(), input_graph, input_binary, "graph")
    if input_meta_graph:
        meta_graph = read_message(MetaGraphDef(), input_meta_graph, input_binary, "meta graph")
        say("Loaded meta graph file '" + input_meta_graph)
    if input_saver:
        saver_def = read_message(SaverDef(), input_saver, input_binary, "saver")
    return freeze_graph_with_def_protos(
        graph_def, saver_def, input_checkpoint, output_node_names, restore_op_name,
        filename_tensor_name, output_graph, clear_devices, initializer_nodes,
        variable_names_whitelist, variable_names_blacklist, meta_graph, input_saved_model_dir,
        listed(saved_model_tags), checkpoint_version,
    )  # fmt: skip


def freeze_graph_with_def_protos(
    input_graph_def: Any,
    input_saver_def: Any,
    input_checkpoint: str,
    output_node_names: str,
    restore_op_name: str,
    filename_tensor_name: str,
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph_def: Any = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: Sequence[str] | None = None,
    checkpoint_version: int = SaverDef.V2,
) -> Any:
    """As `freeze_graph`, of messages. `restore_op_name` and `filename_tensor_name` are not used."""
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    graph_def = input_meta_graph_def.graph_def if input_meta_graph_def else input_graph_def
    for node in graph_def.node if clear_devices and graph_def else ():
        node.device = ""
    with Session() as session:
        if input_saved_model_dir:
            loader.load(session, list(saved_model_tags or ()), input_saved_model_dir)
        else:
            _restore(
                session, input_graph_def, input_saver_def, input_meta_graph_def, input_checkpoint
            )
            if initializer_nodes and not input_saver_def:
                session.run(listed(initializer_nodes))
        frozen = convert_variables_to_constants(
            session, graph_def, listed(output_node_names),
            variable_names_whitelist=listed(variable_names_whitelist) or None,
            variable_names_blacklist=listed(variable_names_blacklist) or None,
        )  # fmt: skip
    if output_graph:
        write_message(frozen, output_graph)
    return frozen


def _restore(
    session: Any, graph_def: Any, saver_def: Any, meta_graph: Any, checkpoint: str
) -> None:
    """Brings the graph and its variables into the session."""
    if graph_def:
        import_graph_def(graph_def, name="")
    saver: Any
    if saver_def:
        saver = Saver(saver_def=saver_def)
    elif meta_graph:
        saver = import_meta_graph(meta_graph, clear_devices=True)
    else:
        saver = _saver_by_names(checkpoint)
    saver.restore(session, checkpoint)


def _saver_by_names(checkpoint: str) -> Saver:
    """Restores the nodes that are called like what is in the checkpoint."""
    graph = get_default_graph()
    known = {op.name: op for op in graph.get_operations()}
    names = [name for name in NewCheckpointReader(checkpoint).get_variable_to_shape_map()
             if name in known]  # fmt: skip
    try:
        return Saver({name: _value_of(known[name]) for name in names})
    except (TypeError, ValueError) as error:
        parts = [name for name in known if re.search(r"/part_\d+/", name)]
        if any(name in part for part in parts for name in names):
            raise ValueError(
                "Models containing partition variables cannot be converted from checkpoint files."
                " Please pass in a SavedModel using the flag --input_saved_model_dir."
            ) from error
        if not any(_is_variable(op) for op in known.values()):
            raise ValueError(
                "No variables were found in this model. It is likely the model was frozen"
                " previously. You cannot freeze a graph twice."
            ) from error
        raise


def _value_of(op: Any) -> Any:
    """A variable as a Saver takes it: a reference to it, or the value read through its handle."""
    reads = [user for user in op.outputs[0].consumers() if user.definition.reads_variable]
    return reads[0].outputs[0] if op.type == "VarHandleOp" and reads else op.outputs[0]


def _is_variable(op: Any) -> bool:
    return op.type.startswith("Variable") or op.type.endswith(("VariableOp", "VarHandleOp"))


_FLAGS: tuple[command_line.Flag, ...] = (
    ("input_graph", "", "file with the GraphDef"),
    ("input_saver", "", "file with the SaverDef"),
    ("input_checkpoint", "", "prefix of the checkpoint"),
    ("checkpoint_version", 2, "format of the checkpoint: 1 or 2"),
    ("output_graph", "", "file that the frozen GraphDef is written to"),
    ("input_binary", False, "whether files that are read are binary, not text"),
    ("output_node_names", "", "nodes whose values are wanted, with commas"),
    ("restore_op_name", "save/restore_all", "not used any more"),
    ("filename_tensor_name", "save/Const:0", "not used any more"),
    ("clear_devices", True, "whether nodes forget where they were placed"),
    ("initializer_nodes", "", "nodes to run before freezing, with commas"),
    ("variable_names_whitelist", "", "the only variables to freeze, with commas"),
    ("variable_names_blacklist", "", "variables not to freeze, with commas"),
    ("input_meta_graph", "", "file with a MetaGraphDef"),
    ("input_saved_model_dir", "", "folder of a SavedModel"),
    ("saved_model_tags", tag_constants.SERVING, "tags of its graph, with commas"),
)


def main(unused_args: Any, flags: Any) -> None:
    """Freezes what the flags name."""
    given = dict(vars(flags))
    version = given.pop("checkpoint_version")
    if version not in (1, 2):
        raise ValueError(f"Invalid checkpoint version (must be '1' or '2'): {version}")
    freeze_graph(**given, checkpoint_version=version)


def run_main() -> None:
    """The command `freeze_graph`."""
    main([], command_line.parse(_FLAGS))
