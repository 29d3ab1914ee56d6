"""Graph: operations by name, in the order they were made; and the scopes of the default graph.

Building is safe from several threads: scopes belong to a thread, the tables to a lock.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from weft.core.dtypes import DType
from weft.core.errors import OpError
from weft.core.exceptions import message_of
from weft.core.hints import hinted
from weft.graph import stacks
from weft.graph.keys import GraphKeys
from weft.graph.op_def import OpDef
from weft.graph.operation import Attrs, Operation, creation_stack
from weft.graph.scopes import VALID_OP_NAME, VALID_SCOPE_NAME, NameScope, ScopedGraph
from weft.graph.shape_fn import AskedContext, ShapeContext, show
from weft.graph.stacks import get_default_graph
from weft.graph.tensor import Tensor

__all__ = ["Graph", "GraphKeys", "Operation", "Tensor", "get_default_graph"]

PRODUCER_VERSION = 134
_FUNCTIONAL = tuple(
    f"TF_ENABLE_{part}_V2" for part in ("CONTROL_FLOW", "COND", "WHILE", "TENSOR_ARRAY")
)


class Graph(ScopedGraph):
    """A dataflow graph that holds operations, their names and collections.

    Example:
        >>> graph = tf.Graph()
        >>> with graph.as_default():
        ...     x = tf.constant(1, name="x")
        >>> x.graph is graph, [op.name for op in graph.get_operations()]
        (True, ['x'])
    """

    __slots__ = ("building_function", "seed")

    # Whether it runs operations as they are made; it has a short way for calls like earlier ones.
    knows_calls = False
    # Whether conditionals and loops are made of functions: in all graphs of a class.
    # TensorFlow's environment variables are asked once, when it is imported.
    functional_control_flow = any(os.environ.get(name, "0") != "0" for name in _FUNCTIONAL)

    def __init__(self) -> None:
        super().__init__()
        self._ops: list[Operation] = []
        self._left_out = 0
        self._by_name: dict[str, Operation] = {}
        self._collections: dict[str, list[Any]] = {}
        self._functions: dict[str, Any] = {}
        self._met: set[Any] = set()
        self._finalized = False
        self._mutations = 0
        self._mutated: list[int] = []  # the node of each
        # Operations one of whose inputs was replaced by a tensor of another dtype.
        self._retyped: set[Operation] = set()
        # Operations that no step can run, each with the reason.
        self._broken: dict[Operation, str] = {}
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation] = set()
        self._producer = PRODUCER_VERSION
        self._min_consumer = 0
        self.seed: int | None = None
        # A graph that will be the body of a function, made inside of `outer_graph`.
        self.building_function = False
        self.outer_graph: Graph | None = None

    def call_known(self, definition: OpDef, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """What `apply_op` does, where `knows_calls` says that there may be a short way."""
        raise NotImplementedError

    # ---- content ----

    @property
    def version(self) -> int:
        return len(self._ops)

    @property
    def _last_id(self) -> int:
        """The number that seeds are made of: of operations, and of those that there might be."""
        return len(self._ops) + self._left_out

    def count_nodes(self, before: int, wanted: int) -> None:
        """Counts what was made since `_last_id` was `before` as `wanted` operations.

        Where fewer do what TensorFlow makes `wanted` for, what follows has its seeds all the same.
        """
        self._left_out += wanted - (self._last_id - before)

    @property
    def _nodes_by_name(self) -> dict[str, Operation]:
        return self._by_name

    @property
    def _c_graph(self) -> Graph:
        """The graph as libraries hand it on to TensorFlow's core: no other is behind this one."""
        return self

    @property
    def _building_function(self) -> bool:
        return self.building_function

    @property
    def finalized(self) -> bool:
        return self._finalized

    @property
    def graph_def_versions(self) -> Any:
        from tensorboard.compat.proto.versions_pb2 import VersionDef

        return VersionDef(producer=self._producer, min_consumer=self._min_consumer)

    def finalize(self) -> None:
        """Makes the graph read-only."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def _note_mutation(self, op: Operation) -> None:
        """A node has changed: whoever has read it from the graph must read it again."""
        self._mutated.append(op._id)
        self._mutations += 1

    def _has_mutated(self, since: int, version: int) -> bool:
        """Whether a node that was there in `version` has changed after the mutations before."""
        return any(each <= version for each in self._mutated[since:])

    def _repr_html_(self) -> str:
        from weft.graph.pictures.graph_page import graph_frame

        return graph_frame(self)

    def get_operations(self) -> list[Operation]:
        with self._lock:
            return list(self._ops)

    def _get_operation_by_name_unsafe(self, name: str) -> Operation:
        return self._by_name[name]

    def get_operation_by_name(self, name: str) -> Operation:
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        found: Operation = self.as_graph_element(name, allow_tensor=False, allow_operation=True)
        return found

    def get_tensor_by_name(self, name: str) -> Tensor:
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        tensor: Tensor = self.as_graph_element(name, allow_tensor=True, allow_operation=False)
        return tensor

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The Tensor or Operation of this graph that `obj` (object or name) stands for."""
        if not (allow_tensor or allow_operation):
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        wanted = " or ".join(
            name for name, on in (("Tensor", allow_tensor), ("Operation", allow_operation)) if on
        )
        if not isinstance(obj, (Tensor, Operation, str, bytes)):
            convert = getattr(obj, "_as_graph_element", None)
            if convert is not None:
                obj = convert()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        if isinstance(obj, Tensor) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj.name} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")

    def _element_by_name(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        form = 'Tensor names must be of the form "<op_name>:<output_index>".'
        if ":" in name and allow_tensor:
            op_name, _, index = name.partition(":")
            if not index.isdigit():
                raise ValueError(
                    f"The name {name!r} looks a like a Tensor name, but is not a valid one. {form}"
                )
            op = self._by_name.get(op_name)
            missing = f"The name {name!r} refers to a Tensor which does not exist. The operation,"
            if op is None:
                error = KeyError(f"{missing} {op_name!r}, does not exist in the graph.")
                raise hinted(error, op_name, self._by_name)
            if int(index) >= len(op.outputs):
                raise KeyError(
                    f"{missing} {op_name!r}, exists but only has {len(op.outputs)} outputs."
                )
            return op.outputs[int(index)]
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        op = self._by_name.get(name)
        if not allow_operation:
            if op is not None:
                raise ValueError(f"The name {name!r} refers to an Operation, not a Tensor. {form}")
            raise ValueError(
                f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. {form}"
            )
        if op is None:
            error = KeyError(f"The name {name!r} refers to an Operation not in the graph.")
            raise hinted(error, name, self._by_name)
        return op

    # ---- building ----

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[Any] | None = None,
        input_types: Sequence[Any] | None = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Adds a node of a registered type; `attrs` are AttrValue messages."""
        from weft.graph.apply import infer_attrs, output_types
        from weft.graph.attr_kinds import tensor_mismatch
        from weft.graph.function import find
        from weft.graph.graph_def import attr_from_proto

        definition = find(self._functions, op_type)
        for i, tensor in enumerate(inputs):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"Input #{i} is not a tensor: {tensor}")
        plain = {key: attr_from_proto(value) for key, value in (attrs or {}).items()}
        plain = infer_attrs(definition, inputs, plain)
        types = output_types(definition, plain)
        op = self.add_op(definition, tuple(inputs), types, plain, name or op_type)
        if problem := tensor_mismatch(definition, op.name, attrs or {}):
            self._broken[op] = problem
        return op

    def add_op(
        self,
        definition: OpDef,
        inputs: tuple[Tensor, ...],
        output_types: list[DType],
        attrs: Attrs,
        name: str,
    ) -> Operation:
        """Adds a node under the open scopes. A `name` ending in "/" is used as it is, in full."""
        if self._finalized:
            self._check_not_finalized()
        for tensor in inputs:
            if tensor.op.graph is not self:
                raise ValueError(f"{tensor!r} must be from the same graph as the other inputs.")
        name = self._node_name(name)
        scopes = self._scopes
        controls = self._controls_for(inputs) if scopes.controllers else ()
        op = Operation(self, definition, name, inputs, output_types, attrs, controls)
        op._stack = creation_stack()
        if definition.shape_rule is not None:
            try:
                infer_shapes(op)
            except Exception:
                self._left_out += 1  # TensorFlow has given it a number by then
                raise
        self._apply_scopes(op)
        if scopes.context is None and not scopes.context_comes_later:
            self._check_contexts(op)
        with self._lock:
            self._ops.append(op)
            op._id = len(self._ops)
            self._by_name[name] = op
        for tensor in inputs:
            tensor._consumers.append(op)
        if scopes.context is not None:
            op._control_flow_context = scopes.context
            scopes.context.AddOp(op)
        for controller in scopes.controllers:
            controller.seen.add(op)
        return op

    def _check_contexts(self, op: Operation) -> None:
        """ValueError if `op`, outside of every control-flow context, may not use its inputs."""
        for tensor in op.inputs:
            context = tensor.op._control_flow_context
            if context is not None:
                context.check_used_by(op, tensor)

    def _node_name(self, name: str | bytes) -> str:
        if isinstance(name, bytes):
            name = name.decode()
        if name[-1:] == "/":
            name = name[:-1]
            return self._unique_full_name(name) if name in self._by_name else name
        # Below a scope a name may start with any of the allowed characters.
        if not (VALID_SCOPE_NAME if self._scopes.name else VALID_OP_NAME)(name):
            raise ValueError(f"'{name}' is not a valid node name")
        return self._new_name(name)

    def as_default(self) -> AbstractContextManager[Graph]:
        return stacks.graphs.enter(self)

    def is_new(self, key: Any) -> bool:
        """Whether nobody has asked this graph about `key` before."""
        new = key not in self._met
        self._met.add(key)
        return new

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor for `tensor` in this graph; a function's graph captures it from outside."""
        return tensor

    def stand_in(self, tensor: Tensor) -> Tensor:
        """The tensor for `tensor` in this graph if it has been captured, or else itself."""
        return tensor

    # ---- collections ----

    @property
    def collections(self) -> list[str]:
        return list(self._collections)

    def get_all_collection_keys(self) -> list[str]:
        with self._lock:
            return [key for key in self._collections if isinstance(key, str)]

    def add_to_collection(self, name: str, value: Any) -> None:
        self._check_not_finalized()
        with self._lock:
            self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        names = (names,) if isinstance(names, str) else dict.fromkeys(names)
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: str) -> list[Any]:
        """The list itself, so that changes to it change the collection."""
        with self._lock:
            return self._collections.setdefault(name, [])

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """A copy of the collection; with `scope`, only items whose name matches it as a regex."""
        with self._lock:
            found = [*self._collections.get(name, ())]
        if scope is not None:
            matches = re.compile(scope).match
            found = [item for item in found if hasattr(item, "name") and matches(item.name)]
        return found

    def clear_collection(self, name: str) -> None:
        self._check_not_finalized()
        with self._lock:
            self._collections.pop(name, None)

    # ---- limits on feeding and fetching ----

    def prevent_feeding(self, tensor: Tensor) -> None:
        self._unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable

    # ---- serialization ----

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """A GraphDef of the operations made since `from_version` (all of them if None)."""
        from weft.graph.graph_def import graph_def

        return graph_def(self, from_version or 0, add_shapes)


