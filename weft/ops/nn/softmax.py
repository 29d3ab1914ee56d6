"""Softmax and the losses made of it. Half-precision values are summed in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.constant_value import constant_value
from weft.graph.graph import Tensor
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops.array.array import expand_dims, invalid, squeeze
from weft.ops.kit import native
from weft.ops.kit.declare import literal
from weft.ops.kit.value_checks import must_be_within
from weft.ops.math.reduce import wide

Array = Any


FLOATS = "{half, bfloat16, float, double}"


def _rows(c: ShapeContext) -> Dims:
    return s.with_rank_at_least(c.dims(0), 1)


def _check_vectors(x: Array) -> None:
    if x.ndim < 1:
        raise invalid(f"logits must have >= 1 dimension, got {s.show(x.shape)}")


def _shifted(xp: Any, x: Array) -> Array:
    """Rows minus their largest entry: exponentials cannot overflow."""
    return x - xp.max(x, axis=-1, keepdims=True, initial=-np.inf) if x.size else x


LONG, MANY = 512, 2**15  # of a row, and of all, numbers from which our own kernels pay


def _is_native(kernel: str, x: Array) -> bool:
    """Whether the kernel is there for rows like these: shorter ones are better left to fusions."""
    return native.offers(kernel, x) and x.shape[-1] >= LONG and x.size >= MANY


def _sizes(x: Array) -> tuple[int, int]:
    """Rows and columns."""
    return x.size // x.shape[-1], x.shape[-1]


@by_library
def _softmax(xp: Any, x: Array) -> Array:
    if _is_native("softmax", x):
        return native.call("softmax", x.shape, x, sizes=_sizes(x))
    return _softmax.on_numpy(xp, x)


@_softmax.numpy
def _(xp: Any, x: Array) -> Array:
    powers = xp.exp(_shifted(xp, x))
    return powers / xp.sum(powers, axis=-1, keepdims=True)


@by_library
def _with_total(xp: Any, x: Array) -> tuple[Array, Array]:
    """Rows minus their largest entry, and the sum of the exponentials of each."""
    if _is_native("sum_powers", x):
        found = native.call("sum_powers", (*x.shape[:-1], 2), x, sizes=_sizes(x))
        return x - found[..., :1], found[..., 1:]
    return _with_total.on_numpy(xp, x)


@_with_total.numpy
def _(xp: Any, x: Array) -> tuple[Array, Array]:
    x = _shifted(xp, x)
    return x, xp.sum(xp.exp(x), axis=-1, keepdims=True)


@op(
    "Softmax",
    inputs="logits: T",
    outputs="softmax: T",
    attrs=f"T: {FLOATS}",
    shape=_rows,
)
def softmax_(xp: Any, logits: Array) -> Array:
    _check_vectors(logits)
    if not logits.size:
        return logits
    return _softmax(xp, wide(logits)).astype(logits.dtype)


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
    if not logits.size:
        return logits
    x, total = _with_total(xp, wide(logits))
    return (x - xp.log(total)).astype(logits.dtype)


@log_softmax_.gradient
def _(op: Operation, grad: Any) -> Any:
    softmax = raw.Exp(op.outputs[0])
    return grad - raw.Sum(grad, -1, keep_dims=True) * softmax


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
    x, total = _with_total(xp, wide(xp.broadcast_to(features, dims)))
    wanted = wide(xp.broadcast_to(labels, dims))
    loss = xp.sum(wanted * (xp.log(total) - x), axis=-1)
    return [loss.astype(features.dtype), (xp.exp(x) / total - wanted).astype(features.dtype)]


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
    grad = _by_rows(grad_loss, op.outputs[1])
    if not _is_zero(grad_grad):
        softmax = raw.Softmax(op.inputs[0])
        inner = raw.BatchMatMulV2(expand_dims(grad_grad, 1), expand_dims(softmax, 2))
        grad += (grad_grad - squeeze(inner, axis=1)) * softmax
    return grad, _by_rows(grad_loss, -raw.LogSoftmax(op.inputs[0]))


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
    is_checked = _check_sparse_labels(xp, features, labels)
    x, total = _with_total(xp, wide(features))
    hot = labels[:, None] == xp.arange(features.shape[1], dtype=labels.dtype)
    loss = xp.log(total[:, 0]) - _of_labels(xp, x, labels, hot)
    backprop = xp.exp(x) / total - hot.astype(x.dtype)
    if not is_checked:  # as on TensorFlow's GPU, a label that does not exist poisons its row
        exists = (labels >= 0) & (labels < features.shape[1])
        loss = xp.where(exists, loss, literal(x, np.nan))
        backprop = xp.where(exists[:, None], backprop, literal(x, np.nan))
    return [loss.astype(features.dtype), backprop.astype(features.dtype)]


@by_library
def _of_labels(xp: Any, x: Array, labels: Array, hot: Array) -> Array:
    """The entry of each row that its label names; of no interest where there is none."""
    if _is_native("sum_powers", x):  # so `x` is not in the middle of a fusion
        return xp.take_along_axis(x, labels[:, None], axis=1, mode="clip")[:, 0]
    return _of_labels.on_numpy(xp, x, labels, hot)


@_of_labels.numpy
def _(xp: Any, x: Array, labels: Array, hot: Array) -> Array:
    return xp.sum(xp.where(hot, x, literal(x, 0)), axis=-1)


def _check_sparse_labels(xp: Any, features: Array, labels: Array) -> bool:
    """Whether labels that do not exist fail; on an accelerator they do not."""
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
    return _check_labels(xp, labels, features.shape[1])


@by_library
def _check_labels(xp: Any, labels: Array, classes: int) -> bool:
    return must_be_within(labels, classes)


@_check_labels.numpy
def _(xp: Any, labels: Array, classes: int) -> bool:
    wrong = labels[(labels < 0) | (labels >= classes)]
    if wrong.size:
        raise invalid(
            f"Received a label value of {wrong[0]} which is outside the valid range of "
            f"[0, {classes}).  Label values: {' '.join(map(str, labels))}"
        )
    return True


@sparse_softmax_cross_entropy_with_logits_.gradient
def _(op: Operation, grad_loss: Any, _: Any) -> Any:
    fixed = raw.PreventGradient(
        op.outputs[1],
        message="Currently there is no way to take the second derivative of"
        " sparse_softmax_cross_entropy_with_logits due to the fused implementation's interaction"
        " with tf.gradients()",
    )
    return _by_rows(grad_loss, fixed), None
