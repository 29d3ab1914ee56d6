"""The operations that graphs have for NVIDIA's recurrent layers, on any device."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.core.errors import UnimplementedError
from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, STATEFUL, XLA
from weft.ops.kit.shared import taking_attrs
from weft.ops.nn.cudnn_layers import Layers, run

Array = Any
_KIND = (
    'rnn_mode: {"rnn_relu", "rnn_tanh", "lstm", "gru"} = "lstm",'
    ' input_mode: {"linear_input", "skip_input", "auto_select"} = "linear_input",'
    ' direction: {"unidirectional", "bidirectional"} = "unidirectional",'
    " dropout: float = 0, seed: int = 0, seed2: int = 0"
)
_T = "T: {half, float, double}"
_NAMES = ("rnn_mode", "input_mode", "direction")
_V3_NAMES = ("num_proj", "time_major")


# ---- running -------------------------------------------------------------------------------------


def _layers(x: Array, h: Array, attrs: dict[str, Any]) -> Layers:
    """States are [layers * directions, batch, units]."""
    directions = 2 if attrs["direction"] == "bidirectional" else 1
    return Layers.of(attrs, h.shape[0] // directions, h.shape[2], x.shape[2])


def _forward(
    xp: Any, x: Array, h: Array, c: Array, params: Array, lengths: Array | None,
    attrs: dict[str, Any],
) -> tuple[Array, Array, Array]:  # fmt: skip
    if attrs.get("time_major", True):
        return run(xp, _layers(x, h, attrs), x, h, c, params, lengths)
    is_lstm = attrs["rnn_mode"] == "lstm"
    x, h = xp.swapaxes(x, 0, 1), xp.swapaxes(h, 0, 1)
    c = xp.swapaxes(c, 0, 1) if is_lstm else c
    out, h, c = run(xp, _layers(x, h, attrs), x, h, c, params, lengths)
    c = xp.swapaxes(c, 0, 1) if is_lstm else c
    return xp.swapaxes(out, 0, 1), xp.swapaxes(h, 0, 1), c


def _check_dropout(h: Array, attrs: dict[str, Any]) -> None:
    """Only what goes from one layer to the next is dropped."""
    axis = 0 if attrs.get("time_major", True) else 1
    several = h.shape[axis] > (2 if attrs["direction"] == "bidirectional" else 1)
    if attrs["is_training"] and attrs["dropout"] > 0 and several:
        raise UnimplementedError(
            None, None,
            "Dropout between recurrent layers in one operation: use tf.contrib.cudnn_rnn's layers,"
            " which have operations of their own for each layer.",
        )  # fmt: skip


def _shapes(c: ShapeContext) -> list[Dims]:
    x, h = s.with_rank(c.dims(0), 3), s.with_rank(c.dims(1), 3)
    directions = 2 if c.attr("direction") == "bidirectional" else 1
    width = None if h[2] is None else directions * h[2]
    end = h if c.attr("rnn_mode") == "lstm" else ()
    return [(x[0], x[1], width), h, end, *[None] * (c.num_outputs - 3)]


def _rnn_op(name: str, outputs: str = "", lengths: str = "") -> OpDef:
    """Declares a version of the operation that runs the layers."""
    before, after = (", num_proj: int = 0", ", time_major: bool = true") if lengths else ("", "")

    def compute(
        xp: Any, x: Array, h: Array, c: Array, params: Array, *rest: Array, **given: Any
    ) -> list[Array]:
        _check_dropout(h, given)
        found = _forward(xp, x, h, c, params, rest[0] if rest else None, given)
        kept = [xp.zeros(0, np.int8)] if outputs else []
        return [*found, xp.zeros(0, x.dtype), *kept]

    names = [*_NAMES, "dropout", "is_training"]
    return op(
        name, inputs=f"input: T, input_h: T, input_c: T, params: T{lengths}",
        outputs=f"output: T, output_h: T, output_c: T, reserve_space: T{outputs}",
        attrs=f"{_T}, {_KIND}{before}, is_training: bool = true{after}",
        shape=_shapes, traits=XLA | STATEFUL,
    )(taking_attrs(compute, [*names, *(_V3_NAMES if lengths else ())]))  # fmt: skip


cudnn_rnn_ = _rnn_op("CudnnRNN")
cudnn_rnn_v2_ = _rnn_op("CudnnRNNV2", ", host_reserved: int8")
cudnn_rnn_v3_ = _rnn_op("CudnnRNNV3", ", host_reserved: int8", ", sequence_lengths: int32")


# ---- gradients -----------------------------------------------------------------------------------


def _backward_op(name: str, reserved: str = "", lengths: str = "") -> OpDef:
    more = ", num_proj: int = 0, time_major: bool = true" if lengths else ""

    def compute(xp: Any, x: Array, h: Array, c: Array, params: Array, *rest: Array,
                **given: Any) -> list[Array]:  # fmt: skip
        import jax

        ends = rest[1:] if lengths else rest
        grads = list(ends[3:6])

        def forward(x: Array, h: Array, c: Array, params: Array) -> Any:
            return _forward(xp, x, h, c, params, rest[0] if lengths else None, given)

        found, back = jax.vjp(forward, x, h, c, params)
        fitting = [xp.reshape(g, f.shape) if g.size == f.size else xp.zeros_like(f)
                   for g, f in zip(grads, found, strict=True)]  # fmt: skip
        return list(back(tuple(fitting)))

    return op(
        name,
        inputs=f"input: T, input_h: T, input_c: T, params: T{lengths}, output: T, output_h: T,"
        " output_c: T, output_backprop: T, output_h_backprop: T, output_c_backprop: T,"
        f" reserve_space: T{reserved}",
        outputs="input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T",
        attrs=f"{_T}, {_KIND}{more}", shape=lambda c: [c.dims(i) for i in range(4)],
        traits=XLA | STATEFUL,
    )(taking_attrs(compute, [*_NAMES, *(_V3_NAMES if lengths else ())]))  # fmt: skip


cudnn_rnn_backprop_ = _backward_op("CudnnRNNBackprop")
cudnn_rnn_backprop_v2_ = _backward_op("CudnnRNNBackpropV2", ", host_reserved: int8")
cudnn_rnn_backprop_v3_ = _backward_op(
    "CudnnRNNBackpropV3", ", host_reserved: int8", ", sequence_lengths: int32"
)


def _gradient(version: str) -> Any:
    def gradient(op: Operation, *grads: Any) -> list[Any]:
        if not op.attrs["is_training"]:
            raise ValueError(f"To use {op.type} in gradients, is_training must be set to True.")
        known = [
            raw.ZerosLike(out) if grad is None else grad
            for grad, out in zip(grads[:3], op.outputs[:3], strict=True)
        ]
        own = {name: op.attrs[name] for name in (*_NAMES, "dropout", "seed", "seed2")}
        if version == "V3":
            own |= {name: op.attrs[name] for name in _V3_NAMES}
        made = getattr(raw, f"CudnnRNNBackprop{version}")(
            *op.inputs, *op.outputs[:3], *known, *op.outputs[3:], **own
        )
        return [*made, *([None] if version == "V3" else [])]

    return gradient


for _version, _definition in (("", cudnn_rnn_), ("V2", cudnn_rnn_v2_), ("V3", cudnn_rnn_v3_)):
    _definition.gradient(_gradient(_version))


# ---- weights -------------------------------------------------------------------------------------

_SIZES = "num_layers: int32, num_units: int32, input_size: int32"


def _described(ctx: Any, num_layers: Any, num_units: Any, input_size: Any) -> Layers:
    return Layers.of(ctx.node.attrs, int(num_layers), int(num_units), int(input_size))


@op(
    "CudnnRNNParamsSize", inputs=_SIZES, outputs="params_size: S",
    attrs=f"{_T}, S: {{int32, int64}}, {_KIND}, num_proj: int = 0", shape=lambda c: (1,),
    traits=HOST,
)  # fmt: skip
def cudnn_rnn_params_size_(
    xp: Any, ctx: Any, num_layers: Any, num_units: Any, input_size: Any, *, S: DType
) -> Array:
    layers = _described(ctx, num_layers, num_units, input_size)
    return np.array([layers.size], S.np_storage)


def _weights_ops(version: str, counts: tuple[str, str], attrs: str) -> None:
    """Declares how the vector is taken apart, and how it is made of its parts."""
    weights, biases = counts
    numbers = ", ".join(f"{count}: int >= 1" for count in dict.fromkeys(counts))
    kind = f"{_T}, {numbers}, {_KIND}{attrs}"

    def part_shapes(c: ShapeContext) -> list[Dims]:
        found: list[Dims] = [(None, None)] * c.attr(weights)
        return [*found, *[(None,)] * c.attr(biases)]

    @op(
        f"CudnnRNNParamsToCanonical{version}", inputs=f"{_SIZES}, params: T",
        outputs=f"weights: {weights} * T, biases: {biases} * T", attrs=kind, shape=part_shapes,
        traits=HOST,
    )  # fmt: skip
    def to_canonical(
        xp: Any, ctx: Any, num_layers: Any, num_units: Any, input_size: Any, params: Any
    ) -> list[Array]:
        layers = _described(ctx, num_layers, num_units, input_size)
        matrices, vectors = layers.split(np, np.asarray(params))
        return [*matrices, *vectors]

    @op(
        f"CudnnRNNCanonicalToParams{version}",
        inputs=f"{_SIZES}, weights: {weights} * T, biases: {biases} * T", outputs="params: T",
        attrs=kind, shape=s.vector, traits=HOST,
    )  # fmt: skip
    def to_params(
        xp: Any, ctx: Any, num_layers: Any, num_units: Any, input_size: Any, weights: list[Any],
        biases: list[Any],
    ) -> Array:  # fmt: skip
        return np.concatenate([np.ravel(part) for part in (*weights, *biases)])


_weights_ops("", ("num_params", "num_params"), "")
_weights_ops("V2", ("num_params_weights", "num_params_biases"), ", num_proj: int = 0")
