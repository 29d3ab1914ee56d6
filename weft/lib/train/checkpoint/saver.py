"""tf.train.Saver: saves variables to numbered checkpoints and restores them."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
from tensorboard.compat.proto.saver_pb2 import SaverDef

from weft.client.session import BaseSession
from weft.core import compat, errors
from weft.graph.collection_def import register_proto_function
from weft.graph.convert import constant
from weft.graph.graph import GraphKeys, add_to_collection, get_collection, get_default_graph
from weft.graph.meta_graph import export_scoped_meta_graph
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.management import (
    checkpoint_exists,
    meta_graph_filename,
    update_checkpoint_state_internal,
)
from weft.lib.train.checkpoint.saver_background import BackgroundSave, snapshot
from weft.lib.train.checkpoint.saver_builder import BaseSaverBuilder, BulkSaverBuilder
from weft.lib.train.checkpoint.saver_kept import KeptCheckpoints
from weft.lib.train.checkpoint.saver_objects import check_all_there, object_graph_key_mapping
from weft.lib.train.checkpoint.saver_saveable import all_saveable_objects, validate_and_slice_inputs
from weft.lib.train.restore_mismatch import mismatches
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state import global_step as training_util
from weft.ops.state.variables import prepend_scope, strip_scope
from weft.storage import file_io

_NAMES = ("filename_tensor_name", "save_tensor_name", "restore_op_name")
_BUILT_WITH = (
    "reshape", "sharded", "max_to_keep", "keep_checkpoint_every_n_hours", "name",
    "restore_sequentially", "filename",
)  # fmt: skip


class Saver(KeptCheckpoints):
    """Saves and restores the variables of a graph.

    Its operations are added to the graph when it is made; `save` and `restore` run them.

    Args:
        var_list: variables, or a dict from names in the file to variables; None: all that can be
            saved.
        reshape: whether `restore` may change shapes.
        sharded: one file for each device.
        max_to_keep: how many recent checkpoints stay; None or 0: all.
        keep_checkpoint_every_n_hours: one checkpoint in so many hours is kept beyond that.
        name: prefix for the operations.
        restore_sequentially: not two variables of one device at once.
        saver_def: a `SaverDef` whose operations are in the graph already.
        builder: not used when a `saver_def` is given; else it builds the operations.
        defer_build: build when `save` or `build` is called.
        allow_empty: do nothing when there are no variables, instead of raising.
        write_version: of the format: `tf.train.SaverDef.V2` or `V1`.
        pad_step_number: write the step with leading zeros.
        save_relative_paths: write paths into the `checkpoint` file relative to it.
        filename: a file to save to and restore from, when the graph alone decides.

    Raises:
        ValueError: there is nothing to save; or an argument does not fit another.
        TypeError: `var_list` holds something that cannot be saved.

    Example:
        >>> v = tf.Variable([1.0, 2.0])
        >>> session.run(v.initializer)
        >>> saver = tf.train.Saver()
        >>> path = saver.save(session, "./model", global_step=7)
        >>> _ = session.run(v.assign([0.0, 0.0]))
        >>> saver.restore(session, path)
        >>> path, session.run(v)
        ('./model-7', array([1., 2.], dtype=float32))
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: SaverDef | None = None,
        builder: BaseSaverBuilder | None = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: Any = SaverDef.V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set "
                "defer_build=False or var_list=None."
            )
        self._var_list, self._reshape, self._sharded = var_list, reshape, sharded
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._name, self._filename = name, filename
        self._restore_sequentially = restore_sequentially
        self.saver_def = saver_def
        self._builder = builder
        self._is_built, self._is_empty = False, False
        self._allow_empty = allow_empty
        self._write_version = write_version
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        super().__init__()
        self._object_restore_saver: Saver | None = None
        self._background: BackgroundSave | None = None
        self._saving = threading.RLock()
        if not defer_build:
            self.build()
        if self.saver_def and not executing_eagerly():
            self._check_saver_def()
            self._write_version = self.saver_def.version

    # ---- building ----

    def build(self) -> None:
        """Adds the operations to the default graph, unless they are there already."""
        if self._is_built:
            return
        self._is_built = True
        if executing_eagerly():
            self._build_eagerly()
        elif not self.saver_def:
            if not self._build_nodes():
                return
        elif self._name:
            # The nodes were imported below a scope.
            for field in _NAMES:
                name = getattr(self.saver_def, field)
                setattr(self.saver_def, field, prepend_scope(name, self._name))
        if not executing_eagerly():
            self._check_saver_def()
        self._start_keeping()

    def _build_nodes(self) -> bool:
        """Adds the nodes; whether there was anything to save."""
        variables = all_saveable_objects() if self._var_list is None else self._var_list
        self._var_list, self._is_empty = variables, not variables
        if not variables and not self._allow_empty:
            raise ValueError("No variables to save")
        if variables:
            self._builder = self._builder or BulkSaverBuilder(self._write_version)
            options = {option: getattr(self, f"_{option}") for option in _BUILT_WITH}
            self.saver_def = self._builder._build_internal(variables, **options)
        return not self._is_empty

    def _build_eagerly(self) -> None:
        """There are no operations to be made: variables are read when they are saved."""
        if self._var_list is None:
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or dict of"
                " variables to save"
            )
        self._builder = self._builder or BulkSaverBuilder(self._write_version)
        self.saver_def = SaverDef(
            max_to_keep=self._max_to_keep or 0, version=self._write_version,
            keep_checkpoint_every_n_hours=self._keep_checkpoint_every_n_hours,
        )  # fmt: skip

    def _check_saver_def(self) -> None:
        full_name = getattr(getattr(self.saver_def, "DESCRIPTOR", None), "name", None)
        if self.saver_def is None or full_name != "SaverDef":
            raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {self.saver_def}")
        if not self.saver_def.save_tensor_name:
            raise ValueError(f"saver_def must specify the save_tensor_name: {self.saver_def}")
        if not self.saver_def.restore_op_name:
            raise ValueError(f"saver_def must specify the restore_op_name: {self.saver_def}")

    # ---- saving ----

    def save(
        self,
        sess: Any,
        save_path: str,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
        background: bool = False,
    ) -> str | None:
        """Saves the variables in `sess`; returns the prefix of the checkpoint's files.

        With `background`, the values are those of this moment but are written while the program
        goes on; the checkpoint exists once `wait` returns. The next `save` and `restore` wait.
        """
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        # The checkpoint that was begun last is the latest one, whichever thread saves.
        with self._saving:
            return self._save(
                sess, save_path, global_step, latest_filename, meta_graph_suffix, write_meta_graph,
                write_state, strip_default_attrs, save_debug_info, background,
            )  # fmt: skip

    def _save(
        self, sess: Any, save_path: str, global_step: Any, latest_filename: str | None,
        meta_graph_suffix: str, write_meta_graph: bool, write_state: bool,
        strip_default_attrs: bool, save_debug_info: bool, background: bool,
    ) -> str | None:  # fmt: skip
        self.wait()
        latest_filename = latest_filename or "checkpoint"
        self._warn_if_old()
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        save_path = os.fspath(save_path)
        prefix = self._numbered(sess, save_path, global_step, latest_filename)
        if executing_eagerly():
            assert self._builder is not None
            self._builder.save_op(constant(prefix), validate_and_slice_inputs(self._var_list))
            self._after_save(save_path, prefix, write_state, latest_filename, meta_graph_suffix)
            return prefix
        if not isinstance(sess, BaseSession):
            raise TypeError(f"'sess' must be a Session; {sess}")
        if write_meta_graph and background:
            # The graph as it is now, too.
            self._write_meta_graph(
                sess, prefix, meta_graph_suffix, strip_default_attrs, save_debug_info
            )
        path = None
        if not self._is_empty:
            options = (write_state, latest_filename, meta_graph_suffix)
            path = self._save_values(sess, save_path, prefix, options, background)
        if write_meta_graph and not background:
            self._write_meta_graph(
                sess, prefix, meta_graph_suffix, strip_default_attrs, save_debug_info
            )
        return path

    def wait(self) -> None:
        """Waits for a save in the background, and raises the error it ended with."""
        running, self._background = self._background, None
        if running is not None:
            running.wait()

    def _warn_if_old(self) -> None:
        if self._write_version != SaverDef.V2:
            stars = "*" * 55
            logging.warning(stars)
            logging.warning("TensorFlow's V1 checkpoint format has been deprecated.")
            logging.warning("Consider switching to the more efficient V2 format:")
            logging.warning("   `tf.train.Saver(write_version=tf.train.SaverDef.V2)`")
            logging.warning("now on by default.")
            logging.warning(stars)

    def _numbered(self, sess: Any, save_path: str, global_step: Any, latest_filename: str) -> str:
        """The prefix with the step's number."""
        if global_step is None:
            if os.path.basename(save_path) == latest_filename and not self._sharded:
                raise ValueError(
                    f"'latest_filename' collides with 'save_path': '{latest_filename}' and "
                    f"'{save_path}'"
                )
            return save_path
        if executing_eagerly():
            global_step = int(global_step)
        elif not isinstance(global_step, (int, np.integer)):
            global_step = training_util.global_step(sess, global_step)
        number = f"{global_step:08d}" if self._pad_step_number else f"{global_step:d}"
        return f"{save_path}-{number}"

    def _save_values(
        self, sess: Any, save_path: str, prefix: str, options: Any, background: bool
    ) -> str:
        assert self.saver_def is not None
        names = self.saver_def
        feeds: dict[Any, Any] = {names.filename_tensor_name: prefix}
        feeds |= snapshot(sess, names.save_tensor_name)

        def write() -> str:
            try:
                path = compat.as_str(sess.run(names.save_tensor_name, feeds))
                self._after_save(save_path, path, *options)
                return path
            except (errors.FailedPreconditionError, errors.NotFoundError):
                if not file_io.isdir(os.path.dirname(save_path) or "."):
                    raise ValueError(
                        f"Parent directory of {save_path} doesn't exist, can't save."
                    ) from None
                raise

        if not background:
            return write()
        self._background = BackgroundSave(write)
        return prefix if names.version == SaverDef.V2 else self._background.wait()

    def _after_save(
        self,
        save_path: str,
        path: str,
        write_state: bool,
        latest_filename: str,
        meta_graph_suffix: str,
    ) -> None:
        """The new checkpoint is the latest; an old one may go."""
        if not write_state:
            return
        self._record(path)
        update_checkpoint_state_internal(
            save_dir=os.path.dirname(save_path),
            model_checkpoint_path=path,
            all_model_checkpoint_paths=self.last_checkpoints,
            latest_filename=latest_filename,
            save_relative_paths=self._save_relative_paths,
        )
        self._delete_old(meta_graph_suffix)

    def _write_meta_graph(
        self, sess: Any, prefix: str, suffix: str, strip_default_attrs: bool, debug_info: bool
    ) -> None:
        with sess.graph.as_default():
            self.export_meta_graph(
                meta_graph_filename(prefix, suffix),
                strip_default_attrs=strip_default_attrs,
                save_debug_info=debug_info,
            )

    def export_meta_graph(
        self,
        filename: str | None = None,
        collection_list: Any = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """The default graph with this saver as a MetaGraphDef, written to `filename` if given."""
        message, _ = export_scoped_meta_graph(
            filename=filename,
            graph_def=get_default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info,
        )
        return message

    # ---- restoring ----

    def restore(self, sess: Any, save_path: str) -> None:
        """Sets the variables in `sess` to what the checkpoint `save_path` holds."""
        self.wait()
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        prefix = compat.as_text(os.fspath(save_path))
        if not checkpoint_exists(prefix):
            folder = os.path.dirname(prefix)
            if folder and "://" not in folder and not file_io.isdir(folder):
                raise errors.NotFoundError(None, None, f"{folder}; No such file or directory")
            raise ValueError(f"The passed save_path is not a valid checkpoint: {prefix}")
        logging.info("Restoring parameters from %s", prefix)
        assert self.saver_def is not None
        if executing_eagerly():
            self._restore_eagerly(prefix)
            return
        try:
            sess.run(self.saver_def.restore_op_name, {self.saver_def.filename_tensor_name: prefix})
        except errors.NotFoundError as error:
            self._restore_by_object(sess, prefix, error)
        except errors.InvalidArgumentError as error:
            made = _explained(error, "a mismatch between the current graph and the graph")
            restore = sess.graph.get_operation_by_name(self.saver_def.restore_op_name)
            if found := mismatches(restore, prefix):
                made._message += f"\n\nVariables with other shapes:\n{found}"
            raise made from error

    def _restore_eagerly(self, prefix: str) -> None:
        assert self._builder is not None
        saveables = validate_and_slice_inputs(self._var_list)
        try:
            tensors = iter(self._builder.bulk_restore(constant(prefix), saveables, -1, False))
        except errors.NotFoundError as error:
            raise _explained(error, "a Variable name or other graph key that is missing") from error
        for saveable in saveables:
            saveable.restore([next(tensors) for _ in saveable.specs], None)

    def _restore_by_object(self, sess: Any, prefix: str, error: errors.NotFoundError) -> None:
        """A name was not found: it may be known by the place of its variable among objects."""
        try:
            keys = object_graph_key_mapping(prefix)
        except errors.NotFoundError:
            raise _explained(error, "a Variable name or other graph key that is missing") from error
        logging.warning(
            "Restoring an object-based checkpoint using a name-based saver. This may be somewhat "
            "fragile, and will re-build the Saver. Instead, consider loading object-based "
            "checkpoints using tf.train.Checkpoint()."
        )
        self._object_restore_saver = saver_from_object_based_checkpoint(
            prefix, self._var_list, self._builder, keys, self._object_restore_saver
        )
        self._object_restore_saver.restore(sess, prefix)

    # ---- as data ----

    def as_saver_def(self) -> Any:
        """The SaverDef that names this saver's nodes."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """As `as_saver_def`, with names relative to a scope; None if they lie elsewhere."""
        if export_scope is None:
            return self.saver_def
        if not all(getattr(self.saver_def, f).startswith(export_scope) for f in _NAMES):
            return None
        message = SaverDef()
        message.CopyFrom(self.saver_def)
        for field in _NAMES:
            setattr(message, field, strip_scope(getattr(message, field), export_scope))
        return message

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """A saver whose nodes are in the default graph already."""
        return Saver(saver_def=saver_def, name=import_scope)


def only_saver() -> Any:
    """The saver of the collection of savers; RuntimeError unless there is exactly one."""
    savers = get_collection(GraphKeys.SAVERS)
    if len(savers) == 1:
        return savers[0]
    found, advice = (
        ("More than one item", "indicate which one to use by passing it to the constructor.")
        if savers
        else ("No items", "add a saver to the collection or provide a saver or scaffold.")
    )
    raise RuntimeError(f"{found} in collection {GraphKeys.SAVERS}. Please {advice}")


def _get_saver_or_default() -> Saver:
    """The saver of the collection of savers; made and added if there is none."""
    if not get_collection(GraphKeys.SAVERS):
        add_to_collection(GraphKeys.SAVERS, Saver(sharded=True, allow_empty=True))
    return only_saver()


def _explained(error: errors.OpError, reason: str) -> errors.OpError:
    message = (
        f"Restoring from checkpoint failed. This is most likely due to {reason} from the "
        "checkpoint. Please ensure that you have not altered the graph expected based on the "
        f"checkpoint. Original error:\n\n{error.message}"
    )
    kind: Any = type(error)
    made: errors.OpError = kind(error.node_def, error.op, message)
    return made


register_proto_function(
    GraphKeys.SAVERS, proto_type=SaverDef, to_proto=Saver.to_proto, from_proto=Saver.from_proto
)


# ---- checkpoints of objects, read by name -------------------------------------------------------


def saver_from_object_based_checkpoint(
    checkpoint_path: str,
    var_list: Any = None,
    builder: BaseSaverBuilder | None = None,
    names_to_keys: dict[str, str] | None = None,
    cached_saver: Saver | None = None,
) -> Saver:
    """A saver of variables by name that reads a checkpoint of objects."""
    if names_to_keys is None:
        try:
            names_to_keys = object_graph_key_mapping(checkpoint_path)
        except errors.NotFoundError:
            raise ValueError(
                f"Checkpoint in {checkpoint_path} not an object-based checkpoint."
            ) from None
    if var_list is None:
        var_list = all_saveable_objects()
    saveables = validate_and_slice_inputs(var_list)
    specs = [spec for saveable in saveables for spec in saveable.specs]
    check_all_there({spec.name for spec in specs}, set(names_to_keys))
    for spec in specs:
        spec.name = names_to_keys[spec.name]
    return cached_saver if cached_saver is not None else Saver(saveables, builder=builder)
