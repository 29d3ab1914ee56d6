"""Running nodes one by one on the host: cold steps, host ops, tiny steps, and the reference."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from weft.core import dtypes, errors, flags
from weft.core.errors import raise_from
from weft.core.exceptions import kind_of, message_of
from weft.core.quiet import quiet
from weft.core.step_limits import limits
from weft.graph.kernel_call import bind
from weft.graph.op_def import FuncRef
from weft.graph.operation import Operation
from weft.ops.kit.room import exhausted
from weft.passes.client_graph import Edge, Node
from weft.passes.ref_reads import is_reference
from weft.passes.resource_edges import is_cell
from weft.runtime.host.expected_shapes import SizeCheck, check_expected, may_grow
from weft.runtime.resources import ResourceStore


class Context:
    """The surroundings of a kernel that takes `ctx`."""

    __slots__ = ("node", "resources", "step")

    def __init__(self, resources: ResourceStore, node: Node, step: Any = None) -> None:
        self.resources, self.node, self.step = resources, node, step

    def function(self, reference: FuncRef) -> Any:
        """A function that an attribute of the node names, for the kernel to call."""
        from weft.runtime.functions import Function, library_of

        assert self.node.op is not None
        return Function(reference, library_of(self.node.op.graph), self.resources)

    def evaluate(self, body: Any) -> list[Any]:
        """What a graph of its own gives, for the kernel of a node that holds one."""
        from weft.runtime.functions import Instance, client_graph, library_of

        graph = client_graph(body, library_of(body.graph), self.node.name)
        return Instance(graph, self.resources)([])


class HostNode:
    """A node with everything that does not change between steps worked out."""

    __slots__ = (
        "call", "check_size", "converts", "ctx", "derefs", "frees", "ins", "kind", "node", "outs",
        "special", "store",
    )  # fmt: skip

    def __init__(self, node: Node, slots: dict[Edge, int], store: ResourceStore) -> None:
        definition = node.definition
        self.node, self.store = node, store
        self.call: Callable[..., Sequence[Any]]
        self.ins = tuple(slots[edge] for edge in node.inputs)
        self.outs = tuple(slots[node, i] for i in range(len(node.dtypes)))
        self.frees: tuple[int, ...] = ()
        # Inputs that a compiled region may have left on a device.
        self.converts: tuple[int, ...] = ()
        self.derefs = _derefs(node)
        self.ctx: Context | None = None
        if node.loop is not None or node.branches is not None:
            from weft.runtime.control_flow import runner

            self.kind, self.call = "pure", runner(node, store)
        elif definition.kernel is None:
            self.kind, self.call = "none", _no_kernel
        elif definition.needs_xla:
            from weft.runtime.xla.compile import single_op

            self.kind, self.call = "pure", single_op(definition, node.attrs)
        else:
            self.call = bind(definition, node.attrs)
            self.kind = "pure"
            if definition.takes_rng:
                self.kind = "random"
            elif definition.takes_ctx:
                self.kind, self.ctx = "context", Context(store, node)
            elif any(is_cell(e) for i, e in enumerate(node.inputs) if i not in self.derefs):
                self.kind = "cells"
        self.check_size = SizeCheck(node) if may_grow(node) else None
        self.special = self.kind != "pure" or bool(self.derefs) or self.check_size is not None

    def set_converts(self, positions: tuple[int, ...]) -> None:
        self.converts = positions
        self.special = self.special or bool(positions)


def _no_kernel(xp: Any, inputs: Sequence[Any], *extra: Any) -> Sequence[Any]:
    raise AssertionError("a node without a kernel is never called")


def _derefs(node: Node) -> tuple[int, ...]:
    """Positions where a reference arrives but a value is wanted."""
    refs = [i for i, edge in enumerate(node.inputs) if is_reference(edge)]
    if not refs:
        return ()
    from weft.graph.kernel_call import flat_arg_names

    names = flat_arg_names(node.definition, node.attrs)
    wants_ref = {arg.name for arg in node.definition.input_args if arg.is_ref}
    return tuple(i for i in refs if names[i] not in wants_ref)


def run_nodes(nodes: Sequence[HostNode], values: list[Any]) -> None:
    """Runs `nodes` in order over the slots of `values`."""
    item = None
    try:
        with quiet():
            for item in nodes:
                inputs = [values[i] for i in item.ins]
                if item.special:
                    outputs = run_one(item, inputs)
                else:
                    outputs = item.call(np, inputs)
                for slot, value in zip(item.outs, outputs, strict=True):
                    values[slot] = value
                for slot in item.frees:
                    values[slot] = None
    except Exception as error:
        assert item is not None
        raise_from(with_node(error, item.node), error)


def run_one(item: HostNode, inputs: list[Any]) -> Sequence[Any]:
    """Runs one node that is more than a pure function of host arrays."""
    for i in item.converts:
        inputs[i] = np.asarray(inputs[i])
    for i in item.derefs:
        inputs[i] = inputs[i].read()
    if item.check_size is not None:
        item.check_size(inputs)
    if item.kind == "pure":
        return item.call(np, inputs)
    store = item.store
    if item.kind == "cells":
        with store.lock:
            return item.call(np, inputs)
    if item.kind == "random":
        with store.lock:
            outputs = item.call(np, inputs, take_rng(store, item.node))
            advance_rng(store, item.node, [np.shape(v) for v in outputs])
        return outputs
    if item.kind == "context":
        return item.call(np, inputs, item.ctx)
    raise missing_value(item.node)


Observer = Callable[[Node, Sequence[Any], Sequence[Any], float, float], None]


def run_nodes_observed(
    nodes: Sequence[HostNode], values: list[Any], observe: Observer, inside: bool = True
) -> None:
    """As `run_nodes`, but `observe(node, inputs, outputs, start, end)` sees each node.

    `inside`: those inside of loops and branches, too.
    """
    around = (lambda: limits.observed(observe)) if inside else nullcontext
    for item in nodes:
        start = time.perf_counter()
        try:
            inputs = [values[i] for i in item.ins]
            check_expected(item.node, inputs)
            with quiet(), around():
                outputs = run_one(item, inputs)
            if flags.CHECK:
                check_outputs(item.node, outputs)
            for slot, value in zip(item.outs, outputs, strict=True):
                values[slot] = value
            observe(item.node, inputs, outputs, start, time.perf_counter())
        except Exception as error:
            raise_from(with_node(error, item.node), error)
        for slot in item.frees:
            values[slot] = None


def missing_value(node: Node) -> errors.OpError:
    """The error of a node that has no kernel: a placeholder that was not fed."""
    if node.definition.is_placeholder:
        dtype = node.dtypes[0].name.replace("float32", "float").replace("float64", "double")
        dims = node.dims[0]
        shape = "" if dims is None else f" and shape {list('?' if d is None else d for d in dims)}"
        shape = shape.replace("'", "").replace(" ", "").replace("andshape", " and shape ")
        return errors.InvalidArgumentError(
            None, None, f"You must feed a value for placeholder tensor '{node.name}' with dtype"
            f" {dtype}{shape}",
        )  # fmt: skip
    return errors.UnimplementedError(None, None, f"No kernel for op {node.type}")


def take_rng(store: ResourceStore, node: Node) -> np.ndarray:
    """The generator state of a random op: seeded once per session, then carried on."""
    state = store.rng.get(node.name)
    if state is None:
        from weft.ops.kit.philox import initial_state

        seed, seed2 = node.attrs.get("seed", 0), node.attrs.get("seed2", 0)
        state = store.rng[node.name] = initial_state(seed, seed2)
    return state


def advance_rng(store: ResourceStore, node: Node, out_dims: list[Any]) -> None:
    from weft.ops.kit.philox import advance

    assert node.definition.random is not None
    blocks = node.definition.random(out_dims[0], node.attrs)
    store.rng[node.name] = advance(store.rng[node.name], blocks)


def with_node(error: Exception, node: Node) -> Exception:
    """`error` as an OpError that names the node and the line that made it."""
    op, name = node.op, node.name
    if isinstance(error, errors.OpError):
        if error.op is not None or (error.node_def is not None):
            return error
        if (reader := _reader(op, getattr(error, "variable", None))) is not None:
            op, name = reader, reader.name
        kind: Any = type(error)
        message = error.message
    elif (found := exhausted(error)) is not None:
        kind, message = errors.ResourceExhaustedError, found.message
    else:
        kind, message = kind_of(error), message_of(error)
    message += f"\n\t {errors.node_text(op, name)}"
    node_def = op.node_def if op is not None else None
    made: Exception = kind(node_def, op, message)
    return made


def _reader(op: Operation | None, variable: str | None) -> Operation | None:
    """The node that reads `variable` for `op`: where a step is run, the two are one."""
    if op is None or variable is None:
        return None
    reads = [t.op for t in op.inputs if t.op.definition.is_identity]
    return next((read for read in reads if read.inputs[0].op.name == variable), None)


def check_outputs(node: Node, outputs: Sequence[Any]) -> None:
    """Checks outputs for WEFT_CHECK: the declared types, shapes that fit the graph's."""
    for i, value in enumerate(outputs):
        if not isinstance(value, (np.ndarray, np.generic)):
            continue
        wanted = node.dtypes[i].base_dtype
        if value.dtype != wanted.np_storage:
            raise errors.InternalError(
                None, None, f"{node.type} {node.name!r} made {value.dtype}, declared {wanted.name}"
            )
        dims = node.dims[i]
        if dims is not None and (
            len(dims) != value.ndim
            or any(d is not None and d != n for d, n in zip(dims, value.shape, strict=True))
        ):
            raise errors.InternalError(
                None, None, f"{node.type} {node.name!r} made shape {value.shape}, expected {dims}"
            )


def is_numeric(dtype: dtypes.DType) -> bool:
    return dtype.base_dtype not in (dtypes.string, dtypes.resource, dtypes.variant)
