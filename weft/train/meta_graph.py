"""tf.train.export_meta_graph and import_meta_graph."""

from __future__ import annotations

from typing import Any

from weft.graph.meta_graph import export_scoped_meta_graph, import_scoped_meta_graph


def export_meta_graph(
    filename: str | None = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Any = None,
    as_text: bool = False,
    graph: Any = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Any:
    """The graph with its collections as a MetaGraphDef, also written to `filename` if given."""
    message, _ = export_scoped_meta_graph(
        filename=filename,
        meta_info_def=meta_info_def,
        graph_def=graph_def,
        saver_def=saver_def,
        collection_list=collection_list,
        as_text=as_text,
        graph=graph,
        export_scope=export_scope,
        clear_devices=clear_devices,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        save_debug_info=save_debug_info,
        **kwargs,
    )
    return message


def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> None:
    """Adds a MetaGraph to the default graph, collections included.

    Where TensorFlow returns a Saver, this returns None: weft does not read checkpoints yet.
    """
    import_scoped_meta_graph(
        meta_graph_or_file, clear_devices=clear_devices, import_scope=import_scope, **kwargs
    )
