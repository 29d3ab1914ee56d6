"""GraphDef -> operations of the current graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from weft.core import device_name
from weft.core.errors import InvalidArgumentError, NotFoundError, raise_from
from weft.core.exceptions import as_value_error
from weft.core.walk import postorder
from weft.graph import stacks
from weft.graph.apply import infer_attrs, output_types
from weft.graph.attr_kinds import check_attr_kinds, tensor_mismatch
from weft.graph.convert import convert_to_tensor
from weft.graph.function import find, import_library
from weft.graph.graph import PRODUCER_VERSION, Graph, name_scope
from weft.graph.graph_def import attr_from_proto
from weft.graph.input_types import input_types, mismatch, type_text
from weft.graph.op_def import REGISTRY, OpDef, signature
from weft.graph.operation import Operation
from weft.graph.scopes import VALID_OP_NAME
from weft.graph.shape_fn import merge
from weft.graph.tensor import Tensor

MIN_PRODUCER_VERSION = 0
TENSORFLOW_VERSION = "1.15.0"


def import_graph_def(
    graph_def: Any,
    input_map: dict[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes of `graph_def` to the default graph, under the scope `name` ("import").

    `input_map` replaces tensors of the imported graph by tensors of the current one;
    `return_elements` names the operations and tensors to return.

    Args:
        graph_def: a `GraphDef`.
        input_map: see above.
        return_elements: see above; "a" is an operation, "a:0" a tensor.
        name: the scope; "" for none.
        op_dict: not used.
        producer_op_list: the operations that the writer of the graph knew, with their defaults.

    Returns:
        A list of operations and tensors, or None.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: a name is not in the graph, or the graph is not valid.

    Example:
        >>> with tf.Graph().as_default() as other:
        ...     x = tf.placeholder(tf.int32, [], name="x")
        ...     y = tf.square(x, name="y")
        >>> (y,) = tf.import_graph_def(other.as_graph_def(), {"x": tf.constant(5)}, ["y:0"])
        >>> int(session.run(y))
        25
    """
    if not hasattr(graph_def, "node"):
        raise TypeError("graph_def must be a GraphDef proto.")
    input_map = _checked_input_map(input_map)
    name = None if name is None else _text(name)
    _check_return_elements(return_elements)
    for node in graph_def.node:
        if not VALID_OP_NAME(node.name):
            raise ValueError(f"Node '{node.name}': Node name contains invalid characters")
    graph = stacks.get_default_graph()
    with name_scope("import" if name is None else name or None) as scope:
        mapped = _converted(name, input_map)
    importer = _Importer(graph, graph_def, scope[:-1], mapped)
    importer.defaults = _producer_defaults(producer_op_list)
    importer.run()
    if return_elements is None:
        return None
    return [importer.element(element) for element in return_elements]


def _converted(name: str | None, input_map: dict[str, Any]) -> dict[str, Tensor]:
    """The values of `input_map` as tensors; called inside the scope of the import."""
    loose = {key: value for key, value in input_map.items() if not isinstance(value, Tensor)}
    if loose and name == "":
        raise ValueError(
            "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor"
            " values. Try calling tf.convert_to_tensor() on `input_map` values before calling"
            " tf.import_graph_def()."
        )
    if not loose:
        return input_map
    with name_scope("_inputs"):
        return input_map | {key: convert_to_tensor(value) for key, value in loose.items()}


def _checked_input_map(input_map: Any) -> dict[str, Any]:
    if input_map is None:
        return {}
    if not (isinstance(input_map, dict) and all(isinstance(k, (str, bytes)) for k in input_map)):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    return {k if isinstance(k, str) else k.decode(): v for k, v in input_map.items()}


def _producer_defaults(op_list: Any) -> dict[str, dict[str, Any]]:
    """Default values by op and attribute, as the writer of a graph knew them.

    An attribute that is new to the reader changes nothing while it has its default.
    """
    return {
        op.name: {a.name: a.default_value for a in op.attr if a.HasField("default_value")}
        for op in (op_list.op if op_list is not None else ())
    }


def _check_return_elements(elements: Any) -> None:
    if elements is not None and not all(isinstance(e, (str, bytes)) for e in elements):
        raise TypeError("return_elements must be a list of strings.")
    for element in elements or ():
        text = element.decode() if isinstance(element, bytes) else element
        if ":" in text and not re.fullmatch(r"[^:]*:\d+", text):
            raise ValueError(f"Cannot convert {text!r} to a tensor name.")


