"""A whole step of a GRU as one node."""

from __future__ import annotations

from typing import Any

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops.nn.rnn_blocks import beside, sigmoid

Array = Any


def _gru_dims(c: ShapeContext) -> list[Dims]:
    batch, units = s.with_rank(c.dims(1), 2)
    rows, _ = s.with_rank(c.dims(0), 2)
    s.merge_dim(batch, rows)
    return [(rows, units)] * 4


@op(
    "GRUBlockCell", inputs="x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T",
    outputs="r: T, u: T, c: T, h: T", attrs="T: {float}", shape=_gru_dims,
)  # fmt: skip
def gru_block_cell_(
    xp: Any, x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array
) -> list[Array]:
    gates = sigmoid(xp, xp.concatenate([x, h_prev], axis=1) @ w_ru + b_ru)
    r, u = xp.split(gates, 2, axis=1)
    c = xp.tanh(xp.concatenate([x, h_prev * r], axis=1) @ w_c + b_c)
    return [r, u, c, u * h_prev + (1 - u) * c]


def _gru_grad_dims(c: ShapeContext) -> list[Dims]:
    batch, size = s.with_rank(c.dims(0), 2)
    units, gates = s.with_rank(c.dims(1), 2)[1], s.with_rank(c.dims(2), 2)[1]
    return [(batch, size), (batch, units), (batch, units), (batch, gates)]


@op(
    "GRUBlockCellGrad",
    inputs="x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T",
    outputs="d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T", attrs="T: {float}",
    shape=_gru_grad_dims,
)  # fmt: skip
def gru_block_cell_grad_(
    xp: Any, x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array, r: Array,
    u: Array, c: Array, d_h: Array,
) -> list[Array]:  # fmt: skip
    size = x.shape[1]
    d_c_bar = d_h * (1 - u) * (1 - c * c)
    by_candidate = d_c_bar @ w_c.T
    d_hr = by_candidate[:, size:]
    d_r_bar = d_hr * h_prev * r * (1 - r)
    d_u_bar = d_h * (h_prev - c) * u * (1 - u)
    gates = xp.concatenate([d_r_bar, d_u_bar], axis=1)
    by_gates = gates @ w_ru.T
    d_h_prev = by_gates[:, size:] + d_hr * r + d_h * u
    return [by_gates[:, :size] + by_candidate[:, :size], d_h_prev, d_c_bar, gates]


@gru_block_cell_.gradient
def _(op: Any, *grads: Any) -> Any:
    x, h_prev, *_ = op.inputs
    r = op.outputs[0]
    d_x, d_h_prev, d_c_bar, gates = raw.GRUBlockCellGrad(*op.inputs, *op.outputs[:3], grads[3])
    d_w_ru = raw.MatMul(beside(x, h_prev), gates, transpose_a=True)
    d_w_c = raw.MatMul(beside(x, h_prev * r), d_c_bar, transpose_a=True)
    return d_x, d_h_prev, d_w_ru, d_w_c, raw.BiasAddGrad(gates), raw.BiasAddGrad(d_c_bar)
