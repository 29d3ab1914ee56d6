"""tf.saved_model.save: an object, with its functions and variables, becomes a folder."""

from __future__ import annotations

import os
from typing import Any

from tensorboard.compat.proto.saved_object_graph_pb2 import SavedObjectGraph, SavedUserObject

from weft.core import compat
from weft.graph.graph import get_default_graph
from weft.graph.meta_graph import create_meta_graph_def
from weft.lib.functions.concrete import ConcreteFunction
from weft.lib.functions.polymorphic import Function
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model import constants, tag_constants
from weft.lib.saved_model.export_graph import ExportGraph
from weft.lib.saved_model.files import assets_dir, variables_path, write_saved_model
from weft.lib.saved_model.object_signatures import signatures_of
from weft.lib.saved_model.objects import SignatureMap, TrackableAsset
from weft.lib.saved_model.restored_function import RestoredFunction
from weft.lib.saved_model.saved_functions import saved_bare, saved_function, saved_trace
from weft.lib.saved_model.saved_objects import SavedObjects, is_trackable
from weft.lib.saved_model.structure import NotEncodableError
from weft.lib.saved_model.tables import is_table
from weft.lib.train.checkpoint.checkpoint import ObjectSaver
from weft.lib.train.checkpoint.default_session import get_session
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state.resource_variable import BaseResourceVariable
from weft.ops.state.variables import Variable
from weft.protos.saved_model import SavedModel
from weft.storage import file_io


def save(obj: Any, export_dir: Any, signatures: Any = None) -> None:
    """Writes an object, all that its attributes lead to, and its functions as far as traced.

    `signatures` is a `tf.function` with an input signature, a concrete function, or a dict of
    them: what is served. By default it is the object's function, if it has just one with an input
    signature. While graphs are built, values of variables are those in the default session.
    """
    if get_default_graph().building_function:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move the call to"
            " the outer eagerly-executed context."
        )
    if not is_trackable(obj):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    served = signatures_of(obj, signatures)
    # Tracing may make variables, after which there is more to save.
    _traces(SavedObjects(obj, served))
    objects = SavedObjects(obj, served)
    export = ExportGraph(objects)
    traces = _traces(objects)
    meta_graph = _meta_graph(objects, export, served, traces)
    _write_variables(objects, variables_path(export_dir))
    _copy_files(export.files, export_dir)
    message = SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
    message.meta_graphs.add().CopyFrom(meta_graph)
    path = write_saved_model(message, export_dir, as_text=False)
    logging.info("Assets written to: %s", assets_dir(export_dir))
    logging.debug("SavedModel written to: %s", compat.as_text(path))


def _traces(objects: SavedObjects) -> list[ConcreteFunction]:
    """All traces of all functions, each once."""
    found: dict[str, ConcreteFunction] = {}
    for value in objects.objects:
        if isinstance(value, ConcreteFunction):
            found[value.name] = value
        elif isinstance(value, (Function, RestoredFunction)):
            found |= {each.name: each for each in value.traces()}
    return list(found.values())


def _meta_graph(
    objects: SavedObjects, export: ExportGraph, served: SignatureMap, traces: list[ConcreteFunction]
) -> Any:
    with export.graph.as_default():
        signatures = {key: export.signature(key, f) for key, f in sorted(served.items())}
        for trace in traces:
            export.note_captures(trace)
            trace.add_to_graph(export.graph)
    saver_def = export.saver_def()
    tables = [objects.table(value) for value in objects.objects if is_table(value)]
    main: Any = type(create_meta_graph_def(graph=export.graph, collection_list=[]))()
    export.add_main_op(main, tables)
    found = create_meta_graph_def(
        graph=export.graph, saver_def=saver_def, collection_list=[], strip_default_attrs=True
    )
    found.MergeFrom(main)
    found.meta_info_def.tags.append(tag_constants.SERVING)
    found.asset_file_def.extend(export.assets)
    for key, signature in signatures.items():
        found.signature_def[key].CopyFrom(signature)
    found.object_graph_def.CopyFrom(_object_graph(objects, export, traces))
    return found


# ---- the objects --------------------------------------------------------------------------------


