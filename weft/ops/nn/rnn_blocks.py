"""A whole step of an LSTM as one node, and an LSTM over a whole sequence.

Gates stand side by side: input, new value, forget, output (in BlockLSTMV2: input, forget, new
value, output). `cs` is the state of the cells, `h` what they give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops.kit.shared import invalid

Array = Any

_CELL = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T"
_WEIGHTS = "w: T, wci: T, wcf: T, wco: T, b: T"
_SEQUENCE = f"seq_len_max: int64, x: T, cs_prev: T, h_prev: T, {_WEIGHTS}"
_SEQUENCE_GRADIENTS = (
    "x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T,"
    " wco_grad: T, b_grad: T"
)
_T = "T: {half, float}"


def sigmoid(xp: Any, x: Array) -> Array:
    return 0.5 * xp.tanh(0.5 * x) + 0.5


# ---- one step of an LSTM ------------------------------------------------------------------------


def _check_cell(
    frame: tuple[int, ...], cs_prev: Array, h_prev: Array, w: Array, b: Array, **states: Array
) -> None:
    """Refuses parts of a step that do not go together. `frame` is the shape of x, and of cs_prev
    are the `states`."""
    before = {"cs_prev": cs_prev, "h_prev": h_prev}
    for name, matrix in {**before, "w": w, **states}.items():
        _check_rank(name, matrix, 2)
    _check_rank("b", b, 1)
    (batch, inputs), cells = frame, cs_prev.shape[1]
    for name, state in before.items():
        _check_size(f"{name}.dims(0) != batch_size", state.shape[0], batch)
        _check_size(f"{name}.dims(1) != cell_size", state.shape[1], cells)
    _check_size("w.dim_size(0) != input_size + cell_size", w.shape[0], inputs + cells)
    _check_size("w.dim_size(1) != cell_size * 4", w.shape[1], cells * 4)
    _check_size("b.dim_size(0) != cell_size * 4", b.shape[0], cells * 4)
    for name, state in states.items():
        of = f"{name}_tensor.dims" if name.endswith("_grad") else f"{name}.dim_size"
        _check_size(f"{of}(0) != batch_size", state.shape[0], batch)
        _check_size(f"{of}(1) != cell_size", state.shape[1], cells)


def _check_rank(name: str, array: Array, rank: int) -> None:
    if np.ndim(array) != rank:
        raise invalid(f"{name} must be {rank}D")


def _check_size(text: str, found: int, wanted: int) -> None:
    if found != wanted:
        raise invalid(f"{text}: {found} vs. {wanted}")


def _lstm_step(
    xp: Any, x: Array, cs_prev: Array, h_prev: Array, weights: Sequence[Array],
    forget_bias: float, cell_clip: float, use_peephole: bool,
) -> list[Array]:  # fmt: skip
    w, wci, wcf, wco, b = weights
    gates = xp.concatenate([x, h_prev], axis=1) @ w + b
    i, ci, f, o = xp.split(gates, 4, axis=1)
    f = f + forget_bias
    if use_peephole:
        i, f = i + cs_prev * wci, f + cs_prev * wcf
    i, ci, f = sigmoid(xp, i), xp.tanh(ci), sigmoid(xp, f)
    cs = i * ci + f * cs_prev
    if cell_clip > 0:
        cs = xp.clip(cs, -cell_clip, cell_clip)
    if use_peephole:
        o = o + cs * wco
    o, co = sigmoid(xp, o), xp.tanh(cs)
    return [part.astype(x.dtype) for part in (i, cs, f, o, ci, co, o * co)]


def _lstm_step_back(
    xp: Any, cs_prev: Array, weights: Sequence[Array], step: Sequence[Array],
    cs_grad: Array, h_grad: Array, use_peephole: bool,
) -> list[Array]:  # fmt: skip
    """Gradients of the state before, the gates, and the three peepholes."""
    _, wci, wcf, wco, _ = weights
    i, cs, f, o, ci, co = step
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if use_peephole:
        dcs = dcs + do * wco
    dci = (1 - ci * ci) * dcs * i
    df = f * (1 - f) * dcs * cs_prev
    di = i * (1 - i) * dcs * ci
    before = dcs * f
    peepholes = [xp.zeros_like(wci)] * 3
    if use_peephole:
        before = before + di * wci + df * wcf
        peepholes = [xp.sum(part, axis=0) for part in (di * cs_prev, df * cs_prev, do * cs)]
    gates = xp.concatenate([di, dci, df, do], axis=1)
    return [part.astype(cs.dtype) for part in (before, gates, *peepholes)]


def _step_dims(c: ShapeContext) -> tuple[int | None, int | None]:
    """Rows of x, columns of cs_prev."""
    (batch, _), (_, units) = s.with_rank(c.dims(0), 2), s.with_rank(c.dims(1), 2)
    return batch, units


def _cell_dims(c: ShapeContext) -> list[Dims]:
    return [_step_dims(c)] * 7


@op(
    "LSTMBlockCell", inputs=f"x: T, cs_prev: T, h_prev: T, {_WEIGHTS}", outputs=_CELL,
    attrs=f"forget_bias: float = 1, cell_clip: float = 3, use_peephole: bool = false, {_T}",
    shape=_cell_dims,
)  # fmt: skip
def lstm_block_cell_(
    xp: Any, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array, wco: Array,
    b: Array, *, forget_bias: float, cell_clip: float, use_peephole: bool,
) -> list[Array]:  # fmt: skip
    _check_rank("x", x, 2)
    _check_cell(x.shape, cs_prev, h_prev, w, b)
    weights = w, wci, wcf, wco, b
    return _lstm_step(xp, x, cs_prev, h_prev, weights, forget_bias, cell_clip, use_peephole)


def _cell_grad_dims(c: ShapeContext) -> list[Dims]:
    batch, units = _step_dims(c)
    gates = None if units is None else 4 * units
    return [(batch, units), (batch, gates), *[(units,)] * 3]


@op(
    "LSTMBlockCellGrad",
    inputs=f"x: T, cs_prev: T, h_prev: T, {_WEIGHTS}, i: T, cs: T, f: T, o: T, ci: T, co: T,"
    " cs_grad: T, h_grad: T",
    outputs="cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T",
    attrs=f"use_peephole: bool, {_T}",
    shape=_cell_grad_dims,
)
def lstm_block_cell_grad_(
    xp: Any, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array, wco: Array,
    b: Array, i: Array, cs: Array, f: Array, o: Array, ci: Array, co: Array, cs_grad: Array,
    h_grad: Array, *, use_peephole: bool,
) -> list[Array]:  # fmt: skip
    states = dict(i=i, cs=cs, f=f, o=o, ci=ci, co=co, cs_grad=cs_grad, h_grad=h_grad)
    _check_rank("x", x, 2)
    _check_cell(x.shape, cs_prev, h_prev, w, b, **states)
    weights, step = (w, wci, wcf, wco, b), (i, cs, f, o, ci, co)
    return _lstm_step_back(xp, cs_prev, weights, step, cs_grad, h_grad, use_peephole)


@lstm_block_cell_.gradient
def _(op: Any, *grads: Any) -> Any:
    x, _, h_prev, w = op.inputs[:4]
    cs_prev_grad, dicfo, *peepholes = raw.LSTMBlockCellGrad(
        *op.inputs, *op.outputs[:6], grads[1], grads[6],
        use_peephole=op.get_attr("use_peephole"),
    )  # fmt: skip
    x_grad, h_prev_grad = _inputs_back(dicfo, w, x, h_prev)
    w_grad = raw.MatMul(beside(x, h_prev), dicfo, transpose_a=True)
    return x_grad, cs_prev_grad, h_prev_grad, w_grad, *peepholes, raw.BiasAddGrad(dicfo)


def beside(a: Any, b: Any) -> Any:
    return raw.ConcatV2([a, b], 1)


def _inputs_back(gates: Any, w: Any, x: Any, h: Any) -> tuple[Any, Any]:
    """The gradients of the inputs, and of the cells' former outputs, from that of the gates."""
    both = raw.MatMul(gates, w, transpose_b=True)
    sizes = [raw.Shape(part)[1:] for part in (x, h)]
    found = raw.SplitV(both, raw.ConcatV2(sizes, 0), 1, num_split=2)
    return found[0], found[1]


