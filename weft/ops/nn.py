"""Neural-network ops on whole tensors: activations, softmax and its losses, biases, norms.

Half-precision values are summed in single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.constant_value import constant_value
from weft.graph.graph import Tensor, control_dependencies
from weft.graph.op_def import OpDef, op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops.array import (
    concat,
    expand_dims,
    invalid,
    ones_like,
    reshape,
    shape,
    squeeze,
    zeros,
    zeros_like,
)
from weft.ops.elementwise import literal
from weft.ops.reduce import wide

Array = Any
FLOATS = "{half, bfloat16, float, double}"
FLOATS_DEFAULT = FLOATS + " = float"


# ---- activations ------------------------------------------------------------------------------


def _activation(name: str, types: str, kernel: Callable[..., Array], attrs: str = "") -> OpDef:
    return op(
        name,
        inputs="features: T",
        outputs="activations: T",
        attrs=attrs + f"T: {types}",
        shape=s.unchanged,
    )(kernel)


def _activation_gradient(
    name: str, types: str, kernel: Callable[..., Array], of: str = "features", attrs: str = ""
) -> OpDef:
    """`kernel(xp, gradients, features or outputs)`."""

    def checked(xp: Any, gradients: Array, values: Array, **named: Any) -> Array:
        if gradients.shape != values.shape:
            raise invalid(
                f"Inputs to operation of type {name} must have the same size and shape.  "
                f"Input 0: {s.show(gradients.shape)} != input 1: {s.show(values.shape)}"
            )
        return kernel(xp, gradients, values, **named)

    def with_alpha(xp: Any, *inputs: Array, alpha: float) -> Array:
        return checked(xp, *inputs, alpha=alpha)

    def plain(xp: Any, *inputs: Array) -> Array:
        return checked(xp, *inputs)

    return op(
        name,
        inputs=f"gradients: T, {of}: T",
        outputs="backprops: T",
        attrs=attrs + f"T: {types}",
        shape=s.merged,
    )(with_alpha if attrs else plain)


def _no_second(op: Operation, first: Any) -> Any:
    """The gradient of a piecewise linear activation's gradient: none for the features."""
    x = op.inputs[1]
    return first, zeros(shape(x), x.dtype.base_dtype)


def _relu(xp: Any, features: Array) -> Array:
    return xp.maximum(features, literal(features, 0))


def _relu_grad(xp: Any, gradients: Array, features: Array) -> Array:
    return xp.where(features > 0, gradients, literal(gradients, 0))


relu_ = _activation(
    "Relu",
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64,"
    " qint8}",
    _relu,
)
relu_grad_ = _activation_gradient("ReluGrad", "realnumbertype", _relu_grad)
relu_.gradient(lambda op, grad: raw.ReluGrad(grad, op.outputs[0]))
relu_grad_.gradient(lambda op, grad: _no_second(op, raw.ReluGrad(grad, op.inputs[1])))


def _relu6(xp: Any, features: Array) -> Array:
    return xp.minimum(_relu(xp, features), literal(features, 6))


def _relu6_grad(xp: Any, gradients: Array, features: Array) -> Array:
    return xp.where((features > 0) & (features < 6), gradients, literal(gradients, 0))


relu6_ = _activation("Relu6", "realnumbertype", _relu6)
relu6_grad_ = _activation_gradient("Relu6Grad", "realnumbertype", _relu6_grad)
relu6_.gradient(lambda op, grad: raw.Relu6Grad(grad, op.outputs[0]))
relu6_grad_.gradient(lambda op, grad: _no_second(op, raw.Relu6Grad(grad, op.inputs[1])))


def _slope(like: Array, alpha: float) -> Any:
    """Attributes are of single precision, also where the features are of double."""
    return literal(like, float(np.float32(alpha)))


def _leaky_relu(xp: Any, features: Array, *, alpha: float) -> Array:
    return xp.where(features > 0, features, features * _slope(features, alpha))


def _leaky_relu_grad(xp: Any, gradients: Array, features: Array, *, alpha: float) -> Array:
    return xp.where(features > 0, gradients, gradients * _slope(gradients, alpha))


leaky_relu_ = _activation("LeakyRelu", FLOATS_DEFAULT, _leaky_relu, "alpha: float = 0.2, ")
leaky_relu_grad_ = _activation_gradient(
    "LeakyReluGrad", FLOATS_DEFAULT, _leaky_relu_grad, attrs="alpha: float = 0.2, "
)


@leaky_relu_.gradient
def _(op: Operation, grad: Any) -> Any:
    return raw.LeakyReluGrad(grad, op.inputs[0], alpha=op.attrs["alpha"])