def _check_versions(versions: Any) -> None:
    if versions.producer < MIN_PRODUCER_VERSION:
        raise ValueError(
            f"GraphDef producer version {versions.producer} below min producer"
            f" {MIN_PRODUCER_VERSION} supported by TensorFlow {TENSORFLOW_VERSION}.  Please"
            " regenerate your graph."
        )
    if versions.min_consumer > PRODUCER_VERSION:
        raise ValueError(
            f"GraphDef min consumer version {versions.min_consumer} above current version"
            f" {PRODUCER_VERSION} for TensorFlow {TENSORFLOW_VERSION}.  Please upgrade TensorFlow."
        )
    if PRODUCER_VERSION in versions.bad_consumers:
        raise ValueError(
            f"GraphDef disallows consumer version {PRODUCER_VERSION}.  Please upgrade TensorFlow:"
            " this version is likely buggy."
        )


def add_nodes(graph: Graph, graph_def: Any) -> dict[str, Operation]:
    """Adds nodes under the names they have; for a graph that is all of one's own."""
    importer = _Importer(graph, graph_def, "", {})
    importer.run()
    return importer.made


MALFORMED = (ValueError, TypeError, AttributeError, LookupError)
"""Errors that reading a malformed graph, one that weft did not write, may raise."""


def extend(graph: Graph, graph_def: Any) -> dict[str, Operation]:
    """As `add_nodes`; the nodes may use those that the graph has already."""
    importer = _Importer(graph, graph_def, "", {})
    importer.outside = dict(graph._by_name)
    for name in importer.order:
        if name in importer.outside:
            raise ValueError(f"Node '{name}' is not unique: the graph has one of this name")
    importer.run()
    return importer.made