def infer_shapes(op: Operation, context: ShapeContext | None = None) -> None:
    """Sets the dims of the outputs from the op's shape rule."""
    rule = op.definition.shape_rule
    assert rule is not None
    try:
        found = rule(context or ShapeContext(op))
    except (OpError, TypeError):
        raise
    except Exception as error:
        shapes = ", ".join("?" if t.dims is None else show(t.dims) for t in op.inputs)
        values = AskedContext.of_failure(op, rule).told()
        is_told = type(error) is ValueError
        raise ValueError(
            f"{error if is_told else message_of(error)} for '{op.name}' (op: '{op.type}') with"
            f" input shapes: {shapes}{values}."
        ) from (None if is_told else error)
    outputs = op.outputs
    if type(found) is list:
        for tensor, dims in zip(outputs, found, strict=True):
            tensor.dims = dims
    elif outputs:
        outputs[0].dims = found


# ---- functions on the default graph, under TensorFlow's names -----------------------------------


class name_scope(AbstractContextManager[str]):
    """Opens the scope `name` (or `default_name`) in the graph of `values`, or the default graph.

    Args:
        name: the scope; one that ends in "/" is opened as it is; None: `default_name`.
        default_name: what to use when `name` is None.
        values: tensors; the scope is opened in their graph.

    Raises:
        TypeError: the name is no string.
        ValueError: both names are None though there are values, or a tensor is of another graph.

    Example:
        >>> with tf.name_scope("layer") as scope:
        ...     x = tf.constant(1, name="x")
        >>> scope, x.name
        ('layer/', 'layer/x:0')
    """

    def __init__(
        self, name: str | None, default_name: str | None = None, values: Any = None
    ) -> None:
        if not (default_name is None or isinstance(default_name, str)):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely meant"
                " to pass this into the `values` kwarg."
            )
        self._name = default_name if name is None else name
        self._asked, self._values = name, values
        self._default = default_name

    @property
    def name(self) -> str | None:
        return self._name

    def __enter__(self) -> str:
        if self._name is None and self._values is not None:
            raise ValueError(
                f"At least one of name ({self._asked}) and default_name ({self._default})"
                " must be provided."
            )
        graph = graph_of(self._values) if self._values else get_default_graph()
        self._scope = NameScope(graph, self._name)
        self._graph = None if stacks.graphs.top() is graph else stacks.graphs.enter(graph)
        if self._graph is None:
            return self._scope.__enter__()
        self._graph.__enter__()
        try:
            return self._scope.__enter__()
        except BaseException:
            self._graph.__exit__(None, None, None)
            raise

    def __exit__(self, *exc: Any) -> None:
        self._scope.__exit__(*exc)
        if self._graph is not None:
            self._graph.__exit__(*exc)


