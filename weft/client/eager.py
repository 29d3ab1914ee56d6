"""Eager execution: the default graph is one that computes operations as they are added.

It keeps nothing of them unless a gradient tape records: a tensor holds its own value, and goes when
the program lets go of it. Variables and other resources go with the last tensor that names them.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import random
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.core.errors import raise_from
from weft.core.exceptions import kind_of, message_of
from weft.graph import stacks
from weft.graph.graph import GraphKeys, infer_shapes
from weft.graph.op_def import OpDef
from weft.graph.operation import Attrs, Operation
from weft.graph.tensor import Tensor
from weft.ops.functions.func_graph import FuncGraph
from weft.ops.kit.eager import EagerGraph, EagerNode, EagerTensor
from weft.runtime.host.interpret import Context
from weft.runtime.resources import ResourceStore

_MAX_INT32 = 2**31 - 1
# Tensors and operations point at each other, so that only the collector of garbage frees them.
_BYTES_BETWEEN_COLLECTIONS = 1 << 29
_NOT_KEPT = {
    value for key, value in vars(GraphKeys).items() if isinstance(value, str) and key[0] != "_"
} - {GraphKeys.GLOBAL_STEP}  # fmt: skip


class EagerExecution(EagerGraph):
    """The one graph of eager execution, shared by all threads."""

    def __init__(self) -> None:
        self._random: random.Random | None = None
        self._seed: int | None = None
        self._generators: dict[Any, np.ndarray] = {}
        super().__init__(Context(ResourceStore(), None), self._generators)  # type: ignore[arg-type]
        self._recorders = 0
        self._serial = itertools.count(1)
        self._programs: dict[Any, Any] = {}
        self._new_bytes = 0
        self.symbolic: FuncGraph | None = None
        # Checkpoints that have values for variables that are not made yet.
        self.restoring: weakref.WeakSet[Any] = weakref.WeakSet()
        self._has_new_variables = False
        self.trainable: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    # ---- operations ----

    def add_op(
        self,
        definition: OpDef,
        inputs: tuple[Tensor, ...],
        output_types: list[DType],
        attrs: Attrs,
        name: str,
    ) -> Operation:
        for tensor in inputs:
            if tensor.op.graph is not self:
                raise ValueError(
                    f"{tensor!r} is not a tensor of eager execution: it belongs to a graph, in"
                    " which it has a value only while a session runs it."
                )
        if self._has_new_variables and self.restoring:
            self._restore_new_variables(definition, inputs)
        op = Operation(self, definition, self._node_name(name), inputs, output_types, attrs, [])
        op._id = next(self._serial)
        self._apply_scopes(op)
        return self._keep(op, self._computed(op))

    def add_call(
        self,
        definition: OpDef,
        inputs: tuple[Tensor, ...],
        output_types: list[DType],
        attrs: Attrs,
        name: str,
        compute: Callable[[list[Any]], list[Any]],
    ) -> Operation:
        """Adds an operation that calls a function: `compute` gives its results for values."""
        self.restore_new_variables()
        op = Operation(self, definition, name, inputs, output_types, attrs, [])
        op._id = next(self._serial)
        try:
            values = compute([tensor.op._value[tensor.value_index] for tensor in inputs])
        except errors.OpError as error:
            raise_from(type(error)(None, None, f"{error.message} [Op:{name}]"), error)
        return self._keep(op, values)

    def _keep(self, op: Operation, values: list[Any]) -> Operation:
        """Gives an operation its values; a tape that records keeps it."""
        op._value = values
        for tensor, value in zip(op.outputs, values, strict=True):
            tensor.__class__ = EagerTensor
            self._settle(op, tensor, value)
        if self._recorders:
            self._ops.append(op)
        else:
            op.inputs = ()
        if self._new_bytes > _BYTES_BETWEEN_COLLECTIONS:
            self._new_bytes = 0
            gc.collect()
        return op

    def _restore_new_variables(self, definition: OpDef, inputs: tuple[Tensor, ...]) -> None:
        """Before a variable is used for the first time: by then its owner knows it."""
        is_use = inputs and inputs[0].dtype is dtypes.resource
        if is_use and definition.name not in ("AssignVariableOp", "MakeIterator"):
            self.restore_new_variables()

    def restore_new_variables(self) -> None:
        """Gives variables that were made since then what checkpoints have for them."""
        if self._has_new_variables:
            self._has_new_variables = False
            for checkpoint in list(self.restoring):
                checkpoint._restore_new_variables()

    def _computed(self, op: Operation) -> list[Any]:
        definition = op.definition
        if definition.name.startswith("Placeholder"):
            raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
        try:
            if definition.shape_rule is not None:
                infer_shapes(op)
            return list(self._run(op))
        except errors.OpError as error:
            raise _marked(type(error), error.message, op) from None
        except Exception as error:
            message = str(error) if type(error) in (ValueError, TypeError) else message_of(error)
            raise_from(_marked(kind_of(error), message, op), error)

    def _settle(self, op: Operation, tensor: Tensor, value: Any) -> None:
        if isinstance(value, (np.ndarray, np.generic)):
            tensor.dims = value.shape
            self._new_bytes += value.nbytes
        elif tensor.dtype is dtypes.resource and not op.inputs and not op.definition.calls:
            self._has_new_variables = True
            weakref.finalize(tensor, self._resources.remove, value).atexit = False

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Names need not be unique: nothing is looked up by them."""
        return f"{self._scopes.name}/{name}" if self._scopes.name else name

    def context_of(self, op: Operation) -> Any:
        """The surroundings of a kernel; a handle has a name of its own, which no other op finds."""
        name = op.name
        if not op.inputs and any(t.dtype is dtypes.resource for t in op.outputs):
            name = f"{name}_{op._id}"
        return self._context(self._resources, EagerNode(op, name))  # type: ignore[arg-type]

    def _run_with_jax(self, op: Operation, inputs: list[Any]) -> Sequence[np.ndarray]:
        from weft.runtime.xla.compile import single_op

        key = op.type, repr(sorted(op.attrs.items()))
        if key not in self._programs:
            if len(self._programs) > 1024:
                self._programs.clear()
            self._programs[key] = single_op(op.definition, op.attrs)
        found: Sequence[np.ndarray] = self._programs[key](np, inputs)
        return found

    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Any:
        """Does nothing: eager operations have run already."""
        return contextlib.nullcontext()

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        return contextlib.nullcontext()

    # ---- recording ----

    @property
    def recorders(self) -> int:
        """How often gradients of what is done now may be taken one after the other."""
        return self._recorders

    def start_recording(self, orders: int = 1) -> None:
        """From now on operations keep their inputs. The list of them is the tapes' that record."""
        if not self._recorders:
            self._ops = []
        self._recorders += orders

    def stop_recording(self, orders: int = 1) -> None:
        self._recorders -= orders
        if not self._recorders:
            self._ops = []

    # ---- collections ----

    def add_to_collection(self, name: str, value: Any) -> None:
        """Adds to a collection, but not to those that graphs fill themselves: they would grow."""
        if name == GraphKeys.TRAINABLE_VARIABLES:
            self.trainable[id(value)] = value
        if name not in _NOT_KEPT:
            super().add_to_collection(name, value)

    def get_collection_ref(self, name: str) -> list[Any]:
        return [] if name in _NOT_KEPT else super().get_collection_ref(name)

    # ---- random numbers ----

    @property
    def seed(self) -> int | None:  # type: ignore[override]
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed
        self._random = random.Random(seed)
        self._generators.clear()
        if "_resources" in vars(self):
            self._resources.rng.clear()  # of functions

    @property
    def _last_id(self) -> int:
        """The seed of an operation that has none of its own: from a sequence that the seed sets."""
        assert self._random is not None
        return self._random.randint(0, _MAX_INT32)

    def _generator_of(self, op: Operation) -> Any:
        return op.type, repr([(k, v) for k, v in sorted(op.attrs.items()) if k[0] != "_"])


def _marked(kind: Any, message: str, op: Operation) -> Exception:
    made: Exception = kind(None, None, f"{message} [Op:{op.type}]")
    return made


def symbolic_graph() -> FuncGraph:
    """The graph in which models are described in eager execution, one for all of them.

    Its tensors have no values. What is computed from them goes there, too, with variables and
    values of eager execution taken in from outside.
    """
    graph = stacks.get_default_graph()
    while graph.outer_graph is not None:
        graph = graph.outer_graph
    assert isinstance(graph, EagerExecution)
    if graph.symbolic is None:
        with graph.as_default():
            graph.symbolic = FuncGraph("symbolic")
    return graph.symbolic


def enable(config: Any = None) -> None:
    """Turns eager execution on for the rest of the process; it must not have built a graph."""
    if isinstance(stacks.shared_default, EagerExecution):
        return
    started = stacks.graphs.items or (
        stacks.graphs.fallback is not None and stacks.graphs.fallback._ops
    )
    if started:
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    stacks.shared_default = EagerExecution()


def disable() -> None:
    """Back to graphs. What was computed eagerly keeps its values."""
    stacks.shared_default = None
