"""tf.saved_model.Builder: graphs of one model, with one set of variables, become a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorboard.compat.proto import types_pb2

from weft.core import compat
from weft.core.signatures import with_parameters_of
from weft.graph.graph import add_to_collection, get_collection
from weft.graph.operation import Operation
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model import constants
from weft.lib.saved_model.assets import save_assets
from weft.lib.saved_model.files import path_in, variables_path, write_saved_model
from weft.lib.train.checkpoint.saver import Saver
from weft.lib.train.checkpoint.saver_saveable import all_saveable_objects
from weft.protos.saved_model import SavedModel
from weft.storage import file_io


class SavedModelBuilder:
    """Collects graphs of a model; `save` writes them.

    The first graph is added with the values of its variables, which are written at once; others
    share them. Nothing can be loaded from the folder before `save` was called.
    """

    def __init__(self, export_dir: Any) -> None:
        self._saved_model = SavedModel(
            saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION
        )
        self._export_dir = export_dir
        if not file_io.exists(export_dir):
            file_io.makedirs(export_dir)
        elif file_io.listdir(export_dir):
            raise AssertionError(
                "Export directory already exists, and isn't empty. Please choose a different "
                "export directory, or delete all the contents of the specified directory: "
                f"{compat.as_str_any(export_dir)}"
            )
        self._has_saved_variables = False

    def _add(
        self,
        sess: Any,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph; with the first one, the values of its variables are written."""
        signatures = signature_def_map or {}
        check_signatures(signatures)
        save_assets(assets_collection, self._export_dir)
        main_op = main_op or legacy_init_op
        if main_op is not None:
            _add_main_op(main_op)
        saver = saver or Saver(all_saveable_objects(), sharded=True, allow_empty=True)
        if not self._has_saved_variables:
            file_io.makedirs(path_in(self._export_dir, constants.VARIABLES_DIRECTORY))
            path = variables_path(self._export_dir)
            saver.save(sess, path, write_meta_graph=False, write_state=False)
        meta_graph = saver.export_meta_graph(
            clear_devices=clear_devices, strip_default_attrs=strip_default_attrs
        )
        meta_graph.meta_info_def.tags.extend(tags)
        for key, signature in signatures.items():
            meta_graph.signature_def[key].CopyFrom(signature)
        self._saved_model.meta_graphs.add().CopyFrom(meta_graph)
        self._has_saved_variables = True

    @with_parameters_of(_add)
    def add_meta_graph_and_variables(self, **given: Any) -> None:
        """Adds the default graph, and writes the values that its variables have in `sess`.

        The files that `assets_collection` names are copied. `main_op` runs when the model is
        loaded; `legacy_init_op` is its older name.
        """
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        self._add(**given)

    @with_parameters_of(_add, without=("sess",))
    def add_meta_graph(self, **given: Any) -> None:
        """Adds the default graph; it shares the variables of the first one."""
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        self._add(None, **given)

    def save(self, as_text: bool = False) -> bytes:
        """Writes the message that describes the model; returns its path."""
        path = write_saved_model(self._saved_model, self._export_dir, as_text)
        logging.info("SavedModel written to: %s", compat.as_text(path))
        return path


def _add_main_op(main_op: Any) -> None:
    if not isinstance(main_op, Operation):
        raise TypeError(f"main_op needs to be an Operation: {main_op!r}")
    taken = [k for k in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY) if get_collection(k)]
    if taken:
        raise ValueError(
            f"Graph already contains one or more main ops under the collection {taken[0]}."
        )
    add_to_collection(constants.MAIN_OP_KEY, main_op)


# ---- what may be in a signature -----------------------------------------------------------------

_RESERVED = {
    constants.INIT_OP_SIGNATURE_KEY: "initialization",
    constants.TRAIN_OP_SIGNATURE_KEY: "the train op",
}


def check_signatures(signatures: Mapping[str, Any]) -> None:
    """Every tensor needs a name and a type; some keys are taken."""
    for signature in signatures.values():
        for info in [*signature.inputs.values(), *signature.outputs.values()]:
            _check_info(info)
    for key, use in _RESERVED.items():
        if key in signatures:
            raise KeyError(
                f'SignatureDef map key "{key}" is reserved for {use}. Please use a different key.'
            )


def _check_info(info: Any) -> None:
    if missing := _missing_field(info):
        start = "All TensorInfo protos used in the SignatureDefs must have"
        raise AssertionError(f"{start} {missing}")


def _missing_field(info: Any) -> str | None:
    """The fields that are not set though they have to be, in the words of the error."""
    if info is None:
        return "the name and dtype fields set."
    match info.WhichOneof("encoding"):
        case None:
            return f"one of the 'encoding' fields (e.g., name or coo_sparse) set: {info}"
        case "composite_tensor":
            return next(filter(None, map(_missing_field, info.composite_tensor.components)), None)
    return f"the dtype field set: {info}" if info.dtype == types_pb2.DT_INVALID else None


Builder = SavedModelBuilder
