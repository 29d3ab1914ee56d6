"""LSTMs of tf.contrib.rnn with all that an LSTM may have, and layers or weights normalised."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weft.graph.graph import Tensor, control_dependencies
from weft.lib.rnn.basic_cells import LSTMStateTuple
from weft.lib.rnn.cells import BIAS, KERNEL, known_width
from weft.lib.rnn.gates import clipped, cut
from weft.lib.rnn.lstm_variants import _ProjectedLSTM, seeing
from weft.lib.rnn.more_cells import layer_normed
from weft.ops.array import join as array_join
from weft.ops.math import matmul, unary
from weft.ops.math.math import sigmoid
from weft.ops.math.moments import l2_normalize
from weft.ops.nn import activations as nn_impl
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import constant_initializer

_NAMES = ("input", "transform", "forget", "output")


class _FullLSTM(_ProjectedLSTM):
    """An LSTM with peepholes, clipped memory and a projected output; subclasses make the sums."""

    def __init__(self, num_units: int, num_proj: int | None, reuse: Any, **options: Any) -> None:
        super().__init__(num_units, num_proj, reuse)
        self._use_peepholes, self._initializer = options["use_peepholes"], options["initializer"]
        self._cell_clip, self._proj_clip = options["cell_clip"], options["proj_clip"]
        self._forget_bias = options["forget_bias"]
        self._activation = options["activation"] or unary.tanh

    def _scope_of_sums(self) -> Any:
        return vs.get_variable_scope()

    def _gates(self, inputs: Tensor, m: Tensor) -> Iterable[Tensor]:
        """The sums that come to the input gate, the candidate, the forget and the output gate."""
        raise NotImplementedError

    def _projection(self, m: Tensor) -> Tensor:
        raise NotImplementedError

    def _memorized(self, c: Tensor) -> Tensor:
        return c

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        c, m = state
        known_width(inputs)
        with vs.variable_scope(self._scope_of_sums(), initializer=self._initializer):
            i, j, f, o = self._gates(inputs, m)
            w_f, w_i, w_o = self._peepholes(inputs.dtype)
            kept = sigmoid(seeing(f + self._forget_bias, w_f, c)) * c
            let_in = sigmoid(seeing(i, w_i, c)) * self._activation(j)
            c = clipped(self._memorized(kept + let_in), self._cell_clip)
            m = sigmoid(seeing(o, w_o, c)) * self._activation(c)
            if self._num_proj is not None:
                with vs.variable_scope("projection"):
                    m = self._projection(m)
                m = clipped(m, self._proj_clip)
        return m, LSTMStateTuple(c, m)

    def _peepholes(self, dtype: Any) -> list[Any]:
        if not self._use_peepholes:
            return [None] * 3
        shape = [self._num_units]
        return [vs.get_variable(f"w_{gate}_diag", shape=shape, dtype=dtype) for gate in "fio"]


def _kernel(parts: list[Tensor], columns: int) -> Any:
    rows = sum(known_width(part) for part in parts)
    return vs.get_variable(KERNEL, [rows, columns], dtype=parts[0].dtype)


def _bias(like: Tensor) -> Any:
    """The bias of a product, which is never cut into parts."""
    with vs.variable_scope(vs.get_variable_scope()) as scope:
        scope.set_partitioner(None)
        return vs.get_variable(
            BIAS, like.shape.as_list()[1:], dtype=like.dtype, initializer=constant_initializer(0.0)
        )


class LayerNormLSTMCell(_FullLSTM):
    """An LSTM with peepholes, clipping and projection, each gate and the memory normalised.

    Args:
        num_units: the size of the memory.
        use_peepholes: whether gates see the memory.
        cell_clip: the largest magnitude in the memory; None: any.
        initializer: of the weights.
        num_proj: the size of the output, if it is projected.
        proj_clip: the largest magnitude of a projected output; None: any.
        forget_bias: added to the forget gate.
        activation: None: tanh.
        layer_norm: whether to normalise; the bias is then made, but not added.
        norm_gain, norm_shift: the scale and offset of normalised values at first.
        reuse: whether to share the variables of a cell of that name.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1.0,
        activation: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        reuse: Any = None,
    ) -> None:
        super().__init__(
            num_units,
            num_proj,
            reuse,
            use_peepholes=use_peepholes,
            cell_clip=cell_clip,
            initializer=initializer,
            proj_clip=proj_clip,
            forget_bias=forget_bias,
            activation=activation,
        )
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    def _norm(self, x: Tensor, scope: str) -> Tensor:
        if not self._layer_norm:
            return x
        return layer_normed(x, scope, self._norm_gain, self._norm_shift, x.dtype)

    def _gates(self, inputs: Tensor, m: Tensor) -> Iterable[Tensor]:
        with vs.variable_scope(vs.get_variable_scope()):
            kernel = _kernel([inputs, m], 4 * self._num_units)
            sums = matmul.matmul(array_join.concat([inputs, m], 1), kernel)
        bias = _bias(sums)
        if not self._layer_norm:
            sums = nn_impl.bias_add(sums, bias)
        return [self._norm(*pair) for pair in zip(cut(sums, 4), _NAMES, strict=True)]

    def _memorized(self, c: Tensor) -> Tensor:
        return self._norm(c, "state")

    def _projection(self, m: Tensor) -> Tensor:
        with vs.variable_scope(vs.get_variable_scope()):
            return matmul.matmul(m, _kernel([m], self._num_proj or 0))


