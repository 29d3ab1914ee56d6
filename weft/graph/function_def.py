"""FunctionDef <-> operations of a graph.

A FunctionDef names tensors by argument ("node:output:0", an input by its name alone) and may leave
attributes open ("T" of the function); a GraphDef numbers outputs and leaves nothing open.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.errors import InvalidArgumentError
from weft.graph.counts import checked_count
from weft.graph.graph import Graph
from weft.graph.graph_def import attr_from_proto, attr_to_proto, fill_node, new_graph_def
from weft.graph.kernel_call import list_length
from weft.graph.op_def import OpDef
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims
from weft.graph.tensor import Tensor


@dataclass
class Body:
    """The inside of a function: a graph, where its arguments go in, what it returns.

    `effects` run although nothing may ask for their results. `control_outputs` are those of them
    that the function names as such: all that a branch or loop runs which is part of its graph.
    """

    graph: Graph
    inputs: list[Tensor]
    outputs: list[Tensor]
    effects: list[Operation] = field(default_factory=list)
    control_outputs: list[Operation] = field(default_factory=list)

    def lowered(self) -> Body:
        """The body as a part of the graph around it."""
        return replace(self, effects=self.control_outputs)


class BodyCopy(Graph):
    """A copy of a body. In it, tensors of the graph that was copied (`origin`) mean their copies:
    Python functions that differentiate its operations know only those.

    `late` are tensors from outside that the body itself did not use, each with its argument.
    """

    def __init__(self, origin: Body | None) -> None:
        super().__init__()
        self.origin = None if origin is None else origin.graph
        self.late: dict[Tensor, Tensor] = {}
        self._arguments: dict[Tensor, Tensor] = {}
        self.building_function = origin is not None
        if origin is not None:
            self.functional_control_flow = origin.graph.functional_control_flow

    def add_op(
        self, definition: OpDef, inputs: tuple[Tensor, ...], output_types: list[DType],
        attrs: dict[str, Any], name: str,
    ) -> Operation:  # fmt: skip
        inputs = tuple(self.capture(tensor) for tensor in inputs)
        return super().add_op(definition, inputs, output_types, attrs, name)

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if tensor.graph is self or self.origin is None:
            return tensor
        twin = self._twin(tensor)
        if twin is not None:
            return twin
        if tensor not in self.late:
            from weft.graph.op_def import raw

            with self.as_default(), self.control_dependencies(None):
                self.late[tensor] = raw.Placeholder(tensor.dtype.base_dtype, shape=tensor.shape)
        return self.late[tensor]

    def _twin(self, tensor: Tensor) -> Tensor | None:
        """The copy of a tensor of the origin, or of what that is a copy of in turn."""
        if tensor.graph is not self.origin:
            inner = self.origin._twin(tensor) if isinstance(self.origin, BodyCopy) else None
            return None if inner is None else self._twin(inner)
        copy = self._by_name.get(tensor.op.name)
        if tensor in self._arguments or copy is None:
            return self._arguments.get(tensor)
        return copy.outputs[tensor.value_index]

    def adopt(self, origin: Body, inputs: list[Tensor]) -> None:
        """Takes over what Python knows of the operations that were copied."""
        self._arguments = dict(zip(origin.inputs, inputs, strict=True))
        arguments = {tensor.op: self._arguments[tensor].op for tensor in origin.inputs}
        for op in origin.graph.get_operations():
            copy = arguments.get(op) or self._by_name.get(op.name)
            for known in ("_gradient_function", "_captured"):
                if copy is not None and hasattr(op, known):
                    setattr(copy, known, getattr(op, known))


def effects_of(graph: Graph) -> list[Operation]:
    """The operations that a call runs for their own sake."""
    return [op for op in graph.get_operations() if _acts(op)]


def _acts(op: Operation) -> bool:
    kind = op.definition
    only_looks = kind.is_handle or kind.reads_only or kind.takes_rng
    return kind.stateful and not only_looks


# ---- operations -> FunctionDef ----------------------------------------------------------------


def new_function_def() -> Any:
    from tensorboard.compat.proto.function_pb2 import FunctionDef

    return FunctionDef()


def function_def(
    name: str | None,
    base_name: str,
    ops: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    out_names: Sequence[str] | None = None,
) -> Any:
    """A FunctionDef of `ops`, cut off at `inputs`; without a name, its content gives it one."""
    message = new_function_def()
    cut = {tensor.op for tensor in inputs}
    body = [op for op in ops if op not in cut]
    taken: set[str] = {op.name for op in body}
    names = {tensor: _unique(_normal(tensor.op.name), taken) for tensor in inputs}
    for tensor in inputs:
        dtype = tensor.dtype.base_dtype
        message.signature.input_arg.add(name=names[tensor], type=dtype.as_datatype_enum)
    inside = set(body)
    for op in body:
        node = message.node_def.add(name=op.name, op=op.type, device=op.device)
        _fill_node(node, op, names, inside)
    returned: set[str] = set()
    for i, tensor in enumerate(outputs):
        asked = out_names[i] if out_names else _unique(_normal(tensor.op.name), returned)
        enum = tensor.dtype.base_dtype.as_datatype_enum
        message.signature.output_arg.add(name=asked, type=enum)
        message.ret[asked] = _reference(tensor, names)
    message.signature.is_stateful = any(op.definition.stateful for op in body)
    message.signature.name = name or f"{base_name}_{_digest(message)}"
    return message


def _fill_node(
    message: Any, op: Operation, names: dict[Tensor, str], inside: set[Operation]
) -> None:
    fill_node(message, op)
    del message.input[:]
    message.input.extend(_reference(tensor, names) for tensor in op.inputs)
    message.input.extend(f"^{c.name}" for c in op._control_inputs if c in inside)
    if "_class" in message.attr:
        _stay_inside(message, {f"loc:@{other.name}".encode() for other in inside})


def _stay_inside(message: Any, known: set[bytes]) -> None:
    """A node can be colocated only with nodes of its own function."""
    named = message.attr["_class"].list.s
    kept = [each for each in named if each in known]
    del named[:]
    named.extend(kept)
    if not kept:
        del message.attr["_class"]


def _reference(tensor: Tensor, names: dict[Tensor, str]) -> str:
    if tensor in names:
        return names[tensor]
    position = tensor.value_index
    for arg, count in _output_counts(tensor.op.definition, tensor.op.attrs):
        if position < count:
            return f"{tensor.op.name}:{arg}:{position}"
        position -= count
    raise AssertionError(f"{tensor} is no output of its operation")


def _output_counts(definition: OpDef, attrs: dict[str, Any]) -> Iterator[tuple[str, int]]:
    for arg in definition.output_args:
        yield arg.name, list_length(arg, attrs) if arg.is_list else 1


def _normal(name: str) -> str:
    """An argument's name: lower case letters, digits and underscores."""
    text = re.sub(r"[^a-z0-9]", "_", name.lower())
    return text if text[:1].isalpha() else f"arg_{text}"


