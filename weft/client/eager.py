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
from typing import Any, NoReturn

import numpy as np

from weft.client.known_calls import KnownCall, can_be_known, gives_object, key_of
from weft.core import dtypes, errors
from weft.core.dtypes import DType
from weft.core.errors import raise_from
from weft.core.exceptions import kind_of, message_of
from weft.graph import stacks
from weft.graph.apply import apply_anew
from weft.graph.graph import GraphKeys, infer_shapes
from weft.graph.late_error import late_error
from weft.graph.op_def import OpDef
from weft.graph.operation import Attrs, Operation
from weft.graph.tensor import Tensor
from weft.ops.functions.func_graph import FuncGraph
from weft.ops.kit.eager import EagerGraph, EagerNode, EagerOperation, EagerTensor
from weft.ops.kit.room import check_declared
from weft.runtime.host.interpret import Context
from weft.runtime.resources import ResourceStore

_MAX_INT32 = 2**31 - 1
# Tensors and operations point at each other, so that only the collector of garbage frees them.
_BYTES_BETWEEN_COLLECTIONS = 1 << 29
_MAX_KNOWN = 4096  # kinds of calls
_OBJECTS = (dtypes.resource, dtypes.variant)
_NOT_KEPT = {
    value for key, value in vars(GraphKeys).items() if isinstance(value, str) and key[0] != "_"
} - {GraphKeys.GLOBAL_STEP}  # fmt: skip


class EagerExecution(EagerGraph):
    """The one graph of eager execution, shared by all threads."""

    knows_calls = True

    def __init__(self) -> None:
        self._random: random.Random | None = None
        self._seed: int | None = None
        self._generators: dict[Any, np.ndarray] = {}
        super().__init__(Context(ResourceStore(), None), self._generators)  # type: ignore[arg-type]
        self._recorders = 0
        self._serial = itertools.count(1)
        self._programs: dict[Any, Any] = {}
        self._known: dict[Any, KnownCall] = {}
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
        op = self._new(definition, self._node_name(name), inputs, output_types, attrs)
        self._apply_scopes(op)
        if definition.is_constant:
            return self._keep(op, [attrs["value"]])
        return self._keep(op, self._computed(op))

    def _new(
        self, definition: OpDef, name: str, inputs: tuple[Tensor, ...],
        output_types: Sequence[DType], attrs: Attrs,
    ) -> Operation:  # fmt: skip
        op: Operation
        if any(dtype in _OBJECTS for dtype in output_types):
            op = Operation(self, definition, name, inputs, list(output_types), attrs, ())
            for tensor in op.outputs:
                tensor.__class__ = EagerTensor
        else:
            op = EagerOperation(self, definition, name, inputs, output_types, attrs)
        op._id = next(self._serial)
        return op

    def call_known(self, definition: OpDef, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The result of an operation; in a short way if a call like this was made before."""
        key = key_of(definition, args, named)
        known = None if key is None else self._known.get(key)
        if known is not None:
            inputs = known.inputs(args, named)
            for tensor in inputs:
                if tensor.op.graph is not self:
                    return _applied(definition, args, named)
            return self._call_again(definition, known, inputs, named.get("name"))
        result = _applied(definition, args, dict(named))
        if key is not None and can_be_known(definition) and len(args) <= len(definition.params):
            self._learn(key, result.op, args, named)
        return result

    def _learn(self, key: Any, op: Operation, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        if op.graph is self and not gives_object(op):
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[key] = KnownCall(op, args, named)

    def _call_again(
        self, definition: OpDef, known: KnownCall, inputs: tuple[Tensor, ...], name: str | None
    ) -> Tensor:
        if self._has_new_variables and self.restoring:
            self._restore_new_variables(definition, inputs)
        full = self._new_name(definition.name) if name is None else self._node_name(name)
        attrs, types = dict(known.attrs), (known.dtype,)
        op = EagerOperation(self, definition, full, inputs, types, attrs)
        op._id = next(self._serial)
        self._apply_scopes(op)
        values = [tensor.op._value[tensor.value_index] for tensor in inputs]
        try:
            call = known.seen(inputs, values)
            if call is None:
                outputs = op.outputs
                known.infer(op, values)
                check_declared(outputs)
                call = known.call
            with np.errstate(all="ignore"):
                op._value = call(np, values)
        except Exception as error:
            _raise_marked(op, error)
        self._new_bytes += op._value[0].nbytes
        self._note(op)
        return op.new_output(0)

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
        op = self._new(definition, name, inputs, output_types, attrs)
        try:
            values = compute([tensor.op._value[tensor.value_index] for tensor in inputs])
        except errors.OpError as error:
            kind: Any = type(error)
            raise_from(kind(None, None, f"{error.message} [Op:{name}]"), error)
        return self._keep(op, values)

    def _keep(self, op: Operation, values: list[Any]) -> Operation:
        """Gives an operation its values."""
        op._value = values
        for tensor, value in zip(op.outputs, values, strict=True):
            self._settle(op, tensor, value)
        self._note(op)
        return op

    def _note(self, op: Operation) -> None:
        """A tape that records keeps operations; else they need not know their inputs."""
        if self._recorders:
            self._ops.append(op)
        else:
            op.inputs = ()
        if self._new_bytes > _BYTES_BETWEEN_COLLECTIONS:
            self._new_bytes = 0
            gc.collect()

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
        if definition.name in ("Placeholder", "PlaceholderV2"):
            raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
        outputs = op.outputs  # which have dims while somebody holds them
        try:
            if definition.shape_rule is not None:
                infer_shapes(op)
            check_declared(outputs)
            return list(self._run(op))
        except Exception as error:
            _raise_marked(op, error)

    def _settle(self, op: Operation, tensor: Tensor, value: Any) -> None:
        if isinstance(value, (np.ndarray, np.generic)):
            tensor.dims = value.shape
            self._new_bytes += value.nbytes
        elif tensor.dtype is dtypes.resource and not op.inputs and not op.definition.calls:
            self._has_new_variables = True
            weakref.finalize(tensor, self._resources.remove, value).atexit = False

    def _new_name(self, name: str, mark_as_used: bool = True) -> str:
        """Names need not be unique: nothing is looked up by them."""
        return f"{self._scopes.name}/{name}" if self._scopes.name else name

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A name that was not asked for before; open scopes do not count: they are no graph's."""
        scope, self._scopes.name = self._scopes.name, ""
        try:
            return super().unique_name(name, mark_as_used)
        finally:
            self._scopes.name = scope

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


def _applied(definition: OpDef, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The result of an operation, which finds when it is run that its inputs have wrong types."""
    try:
        return apply_anew(definition, args, named)
    except TypeError as error:
        late = late_error(error)
        if late is None:
            raise
        raise_from(late, error)


def _raise_marked(op: Operation, error: Exception) -> NoReturn:
    """Raises what a kernel or a shape rule has raised, as TensorFlow does for the operation."""
    if isinstance(error, errors.OpError):
        raise _marked(type(error), error.message, op) from None
    message = str(error) if type(error) in (ValueError, TypeError) else message_of(error)
    raise_from(_marked(kind_of(error), message, op), error)


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
