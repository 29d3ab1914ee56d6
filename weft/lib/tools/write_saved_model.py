"""A frozen signature written as a SavedModel."""

from __future__ import annotations

from typing import Any

from weft.client.session import Session
from weft.graph.graph import Graph
from weft.graph.importer import import_graph_def
from weft.lib.saved_model.builder import SavedModelBuilder
from weft.lib.tools.signature_graph import SignatureGraph, tables_of


def write_saved_model(
    given: SignatureGraph, folder: str, tags: list[str], key: str, signature: Any
) -> None:
    """Writes a SavedModel with this one signature, and without variables."""
    tables = tables_of(given.graph_def)
    if tables:
        raise ValueError(
            f"the tables {', '.join(tables)} would be empty in the SavedModel: a frozen signature"
            " has no initializers; write a GraphDef instead"
        )
    builder = SavedModelBuilder(folder)
    with Graph().as_default() as graph, Session(graph=graph) as session:
        import_graph_def(given.graph_def, name="")
        builder.add_meta_graph_and_variables(session, tags, signature_def_map={key: signature})
    builder.save()
