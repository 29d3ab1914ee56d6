"""tf.saved_model.load of TensorFlow 2 (`tf.saved_model.load_v2`): a folder becomes an object.

Attributes of the object that was saved are attributes again: variables, functions as far as they
were traced, files, tables, lists, dicts, and other objects. Loading adds to the default graph; its
variables get their values from the folder when they are initialized. In eager execution they
have them at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from weft.core import compat, errors, nest
from weft.core.dtypes import as_dtype
from weft.core.shapes import TensorShape
from weft.graph.convert import constant
from weft.graph.graph import GraphKeys, add_to_collection, device, init_scope
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.graph.tensor_proto import make_ndarray
from weft.lib.saved_model.files import asset_path, parse_saved_model, variables_path
from weft.lib.saved_model.object_references import check_references
from weft.lib.saved_model.objects import (
    RestoredResource,
    SignatureMap,
    TrackableAsset,
    make_callable,
    new_user_object,
)
from weft.lib.saved_model.restored_function import RestoredConcrete, RestoredFunction
from weft.lib.saved_model.restored_library import RestoredLibrary
from weft.lib.saved_model.saved_values import checkpoint_keys, table_content
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state.resource_variable import BaseResourceVariable, ResourceVariable


def load(export_dir: Any, tags: Any = None) -> Any:
    """The object that `tf.saved_model.save` wrote to a folder.

    Of a folder that TensorFlow 1 wrote, an object with `signatures`, `variables`, `graph` and
    `prune`. `tags` says which graph, if there are several.
    """
    if tags is not None and not isinstance(tags, set):
        tags = nest.flatten(tags)
    graphs = parse_saved_model(export_dir).meta_graphs
    with init_scope():
        if len(graphs) != 1 or not graphs[0].HasField("object_graph_def"):
            from weft.lib.saved_model.load_v1 import load_v1

            return load_v1(export_dir, tags)
        _check_tags(export_dir, tags, graphs[0])
        root = ObjectLoader(graphs[0], export_dir).root
    note_version(root, graphs[0])
    return root


load_v2 = load
_MOST_NESTED = 100


def note_version(root: Any, meta_graph: Any) -> None:
    """Says which TensorFlow wrote the model."""
    root.tensorflow_version = meta_graph.meta_info_def.tensorflow_version
    root.tensorflow_git_version = meta_graph.meta_info_def.tensorflow_git_version


def _check_tags(export_dir: Any, tags: Any, meta_graph: Any) -> None:
    own = meta_graph.meta_info_def.tags
    if tags is not None and set(tags) != set(own):
        raise ValueError(
            f"The SavedModel at {compat.as_str_any(export_dir)} has one MetaGraph with tags {own},"
            f" but got an incompatible argument tags={tags} to tf.saved_model.load. You may omit"
            " it, pass 'None', or pass matching tags."
        )


class ObjectLoader:
    """Makes the objects of a SavedObjectGraph: first each by itself, then what leads where."""

    def __init__(self, meta_graph: Any, export_dir: Any) -> None:
        self._meta_graph, self._export_dir = meta_graph, export_dir
        self._proto = meta_graph.object_graph_def
        check_references(meta_graph, export_dir)
        self._library = RestoredLibrary(meta_graph)
        self._traces = {
            name: RestoredConcrete(self._library.named(name), self._library, message)
            for name, message in self._proto.concrete_functions.items()
        }
        self._keys = checkpoint_keys(self._proto, variables_path(export_dir))
        self._objects: dict[int, Any] = {}
        self._open: list[int] = []
        for number in range(len(self._proto.nodes)):
            self._object(number)
        for number, node in enumerate(self._proto.nodes):
            self._connect(self._objects[number], node)
        self._bind()
        self._initialize()

    @property
    def root(self) -> Any:
        return self._objects[0]

    # ---- one object ----

    def _object(self, number: int) -> Any:
        if number not in self._objects:
            node = self._proto.nodes[number]
            kind = node.WhichOneof("kind")
            makers: dict[str | None, Callable[[int, Any], Any]] = {
                "user_object": self._user_object,
                "asset": self._asset,
                "function": self._function,
                "bare_concrete_function": self._bare_function,
                "variable": self._variable,
                "constant": self._constant,
                "resource": lambda number, message: RestoredResource(),
            }
            if kind not in makers:
                raise ValueError(f"Unknown SavedObject type: {kind!r}")
            self._objects[number] = makers[kind](number, getattr(node, kind))
        return self._objects[number]

    def _user_object(self, number: int, message: Any) -> Any:
        kind = message.identifier
        if kind == "trackable_tuple_wrapper":
            return self._tuple(number)
        return _CONTAINERS.get(kind, new_user_object)()

    def _tuple(self, number: int) -> tuple[Any, ...]:
        """Its elements come first, which is why it can be in none of them."""
        if number in self._open or len(self._open) == _MOST_NESTED:
            raise ValueError(f"The tuples of a SavedModel hold themselves: {self._open[:8]}...")
        self._open.append(number)
        children = sorted(self._proto.nodes[number].children, key=_position)
        made = tuple(self._object(c.node_id) for c in children if c.local_name.isdigit())
        self._open.pop()
        return made

    def _asset(self, number: int, message: Any) -> TrackableAsset:
        file = self._meta_graph.asset_file_def[message.asset_file_def_index].filename
        return TrackableAsset(asset_path(self._export_dir, file))

    def _function(self, number: int, message: Any) -> RestoredFunction:
        return RestoredFunction(message, [self._traces[n] for n in message.concrete_functions])

    def _bare_function(self, number: int, message: Any) -> RestoredConcrete:
        found = self._traces[message.concrete_function_name]
        found.allow(message.argument_keywords, message.allowed_positional_arguments)
        return found

    def _variable(self, number: int, message: Any) -> ResourceVariable:
        if number not in self._keys:
            raise errors.NotFoundError(
                None, None,
                f"No value for the variable '{message.name}' in the checkpoint of the SavedModel.",
            )  # fmt: skip
        dtype, shape = as_dtype(message.dtype), TensorShape(message.shape)
        prefix = variables_path(self._export_dir)

        def restored() -> Tensor:
            (value,) = raw.RestoreV2(prefix, [self._keys[number]], [""], [dtype])
            if not executing_eagerly():
                value.set_shape(shape)
            return value

        # Whether to train them is for the program to say, which is why no collection has them.
        watched = message.trainable and executing_eagerly()
        made = ResourceVariable(
            restored, trainable=watched, name=message.name or None, shape=shape,
            synchronization=message.synchronization or None,
            aggregation=message.aggregation or None,
        )  # fmt: skip
        made._trainable = message.trainable
        return made

    @functools.cached_property
    def _nodes(self) -> dict[str, Any]:
        return {node.name: node for node in self._meta_graph.graph_def.node}

    def _constant(self, number: int, message: Any) -> Tensor:
        value = make_ndarray(self._nodes[message.operation].attr["value"].tensor)
        return constant(value)

    # ---- all of them ----

    def _connect(self, value: Any, node: Any) -> None:
        if isinstance(value, list):
            ordered = sorted(node.children, key=_position)
            value.extend(self._objects[c.node_id] for c in ordered if c.local_name.isdigit())
            return
        if isinstance(value, (tuple, Tensor, RestoredFunction, RestoredConcrete)):
            return
        put = value.__setitem__ if isinstance(value, dict) else functools.partial(setattr, value)
        if isinstance(value, SignatureMap):
            put = value._add_signature
        for child in node.children:
            put(child.local_name, self._objects[child.node_id])
            if child.local_name == "__call__" and not isinstance(value, dict):
                make_callable(value)

    def _bind(self) -> None:
        """Gives functions what they captured; tables last, since functions make those."""
        late = []
        for name in sorted(self._traces):
            numbers = self._proto.concrete_functions[name].bound_inputs
            if any(isinstance(self._objects[n], RestoredResource) for n in numbers):
                late.append(name)
            else:
                self._bind_one(name, numbers)
        for name in late:
            self._bind_one(name, self._proto.concrete_functions[name].bound_inputs)

    def _bind_one(self, name: str, numbers: Any) -> None:
        held = [self._objects[number] for number in numbers]
        variables = [each for each in held if isinstance(each, BaseResourceVariable)]
        self._traces[name].bind([_tensor_of(each) for each in held], variables)

    def _initialize(self) -> None:
        """Fills tables; while a graph is built, with the other tables of it."""
        for number, value in self._objects.items():
            if isinstance(value, RestoredResource):
                with device("CPU"):
                    done = [each for each in self._filled(number, value) if each is not None]
                if not executing_eagerly():
                    for op in done:
                        add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)

    def _filled(self, number: int, value: RestoredResource) -> Iterator[Operation | None]:
        if value._initialize is not None:
            done = value._initialize()
            yield done if isinstance(done, Operation) else nest.flatten(done)[0].op
        if number in self._keys:
            content = table_content(variables_path(self._export_dir), self._keys[number])
            yield raw.LookupTableImportV2(value.resource_handle, *content)


_CONTAINERS: dict[str, Callable[[], Any]] = {
    "trackable_list_wrapper": list,
    "trackable_dict_wrapper": dict,
    "signature_map": SignatureMap,
}


def _position(child: Any) -> tuple[bool, int]:
    """Elements in their order; whatever else a list has comes last."""
    name = child.local_name
    return (False, int(name)) if name.isdigit() else (True, 0)


def _tensor_of(value: Any) -> Tensor:
    """The tensor that a function captures of an object."""
    if isinstance(value, BaseResourceVariable):
        return value.handle
    if isinstance(value, TrackableAsset):
        return value.asset_path
    if isinstance(value, RestoredResource):
        return value.resource_handle
    if isinstance(value, Tensor):
        return value
    raise ValueError(f"Can't convert node {type(value)} to tensor")
