"""GraphDef -> operations of the current graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import device_name
from weft.core.errors import NotFoundError
from weft.graph import stacks
from weft.graph.apply import infer_attrs, output_types
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph, infer_shapes, name_scope
from weft.graph.graph_def import attr_from_proto
from weft.graph.op_def import REGISTRY, lookup
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor


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
    """
    if not hasattr(graph_def, "node"):
        raise TypeError("graph_def must be a GraphDef proto.")
    input_map = _checked_input_map(input_map)
    _check_return_elements(return_elements)
    graph = stacks.get_default_graph()
    scope_name = "import" if name is None else name
    with name_scope(scope_name or None) as scope:
        prefix = scope[:-1] if scope else ""
        mapped = {
            key: convert_to_tensor(value, name=f"{key.partition(':')[0].split('/')[-1]}")
            for key, value in input_map.items()
        }
    importer = _Importer(graph, graph_def, prefix, mapped, input_map)
    importer.defaults = _producer_defaults(producer_op_list)
    importer.run()
    if return_elements is None:
        return None
    return [importer.element(element) for element in return_elements]


def _checked_input_map(input_map: Any) -> dict[str, Any]:
    if input_map is None:
        return {}
    if not (isinstance(input_map, dict) and all(isinstance(k, (str, bytes)) for k in input_map)):
        raise TypeError(
            "input_map must be a dictionary mapping strings to Tensor objects."
        )
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