@leaky_relu_grad_.gradient
def _(op: Operation, grad: Any) -> Any:
    return _no_second(op, raw.LeakyReluGrad(grad, op.inputs[1], alpha=op.attrs["alpha"]))


def _elu(xp: Any, features: Array) -> Array:
    return xp.where(features < 0, xp.expm1(features), features)


def _elu_grad(xp: Any, gradients: Array, outputs: Array) -> Array:
    return xp.where(outputs < 0, gradients * (outputs + literal(outputs, 1)), gradients)


elu_ = _activation("Elu", FLOATS, _elu)
elu_grad_ = _activation_gradient("EluGrad", FLOATS, _elu_grad, of="outputs")
elu_.gradient(lambda op, grad: raw.EluGrad(grad, op.outputs[0]))


def _second_where_negative(first: OpDef) -> Callable[..., Any]:
    """Exponential activations: the second derivative is the product of both gradients."""

    def gradient(op: Operation, grad: Any) -> Any:
        gradients, y = op.inputs
        return first(grad, y), raw.Select(y < 0, grad * gradients, zeros_like(y))

    return gradient


elu_grad_.gradient(_second_where_negative(elu_grad_))

# Self-normalizing networks: the fixed point of mean 0 and variance 1.
SELU_SCALE = 1.0507009873554804934193349852946
SELU_SCALE_ALPHA = 1.7580993408473768599402175208123


def _selu(xp: Any, features: Array) -> Array:
    return xp.where(
        features < 0,
        literal(features, SELU_SCALE_ALPHA) * xp.expm1(features),
        literal(features, SELU_SCALE) * features,
    )


def _selu_grad(xp: Any, gradients: Array, outputs: Array) -> Array:
    return xp.where(
        outputs < 0,
        gradients * (outputs + literal(outputs, SELU_SCALE_ALPHA)),
        gradients * literal(gradients, SELU_SCALE),
    )


selu_ = _activation("Selu", FLOATS, _selu)
selu_grad_ = _activation_gradient("SeluGrad", FLOATS, _selu_grad, of="outputs")
selu_.gradient(lambda op, grad: raw.SeluGrad(grad, op.outputs[0]))
selu_grad_.gradient(_second_where_negative(selu_grad_))


def _softplus(xp: Any, features: Array) -> Array:
    x = wide(features)
    y = xp.log1p(xp.exp(-abs(x))) + xp.maximum(x, literal(x, 0))
    return y.astype(features.dtype)


def _softplus_grad(xp: Any, gradients: Array, features: Array) -> Array:
    return gradients / (xp.exp(-features) + literal(features, 1))


softplus_ = _activation("Softplus", FLOATS, _softplus)
softplus_grad_ = _activation_gradient("SoftplusGrad", FLOATS, _softplus_grad)
softplus_.gradient(lambda op, grad: grad * raw.Sigmoid(op.inputs[0]))


@softplus_grad_.gradient
def _(op: Operation, grad: Any) -> Any:
    dy, x = op.inputs
    with control_dependencies([grad]):
        ddy = raw.SoftplusGrad(grad, x)
        return ddy, grad * dy / (raw.Exp(-x) + 2.0 + raw.Exp(x))


def _softsign(xp: Any, features: Array) -> Array:
    return features / (abs(features) + literal(features, 1))


def _softsign_grad(xp: Any, gradients: Array, features: Array) -> Array:
    return gradients / xp.square(abs(features) + literal(features, 1))


softsign_ = _activation("Softsign", FLOATS, _softsign)
softsign_grad_ = _activation_gradient("SoftsignGrad", FLOATS, _softsign_grad)
softsign_.gradient(lambda op, grad: raw.SoftsignGrad(grad, op.inputs[0]))


# ---- softmax ----------------------------------------------------------------------------------


def _rows(c: ShapeContext) -> Dims:
    return s.with_rank_at_least(c.dims(0), 1)


def _check_vectors(x: Array) -> None:
    if x.ndim < 1:
        raise invalid(f"logits must have >= 1 dimension, got {s.show(x.shape)}")


def _shifted(xp: Any, x: Array) -> Array:
    """Rows minus their largest entry: exponentials cannot overflow."""
    x = wide(x)
    return x - xp.max(x, axis=-1, keepdims=True, initial=-np.inf) if x.size else x


