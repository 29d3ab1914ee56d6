"""Layers of several recurrent layers, in one or both directions.

TensorFlow leaves them to NVIDIA's library, with all weights in one opaque variable that is saved by
parts. Here the parts are the variables, under the names they are saved by, on any device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.core.shapes import as_shape
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.contrib.cudnn_rnn import steps
from weft.lib.layers.base import Layer
from weft.lib.rnn.dynamic import time_loop
from weft.ops.array import array
from weft.ops.array.reverse import reverse, reverse_sequence
from weft.ops.math import math
from weft.ops.nn.activations import dropout
from weft.ops.nn.cudnn_layers import Layers
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import glorot_uniform_initializer, zeros_initializer

CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION = "unidirectional", "bidirectional"
CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE = "linear_input", "skip_input"
CUDNN_INPUT_AUTO_MODE = "auto_select"
_INPUT_MODES = (CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE)
_DTYPES = (dtypes.float16, dtypes.float32, dtypes.float64)


def check_direction(direction: str) -> None:
    """ValueError if there is no such direction."""
    if direction not in (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION):
        raise ValueError(
            f"Invalid direction: {direction}, expecting {CUDNN_RNN_UNIDIRECTION} or "
            f"{CUDNN_RNN_BIDIRECTION}"
        )


def check_input_mode(input_mode: str) -> None:
    """ValueError if there is no such mode."""
    if input_mode not in _INPUT_MODES:
        raise ValueError(
            f"Invalid input_mode: {input_mode}, expect one of ({', '.join(_INPUT_MODES)})"
        )


def prefix_of(cell: str, layer: int, way: int, ways: int) -> str:
    """The scope in which a cell that computes a layer in one direction has its variables."""
    if ways == 1:
        return f"rnn/multi_rnn_cell/cell_{layer}/{cell}"
    side = ("fw", "bw")[way]
    return f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn/{side}/{cell}"


class _Step:
    """The cell that the loop over time calls."""

    def __init__(self, units: int, states: int, function: Callable[..., Any]) -> None:
        self.output_size = units
        self.state_size: Any = (units,) * states if states > 1 else units
        self._function = function

    def __call__(self, inputs: Any, state: Any) -> Any:
        return self._function(inputs, state)


class _CudnnRNN(Layer):
    """`num_layers` layers of `num_units`; inputs are [time, batch, depth]."""

    _rnn_mode = ""
    _cell_name = ""
    _states = 1

    def __init__(
        self, num_layers: int, num_units: int, input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION, dropout: float = 0.0, seed: int | None = None,
        dtype: Any = dtypes.float32, kernel_initializer: Any = None, bias_initializer: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(dtype=dtype, name=name)
        check_direction(direction)
        check_input_mode(input_mode)
        if input_mode != CUDNN_INPUT_LINEAR_MODE:
            raise NotImplementedError("Only input_mode='linear_input' is there")
        if dtypes.as_dtype(dtype) not in _DTYPES:
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._num_layers, self._num_units = num_layers, num_units
        self._input_mode, self._direction = input_mode, direction
        self._rate, self._seed = dropout, seed
        self._plain_dtype = dtypes.as_dtype(dtype)
        self._kernel_initializer = kernel_initializer or glorot_uniform_initializer(seed=seed)
        self._bias_initializer = bias_initializer or zeros_initializer()
        self._input_size: int | None = None

    num_layers = property(lambda self: self._num_layers)
    num_units = property(lambda self: self._num_units)
    input_mode = property(lambda self: self._input_mode)
    direction = property(lambda self: self._direction)
    rnn_mode = property(lambda self: self._rnn_mode)

    @property
    def num_dirs(self) -> int:
        return 1 if self._direction == CUDNN_RNN_UNIDIRECTION else 2

    @property
    def input_size(self) -> int:
        if not self._input_size:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, int]]:
        """The shapes of the matrices that NVIDIA's library would have, one for each gate."""
        if not self._input_size:
            raise RuntimeError(
                f"{type(self).__name__}.canonical_weight_shapes invoked before input shape is known"
            )
        return self._sizes(self._input_size).weight_shapes()

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """The shapes of the biases that NVIDIA's library would have, one for each matrix."""
        return [list(shape) for shape in self._sizes(1).bias_shapes()]

    def _sizes(self, depth: int) -> Layers:
        return Layers(self._rnn_mode, self.num_dirs, self._num_layers, self._num_units, depth)

    def state_shape(self, batch_size: Any) -> Any:
        """The shapes of the states: one for each that a step hands on."""
        shape = [self._num_layers * self.num_dirs, batch_size, self._num_units]
        return tuple([list(shape) for _ in range(self._states)])

    # ---- variables ----

    def build(self, input_shape: Any) -> None:
        shape = as_shape(input_shape)
        if shape.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.ndims}")
        depth = shape.as_list()[-1]
        if depth is None:
            raise ValueError(
                "The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`."
            )
        self._input_size = depth
        if self._scope is None:
            self._set_scope_of_build()
        self._weights = []
        for layer in range(self._num_layers):
            for way in range(self.num_dirs):
                self._weights.append(self._add_weights(self._prefix(layer, way), depth))
            depth = self._num_units * self.num_dirs
        self.built = True

    def _set_scope_of_build(self) -> None:
        """A layer that is built before it is called keeps its parts in the scope around it.

        There compatible cells find them in a checkpoint, unless another layer was first.
        """
        around = vs.get_variable_scope()
        start = "/".join(filter(None, (around.name, self._prefix(0, 0)))) + "/"
        if not any(name.startswith(start) for name in vs._get_default_variable_store()._vars):
            self._scope = around

    def _prefix(self, layer: int, way: int) -> str:
        return prefix_of(self._cell_name, layer, way, self.num_dirs)

    def _add_weights(self, prefix: str, depth: int) -> Any:
        raise NotImplementedError

    def _pair(self, name: str, rows: list[int], gates: int) -> steps.Weights:
        """The kernel and bias of some gates; each gate, and each input, starts by itself."""
        units = self._num_units

        def kernel(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
            parts = [
                array.concat([self._kernel_initializer([units, n], dtype=dtype) for n in rows], 1)
                for _ in range(gates)
            ]
            return array.transpose(array.concat(parts, 0))

        made = self.add_weight(
            f"{name}/kernel", shape=[sum(rows), gates * units], initializer=kernel
        )
        bias = self.add_weight(
            f"{name}/bias", shape=[gates * units], initializer=self._bias_initializer
        )
        return made, bias

    # ---- computing ----

    def call(  # type: ignore[override]
        self, inputs: Any, initial_state: Any = None, sequence_lengths: Any = None,
        time_major: bool = True, training: Any = True,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:  # fmt: skip
        """(outputs, the last states of all layers and directions)"""
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        inputs = convert_to_tensor(inputs, dtype=self._plain_dtype)
        if not time_major:
            inputs = array.transpose(inputs, [1, 0, 2])
        if initial_state is None:
            shapes = self.state_shape(array.shape(inputs)[1])
            initial_state = tuple(array.zeros(s, dtype=self._plain_dtype) for s in shapes)
        elif not time_major:
            initial_state = tuple(array.transpose(each, [1, 0, 2]) for each in initial_state)
        outputs, last = self._through(inputs, initial_state, sequence_lengths, training)
        if not time_major:
            outputs = array.transpose(outputs, [1, 0, 2])
            last = tuple(array.transpose(each, [1, 0, 2]) for each in last)
        return outputs, last

    def _through(self, values: Any, initial: Any, lengths: Any, training: Any) -> Any:
        ends = []
        for layer in range(self._num_layers):
            if layer and self._rate:
                values = self._dropped(values, training)
            sides = []
            for way in range(self.num_dirs):
                number = layer * self.num_dirs + way
                state = tuple(each[number] for each in initial)
                output, end = self._one_way(values, state, self._weights[number], lengths, way)
                sides.append(output)
                ends.append(end)
            values = sides[0] if self.num_dirs == 1 else array.concat(sides, 2)
        return values, tuple(array.stack(parts) for parts in zip(*ends, strict=True))

    def _dropped(self, values: Any, training: Any) -> Tensor:
        if isinstance(training, Tensor):
            from weft.ops.control.cond import cond

            found: Tensor = cond(training, lambda: self._dropped(values, True), lambda: values)
            return found
        return dropout(values, rate=self._rate, seed=self._seed) if training else values

    def _one_way(self, values: Any, state: Any, weights: Any, lengths: Any, way: int) -> Any:
        lengths = None if lengths is None else math.cast(lengths, dtypes.int32)

        def turned(tensor: Any) -> Any:
            if lengths is None:
                return reverse(tensor, [0])
            return reverse_sequence(tensor, lengths, seq_axis=0, batch_axis=1)

        step = _Step(self._num_units, self._states, lambda x, s: self._step(x, s, weights))
        output, end = time_loop(
            step, turned(values) if way else values, state if self._states > 1 else state[0],
            parallel_iterations=32, swap_memory=False, sequence_length=lengths,
            dtype=self._plain_dtype,
        )  # fmt: skip
        return turned(output) if way else output, end if self._states > 1 else (end,)

    def _step(self, x: Any, state: Any, weights: Any) -> Any:
        raise NotImplementedError


class CudnnLSTM(_CudnnRNN):
    """LSTM layers. States are (h, c)."""

    _rnn_mode, _cell_name, _states = "lstm", "cudnn_compatible_lstm_cell", 2

    def _add_weights(self, prefix: str, depth: int) -> steps.Weights:
        return self._pair(prefix, [depth, self._num_units], 4)

    def _step(self, x: Any, state: Any, weights: Any) -> Any:
        h, c = state
        new_c, new_h = steps.lstm_step(x, c, h, weights)
        return new_h, (new_h, new_c)


class CudnnGRU(_CudnnRNN):
    """Layers of gated recurrent units, one upon another, with one joined vector of weights."""

    _rnn_mode, _cell_name = "gru", "cudnn_compatible_gru_cell"

    def _add_weights(self, prefix: str, depth: int) -> Any:
        units = self._num_units
        return (
            self._pair(f"{prefix}/gates", [depth, units], 2),
            self._pair(f"{prefix}/candidate/input_projection", [depth], 1),
            self._pair(f"{prefix}/candidate/hidden_projection", [units], 1),
        )

    def _step(self, x: Any, state: Any, weights: Any) -> Any:
        new = steps.gru_step(x, state, *weights)
        return new, new


class _CudnnPlainRNN(_CudnnRNN):
    _cell_name = "basic_rnn_cell"

    def _add_weights(self, prefix: str, depth: int) -> steps.Weights:
        return self._pair(prefix, [depth, self._num_units], 1)

    def _step(self, x: Any, state: Any, weights: Any) -> Any:
        new = self._activate(steps.projected(array.concat([x, state], 1), weights))
        return new, new

    def _activate(self, x: Any) -> Any:
        raise NotImplementedError


class CudnnRNNTanh(_CudnnPlainRNN):
    """Plain recurrent layers with tanh."""

    _rnn_mode = "rnn_tanh"

    def _activate(self, x: Any) -> Any:
        return raw.Tanh(x)


class CudnnRNNRelu(_CudnnPlainRNN):
    """Plain recurrent layers with relu."""

    _rnn_mode = "rnn_relu"

    def _activate(self, x: Any) -> Any:
        return raw.Relu(x)
