"""Anything a user may pass where a tensor is wanted -> Tensor."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import Dimension, TensorShape
from weft.graph.constant import _shape_constant, constant, make_constant
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor

__all__ = ["constant", "convert_n_to_tensor", "convert_to_tensor"]

Converter = Callable[..., Any]  # (value, dtype, name, as_ref) -> Tensor | NotImplemented
_converters: list[tuple[int, int, Any, Converter]] = []


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Converter, priority: int = 100
) -> None:
    """Values of `base_type` (a type or tuple of types) convert by `conversion_func`.

    Lower priorities are tried first; NotImplemented passes the value on to the next.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _converters.append((priority, len(_converters), types, conversion_func))
    _converters.sort(key=lambda entry: entry[:2])
    _converters_for.cache_clear()


@functools.cache
def _converters_for(kind: Any) -> list[Converter]:
    return [convert for _, _, types, convert in _converters if issubclass(kind, types)]


def _attempt(convert: Converter, value: Any, dtype: Any, hint: Any, **rest: Any) -> Any:
    """The result of a converter: of the type that is hinted at if it can be, else of `dtype`."""
    if dtype is None and hint is not None:
        with contextlib.suppress(TypeError, ValueError):
            found = convert(value, dtype=dtypes.as_dtype(hint), **rest)
            if found is not NotImplemented and found.dtype.base_dtype == hint:
                return found
    return convert(value, dtype=dtype, **rest)


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
    as_ref: bool = False,
) -> Tensor:
    """`value` as a tensor; `preferred_dtype` is tried first when `dtype` is open.

    Args:
        value: a tensor, variable, number, string, list or array.
        dtype: the type it must have; None: its own.
        name: of the operation, if one is made.
        preferred_dtype: a type to try first.
        dtype_hint: a newer name of `preferred_dtype`.
        as_ref: give the reference of a variable instead of its value.

    Returns:
        A tensor.

    Raises:
        TypeError: the value has no conversion to a tensor.
        ValueError: it has another type, or its parts do not form a rectangle.

    Example:
        >>> tf.convert_to_tensor([1, 2], tf.float32)
        <tf.Tensor 'Const:0' shape=(2,) dtype=float32>
    """
    if dtype_hint is not None and preferred_dtype is not None:
        raise ValueError("Cannot specify both 'preferred_dtype' and 'dtype_hint'")
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        return _of_type(value, dtype)
    hint = preferred_dtype if preferred_dtype is not None else dtype_hint
    kind: Any = type(value)
    for convert in _converters_for(kind):
        result = _attempt(convert, value, dtype, hint, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, Tensor):
            raise RuntimeError(f"Conversion function {convert!r} returned {result!r}, not a Tensor")
        if dtype is not None and not dtype.is_compatible_with(result.dtype):
            raise RuntimeError(
                f"Conversion function {convert!r} returned dtype {result.dtype.name}, wanted"
                f" {dtype.name}"
            )
        return result
    raise TypeError(
        f"Cannot convert {value!r} with type {type(value)} to Tensor: no Op registered."
    )


def _of_type(tensor: Tensor, wanted: DType | None) -> Tensor:
    """The tensor, which must have the type, if one is wanted."""
    found = tensor.dtype
    if wanted is None or wanted.is_compatible_with(found):
        return tensor
    raise ValueError(
        f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {found.name}:"
        f" {tensor!r}"
    )


def convert_n_to_tensor(
    values: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None
) -> list[Tensor]:
    return [
        convert_to_tensor(
            value,
            dtype=dtype,
            name=None if name is None else f"{name}_{i}",
            preferred_dtype=preferred_dtype,
        )
        for i, value in enumerate(values)
    ]


def _from_value(
    value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    return make_constant(value, dtype, name=name or "Const")


def _from_shape(
    value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    return _shape_constant(value, dtype, name)


def _from_dimension(
    value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    if value.value is None:
        raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
    if dtype is not None and dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    return make_constant(value.value, dtype or dtypes.int32, name=name or "shape_as_tensor")


def _refuse_operation(
    value: Operation, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    raise TypeError(
        f"Can't convert Operation '{value.name}' to Tensor (target dtype={dtype!r}, name={name!r},"
        f" as_ref={as_ref!r})"
    )


register_tensor_conversion_function(Operation, _refuse_operation, 0)
register_tensor_conversion_function(TensorShape, _from_shape, 100)
register_tensor_conversion_function(Dimension, _from_dimension, 100)
register_tensor_conversion_function(object, _from_value, 200)


def __getattr__(name: str) -> Any:
    # IndexedSlices and its converters live above this module but are asked for here too.
    from weft.graph import slices

    if name in ("IndexedSlices", "SparseTensor", "convert_to_tensor_or_indexed_slices"):
        return getattr(slices, name)
    raise AttributeError(name)