def graph_of(values: Any) -> Graph:
    """The one graph that the tensors among `values` are in; the default graph if there are none."""
    if (default := get_default_graph()).building_function:
        return default
    graph: Graph | None = None
    for value in values if isinstance(values, (list, tuple)) else [values]:
        if isinstance(value, (list, tuple)):
            if not value:
                continue
            found: Any = _graph_or_none(value)
        else:
            found = getattr(value, "graph", None)
        if not isinstance(found, Graph):
            continue
        if graph is None or _encloses(graph, found):
            graph = found
        elif graph is not found and not _encloses(found, graph):
            raise ValueError(f"{value!r} must be from the same graph as the other values.")
    return graph or get_default_graph()


def _encloses(outer: Graph, inner: Graph) -> bool:
    """Whether `inner` is a function's that is made inside of `outer`: it takes tensors from it."""
    around = inner.outer_graph
    while around is not None and around is not outer:
        around = around.outer_graph
    return around is not None


def _graph_or_none(values: Any) -> Graph | None:
    for value in values:
        found = getattr(value, "graph", None)
        if isinstance(found, Graph):
            return found
    return None


def op_scope(values: Any, name: str | None, default_name: str | None = None) -> name_scope:
    """Deprecated spelling of `name_scope`."""
    return name_scope(name, default_name, values)