def _unique(name: str, taken: set[str]) -> str:
    found, number = name, 0
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found)
    return found


def _digest(message: Any) -> str:
    return hashlib.sha1(message.SerializeToString(deterministic=True)).hexdigest()[:8]


_HANDLE = "_handle_dtypes"


def mark_handle(message: Any, i: int, dtype: DType) -> None:
    """Notes that argument `i` of a function is the handle of a variable of this type."""
    message.arg_attr[i].attr[_HANDLE].list.type.append(dtype.as_datatype_enum)


def _read_handle_marks(message: Any, inputs: list[Tensor]) -> None:
    for i, tensor in enumerate(inputs):
        if i in message.arg_attr and _HANDLE in message.arg_attr[i].attr:
            (enum,) = message.arg_attr[i].attr[_HANDLE].list.type
            tensor.op._handle_dtype = dtypes.as_dtype(enum)  # type: ignore[attr-defined]


# ---- FunctionDef -> operations ----------------------------------------------------------------


def body_from_def(
    message: Any,
    attrs: dict[str, Any],
    library: dict[str, Any],
    find: Callable[[str], OpDef],
    dims: Sequence[Dims] | None = None,
    origin: Body | None = None,
) -> Body:
    """The body of a FunctionDef, its open attributes filled in with `attrs`.

    `library` holds the functions that the body may call; `find` gives an op's definition by type;
    `dims` is what is known of the arguments' shapes; `origin` what the message is of.
    """
    from weft.graph.importer import add_nodes

    maker = _Instance(message, attrs, find, dims)
    graph = BodyCopy(origin)
    graph._functions = library
    with graph.as_default():
        made = add_nodes(graph, maker.graph_def())

    def tensor(text: str) -> Tensor:
        name, _, index = text.partition(":")
        return made[name].outputs[int(index or 0)]

    inputs = [tensor(text) for arg in message.signature.input_arg for text in maker.names[arg.name]]
    outputs = [tensor(text) for text in maker.returned()]
    _read_handle_marks(message, inputs)
    if origin is not None:
        graph.adopt(origin, inputs)
    named = [made[name] for name in message.control_ret.values()]
    effects = list(dict.fromkeys([*named, *effects_of(graph)]))
    return Body(graph, inputs, outputs, effects, named)


def name_effects(message: Any, effects: Sequence[Operation]) -> None:
    """Makes operations control outputs of a function."""
    for op in effects:
        message.control_ret[op.name] = op.name
        message.signature.control_output.append(op.name)


