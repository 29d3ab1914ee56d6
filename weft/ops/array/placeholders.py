"""Ops that pass a value through, or wait for one to be fed."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes, errors, nest
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import op
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.graph.traits import (
    DEPRECATED,
    HOST_STATE,
    IDENTITY,
    NO_GRADIENT,
    PLACEHOLDER,
    STATEFUL,
    TRANSPARENT,
    UNINITIALIZED,
    known,
)
from weft.ops.kit.shared import invalid


@op(
    "Identity",
    inputs="input: T",
    outputs="output: T",
    attrs="T: type",
    shape=s.unchanged,
    traits=IDENTITY,
)
def identity_(xp: Any, input: Any) -> Any:
    return input


@identity_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


@op(
    "RefIdentity",
    inputs="input: ref(T)",
    outputs="output: ref(T)",
    attrs="T: type",
    shape=s.unchanged,
    traits=UNINITIALIZED,
)
def ref_identity_(xp: Any, input: Any) -> Any:
    return input


@ref_identity_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


@op(
    "IdentityN",
    inputs="input: list(T)",
    outputs="output: list(T)",
    attrs="T: list(type) >= 1",
    shape=s.each_unchanged,
    traits=known("input"),
)
def identity_n_(xp: Any, input: list[Any]) -> list[Any]:
    return list(input)


@identity_n_.gradient
def _(op: Operation, *grads: Any) -> Any:
    return grads


@op(
    "StopGradient",
    inputs="input: T",
    outputs="output: T",
    attrs="T: type",
    shape=s.unchanged,
    traits=TRANSPARENT | NO_GRADIENT,
)
def stop_gradient_(xp: Any, input: Any) -> Any:
    return input


@op(
    "PreventGradient",
    inputs="input: T",
    outputs="output: T",
    attrs='T: type, message: string = ""',
    shape=s.unchanged,
    traits=TRANSPARENT,
)
def prevent_gradient_(xp: Any, input: Any) -> Any:
    return input


@prevent_gradient_.gradient
def _(op: Operation, grad: Any) -> Any:
    # As Python 3 shows the bytes that TensorFlow puts there.
    reason = op.attrs["message"].encode()
    raise LookupError(f"Gradient explicitly disabled. Reason: {reason!r}")


@op(
    "GuaranteeConst",
    inputs="input: T",
    outputs="output: T",
    attrs="T: type",
    shape=s.unchanged,
    traits=STATEFUL,
)
def guarantee_const_(xp: Any, input: Any, *, T: DType) -> Any:
    if T is dtypes.resource:
        raise invalid("Input tensor cannot be a resource variable handle.")
    return input


@op(
    "Snapshot",
    inputs="input: T",
    outputs="output: T",
    attrs="T: type",
    shape=s.unchanged,
    traits=TRANSPARENT,
)
def snapshot_(xp: Any, input: Any) -> Any:
    return input


@op(
    "DeepCopy",
    inputs="x: T",
    outputs="y: T",
    attrs="T: type",
    shape=s.unchanged,
    traits=STATEFUL,
)
def deep_copy_(xp: Any, x: Any) -> Any:
    # Values are never written in place, so a copy cannot be told from the original.
    return x


@op(
    "CheckNumerics",
    inputs="tensor: T",
    outputs="output: T",
    attrs="T: floattype, message: string",
    shape=s.unchanged,
    traits=HOST_STATE,
)
def check_numerics_(xp: Any, tensor: Any, *, message: str) -> Any:
    found = [what for what, test in (("Inf", np.isinf), ("NaN", np.isnan)) if np.any(test(tensor))]
    if found:
        raise invalid(f"{message} : Tensor had {' and '.join(found)} values")
    return tensor


@check_numerics_.gradient
def _(op: Operation, grad: Any) -> Any:
    what = "Not a number (NaN) or infinity (Inf) values detected in gradient."
    return check_numerics(grad, f"{what} {op.get_attr('message')!r}")


def _ensured(c: ShapeContext) -> Dims:
    wanted = c.attr("shape")
    if wanted is not None and c.dims(0) is not None:
        s.with_rank(c.dims(0), len(wanted))
    return s.merge(wanted, c.dims(0))


@op(
    "EnsureShape",
    inputs="input: T",
    outputs="output: T",
    attrs="shape: shape, T: type",
    shape=_ensured,
)
def ensure_shape_(xp: Any, input: Any, *, shape: Dims) -> Any:
    dims = np.shape(input)
    try:
        s.merge(shape, dims)
    except ValueError:
        raise invalid(
            f"Shape of tensor input {s.show(dims)} is not compatible with expected shape"
            f" {s.show(shape)}."
        ) from None
    return input


@ensure_shape_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


def _not_fed(ctx: Any, dtype: DType, shape: Dims) -> errors.InvalidArgumentError:
    short = {"float32": "float", "float64": "double", "float16": "half"}
    expected = f" and shape {s.show(shape)}" if shape else ""
    return invalid(
        f"You must feed a value for placeholder tensor '{ctx.node.name}' with dtype"
        f" {short.get(dtype.name, dtype.name)}{expected}"
    )


@op(
    "Placeholder",
    outputs="output: dtype",
    attrs="dtype: type, shape: shape = unknown",
    shape=s.from_attr("shape"),
    traits=PLACEHOLDER,
)
def placeholder_(xp: Any, ctx: Any, *, dtype: DType, shape: Dims) -> Any:
    raise _not_fed(ctx, dtype, shape)


@op(
    "PlaceholderV2",
    outputs="output: dtype",
    attrs="dtype: type, shape: shape",
    shape=s.from_attr("shape"),
    traits=PLACEHOLDER | DEPRECATED,
)
def placeholder_v2_(xp: Any, ctx: Any, *, dtype: DType, shape: Dims) -> Any:
    raise _not_fed(ctx, dtype, shape)


def _default_fits(c: ShapeContext) -> Dims:
    s.merge(c.dims(0), c.attr("shape"))
    return c.attr("shape")


@op(
    "PlaceholderWithDefault",
    inputs="input: dtype",
    outputs="output: dtype",
    attrs="dtype: type, shape: shape",
    shape=_default_fits,
    traits=TRANSPARENT,
)
def placeholder_with_default_(xp: Any, input: Any) -> Any:
    return input


@placeholder_with_default_.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


def identity(input: Any, name: str | None = None) -> Any:
    """A new tensor with the same value; of a sparse tensor, one of new parts.

    Args:
        input: a tensor, variable or SparseTensor.
        name: of the operation.

    Returns:
        The same kind of object; of a variable, its value.

    Example:
        >>> session.run(tf.identity([1, 2], name="outputs"))
        array([1, 2], dtype=int32)
    """
    if hasattr(type(input), "_composite_components"):
        return nest.map_structure(identity, input, expand_composites=True)
    return identity_(input, name=name)


def identity_n(input: Any, name: str | None = None) -> list[Tensor]:
    """New tensors with the same values, all available together."""
    return identity_n_(input, name=name)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """`input`, taken as a constant by gradients.

    Args:
        input: a tensor.
        name: of the operation.

    Returns:
        A tensor with the same value.

    Example:
        >>> x = tf.constant(3.0)
        >>> tf.gradients(tf.stop_gradient(x * x), [x])
        [None]
    """
    return stop_gradient_(input, name=name)


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Tensor:
    """`input`; asking for its gradient is an error that says `message`."""
    return prevent_gradient_(input, message=message, name=name)


def guarantee_const(input: Any, name: str | None = None) -> Tensor:
    """`input`, which the caller promises never changes."""
    return guarantee_const_(input, name=name)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`; InvalidArgumentError when it holds a NaN or an infinity."""
    return check_numerics_(tensor, message=message, name=name)


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, whose shape is checked against `shape` when the graph runs."""
    if not isinstance(shape, TensorShape):
        shape = TensorShape(shape)
    return ensure_shape_(x, shape, name=name)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor whose value must be given to `Session.run` in `feed_dict`.

    Args:
        dtype: the type of the values that will be fed.
        shape: the shape they must have; None leaves it open, as does a None size.
        name: of the operation.

    Returns:
        A tensor that can be fed and used, but not computed.

    Raises:
        RuntimeError: eager execution is on.

    Example:
        >>> x = tf.placeholder(tf.float32, [None, 2])
        >>> session.run(x * 10, {x: [[1, 2], [3, 4]]})
        array([[10., 20.],
               [30., 40.]], dtype=float32)
    """
    return placeholder_(dtype=dtype, shape=shape, name=name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """A tensor that is `input` unless something else is fed.

    Args:
        input: the value when nothing is fed.
        shape: the shape of what may be fed; None leaves it open.
        name: of the operation.

    Returns:
        A tensor.

    Raises:
        ValueError: `input` does not have that shape.

    Example:
        >>> rate = tf.placeholder_with_default(0.1, [])
        >>> float(session.run(rate * 10)), float(session.run(rate * 10, {rate: 2}))
        (1.0, 20.0)
    """
    return placeholder_with_default_(input, shape, name=name)


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor whose value must be given to `Session.run` in `feed_dict`."""

    def part(what: str) -> str | None:
        return None if name is None else f"{name}/{what}"

    rank = None
    if shape is not None:
        rank = shape.shape[0] if isinstance(shape, Tensor) else len(shape)
    if shape is None or (not isinstance(shape, Tensor) and None in tuple(shape)):
        shape = placeholder(dtypes.int64, shape=[rank], name=part("shape"))
    else:
        shape = convert_to_tensor(shape, dtype=dtypes.int64, name=part("shape"))
    return SparseTensor(
        values=placeholder(dtype, shape=[None], name=part("values")),
        indices=placeholder(dtypes.int64, shape=[None, rank], name=part("indices")),
        dense_shape=shape,
    )
