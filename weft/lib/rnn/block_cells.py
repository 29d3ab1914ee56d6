"""Cells of tf.contrib.rnn whose step is one operation. Their variables fit those of other cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.lib.rnn.basic_cells import LSTMStateTuple
from weft.lib.rnn.cells import BIAS, KERNEL, FlatInputCell
from weft.ops.array.fill import zeros
from weft.ops.state.initializers import constant_initializer


class BlockLSTM:
    """The base of LSTMs whose variables fit those of LSTMCell, whatever they are called on."""

    add_variable: Callable[..., Any]

    def _set_up(
        self, num_units: int, forget_bias: float, cell_clip: float | None, use_peephole: bool
    ) -> None:
        self._num_units, self._use_peephole = num_units, use_peephole
        limit = -1 if cell_clip is None else cell_clip
        self._options = {"forget_bias": forget_bias, "cell_clip": limit}

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def _add_variables(self, depth: int) -> None:
        units = self._num_units
        self._kernel = self.add_variable(KERNEL, [depth + units, 4 * units])
        self._bias = self.add_variable(BIAS, [4 * units], initializer=constant_initializer(0.0))
        if self._use_peephole:
            self._peepholes = [
                self.add_variable(name, [units]) for name in ("w_i_diag", "w_f_diag", "w_o_diag")
            ]

    def _apply(self, op: Callable[..., Any], dtype: Any, *inputs: Any) -> tuple[Tensor, Tensor]:
        """The memory and the output that an operation gives for `inputs` and our weights."""
        peepholes = self._peepholes if self._use_peephole else [zeros([self._num_units], dtype)] * 3
        weights = dict(zip(("wci", "wcf", "wco"), peepholes, strict=True))
        weights |= {"w": self._kernel, "b": self._bias}
        found = op(*inputs, **weights, **self._options, use_peephole=self._use_peephole)
        return found[1], found[6]


class LSTMBlockCell(BlockLSTM, FlatInputCell):
    """An LSTM with optional peepholes; its gradients pass clipped memory as if it were not."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
        name: str = "lstm_cell",
    ) -> None:
        super().__init__(reuse, dtype=dtype, name=name)
        self._set_up(num_units, forget_bias, cell_clip, use_peephole)

    def build(self, inputs_shape: Any) -> None:
        depth = TensorShape(inputs_shape).as_list()[1]
        if not depth:
            raise ValueError(f"Expecting inputs_shape[1] to be set: {inputs_shape}")
        self._add_variables(depth)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        c, h = self._apply(raw.LSTMBlockCell, self.dtype, inputs, *state)
        return h, LSTMStateTuple(c, h)


class GRUBlockCellV2(FlatInputCell):
    """A GRU that splits its gates as GRUCell does, with variables of the same names."""

    # Weights and bias of the gates, then of the new value.
    _names = f"gates/{KERNEL}", f"gates/{BIAS}", f"candidate/{KERNEL}", f"candidate/{BIAS}"

    def __init__(
        self,
        num_units: int | None = None,
        cell_size: int | None = None,
        reuse: Any = None,
        name: str = "gru_cell",
    ) -> None:
        super().__init__(reuse, name=name)
        sizes = [size for size in (num_units, cell_size) if size is not None]
        if len(sizes) != 1:
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size = sizes[0]

    @property
    def state_size(self) -> int:
        return self._cell_size

    @property
    def output_size(self) -> int:
        return self._cell_size

    def build(self, input_shape: Any) -> None:
        depth = TensorShape(input_shape).as_list()[1]
        if depth is None:
            raise ValueError("Expecting input_size to be set.")
        rows, size, names = depth + self._cell_size, self._cell_size, self._names
        self._gate_kernel = self.add_variable(names[0], [rows, 2 * size])
        self._gate_bias = self.add_variable(
            names[1], [2 * size], initializer=constant_initializer(1.0)
        )
        self._candidate_kernel = self.add_variable(names[2], [rows, size])
        self._candidate_bias = self.add_variable(
            names[3], [size], initializer=constant_initializer(0.0)
        )
        self.built = True

    def call(self, inputs: Any, h_prev: Any) -> tuple[Tensor, Tensor]:
        width = h_prev.shape.with_rank(2)[1]
        if width != self._cell_size:
            raise ValueError(
                f"Shape of h_prev[1] incorrect: cell_size {self._cell_size} vs {width}"
            )
        new_h = raw.GRUBlockCell(
            inputs, h_prev, self._gate_kernel, self._candidate_kernel, self._gate_bias,
            self._candidate_bias,
        )[-1]  # fmt: skip
        return new_h, new_h


class GRUBlockCell(GRUBlockCellV2):
    """A GRU with variables named as checkpoints of the first block cells have them."""

    _names = "w_ru", "b_ru", "w_c", "b_c"
