"""tf.saved_model.simple_save: one graph, one signature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.graph.graph import GraphKeys, get_collection
from weft.lib.saved_model import signature_constants, tag_constants
from weft.lib.saved_model.builder import SavedModelBuilder
from weft.lib.saved_model.signatures import predict_signature_def


def simple_save(
    session: Any,
    export_dir: Any,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Any = None,
) -> None:
    """Writes the default graph for serving, with the values of `session`."""
    key = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        tags=[tag_constants.SERVING],
        signature_def_map={key: predict_signature_def(inputs, outputs)},
        assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()
