"""SavedModels of TensorFlow 1 as objects: their graph is a function, of which parts can be cut out.

Variables behind handles are lifted out of it; references stay inside, under names of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto.variable_pb2 import VariableDef

from weft.core.shapes import TensorShape, dims_of
from weft.graph.convert import constant
from weft.graph.graph import GraphKeys, add_to_collection, get_default_graph, init_scope
from weft.graph.importer import import_graph_def
from weft.graph.meta_graph_parts import add_default_valued_attrs
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.functions.lift import UnliftableError
from weft.lib.functions.wrap import WrappedFunction, wrap_function
from weft.lib.saved_model import constants
from weft.lib.saved_model.assets import get_asset_tensors
from weft.lib.saved_model.files import names_of
from weft.lib.saved_model.load import note_version
from weft.lib.saved_model.loader import SavedModelLoader
from weft.lib.saved_model.objects import SignatureMap, TrackableAsset
from weft.lib.saved_model.restored_library import RestoredLibrary
from weft.lib.saved_model.tensor_info import get_tensor_from_tensor_info
from weft.lib.train.checkpoint.objects import AutoTrackable
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state.resource_variable import BaseResourceVariable

_KEYS = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)


def load_v1(export_dir: Any, tags: Any) -> Any:
    """An object with `signatures`, `variables`, `graph`, `prune` and `asset_paths`."""
    loader = SavedModelLoader(export_dir)
    meta_graph = _chosen(loader, tags)
    library = RestoredLibrary(meta_graph)
    _rename(meta_graph.graph_def, library)
    wrapped = wrap_function(lambda: import_graph_def(meta_graph.graph_def, name=""), [])
    root: Any = AutoTrackable()
    with names_of("The list of variables", export_dir):
        variables = {key: list(_lifted(meta_graph, wrapped, key)) for key in _KEYS}
    with names_of("The saver", export_dir):
        _restore(meta_graph, wrapped, loader.variables_path, variables[_KEYS[0]])
    with names_of("The main op", export_dir):
        root.asset_paths = _run_main_op(meta_graph, wrapped, export_dir, variables[_KEYS[1]])
    root.signatures = _signatures(meta_graph, wrapped, export_dir)
    root.variables = [each for key in _KEYS for each in variables[key]]
    root.graph, root.prune = wrapped.graph, wrapped.prune
    note_version(root, meta_graph)
    return root


def _chosen(loader: SavedModelLoader, tags: Any) -> Any:
    graphs = loader.saved_model.meta_graphs
    if tags is not None:
        return loader.get_meta_graph_def_from_tags(tags)
    if len(graphs) == 1:
        return graphs[0]
    known = [list(each.meta_info_def.tags) for each in graphs]
    raise ValueError(
        "Importing a SavedModel with tf.saved_model.load requires a 'tags=' argument if there is"
        f" more than one MetaGraph. Got 'tags=None', but there are {len(graphs)} MetaGraphs in the"
        f" SavedModel with tag sets {known}. Pass a 'tags=' argument to load this SavedModel."
    )


def _rename(graph_def: Any, library: RestoredLibrary) -> None:
    for node in graph_def.node:
        library.rename(node)
    graph_def.library.Clear()
    for function in library.functions.values():
        graph_def.library.function.add().CopyFrom(function.message)
        if function.gradient:
            graph_def.library.gradient.add(
                function_name=function.name, gradient_func=function.gradient
            )
    add_default_valued_attrs(graph_def)


# ---- variables ----------------------------------------------------------------------------------


class LiftedVariable(BaseResourceVariable):
    """A variable of the program in the place of one inside of the function."""

    def __init__(self, handle: Tensor, trainable: bool) -> None:
        self._set_modes(None, None, trainable, None)
        attrs = handle.op.attrs
        self._shape, self._dtype = TensorShape.from_dims(attrs["shape"]), attrs["dtype"]
        named = handle.op.name
        with init_scope():
            self._handle = raw.VarHandleOp(
                shape=dims_of(self._shape), dtype=self._dtype,
                shared_name=attrs["shared_name"], name=named,
            )  # fmt: skip
            self._initializer_op = self._initial_value = self._cached_value = None
            if not executing_eagerly():
                self._graph_element = self._read_variable_op()


def _lifted(meta_graph: Any, wrapped: WrappedFunction, key: str) -> Iterator[LiftedVariable]:
    """Variables outside for those of a collection that are behind handles."""
    trainable = {each.variable_name for each in _variable_defs(meta_graph, "trainable_variables")}
    graph = wrapped.graph
    for message in _variable_defs(meta_graph, key):
        if not message.is_resource:
            continue
        inside = graph.as_graph_element(message.variable_name)
        made = LiftedVariable(inside, message.trainable or message.variable_name in trainable)
        graph.inputs.append(inside)
        graph.extra_args.append(inside)
        graph.extra_inputs.append(made.handle)
        get_default_graph().add_to_collection(key, made)
        if executing_eagerly() and made.trainable:  # a tape is to see it
            add_to_collection(GraphKeys.TRAINABLE_VARIABLES, made)
        yield made


def _variable_defs(meta_graph: Any, key: str) -> list[VariableDef]:
    if key not in meta_graph.collection_def:
        return []
    values = meta_graph.collection_def[key].bytes_list.value
    return [VariableDef.FromString(value) for value in values]


def _restore(
    meta_graph: Any, wrapped: WrappedFunction, path: str, variables: list[LiftedVariable]
) -> None:
    """Restores the variables; while a graph is built, that is what initializes them."""
    saver = meta_graph.saver_def
    if not saver.restore_op_name:
        return
    name = wrapped.graph.as_graph_element(saver.filename_tensor_name)
    op = wrapped.graph.as_graph_element(saver.restore_op_name)
    restored, _ = wrapped.prune([name], [name, op])(constant(path))
    _initializes(restored, variables)


def _initializes(done: Tensor, variables: list[LiftedVariable]) -> None:
    if not executing_eagerly():
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, done.op)
        for variable in variables:
            variable._initializer_op = done.op


# ---- what runs once ------------------------------------------------------------------------------


def _run_main_op(
    meta_graph: Any, wrapped: WrappedFunction, export_dir: Any, local: list[LiftedVariable]
) -> list[TrackableAsset]:
    files = get_asset_tensors(export_dir, meta_graph)
    assets = [TrackableAsset(path) for path in files.values()]
    op = _main_op(meta_graph, wrapped)
    if op is not None:
        feeds = [wrapped.graph.as_graph_element(name) for name in files]
        with wrapped.graph.as_default():
            anchor = constant(0.0, name="dummy_fetch")
        done, _ = wrapped.prune(feeds, [anchor, op])(*(each.asset_path for each in assets))
        _initializes(done, local)
    return assets


def _main_op(meta_graph: Any, wrapped: WrappedFunction) -> Any:
    """The operation to run after loading, in whichever place the writer noted it."""
    signature = meta_graph.signature_def.get(constants.INIT_OP_SIGNATURE_KEY)
    if signature is not None:
        name = signature.outputs[constants.INIT_OP_SIGNATURE_KEY].name
        return wrapped.graph.as_graph_element(name)
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if key in meta_graph.collection_def:
            (name,) = meta_graph.collection_def[key].node_list.value
            return wrapped.graph.as_graph_element(name)
    return None


# ---- signatures ---------------------------------------------------------------------------------


def _signatures(meta_graph: Any, wrapped: WrappedFunction, export_dir: Any) -> SignatureMap:
    reserved = (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY)
    found = {}
    for key, signature in meta_graph.signature_def.items():
        if key not in reserved:
            with names_of(f'The signature "{key}"', export_dir):
                found[key] = _signature(key, signature, wrapped)
    return SignatureMap(found)


def _signature(key: str, signature: Any, wrapped: WrappedFunction) -> WrappedFunction:
    names = list(signature.inputs)
    try:
        found = wrapped.prune(
            [_element(signature.inputs[name], wrapped) for name in names],
            {name: _element(info, wrapped) for name, info in signature.outputs.items()},
        )
    except UnliftableError as error:
        raise UnliftableError(
            "A SavedModel signature needs an input for each placeholder the signature's outputs"
            f" use. An output for signature '{key}' depends on a placeholder which is not an"
            f" input (i.e. the placeholder is not fed a value).\n\n{error}"
        ) from None
    found._keywords = names
    found._allowed_positional = 1 if len(names) == 1 else 0
    return found


def _element(info: Any, wrapped: WrappedFunction) -> Any:
    return get_tensor_from_tensor_info(info, wrapped.graph)
