"""Activations and norms of whole tensors. Half-precision values are summed in single precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.graph import control_dependencies
from weft.graph.op_def import OpDef, op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops.array.array import invalid, shape, zeros, zeros_like
from weft.ops.kit.declare import literal
from weft.ops.math.reduce import wide

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
    return _where_on(xp, gradients, features > 0)


def _where_on(xp: Any, gradients: Array, on: Array) -> Array:
    """A unit that is off multiplies its gradient by zero: an infinite or undefined one is NaN."""
    # Not a product with `on`, which XLA would make a choice between the gradient and zero.
    return xp.where(on, gradients, gradients * literal(gradients, 0))


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
    return _where_on(xp, gradients, (features > 0) & (features < 6))


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
        return raw.SoftplusGrad(grad, x), grad * dy / (raw.Exp(-x) + 2.0 + raw.Exp(x))


def _softsign(xp: Any, features: Array) -> Array:
    return features / (abs(features) + literal(features, 1))


def _softsign_grad(xp: Any, gradients: Array, features: Array) -> Array:
    return gradients / xp.square(abs(features) + literal(features, 1))


softsign_ = _activation("Softsign", FLOATS, _softsign)
softsign_grad_ = _activation_gradient("SoftsignGrad", FLOATS, _softsign_grad)
softsign_.gradient(lambda op, grad: raw.SoftsignGrad(grad, op.inputs[0]))


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
    if depth_radius < 0:
        raise invalid(f"depth_radius = {depth_radius} larger than int max")
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
