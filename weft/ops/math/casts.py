"""Ops that change the element type: casts, bit casts, complex numbers and their parts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, errors, machine
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.graph.op_def import OpDef, op, raw
from weft.graph.slices import IndexedSlices, SparseTensor
from weft.graph.traits import KEEPS_PLACES
from weft.ops.array.array import zeros_like
from weft.ops.kit.broadcast import check_broadcast, unbroadcast
from weft.ops.kit.declare import cast_to, public
from weft.ops.kit.describe import with_example
from weft.ops.kit.operands import as_type_of, operands, tensors, with_values
from weft.ops.kit.shared import invalid
from weft.ops.kit.target import target_platform

Array = Any
Kernel = Callable[..., Array]
Gradient = Callable[..., Any]
_LOG = logging.getLogger("weft")

_INEXACT = (
    dtypes.float16,
    dtypes.float32,
    dtypes.float64,
    dtypes.bfloat16,
    dtypes.complex64,
    dtypes.complex128,
)


_SHORT = {dtypes.float16: "half", dtypes.float32: "float", dtypes.float64: "double"}


@op(
    "Cast",
    inputs="x: SrcT",
    outputs="y: DstT",
    attrs="SrcT: type, DstT: type, Truncate: bool = false",
    shape=s.unchanged,
    traits=KEEPS_PLACES,
)
def cast_op(xp: Any, x: Array, *, SrcT: DType, DstT: DType, Truncate: bool) -> Array:
    target = DstT.np_storage
    if DstT is dtypes.string or SrcT is dtypes.string:
        have, wanted = (_SHORT.get(t, t.name) for t in (SrcT, DstT))
        message = f"Cast {have} to {wanted} is not supported"
        raise errors.UnimplementedError(None, None, message)
    if DstT is dtypes.bool:
        return x != 0
    if SrcT.is_complex and not DstT.is_complex:
        x = xp.real(x)
    if (SrcT.is_floating or SrcT.is_complex) and target.kind in "iu":
        if target.itemsize < 4:
            # What C compilers do, and what programs came to rely on: wrap around, not saturate.
            return _whole(xp, x, np.dtype(np.int32)).astype(target)
        if target.kind == "i":
            return _whole(xp, x, target)
    result = x.astype(target)
    if Truncate and DstT.is_floating and target.itemsize < x.dtype.itemsize:
        too_far = xp.abs(result.astype(x.dtype)) > xp.abs(x)
        result = xp.where(too_far, xp.nextafter(result, xp.zeros_like(result)), result)
    return result


@by_library
def _whole(xp: Any, x: Array, target: np.dtype[Any]) -> Array:
    """Floats as integers; what is none of those is the least one, as x86 has it."""
    return _least_if_beyond(xp, x, target) if target_platform() == "cpu" else x.astype(target)


@_whole.numpy
def _(xp: Any, x: Array, target: np.dtype[Any]) -> Array:
    return _least_if_beyond(xp, x, target) if machine.IS_ARM else x.astype(target)


def _least_if_beyond(xp: Any, x: Array, target: np.dtype[Any]) -> Array:
    least = np.iinfo(target).min
    exact = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    bound = exact.dtype.type(-float(least))
    return xp.where((exact >= -bound) & (exact < bound), exact.astype(target), target.type(least))


@cast_op.prepared
def _(c: Any) -> Any:
    source, target = c.attr("SrcT"), c.attr("DstT")
    if machine.IS_ARM and source.is_floating and target.is_integer:
        return None
    plain = not (source.is_complex or c.attr("Truncate") or target is dtypes.bool)
    numbers = dtypes.string not in (source, target)
    if not (plain and numbers) or (target.np_storage.kind in "iu" and target.size < 4):
        return None
    dtype = target.np_storage
    return lambda x: x.astype(dtype)


@cast_op.gradient
def _(op: Any, grad: Any) -> Any:
    source = op.inputs[0].dtype.base_dtype
    if source in _INEXACT and grad.dtype.base_dtype in _INEXACT:
        return cast_to(grad, source)
    return None


_BITCASTABLE = (
    "{bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16,"
    " complex64, complex128, qint8, quint8, qint16, quint16, qint32}"
)


def _bitcast_shape(c: s.ShapeContext) -> s.Dims:
    dims, old, new = c.dims(0), c.attr("T").size, c.attr("type").size
    if dims is None or old == new:
        return dims
    if old > new:
        return (*dims, old // new)
    if not dims or dims[-1] not in (None, new // old):
        last = f"{dims[-1]} does not match {new // old}" if dims else "The input is a scalar"
        raise ValueError(f"Cannot bitcast due to shape. {last}")
    return dims[:-1]


@op(
    "Bitcast",
    inputs="input: T",
    outputs="output: type",
    attrs=f"T: {_BITCASTABLE}, type: {_BITCASTABLE}",
    shape=_bitcast_shape,
)
def bitcast_op(xp: Any, input: Array, *, type: DType) -> Array:
    target = type.np_storage
    old, new = input.dtype.itemsize, target.itemsize
    if old < new and (not input.ndim or input.shape[-1] * old != new):
        message = f"Cannot bitcast from {input.dtype} to {type.name}: shape {s.show(input.shape)}"
        raise invalid(message)
    return _view(xp, input, target)


@by_library
def _view(xp: Any, input: Array, target: np.dtype) -> Array:
    return _traced_bitcast(input, target)


@_view.numpy
def _(xp: Any, input: Array, target: np.dtype) -> Array:
    old, new = input.dtype.itemsize, target.itemsize
    packed = np.ascontiguousarray(input).reshape(input.shape)
    if old == new:
        return packed.view(target)
    if old > new:
        return packed[..., np.newaxis].view(target)
    return packed.view(target)[..., 0]


def _traced_bitcast(x: Array, target: np.dtype) -> Array:
    from jax import lax
    from jax import numpy as jnp

    if x.dtype == target:
        return x
    if x.dtype.kind == "c":
        # XLA has no bit casts of complex numbers: they are pairs of floats here.
        pair = jnp.stack([x.real, x.imag], axis=-1)
        if target.itemsize >= x.dtype.itemsize:
            return lax.bitcast_convert_type(pair, target)
        parts = lax.bitcast_convert_type(pair, target)
        return parts.reshape((*x.shape, x.dtype.itemsize // target.itemsize))
    if target.kind == "c":
        real = np.dtype(f"f{target.itemsize // 2}")
        parts = x if x.dtype.itemsize == target.itemsize else x.reshape((*x.shape[:-1], 2, -1))
        if parts.dtype.itemsize == real.itemsize:
            parts = parts.reshape((*x.shape[:-1], 2))
        pair = lax.bitcast_convert_type(parts, real)
        return lax.complex(pair[..., 0], pair[..., 1])
    return lax.bitcast_convert_type(x, target)


# ---- complex numbers --------------------------------------------------------------------------

_COMPLEX = "T: {complex64, complex128} = complex64, Tout: {float, double} = float"


@op(
    "Complex",
    inputs="real: T, imag: T",
    outputs="out: Tout",
    attrs="T: {float, double} = float, Tout: {complex64, complex128} = complex64",
    shape=s.broadcast,
)
def complex_(xp: Any, real: Array, imag: Array, *, Tout: DType) -> Array:
    from jax import lax

    check_broadcast(real, imag)
    return lax.complex(*xp.broadcast_arrays(real, imag))


@complex_.numpy
def _(xp: Any, real: Array, imag: Array, *, Tout: DType) -> Array:
    check_broadcast(real, imag)
    real, imag = np.broadcast_arrays(real, imag)
    out = np.empty(real.shape, Tout.np_storage)
    out.real, out.imag = real, imag
    return out


@complex_.gradient
def _(op: Any, grad: Any) -> Any:
    to_x, to_y = unbroadcast(*op.inputs)
    return to_x(_part(raw.Real, grad)), to_y(_part(raw.Imag, grad))


def _part(which: OpDef, x: Tensor) -> Tensor:
    return which(x, Tout=x.dtype.base_dtype.real_dtype)


def make_complex(real: Tensor, imag: Tensor) -> Tensor:
    wide = real.dtype.base_dtype is dtypes.float64
    return raw.Complex(real, imag, Tout=dtypes.complex128 if wide else dtypes.complex64)


def _zero(like: Any) -> Tensor:
    return constant(0, dtype=like.dtype.base_dtype)


def _real_valued(name: str, kernel: Kernel, gradient: Gradient, argument: str = "input") -> None:
    """Declares a function from complex to real numbers."""
    result = "output" if argument == "input" else "y"
    declare = op(
        name,
        inputs=f"{argument}: T",
        outputs=f"{result}: Tout",
        attrs=_COMPLEX,
        shape=s.unchanged,
    )

    def part(xp: Any, *x: Any, T: DType, Tout: DType) -> Any:
        if Tout.size * 2 != T.size:
            have, wanted = ("double", "float") if Tout.size == 8 else ("float", "double")
            raise invalid(
                f"Signature mismatch, have: {T.name}->{have} expected: {T.name}->{wanted}"
            )
        return kernel(xp, *x)

    declare(part).gradient(gradient)


def _angle_gradient(op: Any, grad: Any) -> Any:
    x = op.inputs[0]
    with control_dependencies([grad]):
        re, im = _part(raw.Real, x), _part(raw.Imag, x)
        z = raw.Reciprocal(make_complex(im, re))
        return -make_complex(grad, _zero(grad)) * z


def _complex_abs_gradient(op: Any, grad: Any) -> Any:
    y = op.outputs[0]
    direction = make_complex(grad, zeros_like(grad)) * op.inputs[0]
    length = make_complex(y, zeros_like(y))
    return raw.DivNoNan(direction, length, name="div_no_nan")


_real_valued("Real", lambda xp, x: xp.real(x), lambda op, grad: make_complex(grad, _zero(grad)))
_real_valued("Imag", lambda xp, x: xp.imag(x), lambda op, grad: make_complex(_zero(grad), grad))
_real_valued("Angle", lambda xp, x: xp.arctan2(xp.imag(x), xp.real(x)), _angle_gradient)
_real_valued("ComplexAbs", lambda xp, x: xp.abs(x), _complex_abs_gradient, argument="x")


@op(
    "Conj",
    inputs="input: T",
    outputs="output: T",
    attrs="T: {complex64, complex128, variant} = complex64",
    shape=s.unchanged,
)
def conj_op(xp: Any, input: Array) -> Array:
    return xp.conj(input)


@conj_op.gradient
def _(op: Any, grad: Any) -> Any:
    return conj(grad)


# ---- public functions -------------------------------------------------------------------------


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """`x` in another element type; a Tensor, SparseTensor or IndexedSlices.

    Args:
        x: a tensor of numbers or booleans, or one of the other kinds.
        dtype: the type to convert to; fractions are cut off towards 0.
        name: of the operation.

    Returns:
        The same kind of object; `x` itself if the type is its own.

    Raises:
        TypeError: `x` cannot be converted.

    Example:
        >>> session.run(tf.cast([1.8, -1.8], tf.int32))
        array([ 1, -1], dtype=int32)
    """
    base_type = dtypes.as_dtype(dtype).base_dtype
    if (isinstance(x, Tensor) or hasattr(x, "handle")) and x.dtype == base_type:
        return x
    with name_scope(name, "Cast", [x]) as name:
        if isinstance(x, SparseTensor | IndexedSlices):
            return with_values(x, cast(x.values, base_type, name))
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype == base_type:
            return x
        if x.dtype.is_complex and base_type.is_floating:
            _LOG.warning("Casting complex to real discards imaginary part.")
        return raw.Cast(x, DstT=base_type, name=name)


bitcast = public("bitcast", "Bitcast", "The bytes of `input` as another type.", "input, type")


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """A cast that clips what the new type cannot hold to its limits."""
    with operands(name, "saturate_cast", value=value) as (scope, value):
        have, want = value.dtype.base_dtype, dtypes.as_dtype(dtype).base_dtype
        if have.min < want.min:
            value = raw.Maximum(value, as_type_of(value, "min", want.min))
        if have.max > want.max:
            value = raw.Minimum(value, as_type_of(value, "max", want.max))
        return cast(value, want, name=scope)


_CAST = """\
`x` converted to {type}; the older form of `tf.cast`.

