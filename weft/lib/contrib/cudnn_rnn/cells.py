"""Cells that compute what the layers of `cudnn_rnn` compute, with variables of the same names."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.cudnn_rnn.steps import gru_step
from weft.lib.rnn.basic_cells import GRUCell
from weft.lib.rnn.block_cells import LSTMBlockCell
from weft.lib.rnn.cells import BIAS, KERNEL
from weft.ops.state.initializers import constant_initializer, zeros_initializer


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An LSTM without peepholes, whose forget gate has no bias of its own."""

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        super().__init__(
            num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse,
            name="cudnn_compatible_lstm_cell",
        )  # fmt: skip


class CudnnCompatibleGRUCell(GRUCell):
    """A GRU whose reset gate applies after the product with the state."""

    def __init__(self, num_units: int, reuse: Any = None, kernel_initializer: Any = None) -> None:
        super().__init__(num_units, None, reuse, kernel_initializer)

    def build(self, inputs_shape: Any) -> None:
        depth, units = self._checked_depth(inputs_shape), self._num_units
        ones, zeros = constant_initializer(1.0), zeros_initializer()
        self._gates = self._pair("gates", depth + units, 2 * units, ones)
        scopes = {"candidate/input_projection": depth, "candidate/hidden_projection": units}
        start = self._kernel_initializer
        kernels = [
            self.add_variable(f"{scope}/{KERNEL}", shape=[rows, units], initializer=start)
            for scope, rows in scopes.items()
        ]
        biases = [
            self.add_variable(f"{scope}/{BIAS}", shape=[units], initializer=zeros)
            for scope in scopes
        ]
        self._of_input, self._of_state = zip(kernels, biases, strict=True)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        new = gru_step(inputs, state, self._gates, self._of_input, self._of_state)
        return new, new