def _object_graph(
    objects: SavedObjects, export: ExportGraph, traces: list[ConcreteFunction]
) -> Any:
    message = SavedObjectGraph()
    for trace in traces:
        saved = _saved_trace(trace, export)
        if saved is not None:
            message.concrete_functions[trace.name].CopyFrom(saved)
    described, _ = objects.serialize()
    slots = _captured_slots(described, message)
    for value, known in zip(objects.objects, described.nodes, strict=True):
        node = message.nodes.add()
        for child in known.children:
            node.children.add(node_id=child.node_id, local_name=child.local_name)
        _describe(value, node, objects, export, set(message.concrete_functions))
        for slot in known.slot_variables if slots else ():
            node.slot_variables.add().ParseFromString(slot.SerializeToString())
            node.user_object.identifier = "tf_deprecated_optimizer"
    for number in set() if slots else _slots(described):
        message.nodes[number].user_object.CopyFrom(_user_object("_generic_user_object"))
    for tensor in export.constants:
        message.nodes.add().constant.operation = tensor.op.name
    return message


def _slots(described: Any) -> set[int]:
    """The numbers of the optimizers' slot variables."""
    return {s.slot_variable_node_id for node in described.nodes for s in node.slot_variables}


def _captured_slots(described: Any, message: Any) -> set[int]:
    """The slots that functions use; the others are the checkpoint's alone, since TensorFlow can
    load them only into optimizers that it knows.
    """
    used = {n for trace in message.concrete_functions.values() for n in trace.bound_inputs}
    return used & _slots(described)


def _user_object(identifier: str) -> Any:
    made = SavedUserObject(identifier=identifier)
    made.version.producer = made.version.min_consumer = 1
    return made


def _saved_trace(trace: ConcreteFunction, export: ExportGraph) -> Any:
    unknown = [t for t in trace.captured_inputs if t not in export.numbers]
    if unknown:
        logging.warning(
            "Concrete function %s not added to object based saved model as it captures tensor %s"
            " which is unsupported or not reachable from root.", trace.name, unknown[0],
        )  # fmt: skip
        return None
    try:
        return saved_trace(trace, export.numbers.__getitem__)
    except NotEncodableError as error:
        logging.warning("Concrete function %s is not saved: %s", trace.name, error)
        return None


def _describe(
    value: Any, node: Any, objects: SavedObjects, export: ExportGraph, known: set[str]
) -> None:
    """Says what kind of object it is."""
    if isinstance(value, Variable):
        _describe_variable(value, node.variable)
    elif isinstance(value, TrackableAsset):
        node.asset.asset_file_def_index = export.asset_numbers[objects.number_of(value)]
        node.asset.SetInParent()
    elif isinstance(value, ConcreteFunction):
        node.bare_concrete_function.CopyFrom(saved_bare(value))
    elif isinstance(value, (Function, RestoredFunction)):
        names = [trace.name for trace in value.traces() if trace.name in known]
        node.function.CopyFrom(saved_function(value, names))
    elif is_table(value):
        node.resource.SetInParent()
    else:
        kinds = {kind: name for kind, name in _IDENTIFIERS.items() if isinstance(value, kind)}
        node.user_object.CopyFrom(_user_object(next(iter(kinds.values()), "_generic_user_object")))


_IDENTIFIERS: dict[type, str] = {
    SignatureMap: "signature_map",
    list: "trackable_list_wrapper",
    tuple: "trackable_tuple_wrapper",
    dict: "trackable_dict_wrapper",
}


def _describe_variable(variable: Any, message: Any) -> None:
    if not isinstance(variable, BaseResourceVariable):
        raise ValueError(
            f"Variable {variable.name} cannot be saved with tf.saved_model.save: it is a reference"
            " variable. Make it with use_resource=True, or call tf.enable_resource_variables()."
        )
    message.name = variable.name.partition(":")[0]
    message.trainable, message.dtype = variable.trainable, variable.dtype.as_datatype_enum
    message.synchronization = int(getattr(variable.synchronization, "value", 0))
    message.aggregation = int(getattr(variable.aggregation, "value", 0))
    message.shape.CopyFrom(variable.shape.as_proto())


# ---- files --------------------------------------------------------------------------------------


class _Saver(ObjectSaver):
    """Saves the objects as they were numbered."""

    def _objects(self) -> Any:
        return self.root


def _write_variables(objects: SavedObjects, prefix: str) -> None:
    if executing_eagerly():
        _Saver(objects).save_eagerly(prefix)
    else:
        _Saver(objects).save(prefix, get_session())


def _copy_files(files: dict[str, str], export_dir: Any) -> None:
    target = assets_dir(export_dir)
    file_io.makedirs(target)
    for name, source in files.items():
        file_io.copy(source, os.path.join(target, name), overwrite=True)