def device(device_name_or_function: Any) -> Any:
    """New operations of the default graph go to this device.

    Args:
        device_name_or_function: a name such as "/cpu:0" or "/job:ps/task:1", a function from an
            operation to such a name, or None to ignore the devices around it.

    Returns:
        A context manager.

    Raises:
        RuntimeError: a function is given though eager execution is on.

    Example:
        >>> with tf.device("/cpu:0"):
        ...     x = tf.constant(1)
        >>> x.device
        '/device:CPU:0'
    """
    return get_default_graph().device(device_name_or_function)


def container(container_name: str) -> Any:
    """Variables, queues and tables made inside are kept in this container of their device.

    Args:
        container_name: a name; `Session.reset` can clear what it holds.

    Returns:
        A context manager.

    Example:
        >>> with tf.container("experiment"):
        ...     queue = tf.FIFOQueue(10, tf.int32)
        >>> queue.queue_ref.op.get_attr("container")
        b'experiment'
    """
    return get_default_graph().container(container_name)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """New operations inside go to the device of another one, wherever that is.

    Args:
        op: an operation or tensor.
        ignore_existing: forget the colocations around it.

    Returns:
        A context manager.

    Example:
        >>> x = tf.constant(1, name="x")
        >>> with tf.colocate_with(x):
        ...     y = tf.constant(2)
        >>> y.op.colocation_groups()
        [b'loc:@x']
    """
    return get_default_graph().colocate_with(op, ignore_existing)