class WeightNormLSTMCell(_FullLSTM):
    """An LSTM the columns of whose weights have lengths that are learned apart from directions.

    Args:
        num_units: the size of the memory.
        norm: whether weights are normalised; without it, the cell is an `LSTMCell`.
        use_peepholes: whether gates see the memory.
        cell_clip: the largest magnitude in the memory; None: any.
        initializer: of the weights.
        num_proj: the size of the output, if it is projected.
        proj_clip: the largest magnitude of a projected output; None: any.
        forget_bias: added to the forget gate.
        activation: None: tanh.
        reuse: whether to share the variables of a cell of that name.
    """

    def __init__(
        self,
        num_units: int,
        norm: bool = True,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        forget_bias: float = 1,
        activation: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(
            num_units,
            num_proj,
            reuse,
            use_peepholes=use_peepholes,
            cell_clip=cell_clip,
            initializer=initializer,
            proj_clip=proj_clip,
            forget_bias=forget_bias,
            activation=activation,
        )
        self._norm = norm
        # Also the scope of the layer: variables are in `wn_lstm_cell/wn_lstm_cell`.
        self._scope = "wn_lstm_cell"

    def _scope_of_sums(self) -> str:
        return "wn_lstm_cell"

    def _gates(self, inputs: Tensor, m: Tensor) -> Iterable[Tensor]:
        with vs.variable_scope(vs.get_variable_scope()):
            sums = self._product([inputs, m], 4 * self._num_units)
            sums = nn_impl.bias_add(sums, _bias(sums))
        return cut(sums, 4)

    def _projection(self, m: Tensor) -> Tensor:
        with vs.variable_scope(vs.get_variable_scope()):
            return self._product([m], self._num_proj or 0)

    def _product(self, parts: list[Tensor], columns: int) -> Tensor:
        kernel = _kernel(parts, columns)
        if self._norm:
            # Weights of a loop's body are normalised once, before the loop.
            with control_dependencies(None):
                kernel = _normalized(kernel, [known_width(part) for part in parts])
        joined = parts[0] if len(parts) == 1 else array_join.concat(parts, 1)
        return matmul.matmul(joined, kernel)


def _normalized(kernel: Any, heights: list[int]) -> Tensor:
    """The kernel with columns of learned lengths, the rows for each input by themselves."""
    length = kernel.shape.as_list()[1:]
    blocks, start = [], 0
    for i, height in enumerate(heights):
        rows = kernel[start : start + height, :]
        scale = vs.get_variable(f"norm_{i}", length, dtype=kernel.dtype)
        blocks.append(l2_normalize(rows, axis=0) * scale)
        start += height
    return array_join.concat(blocks, 0)