@op(
    "Softmax",
    inputs="logits: T",
    outputs="softmax: T",
    attrs=f"T: {FLOATS}",
    shape=_rows,
)
def softmax_(xp: Any, logits: Array) -> Array:
    _check_vectors(logits)
    powers = xp.exp(_shifted(xp, logits))
    return (powers / xp.sum(powers, axis=-1, keepdims=True)).astype(logits.dtype)


@softmax_.gradient
def _(op: Operation, grad: Any) -> Any:
    softmax = op.outputs[0]
    total = raw.Sum(grad * softmax, -1, keep_dims=True)
    return (grad - total) * softmax


@op(
    "LogSoftmax",
    inputs="logits: T",
    outputs="logsoftmax: T",
    attrs=f"T: {FLOATS}",
    shape=_rows,
)
def log_softmax_(xp: Any, logits: Array) -> Array:
    _check_vectors(logits)
    x = _shifted(xp, logits)
    return (x - xp.log(xp.sum(xp.exp(x), axis=-1, keepdims=True))).astype(logits.dtype)


@log_softmax_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad - raw.Sum(grad, -1, keep_dims=True) * raw.Exp(op.outputs[0])


def _cross_entropy(c: ShapeContext) -> list[Dims]:
    both = s.broadcast_dims(c.dims(0), c.dims(1))
    if both is None:
        known = c.dims(0) if c.dims(0) is not None else c.dims(1)
        if known is not None and len(known) > 2:
            raise ValueError(f"Shape must be broadcasted with rank 2, but is rank {len(known)}")
        both = known if known is not None and len(known) == 2 else (None, None)
        both = tuple(None if d == 1 else d for d in both)
    if len(both) != 2:
        raise ValueError(f"Shape must be broadcasted with rank 2, but is rank {len(both)}")
    return [both[:1], both]


@op(
    "SoftmaxCrossEntropyWithLogits",
    inputs="features: T, labels: T",
    outputs="loss: T, backprop: T",
    attrs=f"T: {FLOATS}",
    shape=_cross_entropy,
)
def softmax_cross_entropy_with_logits_(xp: Any, features: Array, labels: Array) -> list[Array]:
    try:
        dims = np.broadcast_shapes(features.shape, labels.shape)
    except ValueError:
        raise invalid(
            f"logits and labels must be broadcastable: logits_size={s.show(features.shape)} "
            f"labels_size={s.show(labels.shape)}"
        ) from None
    if len(dims) != 2:
        raise invalid(
            "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional"
        )
    x = _shifted(xp, xp.broadcast_to(features, dims))
    wanted = wide(xp.broadcast_to(labels, dims))
    powers = xp.exp(x)
    total = xp.sum(powers, axis=-1, keepdims=True)
    loss = xp.sum(wanted * (xp.log(total) - x), axis=-1)
    return [loss.astype(features.dtype), (powers / total - wanted).astype(features.dtype)]


def _by_rows(vector: Tensor, matrix: Tensor) -> Tensor:
    return expand_dims(vector, -1) * matrix


def _is_zero(tensor: Any) -> bool:
    """Whether the graph shows that a gradient is all zeros."""
    if tensor is None or tensor.op.type in ("ZerosLike", "Zeros"):
        return True
    value = constant_value(tensor)
    return value is not None and not np.any(value)


@softmax_cross_entropy_with_logits_.gradient
def _(op: Operation, grad_loss: Any, grad_grad: Any) -> Any:
    grad = _logits_gradient(op, grad_loss, grad_grad)
    return grad, _by_rows(grad_loss, -raw.LogSoftmax(op.inputs[0]))


def _logits_gradient(op: Operation, grad_loss: Any, grad_grad: Any) -> Tensor:
    """For the logits, from the gradients of the loss and of the op's own gradient."""
    grad = _by_rows(grad_loss, op.outputs[1])
    if _is_zero(grad_grad):
        return grad
    softmax = raw.Softmax(op.inputs[0])
    inner = raw.BatchMatMulV2(expand_dims(grad_grad, 1), expand_dims(softmax, 2))
    return grad + (grad_grad - squeeze(inner, axis=1)) * softmax


def _sparse_cross_entropy(c: ShapeContext) -> list[Dims]:
    features, labels = s.with_rank(c.dims(0), 2), s.with_rank(c.dims(1), 1)
    batch = s.merge_dim(features[0], labels[0])
    return [(batch,), (batch, features[1])]


