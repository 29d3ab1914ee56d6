"""A graph that computes each operation as it is added: where `tf.py_function` calls its function.

Tensors know their values at once, and Python may look at them. What was done is there as a graph,
so that it can be differentiated like any other. Eager execution is such a graph, too
(client/eager.py).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.deferred import Deferred
from weft.core.dtypes import DType
from weft.core.errors import raise_from
from weft.core.exceptions import as_public
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph
from weft.graph.kernel_call import bind, flat_args
from weft.graph.op_def import OpDef, raw
from weft.graph.operation import Attrs, Operation
from weft.graph.stacks import get_default_graph
from weft.graph.tensor import Tensor
from weft.ops.kit.philox import advance, initial_state
from weft.ops.kit.room import check_declared


class EagerTensor(Tensor):
    """A tensor whose value is known."""

    def numpy(self) -> Any:
        """The value: an array, or a scalar of NumPy's, which the caller may keep and change."""
        value = np.asarray(self._array())
        return value.copy() if value.ndim else value[()]

    def _array(self) -> Any:
        return self.op._value[self.value_index]

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        return self.numpy()

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.dims or ())

    def _repr_html_(self) -> str:
        from weft.core.html import card

        rows = [("type", self.dtype.name), ("shape", self.shape), ("value", str(self.numpy()))]
        return card("Tensor", rows)

    def cpu(self) -> EagerTensor:
        """A copy on the host, where values are kept anyway."""
        return self

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        """A copy on a GPU: values go there when an operation needs them to."""
        return self

    def set_shape(self, shape: Any) -> None:
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}"
            )

    def __iter__(self) -> Iterator[Tensor]:
        if not self.dims:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(self.dims[0] or 0))

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __float__(self) -> float:
        return float(self.numpy())

    def __index__(self) -> int:
        return int(self.numpy().__index__())

    def __len__(self) -> int:
        if not self.dims:
            raise TypeError("Scalar tensor has no `len()`")
        return int(np.shape(self._array())[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.numpy(), dtype=dtype)

    def __format__(self, spec: str) -> str:
        return format(self.numpy(), spec) if not self.shape.ndims else format(str(self), spec)

    def __str__(self) -> str:
        return f"tf.Tensor({self.numpy()!s}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        value = shown(self.numpy())
        return (
            f"<tf.Tensor: id={self._id}, shape={self.shape}, dtype={self.dtype.name},"
            f" numpy={value}>"
        )


class EagerOperation(Operation):
    """An operation that has been done, and gave arrays. It goes with the last of its tensors.

    They hold it, and it knows them without holding them, or the collector of garbage would have to
    find out that both can go.
    """

    __slots__ = ("_known_outputs", "output_types")

    def __init__(
        self, graph: Graph, definition: OpDef, name: str, inputs: tuple[Tensor, ...],
        output_types: Sequence[DType], attrs: Attrs,
    ) -> None:  # fmt: skip
        self.graph, self.definition, self.name = graph, definition, name
        self.inputs, self.attrs, self.output_types = inputs, attrs, output_types
        self._control_inputs = ()
        self._device, self._id, self._stack, self._value = "", 0, (), None
        self._original_op = self._control_flow_context = None
        self._known_outputs: list[weakref.ref[Tensor] | None] = [None] * len(output_types)

    @property
    def outputs(self) -> list[Tensor]:  # type: ignore[override]
        """The results; those that nobody has any more are made anew."""
        return [
            self.new_output(i) if known is None or (found := known()) is None else found
            for i, known in enumerate(self._known_outputs)
        ]

    def new_output(self, i: int) -> EagerTensor:
        """Output `i` as a new tensor."""
        tensor = EagerTensor(self, i, self.output_types[i])
        if self._value is not None and isinstance(self._value[i], (np.ndarray, np.generic)):
            tensor.dims = self._value[i].shape
        self._known_outputs[i] = weakref.ref(tensor)
        return tensor


def shown(value: Any) -> str:
    """A value as `repr` of a tensor or variable shows it."""
    if not np.ndim(value):
        return repr(value) if isinstance(value, bytes) else str(value)
    text = repr(value)
    return "\n" + text if "\n" in text else text


def executing_eagerly() -> bool:
    """Whether operations are computed as they are made.

    That is so in a `tf.py_function`, and after `tf.enable_eager_execution()`.

    Returns:
        A bool.

    Example:
        >>> tf.executing_eagerly()
        False
    """
    return isinstance(get_default_graph(), EagerGraph)


def refuse_when_eager(message: str, kind: type[Exception] = RuntimeError) -> None:
    """Raises an error if operations are computed as they are made."""
    if executing_eagerly():
        raise kind(message)


class EagerNode:
    """An operation that is computed now, as kernels see it through their context."""

    __slots__ = ("name", "op")

    def __init__(self, op: Operation, name: str) -> None:
        self.op, self.name = op, name

    @property
    def attrs(self) -> Attrs:
        return self.op.attrs

    @property
    def type(self) -> str:
        return self.op.type

    @property
    def device(self) -> str:
        return self.op.device

    @property
    def inputs(self) -> list[tuple[Operation, int]]:
        return [(tensor.op, tensor.value_index) for tensor in self.op.inputs]


class EagerGraph(Graph):
    """`ctx` is that of the node which calls Python; `rng` keeps generators from call to call.

    What operations keep (variables, tables) lives as long as the graph.
    """

    functional_control_flow = False

    def __init__(self, ctx: Any, rng: dict[Any, np.ndarray]) -> None:
        super().__init__()
        self._resources = ctx.resources.empty()
        self._context, self._rng = type(ctx), rng
        self.numbers: dict[Any, Tensor] = {}
        # Functions of a variable's name that give what it starts with, whatever was asked for.
        self.initial_values: list[Callable[[str], Any]] = []

    def is_new(self, key: Any) -> bool:
        return False  # there are no nodes to make only once

    def add_op(
        self,
        definition: OpDef,
        inputs: tuple[Tensor, ...],
        output_types: list[DType],
        attrs: Attrs,
        name: str,
    ) -> Operation:
        op = super().add_op(definition, inputs, output_types, attrs, name)
        values = op._value = self._computed(op)
        for tensor, value in zip(op.outputs, values, strict=True):
            tensor.__class__ = EagerTensor
            if isinstance(value, (np.ndarray, np.generic)):
                tensor.dims = value.shape
        return op

    def _computed(self, op: Operation) -> list[Any]:
        """The values of the outputs. What a kernel raises becomes TensorFlow's here."""
        try:
            return list(self._run(op))
        except Exception as error:
            raise_from(as_public(error), error)

    def _run(self, op: Operation) -> Sequence[Any]:
        definition = op.definition
        if definition.kernel is None or definition.control_flow:
            raise errors.UnimplementedError(
                op.node_def, op, f"{op.type} has no meaning by itself: it cannot be used in a"
                " tf.py_function",
            )  # fmt: skip
        inputs = [_value(op, i) for i in range(len(op.inputs))]
        check_declared(op.outputs)
        call = bind(definition, op.attrs)
        with np.errstate(all="ignore"):
            if definition.needs_xla:
                return self._run_with_jax(op, inputs)
            if definition.takes_rng:
                return self._run_random(op, call, inputs)
            if definition.takes_ctx:
                found = call(np, inputs, self.context_of(op))
                return found.wait() if isinstance(found, Deferred) else found
            return call(np, inputs)

    def learn_number(self, key: tuple[Any, ...], value: Any, beside: Tensor) -> Tensor | None:
        """A new tensor for `known_number`; None if there is an error to raise."""
        dtype, exact = beside.dtype.base_dtype, key[-1]
        try:
            found = convert_to_tensor(value, dtype if exact else None, dtype_hint=dtype)
        except (TypeError, ValueError, OverflowError):
            return None
        if len(self.numbers) >= _MAX_NUMBERS:
            self.numbers.clear()
        self.numbers[key] = found
        return found

    def context_of(self, op: Operation) -> Any:
        return self._context(self._resources, EagerNode(op, op.name))

    def start_recording(self, orders: int = 1) -> None:
        """A gradient tape begins. All that is done here is kept anyway.

        `orders`: how often gradients may be taken of what it records and of its gradients.
        """

    def stop_recording(self, orders: int = 1) -> None:
        """A gradient tape ends."""

    def _run_with_jax(self, op: Operation, inputs: list[Any]) -> Sequence[np.ndarray]:
        import jax
        import jax.numpy as jnp

        with jax.enable_x64(True):
            return [np.asarray(value) for value in bind(op.definition, op.attrs)(jnp, inputs)]

    def _run_random(self, op: Operation, call: Any, inputs: list[Any]) -> Sequence[Any]:
        key = self._generator_of(op)
        state = self._rng.get(key)
        if state is None:
            state = initial_state(op.attrs.get("seed", 0), op.attrs.get("seed2", 0))
        values: Sequence[Any] = call(np, inputs, state)
        assert op.definition.random is not None
        blocks = op.definition.random(np.shape(values[0]), op.attrs)
        self._rng[key] = advance(state, blocks)
        return values

    def _generator_of(self, op: Operation) -> Any:
        """The key of an operation's random generator: operations with the same key share it."""
        return op.name


def _value(op: Operation, i: int) -> Any:
    """Input `i`; where a variable's cell arrives but a value is wanted, what it holds."""
    tensor = op.inputs[i]
    value = tensor.op._value[tensor.value_index]
    if tensor.dtype._is_ref_dtype and not flat_args(op.definition, op.attrs)[i].is_ref:
        return value.read()
    return value


_MAX_NUMBERS = 1024


def known_number(value: Any, beside: Any, exact: bool) -> Tensor | None:
    """A number of Python's as the other operand of `beside`, if that has a value.

    The same tensor each time: nobody sees it. `exact`: it must have the type of `beside`.
    """
    kind = type(value)
    if type(beside) is not EagerTensor or (kind is not float and kind is not int):
        return None
    graph = beside.op.graph
    if graph is not get_default_graph():
        return None
    key = kind, value or repr(value), id(beside.dtype), exact  # 0.0 and -0.0 are equal
    found: Tensor | None = graph.numbers.get(key)  # type: ignore[attr-defined]
    return graph.learn_number(key, value, beside) if found is None else found  # type: ignore[attr-defined]


def constants(values: Sequence[Any], types: Sequence[DType]) -> list[Tensor]:
    """Tensors of the default graph, an `EagerGraph`, with these values."""
    return [
        raw.Const(value=np.asarray(value), dtype=dtype.base_dtype)
        for value, dtype in zip(values, types, strict=True)
    ]