def control_dependencies(control_inputs: Any) -> Any:
    """New operations inside wait for other operations, also where no value flows.

    Args:
        control_inputs: operations and tensors to wait for; None lifts all such orders.

    Returns:
        A context manager.

    Raises:
        TypeError: something else is in the list.

    Example:
        >>> v = tf.Variable(1)
        >>> with tf.control_dependencies([v.initializer]):
        ...     done = tf.constant("initialized")
        >>> session.run(done)
        b'initialized'
    """
    return get_default_graph().control_dependencies(control_inputs)


def add_to_collection(name: str, value: Any) -> None:
    """Adds an object to a collection of the default graph: a list that is kept under a name.

    Args:
        name: of the collection, such as `tf.GraphKeys.LOSSES`.
        value: anything.

    Example:
        >>> tf.add_to_collection("greetings", "hello")
        >>> tf.get_collection("greetings")
        ['hello']
    """
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Adds an object to several collections of the default graph.

    Args:
        names: of the collections, or the name of one.
        value: anything.

    Example:
        >>> tf.add_to_collections(["first", "second"], 1)
        >>> tf.get_collection("second")
        [1]
    """
    get_default_graph().add_to_collections(names, value)


def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """A copy of a collection of the default graph; empty if there is none of that name.

    Args:
        key: its name.
        scope: a regular expression; only entries with a `name` that starts with a match.

    Returns:
        A list, in the order in which entries were added.

    Example:
        >>> tf.add_to_collection("sizes", 3)
        >>> tf.get_collection("sizes"), tf.get_collection("unknown")
        ([3], [])
    """
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: str) -> list[Any]:
    """The list itself that is a collection of the default graph, made if there is none.

    Args:
        key: its name.

    Returns:
        A list; changing it changes the collection.

    Example:
        >>> tf.get_collection_ref("sizes").append(3)
        >>> tf.get_collection("sizes")
        [3]
    """
    return get_default_graph().get_collection_ref(key)


@contextmanager
def init_scope() -> Iterator[None]:
    """Lifts control dependencies, control-flow contexts and functions, as initializers need."""
    inner = graph = get_default_graph()
    while graph.outer_graph is not None:
        graph = graph.outer_graph
    # Names stay as they would be, in the graph that is left too.
    scope = inner.get_name_scope()
    with graph.as_default(), graph.control_dependencies(None):
        with graph.name_scope(scope and scope + "/"):
            yield