class _Instance:
    """A FunctionDef with its attributes filled in: `names` maps its references to tensor names."""

    def __init__(
        self,
        message: Any,
        attrs: dict[str, Any],
        find: Callable[[str], OpDef],
        dims: Sequence[Dims] | None,
    ) -> None:
        self.message, self.find = message, find
        self.dims = None if dims is None else list(dims)
        self.attrs = {a.name: attr_from_proto(a.default_value) for a in message.signature.attr}
        self.attrs |= attrs
        self.names: dict[str, list[str]] = {}

    def graph_def(self) -> Any:
        found = new_graph_def()
        found.versions.producer = 134
        for i, arg in enumerate(self.message.signature.input_arg):
            # To ask a map of messages for one that is not there would put it there.
            known = self.message.arg_attr[i].attr if i in self.message.arg_attr else {}
            self._add_input(found, arg, known.get("_output_shapes"))
        nodes = []
        inside = {f"loc:@{node.name}".encode() for node in self.message.node_def}
        for node in self.message.node_def:
            copy = found.node.add()
            copy.CopyFrom(node)
            if "_class" in copy.attr:  # a table's saver names the table, which is an argument
                _stay_inside(copy, inside)
            for value in copy.attr.values():
                self._fill(value)
            self._name_outputs(copy)
            nodes.append(copy)
        for node in nodes:
            texts = [name for text in node.input for name in self._resolve(text)]
            del node.input[:]
            node.input.extend(texts)
        return found

    def returned(self) -> list[str]:
        names = [arg.name for arg in self.message.signature.output_arg]
        return [text for name in names for text in self._resolve(self.message.ret[name])]

    def _add_input(self, found: Any, arg: Any, output_shapes: Any) -> None:
        types = self._types(arg)
        listed = bool(arg.number_attr or arg.type_list_attr)
        shapes = output_shapes is not None and attr_from_proto(output_shapes)
        shapes = shapes or [None] * len(types)
        if self.dims is not None:
            shapes, self.dims = self.dims[: len(types)], self.dims[len(types) :]
        for i, dtype in enumerate(types):
            name = f"{arg.name}_{i}" if listed else arg.name
            node = found.node.add(name=name, op="Placeholder")
            node.attr["dtype"].type = dtype.as_datatype_enum
            node.attr["shape"].CopyFrom(attr_to_proto(shapes[i], "shape"))
            self.names[f"{arg.name}:{i}"] = [name]
        self.names[arg.name] = [self.names[f"{arg.name}:{i}"][0] for i in range(len(types))]

    def _types(self, arg: Any) -> list[DType]:
        if arg.type_list_attr:
            return list(self._attr(arg.type_list_attr))
        dtype = self._attr(arg.type_attr) if arg.type_attr else dtypes.as_dtype(arg.type)
        number = arg.number_attr
        return [dtype] * (checked_count(number, self._attr(number)) if number else 1)

    def _attr(self, name: str) -> Any:
        if self.attrs.get(name) is None:
            raise InvalidArgumentError(
                None, None,
                f"Attr {name} is not found from the instantiation of function"
                f" '{self.message.signature.name}'",
            )  # fmt: skip
        return self.attrs[name]

    def _fill(self, value: Any) -> None:
        """Replaces attributes that stand for one of the function's by its value."""
        kind = value.WhichOneof("value")
        if kind == "placeholder":
            value.CopyFrom(attr_to_proto(self._attr(value.placeholder), None))
        elif kind == "func":
            for inner in value.func.attr.values():
                self._fill(inner)
        elif kind == "list":
            for function in value.list.func:
                for inner in function.attr.values():
                    self._fill(inner)

    def _name_outputs(self, node: Any) -> None:
        definition = self.find(node.op)
        attrs = {key: attr_from_proto(value) for key, value in node.attr.items()}
        position = 0
        for arg in definition.output_args:
            count = self._length(definition, arg, attrs) if arg.is_list else 1
            every = [_numbered(node.name, position + i) for i in range(count)]
            self.names[f"{node.name}:{arg.name}"] = every
            self.names |= {f"{node.name}:{arg.name}:{i}": [text] for i, text in enumerate(every)}
            position += count

    @staticmethod
    def _length(definition: OpDef, arg: Any, attrs: dict[str, Any]) -> int:
        name = arg.number_attr or arg.type_list_attr
        if name not in attrs and definition.attrs[name].has_default:
            attrs = {**attrs, name: definition.attrs[name].default}
        return list_length(arg, attrs)

    def _resolve(self, text: str) -> list[str]:
        if text.startswith("^"):
            return [text]
        if text not in self.names:
            raise InvalidArgumentError(
                None, None,
                f"input {text} is not found in function '{self.message.signature.name}'",
            )  # fmt: skip
        return self.names[text]


def _numbered(name: str, index: int) -> str:
    return f"{name}:{index}" if index else name