class _Importer:
    """One import. Nodes are made outside all scopes and join those that are open when all exist."""

    def __init__(
        self, graph: Graph, graph_def: Any, prefix: str, mapped: dict[str, Tensor]
    ) -> None:
        _check_versions(graph_def.versions)
        self.graph, self.prefix, self.versions = graph, prefix, graph_def.versions
        self.nodes = {node.name: node for node in graph_def.node}
        if len(self.nodes) != len(graph_def.node):
            seen: set[str] = set()
            twice = next(n.name for n in graph_def.node if n.name in seen or seen.add(n.name))  # type: ignore[func-returns-value]
            raise ValueError(f"Node '{twice}' is not unique")
        self.order = [node.name for node in graph_def.node]
        # Before version 22 a placeholder's empty shape meant that nothing was known of it.
        self.legacy = 0 < graph_def.versions.producer < 22
        self.library = graph_def.library
        self.made: dict[str, Operation] = {}
        self.outside: dict[str, Operation] = {}  # nodes from before that inputs may name
        self.mapped = {_tensor_key(k): t for k, t in mapped.items() if not k.startswith("^")}
        self.mapped_controls = {k[1:]: t.op for k, t in mapped.items() if k.startswith("^")}
        self.used: set[tuple[str, int]] = set()
        self.taken: set[str] = set()
        self.back_edges: list[tuple[Operation, int, str]] = []
        self.defaults: dict[str, dict[str, Any]] = {}

    def run(self) -> None:
        """Adds everything. What makes no sense is a ValueError, however it was noticed."""
        try:
            self._run()
        except Exception as error:
            raise_from(as_value_error(error), error)

    def _run(self) -> None:
        if self.library.function or self.library.gradient:
            try:
                import_library(self.graph, self.library)
            except InvalidArgumentError as error:
                raise ValueError(error.message) from None
        self._check_ops()
        self._check_colocations()
        self._take_versions()
        if not self.outside:
            self.taken = _names_and_scopes(self.graph)
        graph = self.graph
        with graph._without_scopes(), graph._scopes.holding(context_comes_later=True):
            for name in self._sorted():
                self._add(self.nodes[name])
            for op, i, text in self.back_edges:
                op._update_input(i, self._tensor(op.name, text))
        self._check_mapped()
        self._rename_colocations()
        self._place()
        self._join_scopes()

    def _take_versions(self) -> None:
        """The graph is as old as the oldest of its parts, which shape rules may ask for."""
        graph, versions = self.graph, self.versions
        graph._producer = min(graph._producer, versions.producer)
        graph._min_consumer = max(graph._min_consumer, versions.min_consumer)

    def _check_mapped(self) -> None:
        unknown = [
            f"{name}:{i}"
            for name, i in sorted(self.mapped)
            if (name, i) not in self.used
            and (name not in self.made or i >= len(self.made[name].outputs))
        ]
        if unknown:
            raise ValueError(
                f"Attempted to map inputs that were not found in graph_def: [{', '.join(unknown)}]"
            )

    def _check_colocations(self) -> None:
        for node in self.nodes.values():
            for group in node.attr["_class"].list.s if "_class" in node.attr else ():
                name = group.decode()[5:] if group.startswith(b"loc:@") else None
                if name is not None and name not in self.nodes and name not in self.outside:
                    raise ValueError(
                        f"Node '{node.name}' expects to be colocated with unknown node '{name}'"
                    )

    def _rename_colocations(self) -> None:
        for op in self.made.values():
            if "_class" in op.attrs:
                op.attrs["_class"] = [
                    f"loc:@{self._named(c[5:]).name}" if str(c).startswith("loc:@") else c
                    for c in op.attrs["_class"]
                ]

    def _place(self) -> None:
        """Devices: as written, below those of open scopes; but colocation goes before both."""
        colocated: list[tuple[Operation, list[str]]] = []
        for name, op in self.made.items():
            groups = map(_text, op.attrs.get("_class", ()))
            others = [group[5:] for group in groups if group.startswith("loc:@")]
            others = [other for other in others if other != op.name]
            if others:
                colocated.append((op, others))
                continue
            op._device = device_name.canonical_name(self.nodes[name].device)
            if self.graph._scopes.devices:
                self.graph._apply_devices(op)
        for op, others in colocated:
            devices = (self.graph._by_name[other].device for other in others)
            op._device = next((device for device in devices if device), "")

    def _join_scopes(self) -> None:
        """Control dependencies and control flow contexts of the place that imports."""
        graph, scopes = self.graph, self.graph._scopes
        if scopes.controllers:
            for op in self.made.values():
                added = graph._controls_for(op.inputs)
                op._control_inputs += tuple(c for c in added if c not in op._control_inputs)
        for controller in scopes.controllers:
            controller.seen.update(self.made.values())
        if scopes.context is None:
            for op in self.made.values():
                graph._check_contexts(op)
            return
        # All of them first: an imported loop has edges back to nodes that come later.
        for op in self.made.values():
            op._control_flow_context = scopes.context
        for op in self.made.values():
            scopes.context.AddOp(op)

    def _check_ops(self) -> None:
        missing = sorted({n.op for n in self.nodes.values() if n.op not in REGISTRY})
        missing = [m for m in missing if m not in self.graph._functions]
        if missing:
            raise NotFoundError(None, None, f"Op type not registered {', '.join(missing)}")

    def _sorted(self) -> list[str]:
        """Inputs before their users, except the edges that close a loop."""
        return postorder(self.order, self._before)

    def _before(self, name: str) -> list[str]:
        node = self.nodes[name]
        found = [source for source in map(_source, node.input) if source in self.nodes]
        if node.op not in ("Merge", "RefMerge"):
            return found
        back = ("NextIteration", "RefNextIteration")
        return [source for source in found if self.nodes[source].op not in back]

    def _add(self, node: Any) -> None:
        definition = find(self.graph._functions, node.op)
        inputs: list[Tensor] = []
        later: list[tuple[int, str]] = []
        data = [text for text in node.input if not text.startswith("^")]
        for i, text in enumerate(data):
            if _source(text) not in self.made and self._is_back_edge(node, text):
                later.append((i, text))
            else:
                inputs.append(self._tensor(node.name, text))
        controls = [self._control(node.name, t[1:]) for t in node.input if t.startswith("^")]
        # Until the loop is closed its first input stands in for the back edge.
        if later and not inputs:
            raise ValueError(f"{len(self.nodes) - len(self.made)} nodes in a cycle")
        for i, _ in later:
            inputs.insert(i, inputs[0])
        check_attr_kinds(definition, node)
        _check_tensor_types(definition, node)
        defaults = self.defaults.get(node.op, {})
        attrs = {
            key: attr_from_proto(value)
            for key, value in node.attr.items()
            if key in definition.attrs or key not in defaults or value != defaults[key]
        }
        shapes = attrs.pop("_output_shapes", None)
        if self.legacy and node.op == "Placeholder" and attrs.get("shape") == ():
            attrs["shape"] = None
        op = self._create(definition, node, inputs, attrs)
        if later:
            op.outputs[0].dims = None  # what comes round may have another shape
        op._control_inputs = tuple(dict.fromkeys(controls))
        for i, (tensor, dims) in enumerate(zip(op.outputs, shapes or (), strict=False)):
            try:
                tensor.dims = merge(tensor.dims, dims)
            except ValueError as error:
                if tensor.dtype._is_ref_dtype:
                    continue  # TensorFlow has changed its mind about the shapes of handles
                raise ValueError(
                    f"Node '{op.name}' has an _output_shapes attribute inconsistent with the"
                    f" GraphDef for output #{i}: {error}"
                ) from None
        self.back_edges += [(op, i, text) for i, text in later]
        self.made[node.name] = op

    def _create(self, definition: OpDef, node: Any, inputs: list[Tensor], attrs: Any) -> Operation:
        name = self._unique_name(f"{self.prefix}/{node.name}" if self.prefix else node.name)
        try:
            attrs = infer_attrs(definition, inputs, attrs)
        except (TypeError, KeyError) as error:
            raise ValueError(f"Node '{node.name}': {error}") from None
        except ValueError:
            wanted = ", ".join(map(type_text, input_types(definition, attrs)))
            raise ValueError(
                f"NodeDef expected inputs '{wanted}' do not match {len(inputs)} inputs specified;"
                f" Op<{signature(definition)}>; NodeDef: {{{{node {node.name}}}}}"
            ) from None
        if problem := mismatch(definition, name, inputs, attrs):
            raise ValueError(problem)
        types = output_types(definition, attrs)
        op = self.graph.add_op(definition, tuple(inputs), types, attrs, name + "/")
        self.graph._names_in_use.setdefault(name.lower(), 1)
        return op

    def _unique_name(self, name: str) -> str:
        """`name` with a number if a node or scope from before the import has it."""
        found, number = name, 0
        lead = f"{self.prefix}/" if self.prefix else ""
        while found in self.taken or (number and found.removeprefix(lead) in self.nodes):
            number += 1
            found = f"{name}_{number}"
        return found

    def _is_back_edge(self, node: Any, text: str) -> bool:
        source = self.nodes.get(_source(text))
        return source is not None and node.op in ("Merge", "RefMerge")

    def _tensor(self, user: str, text: str) -> Tensor:
        name, index = _tensor_key(text)
        if (name, index) in self.mapped:
            self.used.add((name, index))
            return self.mapped[name, index]
        if name not in self.made and name not in self.outside:
            raise ValueError(f"Node '{user}': Unknown input node '{text}'")
        op = self._named(name)
        if index >= len(op.outputs):
            raise ValueError(
                f"Node '{user}': Connecting to invalid output {index} of source node {name} which"
                f" has {len(op.outputs)} outputs"
            )
        return op.outputs[index]

    def _control(self, user: str, name: str) -> Operation:
        if name in self.mapped_controls:
            return self.mapped_controls[name]
        if name not in self.made and name not in self.outside:
            raise ValueError(f"Node '{user}': Unknown input node '^{name}'")
        return self._named(name)

    def _named(self, name: str) -> Operation:
        return self.made[name] if name in self.made else self.outside[name]

    def element(self, element: str | bytes) -> Any:
        text = _text(element)
        if ":" not in text:
            if text not in self.made:
                raise ValueError(f"Requested return node '{text}' not found in graph def")
            return self.made[text]
        name, index = _tensor_key(text)
        if (name, index) in self.mapped:
            return self.mapped[name, index]
        if name not in self.made:
            raise ValueError(f"Requested return tensor '{text}' not found in graph def")
        outputs = self.made[name].outputs
        if index >= len(outputs):
            raise ValueError(
                f"Invalid return output {index} of node '{name}', which has {len(outputs)}"
                " output(s)"
            )
        return outputs[index]


def _names_and_scopes(graph: Graph) -> set[str]:
    """The names of all operations, and of the scopes they lie in."""
    found = set(graph._by_name)
    for name in graph._by_name:
        scope = name.rpartition("/")[0]
        while scope and scope not in found:
            found.add(scope)
            scope = scope.rpartition("/")[0]
    return found


def _check_tensor_types(definition: OpDef, node: Any) -> None:
    """A node whose tensor is of another type than it says would hand out what nothing expects."""
    if problem := tensor_mismatch(definition, node.name, node.attr):
        raise InvalidArgumentError(node, None, problem)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _tensor_key(text: str) -> tuple[str, int]:
    name, colon, index = text.rpartition(":")
    if colon and index.isdigit():
        return name, int(index)
    return text, 0


def _source(text: str) -> str:
    return _tensor_key(text.lstrip("^"))[0]
