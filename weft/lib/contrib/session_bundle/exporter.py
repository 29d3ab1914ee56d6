"""Writes a model, what it takes and gives, and its files into a directory per version."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.any_pb2 import Any as AnyMessage

from weft.core import compat, dtypes
from weft.graph.graph import add_to_collection, get_default_graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.session_bundle import constants, gc
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.saver import Saver
from weft.ops.state.global_step import global_step
from weft.protos import manifest
from weft.storage import file_io


def gfile_copy_callback(files_to_copy: Mapping[Any, Any], export_dir_path: Any) -> None:
    """Copies files, path -> new name, into a directory."""
    folder = compat.as_bytes(export_dir_path)
    file_io.MakeDirs(folder)
    logging.info("Write assets into: %s using gfile_copy.", export_dir_path)
    for source, name in files_to_copy.items():
        # Where an export was broken off there may be half a file.
        _copy_over(source, os.path.join(folder, compat.as_bytes(name)))


def _copy_over(source: Any, target: bytes) -> None:
    logging.info("Copying asset %s to path %s.", source, target)
    file_io.Copy(source, target, overwrite=True)


def _signature(kind: str, **tensors: Tensor | None) -> Any:
    """A signature of a kind, with the names of the tensors that are given."""
    signature = manifest.Signature()
    body = getattr(signature, kind)
    body.SetInParent()
    for field, tensor in tensors.items():
        if tensor is not None:
            getattr(body, field).tensor_name = tensor.name
    return signature


def regression_signature(input_tensor: Tensor, output_tensor: Tensor) -> Any:
    """The signature of a model that computes a number."""
    return _signature(constants.REGRESSION_SIGNATURE, input=input_tensor, output=output_tensor)


def classification_signature(
    input_tensor: Tensor, classes_tensor: Tensor | None = None, scores_tensor: Tensor | None = None
) -> Any:
    """The signature of a model that computes classes, their scores, or both."""
    return _signature(
        constants.CLASSIFICATION_SIGNATURE, input=input_tensor, classes=classes_tensor,
        scores=scores_tensor,
    )  # fmt: skip


def generic_signature(name_tensor_map: Mapping[str, Tensor]) -> Any:
    """The signature of any tensors, by names for them."""
    signature = manifest.Signature()
    for name, tensor in name_tensor_map.items():
        signature.generic_signature.map[name].tensor_name = tensor.name
    return signature


_PATH_MUST: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (lambda each: isinstance(each, Tensor), "tensor is not a Tensor"),
    (lambda each: each.op.type == "Const", "Only constants tensor are supported"),
    (lambda each: each.dtype == dtypes.string, "File paths should be string"),
    (lambda each: len(_strings(each)) == 1, "Only scalar tensors are supported"),
)


def _strings(tensor: Tensor) -> Any:
    return tensor.op.get_attr("value").string_val


def _path_of(tensor: Any) -> bytes:
    for holds, said in _PATH_MUST:
        if not holds(tensor):
            raise TypeError(said)
    path = _strings(tensor)[0]
    if not path:
        raise ValueError(f"invalid asset filepath tensor {tensor}")
    return path


def _collect(key: str, message: Any) -> None:
    packed = AnyMessage()
    packed.Pack(message)
    add_to_collection(key, packed)


class Exporter:
    """Exports a model, with the variables that a saver saves."""

    def __init__(self, saver: Any) -> None:
        saver_def = saver.as_saver_def()
        # Versions are deleted here, and not by the saver, which would not know of the renaming.
        saver_def.ClearField("max_to_keep")
        self._saver = Saver(saver_def=saver_def)
        self._callback: Any = None
        self._is_ready = False
        self._files: dict[bytes, bytes] = {}

    def init(
        self,
        graph_def: Any = None,
        init_op: Operation | None = None,
        clear_devices: bool = False,
        default_graph_signature: Any = None,
        named_graph_signatures: Mapping[str, Any] | None = None,
        assets_collection: Any = None,
        assets_callback: Any = gfile_copy_callback,
    ) -> None:
        """Puts what is exported into collections of the graph; once."""
        assets = [(_path_of(tensor), tensor) for tensor in assets_collection or ()]
        self._files |= {path: os.path.basename(path) for path, _ in assets}
        if self._is_ready:
            raise RuntimeError("init should be called only once")
        self._is_ready, self._callback = True, assets_callback
        if graph_def or clear_devices:
            _collect_graph(graph_def, clear_devices)
        if init_op:
            if not isinstance(init_op, Operation):
                raise TypeError(f"init_op needs to be an Operation: {init_op}")
            add_to_collection(constants.INIT_OP_KEY, init_op)
        named = named_graph_signatures or {}
        message = manifest.Signatures(named_signatures=dict(named))
        if default_graph_signature:
            message.default_signature.CopyFrom(default_graph_signature)
        _collect(constants.SIGNATURES_KEY, message)
        for path, tensor in assets:
            asset = manifest.AssetFile(filename=compat.as_text(os.path.basename(path)))
            asset.tensor_binding.tensor_name = tensor.name
            _collect(constants.ASSETS_KEY, asset)

    def export(
        self, export_dir_base: str, global_step_tensor: Any, sess: Any = None,
        exports_to_keep: gc.Filter | None = None,
    ) -> bytes:  # fmt: skip
        """Writes the directory of a version, which is the global step; returns its path."""
        if not self._is_ready:
            raise RuntimeError("init must be called first")
        base = compat.as_text(export_dir_base).removesuffix("/")
        version = constants.VERSION_FORMAT_SPECIFIER % global_step(sess, global_step_tensor)
        path = compat.as_bytes(os.path.join(base, version))
        if file_io.Exists(path):
            said = "Overwriting exports can cause corruption and are not allowed."
            raise RuntimeError(f"{said} Duplicate export dir: {path!r}")
        # Renamed when it is complete, so that no reader sees a part of it.
        unfinished = compat.as_text(path) + "-tmp"
        file_io.MakeDirs(unfinished)
        self._saver.save(
            sess,
            os.path.join(unfinished, constants.EXPORT_BASE_NAME),
            meta_graph_suffix=constants.EXPORT_SUFFIX_NAME,
        )
        if self._callback and self._files:
            assets = compat.as_bytes(os.path.join(unfinished, constants.ASSETS_DIRECTORY))
            file_io.MakeDirs(assets)
            self._callback(self._files, assets)
        file_io.Rename(unfinished, path)
        if exports_to_keep:
            _delete(base, gc.negation(exports_to_keep))
        return path


def _collect_graph(graph_def: Any, clear_devices: bool) -> None:
    given = graph_def or get_default_graph().as_graph_def()
    copy = type(given)()
    copy.CopyFrom(given)
    for node in copy.node if clear_devices else ():
        node.device = ""
    _collect(constants.GRAPH_KEY, copy)


def _delete(base: str, unwanted: gc.Filter) -> None:
    """Deletes the versions below `base` that a filter names."""

    def versioned(path: gc.Path) -> gc.Path | None:
        name = re.fullmatch(re.escape(base) + r"/(\d{8})", path.path)
        return path._replace(export_version=int(name[1])) if name else None

    for path in unwanted(gc.get_paths(base, versioned)):
        file_io.DeleteRecursively(path.path)
