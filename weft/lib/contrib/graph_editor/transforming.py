"""Parts of a graph copied, with some of their inputs replaced."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.graph.graph import Graph, get_default_graph, name_scope
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.graph_editor.selecting import make_list_of_t
from weft.lib.contrib.graph_editor.subgraph import SubGraphView, make_view
from weft.lib.contrib.graph_editor.walking import get_backward_walk_ops, get_forward_walk_ops


def placeholder_name(
    t: Tensor | None = None, scope: str | None = None, prefix: str = "geph"
) -> str:
    """What a placeholder is called: after the tensor that it stands for, and in its scope."""
    if t is not None:
        if not isinstance(t, Tensor):
            raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
        own, _, name = t.op.name.rpartition("/")
        prefix = f"{prefix}__{name}_{t.value_index}"
        scope = own if scope is None else scope
    return f"{scope.rstrip('/')}/{prefix}" if scope else prefix


def make_placeholder_from_dtype_and_shape(
    dtype: Any, shape: Any = None, scope: str | None = None, prefix: str = "geph"
) -> Tensor:
    """A placeholder named after its purpose."""
    name = placeholder_name(None, scope, prefix)
    made: Tensor = raw.Placeholder(dtype=dtype, shape=shape, name=name)
    return made


def make_placeholder_from_tensor(t: Tensor, scope: str | None = None, prefix: str = "geph") -> Any:
    """A placeholder for what `t` would be."""
    name = placeholder_name(t, scope, prefix)
    return make_placeholder_from_dtype_and_shape(t.dtype.base_dtype, t.shape, None, name)


class TransformerInfo:
    """The copies of transformed operations and tensors."""

    def __init__(self, ops: dict[Operation, Operation], tensors: dict[Tensor, Tensor]) -> None:
        self._transformed_ops, self._transformed_ts = ops, tensors

    def transformed(self, original: Any, missing_fn: Any = None) -> Any:
        """The copy of an operation or tensor, in the structure it is asked in."""

        def one(item: Any) -> Any:
            known: Any = (
                self._transformed_ops if isinstance(item, Operation) else self._transformed_ts
            )
            if item not in known and missing_fn is not None:
                return missing_fn(item)
            return known.get(item)

        return nest.map_structure(one, original)

    def original(self, transformed: Any, missing_fn: Any = None) -> Any:
        """The operation or tensor that `transformed` is a copy of."""
        table: dict[Any, Any] = {copy: each for each, copy in self._transformed_ops.items()}
        table.update({copy: each for each, copy in self._transformed_ts.items()})

        def one(item: Any) -> Any:
            if item not in table and missing_fn is not None:
                return missing_fn(item)
            return table.get(item)

        return nest.map_structure(one, transformed)


class Transformer:
    """Copies a part of a graph: `transformer(sgv, dst_graph, dst_scope)`.

    Each use of a tensor from outside becomes a placeholder. With `replacements`, which say what
    stands for such tensors, the others are taken as they are if the graph is the same.
    """

    def __init__(self, replacements: dict[Tensor, Tensor] | None = None) -> None:
        self.replacements = replacements

    def __call__(
        self, sgv: Any, dst_graph: Graph, dst_scope: str, src_scope: str = "",
        reuse_dst_scope: bool = False,
    ) -> tuple[SubGraphView, TransformerInfo]:  # fmt: skip
        view = make_view(sgv)
        with dst_graph.as_default(), name_scope(None):
            scope = _scope_of(dst_graph, dst_scope, reuse_dst_scope)
            run = _Copying(view, dst_graph, scope, src_scope, self.replacements)
            for op in sorted(view.ops, key=lambda each: each._id):
                run.operation(op)
            run.close_loops()
        info = TransformerInfo(run.ops, run.tensors)
        return SubGraphView(list(run.ops.values())), info


def _scope_of(graph: Graph, scope: str, reuse: bool) -> str:
    if not scope:
        return ""
    return scope.rstrip("/") if reuse else graph.unique_name(scope.rstrip("/"))


class _Copying:
    def __init__(
        self, view: SubGraphView, graph: Graph, scope: str, src_scope: str, replacements: Any
    ) -> None:
        self.members, self.graph = set(view.ops), graph
        self.scope, self.src_scope = scope, src_scope.rstrip("/")
        self.ops: dict[Operation, Operation] = {}
        self.replacements = replacements
        self.tensors: dict[Tensor, Tensor] = {}
        self._turns: list[tuple[Operation, int, Tensor]] = []
        self._frames: dict[str, str] = {}

    def name(self, op: Operation) -> str:
        name = op.name
        if self.src_scope:
            scope = f"{self.src_scope}/"
            if not name.startswith(scope):
                raise ValueError(f"{name} does not belong to source scope: {scope}.")
            name = name.removeprefix(scope)
        return f"{self.scope}/{name}" if self.scope else name

    def tensor(self, tensor: Tensor) -> Tensor:
        if tensor.op in self.members:
            self.operation(tensor.op)
            return self.tensors[tensor]
        if self.replacements is not None:
            found = self.replacements.get(tensor, tensor)
            if found.graph is self.graph:
                return found
        made: Tensor = make_placeholder_from_tensor(tensor, self.scope)
        return made

    def operation(self, op: Operation) -> Operation:
        if op in self.ops:
            return self.ops[op]
        inputs = self._inputs(op)
        controls = [self.operation(each) for each in op.control_inputs if each in self.members]
        if op.graph is self.graph:
            controls += [each for each in op.control_inputs if each not in self.members]
        attrs = self._attrs(op)
        types = [each.dtype for each in op.outputs]
        with self.graph.control_dependencies(controls), self.graph.device(op.device or None):
            made = self.graph.add_op(op.definition, inputs, types, attrs, self.name(op))
        self.ops[op] = made
        self._turns += [(made, i, op.inputs[i]) for i in self._turns_of(op)]
        for old, new in zip(op.outputs, made.outputs, strict=True):
            new.set_shape(old.shape)
            self.tensors.setdefault(old, new)
        return made

    def _attrs(self, op: Operation) -> dict[str, Any]:
        """Copied loops of one graph get frames of their own."""
        attrs = {key: value for key, value in op.attrs.items() if key != "_class"}
        if "frame_name" in attrs and op.graph is self.graph:
            frame = attrs["frame_name"]
            if frame not in self._frames:
                self._frames[frame] = self.graph.unique_name(frame)
            attrs["frame_name"] = self._frames[frame]
        return attrs

    # ---- loops: what comes from the iteration before is not there yet ----

    def _turns_of(self, op: Operation) -> list[int]:
        """The inputs of a Merge that close a loop."""
        if op.definition.control_flow != "merge":
            return []
        makers = [tensor.op for tensor in op.inputs]
        return [i for i, each in enumerate(makers) if each in self.members and _turns(each)]

    def _inputs(self, op: Operation) -> tuple[Tensor, ...]:
        """The copies of the inputs; for what closes a loop, something else until that is there."""
        turns = self._turns_of(op)
        copies = {i: self.tensor(t) for i, t in enumerate(op.inputs) if i not in turns}
        return tuple(copies[i] if i in copies else copies[0] for i in range(len(op.inputs)))

    def close_loops(self) -> None:
        for op, i, tensor in self._turns:
            op._update_input(i, self.tensors[tensor])


def _turns(op: Operation) -> bool:
    return op.definition.control_flow == "next_iteration"


def copy(
    sgv: Any, dst_graph: Graph | None = None, dst_scope: str = "", src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:  # fmt: skip
    """A copy of a part of a graph, there or in another one."""
    view = make_view(sgv)
    graph = dst_graph or view.graph or get_default_graph()
    return Transformer()(view, graph, dst_scope, src_scope, reuse_dst_scope)


def copy_with_input_replacements(
    sgv: Any, replacement_ts: dict[Any, Any], dst_graph: Graph | None = None, dst_scope: str = "",
    src_scope: str = "", reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:  # fmt: skip
    """A copy that takes other tensors in place of those that `replacement_ts` maps to them."""
    view = make_view(sgv)
    graph = dst_graph or view.graph or get_default_graph()
    given = {make_list_of_t(old)[0]: make_list_of_t(new)[0] for old, new in replacement_ts.items()}
    return Transformer(given)(view, graph, dst_scope, src_scope, reuse_dst_scope)


def graph_replace(
    target_ts: Any, replacement_ts: dict[Any, Any], dst_scope: str = "", src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:  # fmt: skip
    """Copies of `target_ts` with tensors replaced as `replacement_ts` says.

    Only operations that depend on the replaced tensors are copied.
    """
    flat = make_list_of_t(nest.flatten(target_ts))
    given = {make_list_of_t(old)[0]: make_list_of_t(new)[0] for old, new in replacement_ts.items()}
    before = get_backward_walk_ops([t.op for t in flat], control_inputs=True)
    after = set(get_forward_walk_ops(list(given), within_ops=before, control_outputs=True))
    between = [op for op in before if op in after]
    if not between:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(
        between, given, None, dst_scope, src_scope, reuse_dst_scope
    )
    return nest.map_structure(lambda t: info.transformed(t, lambda same: same), target_ts)