# ---- an LSTM over a sequence --------------------------------------------------------------------

Step = Callable[[Any, Any], tuple[Any, Any]]


@by_library
def _scan(xp: Any, step: Step, carry: Any, inputs: Any, reverse: bool = False) -> tuple[Any, Any]:
    """`step(carry, slice) -> carry, outputs` along the first axis: the last carry, all outputs."""
    from jax import lax

    return lax.scan(step, carry, inputs, reverse=reverse)


@_scan.numpy
def _(xp: Any, step: Step, carry: Any, inputs: Any, reverse: bool = False) -> tuple[Any, Any]:
    count = len(inputs[0])
    found: list[Any] = [None] * count
    for t in reversed(range(count)) if reverse else range(count):
        carry, found[t] = step(carry, [part[t] for part in inputs])
    return carry, [np.stack(part) for part in zip(*found, strict=True)]


def _time(xp: Any, x: Array, seq_len_max: Any) -> Array:
    return xp.arange(x.shape[0]) < xp.asarray(seq_len_max)


def _sequence(
    xp: Any, seq_len_max: Any, x: Array, cs_prev: Array, h_prev: Array, weights: Sequence[Array],
    forget_bias: float, cell_clip: float, use_peephole: bool,
) -> list[Array]:  # fmt: skip
    _check_rank("x", x, 3)
    _check_cell(x.shape[1:], cs_prev, h_prev, weights[0], weights[4])

    def step(carry: Any, frame: Any) -> tuple[Any, Any]:
        now, alive = frame
        cs, h = carry
        found = _lstm_step(xp, now, cs, h, weights, forget_bias, cell_clip, use_peephole)
        found = [xp.where(alive, part, 0).astype(x.dtype) for part in found]
        return (found[1], found[6]), found

    if not x.shape[0]:
        return [xp.zeros((0, *cs_prev.shape), x.dtype)] * 7
    _, outputs = _scan(xp, step, (cs_prev, h_prev), [x, _time(xp, x, seq_len_max)])
    return list(outputs)