class _Importer:
    def __init__(
        self, graph: Graph, graph_def: Any, prefix: str, mapped: dict[str, Tensor], asked: Any
    ) -> None:
        self.graph, self.prefix = graph, prefix
        self.nodes = {node.name: node for node in graph_def.node}
        if len(self.nodes) != len(graph_def.node):
            seen: set[str] = set()
            twice = next(n.name for n in graph_def.node if n.name in seen or seen.add(n.name))  # type: ignore[func-returns-value]
            raise ValueError(f"Node '{twice}' is not unique")
        self.order = [node.name for node in graph_def.node]
        # Before version 22 a placeholder's empty shape meant that nothing was known of it.
        self.legacy = 0 < graph_def.versions.producer < 22
        self.library = {f.signature.name: f for f in graph_def.library.function}
        self.made: dict[str, Operation] = {}
        self.mapped = {_tensor_key(k): t for k, t in mapped.items() if not k.startswith("^")}
        self.mapped_controls = {k[1:]: t.op for k, t in mapped.items() if k.startswith("^")}
        self.unused = set(self.mapped)
        self.back_edges: list[tuple[Operation, int, str]] = []
        self.defaults: dict[str, dict[str, Any]] = {}

    def run(self) -> None:
        if self.library:
            from weft.graph.function import import_library

            import_library(self.graph, self.library)
        self._check_ops()
        for name in self._sorted():
            self._add(self.nodes[name])
        for op, i, text in self.back_edges:
            op._update_input(i, self._tensor(op.name, text))
        if self.unused:
            names = ", ".join(f"{n}:{i}" for n, i in sorted(self.unused))
            raise ValueError(
                f"Attempted to map inputs that were not found in graph_def: [{names}]"
            )

    def _check_ops(self) -> None:
        missing = sorted({n.op for n in self.nodes.values() if n.op not in REGISTRY})
        missing = [m for m in missing if m not in self.library and m not in self.graph._functions]
        if missing:
            raise NotFoundError(None, None, f"Op type not registered {', '.join(missing)}")

    def _sorted(self) -> list[str]:
        """Inputs before their users, except the edges that close a loop."""
        order: list[str] = []
        state: dict[str, int] = {}
        for root in self.order:
            stack = [(root, False)]
            while stack:
                name, done = stack.pop()
                if done:
                    order.append(name)
                    continue
                if name in state:
                    continue
                state[name] = 1
                stack.append((name, True))
                node = self.nodes[name]
                for text in reversed(node.input):
                    source = _source(text)
                    if source in self.nodes and source not in state:
                        if self.nodes[source].op in ("NextIteration", "RefNextIteration"):
                            if node.op in ("Merge", "RefMerge"):
                                continue
                        stack.append((source, False))
        return order

    def _add(self, node: Any) -> None:
        definition = lookup(node.op)
        inputs: list[Tensor] = []
        later: list[tuple[int, str]] = []
        controls: list[Operation] = []
        data = [text for text in node.input if not text.startswith("^")]
        for i, text in enumerate(data):
            if _source(text) not in self.made and self._is_back_edge(node, text):
                later.append((i, text))
            else:
                inputs.append(self._tensor(node.name, text))
        for text in node.input:
            if text.startswith("^"):
                controls.append(self._control(node.name, text[1:]))
        # Until the loop is closed its first input stands in for the back edge.
        for i, _ in later:
            inputs.insert(i, inputs[0])
        defaults = self.defaults.get(node.op, {})
        attrs = {
            key: attr_from_proto(value)
            for key, value in node.attr.items()
            if key in definition.attrs or key not in defaults or value != defaults[key]
        }
        shapes = attrs.pop("_output_shapes", None)
        if self.legacy and node.op == "Placeholder" and attrs.get("shape") == ():
            attrs["shape"] = None
        if self.prefix and "_class" in attrs:
            attrs["_class"] = [
                f"loc:@{self.prefix}/{c[5:]}" if str(c).startswith("loc:@") else c
                for c in attrs["_class"]
            ]
        op = self._create(definition, node, inputs, attrs, controls)
        for tensor, dims in zip(op.outputs, shapes or (), strict=False):
            if tensor.dims is None and dims is not None:
                tensor.dims = dims
        self.back_edges += [(op, i, text) for i, text in later]
        self.made[node.name] = op

    def _create(
        self, definition: Any, node: Any, inputs: list[Tensor], attrs: Any, controls: Any
    ) -> Operation:
        graph = self.graph
        try:
            attrs = infer_attrs(definition, inputs, attrs)
            self._check_types(definition, node, inputs, attrs)
        except (TypeError, KeyError) as error:
            raise ValueError(f"Node '{node.name}': {error}") from None
        name = f"{self.prefix}/{node.name}" if self.prefix else node.name
        with graph.as_default(), graph.control_dependencies(None), graph.device(None):
            with graph.colocate_with(None, ignore_existing=True):
                with graph.control_dependencies(controls):
                    op = graph.add_op(
                        definition, tuple(inputs), output_types(definition, attrs), attrs, name + "/"
                    )
        # add_op prunes control inputs that data inputs imply; an import keeps what was written.
        op._control_inputs = list(dict.fromkeys(controls))
        op._device = device_name.canonical_name(node.device)
        if graph._scopes.devices:
            graph._apply_devices(op)
        graph._names_in_use.setdefault(name.lower(), 1)
        self._mark_scopes(name)
        return op

    def _mark_scopes(self, name: str) -> None:
        """Scopes of imported names are taken too."""
        used = self.graph._names_in_use
        parts = name.lower().split("/")
        for i in range(1, len(parts)):
            used.setdefault("/".join(parts[:i]), 1)

    def _check_types(self, definition: Any, node: Any, inputs: list[Tensor], attrs: Any) -> None:
        position = 0
        for arg in definition.input_args:
            count = 1
            if arg.number_attr is not None:
                count = attrs[arg.number_attr]
            types = attrs[arg.type_list_attr] if arg.type_list_attr is not None else None
            if types is not None:
                count = len(types)
            for k in range(count):
                wanted = types[k] if types is not None else arg.type or attrs[arg.type_attr]
                found = inputs[position + k].dtype
                if found.base_dtype != wanted.base_dtype:
                    raise ValueError(
                        f"Input {position + k} of node {node.name} was passed {found.name} from"
                        f" {inputs[position + k].name} incompatible with expected {wanted.name}."
                    )
            position += count

    def _is_back_edge(self, node: Any, text: str) -> bool:
        source = self.nodes.get(_source(text))
        return source is not None and node.op in ("Merge", "RefMerge")

    def _tensor(self, user: str, text: str) -> Tensor:
        name, index = _tensor_key(text)
        if (name, index) in self.mapped:
            self.unused.discard((name, index))
            return self.mapped[name, index]
        op = self.made.get(name)
        if op is None:
            raise ValueError(f"Node '{user}': Unknown input node '{text}'")
        if index >= len(op.outputs):
            raise ValueError(
                f"Node '{user}': Connecting to invalid output {index} of source node {name} which"
                f" has {len(op.outputs)} outputs"
            )
        return op.outputs[index]

    def _control(self, user: str, name: str) -> Operation:
        if name in self.mapped_controls:
            return self.mapped_controls[name]
        if name not in self.made:
            raise ValueError(f"Node '{user}': Unknown input node '^{name}'")
        return self.made[name]

    def element(self, element: str | bytes) -> Any:
        text = element.decode() if isinstance(element, bytes) else element
        if ":" in text:
            name, index = _tensor_key(text)
            if (name, index) in self.mapped and name not in self.made:
                return self.mapped[name, index]
            if name not in self.made or index >= len(self.made[name].outputs):
                raise ValueError(f"Requested return_element {text!r} not found in graph_def.")
            return self.made[name].outputs[index]
        if text not in self.made:
            raise ValueError(f"Requested return_element {text!r} not found in graph_def.")
        return self.made[text]


def _tensor_key(text: str) -> tuple[str, int]:
    name, colon, index = text.rpartition(":")
    if colon and index.isdigit():
        return name, int(index)
    return text, 0


def _source(text: str) -> str:
    return _tensor_key(text.lstrip("^"))[0]


def reinfer(ops: Sequence[Operation]) -> None:
    for op in ops:
        if op.definition.shape_rule is not None:
            infer_shapes(op)
