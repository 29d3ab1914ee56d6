"""Functions of Python that mean something for tensors as well."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import raw
from weft.lib.autograph.values import is_symbolic
from weft.ops.array import array
from weft.ops.control.check import Assert
from weft.ops.control.printing import print_v2
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import casts, sequence
from weft.ops.strings.numbers import string_to_number


def _is_dataset(value: Any) -> bool:
    return any(
        base.__name__ == "Dataset" and base.__module__.startswith("weft.lib.data")
        for base in type(value).__mro__
    )


def abs_(x: Any) -> Any:
    return raw.Abs(x) if is_symbolic(x) else builtins.abs(x)


def float_(x: Any = 0) -> Any:
    if not is_symbolic(x):
        return builtins.float(x)
    is_text = x.dtype.base_dtype is dtypes.string
    return string_to_number(x, dtypes.float32) if is_text else casts.cast(x, dtypes.float32)


def int_(x: Any = 0, base: Any = None) -> Any:
    if not is_symbolic(x):
        return builtins.int(x) if base is None else builtins.int(x, base)
    if base not in (10, None):
        raise NotImplementedError(f"base {base} not supported for int")
    is_text = x.dtype.base_dtype is dtypes.string
    return string_to_number(x, dtypes.int32) if is_text else casts.cast(x, dtypes.int32)


def len_(x: Any) -> Any:
    if isinstance(x, TensorArray):
        return x.size()
    if not is_symbolic(x):
        return builtins.len(x)
    tensor = convert_to_tensor(x)
    if tensor.dtype.base_dtype is dtypes.variant:
        return raw.TensorListLength(tensor)
    if tensor.dims == ():
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {tensor.shape}")
    if tensor.dims is not None and tensor.dims[0] is not None:
        return tensor.dims[0]
    return array.shape(tensor)[0]


def print_(*args: Any, **kwargs: Any) -> Any:
    if not any(map(is_symbolic, args)):
        return builtins.print(*args, **kwargs)  # noqa: T201
    unknown = set(kwargs) - {"sep", "end", "file", "flush"}
    if unknown:
        raise ValueError(f"invalid keyword arguments: {sorted(unknown)}")
    known = {"sep": kwargs.get("sep", " "), "end": kwargs.get("end", "\n")}
    import sys

    return print_v2(*args, output_stream=kwargs.get("file") or sys.stdout, **known)


def range_(start_or_stop: Any, stop: Any = None, step: Any = None) -> Any:
    given = [x for x in (start_or_stop, stop, step) if x is not None]
    if not any(map(is_symbolic, given)):
        return builtins.range(*given)
    # As in Python, a range that ends before it begins is empty.
    if stop is None:
        return sequence.range(0, raw.Maximum(start_or_stop, 0))
    return sequence.range(start_or_stop, raw.Maximum(start_or_stop, stop)) if step is None else (
        sequence.range(start_or_stop, stop, step)
    )  # fmt: skip


def enumerate_(values: Any, start: Any = 0) -> Any:
    if _is_dataset(values):
        return values.enumerate(start)
    return builtins.enumerate(values, start)


def zip_(*values: Any, **kwargs: Any) -> Any:
    if values and all(map(_is_dataset, values)):
        return type(values[0]).zip(values)
    return builtins.zip(*values, **kwargs)  # noqa: B905


def map_(function: Callable[..., Any], *values: Any) -> Any:
    from weft.lib.autograph.calls import converted_call

    if values and all(map(_is_dataset, values)):
        return zip_(*values).map(function) if len(values) > 1 else values[0].map(function)
    return builtins.map(lambda *args: converted_call(function, args, None), *values)


OVERLOADS: dict[Any, Callable[..., Any]] = {
    builtins.abs: abs_, builtins.float: float_, builtins.int: int_, builtins.len: len_,
    builtins.print: print_, builtins.range: range_, builtins.enumerate: enumerate_,
    builtins.zip: zip_, builtins.map: map_,
}  # fmt: skip


def assert_stmt(test: Any, message: Callable[[], Any]) -> Any:
    """`assert test, message()`; over a tensor, checked when the step runs."""
    if is_symbolic(test):
        told = message()
        return Assert(test, told if isinstance(told, list) else [told])
    if not test:
        raise AssertionError(message())
    return None