def _sequence_back(
    xp: Any, seq_len_max: Any, x: Array, cs_prev: Array, h_prev: Array, weights: Sequence[Array],
    outputs: Sequence[Array], cs_grad: Array, h_grad: Array, use_peephole: bool,
) -> list[Array]:  # fmt: skip
    i, cs, f, o, ci, co, h = outputs
    w, size = weights[0], x.shape[2]
    before_cs = xp.concatenate([cs_prev[None], cs[:-1]])
    before_h = xp.concatenate([h_prev[None], h[:-1]])

    def step(carry: Any, frame: Any) -> tuple[Any, Any]:
        dcs, dh, *sums = carry
        alive, now, cs_before, h_before, dcs_now, dh_now, *parts = frame
        back, gates, *peepholes = _lstm_step_back(
            xp, cs_before, weights, parts, dcs + dcs_now, dh + dh_now, use_peephole
        )
        gates = xp.where(alive, gates, 0).astype(x.dtype)
        both = gates @ w.T
        seen = xp.concatenate([now, h_before], axis=1)
        more = [seen.T @ gates, *peepholes, xp.sum(gates, axis=0)]
        sums = [a + xp.where(alive, b, 0).astype(a.dtype) for a, b in zip(sums, more, strict=True)]
        back = xp.where(alive, back, dcs).astype(x.dtype)
        return (back, xp.where(alive, both[:, size:], dh), *sums), [both[:, :size]]

    zeros = [xp.zeros_like(part) for part in (cs_prev, h_prev, *weights)]
    time = _time(xp, x, seq_len_max)
    frames = [time, x, before_cs, before_h, cs_grad, h_grad, i, cs, f, o, ci, co]
    if not x.shape[0]:
        return [x, *zeros]
    found, (x_grad,) = _scan(xp, step, tuple(zeros), frames, reverse=True)
    return [x_grad, *found]


