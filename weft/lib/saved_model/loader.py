"""tf.saved_model.loader: a graph of a SavedModel goes into a session's graph, variables and all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.graph.graph import Graph, get_collection
from weft.graph.meta_graph_parts import add_default_valued_attrs
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model import constants
from weft.lib.saved_model.assets import get_asset_tensors
from weft.lib.saved_model.files import parse_saved_model, variables_path
from weft.lib.saved_model.signatures import load_op_from_signature_def
from weft.lib.train.checkpoint.meta_graph import _import_meta_graph_with_return_elements
from weft.lib.train.checkpoint.saver import Saver
from weft.lib.train.checkpoint.saver_saveable import all_saveable_objects


def load(
    sess: Any,
    tags: Iterable[str],
    export_dir: Any,
    import_scope: str | None = None,
    **saver_kwargs: Any,
) -> Any:
    """Imports the graph with exactly these tags, restores its variables, runs its main op.

    Returns the graph's MetaGraphDef, in which names are without `import_scope`.
    """
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)


class SavedModelLoader:
    """The steps of `load`, one by one."""

    def __init__(self, export_dir: Any) -> None:
        self._export_dir = export_dir
        self._variables_path = variables_path(export_dir)
        self._saved_model = parse_saved_model(export_dir)

    @property
    def export_dir(self) -> Any:
        """The folder."""
        return self._export_dir

    @property
    def variables_path(self) -> str:
        """The prefix of the checkpoint."""
        return self._variables_path

    @property
    def saved_model(self) -> Any:
        """The message of the folder."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags: Iterable[str]) -> Any:
        """The MetaGraphDef with exactly these tags."""
        graphs = self._saved_model.meta_graphs
        for meta_graph in graphs:
            if set(meta_graph.meta_info_def.tags) == set(tags):
                return meta_graph
        wanted = str(tags).strip("[]")
        raise RuntimeError(
            f"MetaGraphDef associated with tags {wanted} could not be found in SavedModel. To "
            "inspect available tag-sets in the SavedModel, please use the SavedModel CLI: "
            "`saved_model_cli`\navailable_tags: "
            f"{[set(meta_graph.meta_info_def.tags) for meta_graph in graphs]}"
        )

    def load_graph(
        self,
        graph: Graph,
        tags: Iterable[str],
        import_scope: str | None = None,
        **saver_kwargs: Any,
    ) -> tuple[Saver | None, Any]:
        """Adds the nodes to `graph`; returns its saver, and the elements that were asked for."""
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        add_default_valued_attrs(meta_graph.graph_def)
        with graph.as_default():
            return _import_meta_graph_with_return_elements(
                meta_graph, import_scope=import_scope, **saver_kwargs
            )

    def restore_variables(
        self, sess: Any, saver: Saver | None, import_scope: str | None = None
    ) -> None:
        """Gives the variables in `sess` their values."""
        with sess.graph.as_default():
            if isinstance(saver, Saver):
                saver.restore(sess, self._variables_path)
            elif saver is None and not all_saveable_objects(import_scope):
                logging.info(
                    "The specified SavedModel has no variables; no checkpoints were restored."
                )
            else:
                raise ValueError(
                    "No tf.train.Saver object was passed to the function "
                    "SavedModelLoader.restore_variables. Since there are variables in the graph, "
                    "a saver is required."
                )

    def run_init_ops(self, sess: Any, tags: Iterable[str], import_scope: str | None = None) -> None:
        """Runs the main op, which gets the paths that the assets have here."""
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            main_op = get_init_op(meta_graph, import_scope)
            if main_op is None:
                return
            paths = get_asset_tensors(self._export_dir, meta_graph, import_scope)
            sess.run([main_op], paths)

    def load(
        self,
        sess: Any,
        tags: Iterable[str],
        import_scope: str | None = None,
        **saver_kwargs: Any,
    ) -> Any:
        """All of it; returns the MetaGraphDef."""
        wanted = list(tags)
        found = self.get_meta_graph_def_from_tags(wanted)
        saver, _ = self.load_graph(sess.graph, wanted, import_scope, **saver_kwargs)
        self.restore_variables(sess, saver, import_scope)
        self.run_init_ops(sess, wanted, import_scope)
        return found


# ---- operations that a MetaGraph names ----------------------------------------------------------


def get_init_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """The operation that runs when the model is loaded, or None."""
    keys = constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY
    signature = constants.INIT_OP_SIGNATURE_KEY
    return _named_op(meta_graph_def, signature, keys, import_scope)


def get_train_op(meta_graph_def: Any, import_scope: str | None = None) -> Any:
    """The operation that trains the model, or None."""
    keys = (constants.TRAIN_OP_KEY,)
    return _named_op(meta_graph_def, constants.TRAIN_OP_SIGNATURE_KEY, keys, import_scope)


def _named_op(
    meta_graph_def: Any, signature: str, keys: tuple[str, ...], import_scope: str | None
) -> Any:
    if signature in meta_graph_def.signature_def:
        return load_op_from_signature_def(
            meta_graph_def.signature_def[signature], signature, import_scope
        )
    for key in keys:
        if key in meta_graph_def.collection_def:
            names = meta_graph_def.collection_def[key].node_list.value
            if len(names) != 1:
                raise RuntimeError(f"Expected exactly one SavedModel init op. Found: {names}")
            # The one just imported: the graph may have held others.
            return get_collection(key)[-1]
    return None
