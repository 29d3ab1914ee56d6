"""Neural Turing machines: a cell that controls heads, which read and write a memory."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.keras import initializers
from weft.lib.rnn.cells import LayerRNNCell, assert_like_rnncell, input_depth, size_of
from weft.lib.rnn.gates import clipped, mixed
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import shape as array_shape
from weft.ops.array.repeat import tile
from weft.ops.array.reverse import roll
from weft.ops.array.split import split
from weft.ops.control.cond import cond
from weft.ops.math import elementwise, matmul, reduce, unary
from weft.ops.math.math import add_n, pow, sigmoid
from weft.ops.nn import activations as nn_impl
from weft.ops.state.initializers import constant_initializer, truncated_normal_initializer

NTMControllerState = namedtuple(
    "NTMControllerState", ("controller_state", "read_vector_list", "w_list", "M", "time")
)


class NTMCell(LayerRNNCell):
    """A controller, a memory, and heads by which the controller reads and writes it.

    Args:
        controller: the cell that gets the inputs and what was read, and steers the heads.
        memory_size: how many places the memory has.
        memory_vector_dim: how many numbers a place holds.
        read_head_num, write_head_num: how many heads read, and how many write.
        shift_range: by how many places a head may move in a step.
        output_dim: the size of the output; None: that of the inputs.
        clip_value: the largest magnitude of outputs and of what steers the heads.
        dtype: of the variables.
        name: of the layer.
    """

    def __init__(
        self,
        controller: Any,
        memory_size: int,
        memory_vector_dim: int,
        read_head_num: int,
        write_head_num: int,
        shift_range: int = 1,
        output_dim: int | None = None,
        clip_value: float = 20,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        assert_like_rnncell("NTM RNN controller cell", controller)
        self.controller, self.output_dim = controller, output_dim
        self.memory_size, self.memory_vector_dim = memory_size, memory_vector_dim
        self.read_head_num, self.write_head_num = read_head_num, write_head_num
        self.shift_range, self.clip_value = shift_range, clip_value
        self.num_heads = read_head_num + write_head_num
        # A key, its strength, how much of it to take, the shifts, and how sharp the result is.
        self.num_parameters_per_head = memory_vector_dim + 2 * shift_range + 4
        self.total_parameter_num = (
            self.num_heads * self.num_parameters_per_head + 2 * write_head_num * memory_vector_dim
        )

    @property
    def state_size(self) -> NTMControllerState:
        places, width = self.memory_size, self.memory_vector_dim
        vectors = [width] * self.read_head_num, [places] * self.num_heads
        rest = TensorShape([places * width]), TensorShape([])
        return NTMControllerState(self.controller.state_size, *vectors, *rest)

    @property
    def output_size(self) -> Any:
        return self.output_dim

    def zero_state(self, batch_size: Any, dtype: Any) -> NTMControllerState:
        """A state of time 0, at which the cell takes its learned first values instead of it."""
        places, width = self.memory_size, self.memory_vector_dim

        def zeros(*sizes: int) -> Tensor:
            return array_fill.zeros([batch_size, *sizes])

        return NTMControllerState(
            controller_state=self.controller.zero_state(batch_size, dtype),
            read_vector_list=[zeros(width) for _ in range(self.read_head_num)],
            w_list=[zeros(places) for _ in range(self.num_heads)],
            M=zeros(places, width),
            time=0,
        )

    # ---- variables ----------------------------------------------------------------------------

    def build(self, inputs_shape: Any) -> None:
        if self.output_dim is None:
            self.output_dim = input_depth(inputs_shape)
        controlled, width = self.controller.output_size, self.memory_vector_dim
        self._params_kernel, self._params_bias = self._add_affine(
            "parameters", controlled, self.total_parameter_num
        )
        self._output_kernel, self._output_bias = self._add_affine(
            "output", controlled + width * self.read_head_num, self.output_dim
        )
        self._init_read_vectors = self._add_rows("initial_read_vector", self.read_head_num, width)
        self._init_address_weights = self._add_rows(
            "initial_address_weights", self.num_heads, self.memory_size
        )
        start = constant_initializer(1e-6, dtype=self.dtype or dtypes.float32)
        self._M = self.add_variable("memory", shape=[self.memory_size, width], initializer=start)
        self.built = True

    def _add_affine(self, name: str, rows: int, columns: int) -> tuple[Any, Any]:
        start = truncated_normal_initializer(stddev=1.0 / math.sqrt(rows), dtype=dtypes.float32)
        zeros = constant_initializer(0.0, dtype=self.dtype or dtypes.float32)
        return (
            self.add_variable(f"{name}_kernel", shape=[rows, columns], initializer=start),
            self.add_variable(f"{name}_bias", shape=[columns], initializer=zeros),
        )

    def _add_rows(self, name: str, count: int, width: int) -> list[Any]:
        return [
            self.add_variable(
                f"{name}_{i}", shape=[1, width], initializer=initializers.glorot_uniform()
            )
            for i in range(count)
        ]

    # ---- a step -------------------------------------------------------------------------------

    def call(self, x: Any, prev_state: Any) -> tuple[Tensor, NTMControllerState]:
        first, rows = elementwise.equal(prev_state.time, 0), size_of(x, 0)
        reads = _taken(
            first, self._init_read_vectors, unary.tanh, rows, prev_state.read_vector_list
        )
        controlled, controller_state = self.controller(
            array_join.concat([x, *reads], 1), prev_state.controller_state
        )
        steering = self._affine([controlled], self._params_kernel, self._params_bias)
        heads, writes = self._parameters(clipped(steering, self.clip_value))
        old = _taken(first, self._init_address_weights, nn_impl.softmax, rows, prev_state.w_list)
        memory = cond(first, lambda: _repeated(self._M, rows), lambda: prev_state.M)
        weights = [self._address(head, memory, was) for head, was in zip(heads, old, strict=True)]
        reads = [_read(memory, w) for w in weights[: self.read_head_num]]
        for w, (erase, add) in zip(weights[self.read_head_num :], writes, strict=True):
            memory = _written(memory, w, sigmoid(erase), unary.tanh(add))
        output = self._affine([controlled, *reads], self._output_kernel, self._output_bias)
        return clipped(output, self.clip_value), NTMControllerState(
            controller_state, reads, weights, memory, prev_state.time + 1
        )

    def _parameters(self, steering: Tensor) -> tuple[list[Tensor], list[tuple[Tensor, Tensor]]]:
        """What steers each head, and (what to erase, what to add) for those that write."""
        per_head = [self.num_parameters_per_head] * self.num_heads
        vectors = [self.memory_vector_dim] * (2 * self.write_head_num)
        parts = split(steering, per_head + vectors, 1)
        heads, changes = parts[: self.num_heads], iter(parts[self.num_heads :])
        return heads, list(zip(changes, changes, strict=True))

    def _address(self, head: Tensor, memory: Tensor, old: Tensor) -> Tensor:
        """Where a head looks: near its key or where it was, then shifted and sharpened."""
        shifts = 2 * self.shift_range + 1
        key, strength, gate, shift, sharpness = split(
            head, [self.memory_vector_dim, 1, 1, shifts, 1], 1
        )
        alike = _likeness(memory, unary.tanh(key))
        by_content = _shares(unary.exp(nn_impl.softplus(strength) * alike))
        where = mixed(sigmoid(gate), by_content, old)
        shifted = self._shifted(where, nn_impl.softmax(shift))
        return _shares(pow(shifted, nn_impl.softplus(sharpness) + 1))

    def _shifted(self, where: Tensor, shift: Tensor) -> Tensor:
        """`where`, rolled around by each step 0, 1, .., -1, as much as it is meant."""
        steps = [*range(self.shift_range + 1), *range(-self.shift_range, 0)]
        amounts = zip(steps, split(shift, len(steps), 1), strict=True)
        return add_n([amount * roll(where, step, 1) for step, amount in amounts])


def _taken(first: Any, learned: list[Any], activation: Any, rows: Any, kept: Any) -> list[Any]:
    """What the last step left, or rows of learned vectors if this is the first one.

    There are as many operations as TensorFlow makes, because the seeds of the controller's
    variables, which come after them, are numbers of operations.
    """

    def start() -> list[Tensor]:
        ones = [matmul.matmul(array_fill.ones([1, 1]), vector) for vector in learned]
        return [_repeated(activation(array_shape.squeeze(one)), rows) for one in ones]

    taken = cond(first, start, lambda: kept)
    return [taken] if len(learned) == 1 else taken


def _repeated(x: Any, rows: Any) -> Tensor:
    """A batch of `rows` times the same."""
    if isinstance(rows, Tensor):
        return tile(array_shape.expand_dims(x, 0), [rows, *[1] * x.shape.ndims])
    return array_join.concat([array_shape.expand_dims(x, 0) for _ in range(rows)], 0)


def _likeness(memory: Tensor, key: Tensor) -> Tensor:
    """The cosine between each place of the memory and the key."""
    column = array_shape.expand_dims(key, 2)
    product = array_shape.squeeze(matmul.matmul(memory, column), [2])
    lengths = _length(memory, 2) * _length(key, 1, keepdims=True)
    return product / (lengths + 1e-8)


def _length(x: Tensor, axis: int, keepdims: bool = False) -> Tensor:
    return unary.sqrt(reduce.reduce_sum(unary.square(x), axis, keepdims=keepdims))


def _shares(x: Tensor) -> Tensor:
    return x / reduce.reduce_sum(x, 1, keepdims=True)


def _read(memory: Tensor, weights: Tensor) -> Tensor:
    return reduce.reduce_sum(array_shape.expand_dims(weights, 2) * memory, 1)


def _written(memory: Tensor, weights: Tensor, erased: Tensor, added: Tensor) -> Tensor:
    """The memory after a head has erased and added where its weights are."""
    column = array_shape.expand_dims(weights, 2)
    erased, added = (array_shape.expand_dims(x, 1) for x in (erased, added))
    return memory * (1 - matmul.matmul(column, erased)) + matmul.matmul(column, added)