def _sequence_dims(c: ShapeContext) -> list[Dims]:
    (time, batch, _), (gates,) = s.with_rank(c.dims(1), 3), s.with_rank(c.dims(8), 1)
    return [(time, batch, None if gates is None else gates // 4)] * 7


def _sequence_grad_dims(c: ShapeContext) -> list[Dims]:
    ranks = {1: 3, 2: 2, 3: 2, 4: 2, 5: 1, 6: 1, 7: 1, 8: 1}
    return [s.with_rank(c.dims(i), rank) for i, rank in ranks.items()]


def _reordered(xp: Any, weights: Sequence[Array]) -> list[Array]:
    """Weights with the second and third gate exchanged, which turns either order into the other."""
    w, wci, wcf, wco, b = weights
    w, b = (_exchanged(xp, part) for part in (w, b))
    return [w, wci, wcf, wco, b]


def _exchanged(xp: Any, gates: Array) -> Array:
    first, second, third, fourth = xp.split(gates, 4, axis=-1)
    return xp.concatenate([first, third, second, fourth], axis=-1)


@op(
    "BlockLSTM", inputs=_SEQUENCE, outputs=_CELL, shape=_sequence_dims,
    attrs=f"forget_bias: float = 1, cell_clip: float = 3, use_peephole: bool = false, {_T}",
)  # fmt: skip
def block_lstm_(
    xp: Any, seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array,
    wcf: Array, wco: Array, b: Array, *, forget_bias: float, cell_clip: float, use_peephole: bool,
) -> list[Array]:  # fmt: skip
    return _sequence(
        xp, seq_len_max, x, cs_prev, h_prev, (w, wci, wcf, wco, b), forget_bias, cell_clip,
        use_peephole,
    )  # fmt: skip


@op(
    "BlockLSTMV2", inputs=_SEQUENCE, outputs=_CELL, shape=_sequence_dims,
    attrs=f"cell_clip: float = 0, use_peephole: bool = false, {_T}",
)  # fmt: skip
def block_lstm_v2_(
    xp: Any, seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array,
    wcf: Array, wco: Array, b: Array, *, cell_clip: float, use_peephole: bool,
) -> list[Array]:  # fmt: skip
    weights = _reordered(xp, (w, wci, wcf, wco, b))
    return _sequence(xp, seq_len_max, x, cs_prev, h_prev, weights, 0.0, cell_clip, use_peephole)


_GRAD: dict[str, Any] = {
    "inputs": f"{_SEQUENCE}, {_CELL}, cs_grad: T, h_grad: T",
    "outputs": _SEQUENCE_GRADIENTS,
    "attrs": f"use_peephole: bool, {_T}",
    "shape": _sequence_grad_dims,
}


@op("BlockLSTMGrad", **_GRAD)
def block_lstm_grad_(
    xp: Any, seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array,
    wcf: Array, wco: Array, b: Array, i: Array, cs: Array, f: Array, o: Array, ci: Array,
    co: Array, h: Array, cs_grad: Array, h_grad: Array, *, use_peephole: bool,
) -> list[Array]:  # fmt: skip
    weights, outputs = (w, wci, wcf, wco, b), (i, cs, f, o, ci, co, h)
    return _sequence_back(
        xp, seq_len_max, x, cs_prev, h_prev, weights, outputs, cs_grad, h_grad, use_peephole
    )


@op("BlockLSTMGradV2", **_GRAD)
def block_lstm_grad_v2_(
    xp: Any, seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array,
    wcf: Array, wco: Array, b: Array, i: Array, cs: Array, f: Array, o: Array, ci: Array,
    co: Array, h: Array, cs_grad: Array, h_grad: Array, *, use_peephole: bool,
) -> list[Array]:  # fmt: skip
    weights, outputs = _reordered(xp, (w, wci, wcf, wco, b)), (i, cs, f, o, ci, co, h)
    found = _sequence_back(
        xp, seq_len_max, x, cs_prev, h_prev, weights, outputs, cs_grad, h_grad, use_peephole
    )
    return [*found[:3], *_reordered(xp, found[3:])]


def _sequence_gradient(kind: str) -> Callable[..., Any]:
    def gradient(op: Any, *grads: Any) -> Any:
        found = getattr(raw, kind)(
            *op.inputs, *op.outputs, grads[1], grads[6], use_peephole=op.get_attr("use_peephole")
        )
        return None, *found

    return gradient


block_lstm_.gradient(_sequence_gradient("BlockLSTMGrad"))
block_lstm_v2_.gradient(_sequence_gradient("BlockLSTMGradV2"))