@op(
    "SparseSoftmaxCrossEntropyWithLogits",
    inputs="features: T, labels: Tlabels",
    outputs="loss: T, backprop: T",
    attrs=f"T: {FLOATS}, Tlabels: {{int32, int64}} = int64",
    shape=_sparse_cross_entropy,
)
def sparse_softmax_cross_entropy_with_logits_(
    xp: Any, features: Array, labels: Array
) -> list[Array]:
    _check_sparse_labels(xp, features, labels)
    x = _shifted(xp, features)
    powers = xp.exp(x)
    total = xp.sum(powers, axis=-1, keepdims=True)
    hot = labels[:, None] == xp.arange(features.shape[1], dtype=labels.dtype)
    loss = xp.log(total[:, 0]) - xp.sum(xp.where(hot, x, literal(x, 0)), axis=-1)
    backprop = powers / total - hot.astype(x.dtype)
    if xp is not np:  # compiled code cannot fail, so a label that does not exist poisons its row
        exists = (labels >= 0) & (labels < features.shape[1])
        loss = xp.where(exists, loss, literal(x, np.nan))
        backprop = xp.where(exists[:, None], backprop, literal(x, np.nan))
    return [loss.astype(features.dtype), backprop.astype(features.dtype)]


def _check_sparse_labels(xp: Any, features: Array, labels: Array) -> None:
    if features.ndim != 2:
        raise invalid(f"logits must be 2-D, but got shape {s.show(features.shape)}")
    if labels.ndim != 1:
        raise invalid(f"labels must be 1-D, but got shape {s.show(labels.shape)}")
    if features.shape[0] != labels.shape[0]:
        raise invalid(
            "logits and labels must have the same first dimension, "
            f"got logits shape {s.show(features.shape)} and labels shape {s.show(labels.shape)}"
        )
    if features.shape[0] and not features.shape[1]:
        raise invalid(
            f"Must have at least one class, but got logits shape {s.show(features.shape)}"
        )
    if xp is np:
        wrong = labels[(labels < 0) | (labels >= features.shape[1])]
        if wrong.size:
            raise invalid(
                f"Received a label value of {wrong[0]} which is outside the valid range of "
                f"[0, {features.shape[1]}).  Label values: {' '.join(map(str, labels))}"
            )


@sparse_softmax_cross_entropy_with_logits_.gradient
def _(op: Operation, grad_loss: Any, grad_grad: Any) -> Any:
    return _logits_gradient(op, grad_loss, grad_grad), None


# ---- biases -----------------------------------------------------------------------------------

_BIAS_ATTRS = 'T: numbertype, data_format: {"NHWC", "NCHW"} = "NHWC"'


def _channel_axis(rank: int, data_format: str) -> int:
    return 1 if data_format == "NCHW" else rank - 1


def _biased(c: ShapeContext) -> Dims:
    data_format = c.attrs.get("data_format", "NHWC")
    bias = s.with_rank(c.dims(1), 1)
    dims = s.with_rank_at_least(c.dims(0), 2)
    if dims is None:
        return None
    axis = _channel_axis(len(dims), data_format)
    channels = s.merge_dim(dims[axis], bias[0])
    return (*dims[:axis], channels, *dims[axis + 1 :])


def _add_bias(value: Array, bias: Array, data_format: str) -> Array:
    if value.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {s.show(value.shape)}")
    if bias.ndim != 1:
        raise invalid(f"Biases must be 1D: {s.show(bias.shape)}")
    axis = _channel_axis(value.ndim, data_format)
    if bias.shape[0] != value.shape[axis]:
        which = "channel" if data_format == "NCHW" else "last"
        raise invalid(
            f"Must provide as many biases as the {which} dimension of the input tensor: "
            f"{s.show(bias.shape)} vs. {s.show(value.shape)}"
        )
    return value + bias.reshape(-1, *[1] * (value.ndim - 1 - axis))


@op(
    "BiasAdd",
    inputs="value: T, bias: T",
    outputs="output: T",
    attrs=_BIAS_ATTRS,
    shape=_biased,
)
def bias_add_(xp: Any, value: Array, bias: Array, *, data_format: str) -> Array:
    return _add_bias(value, bias, data_format)


@bias_add_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad, raw.BiasAddGrad(grad, data_format=op.attrs["data_format"])


@op(
    "BiasAddV1",
    inputs="value: T, bias: T",
    outputs="output: T",
    attrs="T: numbertype",
    shape=_biased,
)
def bias_add_v1_(xp: Any, value: Array, bias: Array) -> Array:
    return _add_bias(value, bias, "NHWC")


@bias_add_v1_.gradient
def _(op: Operation, grad: Any) -> Any:
    outer = raw.Range(0, raw.Rank(grad) - 1, 1, name="range")
    return grad, raw.Sum(grad, outer)