Args:
    x: a tensor, SparseTensor or IndexedSlices.
    name: of the operation.

Returns:
    The same kind of object; `x` itself if the type is its own.

Raises:
    TypeError: `x` cannot be converted."""


def _to(function: str, dtype: DType, default_name: str) -> Callable[..., Any]:
    """The cast to `dtype` as a function of its own."""

    def to(x: Any, name: str = default_name) -> Any:
        return cast(x, dtype, name=name)

    to.__name__ = to.__qualname__ = function
    to.__doc__ = with_example(_CAST.format(type=dtype.name), function)
    return to


to_float = _to("to_float", dtypes.float32, "ToFloat")
to_double = _to("to_double", dtypes.float64, "ToDouble")
to_int32 = _to("to_int32", dtypes.int32, "ToInt32")
to_int64 = _to("to_int64", dtypes.int64, "ToInt64")
to_bfloat16 = _to("to_bfloat16", dtypes.bfloat16, "ToBFloat16")
to_complex64 = _to("to_complex64", dtypes.complex64, "ToComplex64")
to_complex128 = _to("to_complex128", dtypes.complex128, "ToComplex128")


_COMPLEX_OF = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """real + i * imag"""
    real, imag = tensors(real=real, imag=imag)
    with name_scope(name, "Complex", [real, imag]) as scope:
        whole = _COMPLEX_OF.get(real.dtype.base_dtype)
        if whole is None or real.dtype.base_dtype != imag.dtype.base_dtype:
            kinds = f"{real.dtype.name} {imag.dtype.name}"
            raise TypeError(f"real and imag have incorrect types: {kinds}")
        return raw.Complex(real, imag, Tout=whole, name=scope)


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; real tensors as they are."""
    return _real_part("Real", input, name, of_real=lambda x: x)


def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part; zeros for real tensors."""
    return _real_part("Imag", input, name, of_real=zeros_like)


def angle(input: Any, name: str | None = None) -> Tensor:
    """The argument of complex numbers; zeros for real tensors."""
    return _real_part("Angle", input, name, of_real=zeros_like)


def _real_part(
    op_name: str, x: Any, name: str | None, of_real: Callable[[Tensor], Tensor]
) -> Tensor:
    with operands(name, op_name, input=x) as (scope, x):
        if x.dtype.is_complex:
            return getattr(raw, op_name)(x, Tout=x.dtype.real_dtype, name=scope)
        return of_real(x)


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; real tensors as they are."""
    if isinstance(x, Tensor) and _is_real(x):
        return x
    with operands(name, "Conj", x=x) as (scope, x):
        if _is_real(x):
            return x
        if not (x.dtype.is_complex or x.dtype == dtypes.variant):
            raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
        return raw.Conj(x, name=scope)


def _is_real(x: Tensor) -> bool:
    return x.dtype.is_floating or x.dtype.is_integer