def _bias_gradient(c: ShapeContext) -> Dims:
    dims = s.with_rank_at_least(c.dims(0), 2)
    return (None,) if dims is None else (dims[_channel_axis(len(dims), c.attr("data_format"))],)


@op(
    "BiasAddGrad",
    inputs="out_backprop: T",
    outputs="output: T",
    attrs=_BIAS_ATTRS,
    shape=_bias_gradient,
)
def bias_add_grad_(xp: Any, out_backprop: Array, *, data_format: str) -> Array:
    if out_backprop.ndim < 2:
        raise invalid(f"Input tensor must be at least 2D: {s.show(out_backprop.shape)}")
    kept = _channel_axis(out_backprop.ndim, data_format)
    axes = tuple(i for i in range(out_backprop.ndim) if i != kept)
    g = wide(out_backprop)
    return xp.sum(g, axis=axes, dtype=g.dtype).astype(out_backprop.dtype)


@bias_add_grad_.gradient
def _(op: Operation, grad: Any) -> Any:
    dims, bias_dims = shape(op.inputs[0]), shape(grad)
    if op.attrs["data_format"] == "NCHW":
        expanded = concat([ones_like(dims[:1]), bias_dims, ones_like(dims[2:])], 0)
        repeats = concat([dims[:1], [1], dims[2:]], 0)
    else:
        expanded = concat([ones_like(dims[:-1]), bias_dims], 0)
        repeats = concat([dims[:-1], [1]], 0)
    return raw.Tile(reshape(grad, expanded), repeats)


# ---- norms ------------------------------------------------------------------------------------


@op("L2Loss", inputs="t: T", outputs="output: T", attrs=f"T: {FLOATS}", shape=s.scalar)
def l2_loss_(xp: Any, t: Array) -> Array:
    x = wide(t)
    return (xp.sum(x * x, dtype=x.dtype) / literal(x, 2)).astype(t.dtype)


l2_loss_.gradient(lambda op, grad: op.inputs[0] * grad)

_LRN_ATTRS = (
    "depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5,"
    " T: {half, bfloat16, float} = float"
)


def _images(c: ShapeContext) -> Dims:
    dims: Dims = s.with_rank(c.dims(0), 4)
    for i in range(1, c.num_inputs):
        dims = s.merge(dims, s.with_rank(c.dims(i), 4))
    return dims


def _neighbours(xp: Any, x: Array, radius: int) -> Array:
    """Every channel plus those at most `radius` away from it."""
    channels = x.shape[-1]
    radius = min(radius, channels)
    padded = xp.pad(x, [(0, 0)] * (x.ndim - 1) + [(radius, radius)])
    return sum(padded[..., i : i + channels] for i in range(2 * radius + 1))


def _local_norm(xp: Any, x: Array, depth_radius: int, bias: float, alpha: float) -> Array:
    return literal(x, bias) + literal(x, alpha) * _neighbours(xp, x * x, depth_radius)


@op("LRN", inputs="input: T", outputs="output: T", attrs=_LRN_ATTRS, shape=_images)
def lrn_(
    xp: Any, input: Array, *, depth_radius: int, bias: float, alpha: float, beta: float
) -> Array:
    if input.ndim != 4:
        raise invalid("in must be 4-dimensional")
    x = wide(input)
    norm = _local_norm(xp, x, depth_radius, bias, alpha)
    return (x * xp.power(norm, literal(x, -beta))).astype(input.dtype)


@lrn_.gradient
def _(op: Operation, grad: Any) -> Any:
    names = ("depth_radius", "bias", "alpha", "beta")
    attrs = {name: op.attrs[name] for name in names}
    return raw.LRNGrad(grad, op.inputs[0], op.outputs[0], **attrs)


@op(
    "LRNGrad",
    inputs="input_grads: T, input_image: T, output_image: T",
    outputs="output: T",
    attrs=_LRN_ATTRS,
    shape=_images,
)
def lrn_grad_(
    xp: Any,
    input_grads: Array,
    input_image: Array,
    output_image: Array,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> Array:
    if not input_grads.shape == input_image.shape == output_image.shape:
        raise invalid("input_grads, input_image, and out_image should have the same shape")
    g, x, y = wide(input_grads), wide(input_image), wide(output_image)
    norm = _local_norm(xp, x, depth_radius, bias, alpha)
    through_norm = _neighbours(xp, g * y / norm, depth_radius)
    result = g * xp.power(norm, literal(x, -beta)) - literal(x, 2 * alpha * beta) * x * through_norm
    return result.astype(input_grads.dtype)
