"""Whether there is memory for a tensor, asked before it is made.

A system may promise more memory than it has, and end the process that then uses it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import errors, machine

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
# How NumPy and XLA begin when there is no memory; the numbers of a larger array they do not count.
_WORDS = ("RESOURCE_EXHAUSTED", "array is too big", "Maximum allowed dimension exceeded")
_FEW = 1 << 20  # elements
_STRING = 24  # bytes of a string in a tensor of TensorFlow's
_NAMES = {"float32": "float", "float64": "double", "float16": "half", "object": "string"}


def check_room(dims: Sequence[int], dtype: Any, times: int = 1) -> None:
    """ResourceExhaustedError if there is no memory for a tensor of these dims.

    `times`: that many times its bytes are needed to make it.
    """
    if math.prod(map(int, dims)) * times < _FEW:
        return
    needed = byte_count(dims, dtype) * times
    if needed >= machine.large() and needed > machine.free():
        raise out_of_memory(dims, dtype)


def check_declared(outputs: Sequence[Any]) -> None:
    """ResourceExhaustedError if there is no memory for tensors whose shapes are known by now."""
    for tensor in outputs:
        dims = tensor.dims
        if dims and None not in dims and math.prod(dims) >= _FEW:
            check_room(dims, tensor.dtype.base_dtype.np_storage)


def byte_count(dims: Sequence[int], dtype: Any) -> int:
    """The bytes that a tensor takes: of any number of them, for these are Python's integers."""
    each = np.dtype(dtype)
    return math.prod(int(d) for d in dims) * (_STRING if each.hasobject else each.itemsize)


def out_of_memory(dims: Sequence[int], dtype: Any) -> errors.ResourceExhaustedError:
    """The error of a tensor that there is no memory for; the runtime adds the node."""
    shape = ",".join(str(int(d)) for d in dims)
    return errors.ResourceExhaustedError(
        None, None, f"OOM when allocating tensor with shape[{shape}] and type {_name(dtype)} on"
        f" {_DEVICE} by allocator cpu",
    )  # fmt: skip


def _name(dtype: Any) -> str:
    name = np.dtype(dtype).name
    return _NAMES.get(name, name)


def exhausted(error: Exception) -> errors.ResourceExhaustedError | None:
    """The error to raise for one of NumPy, Python or XLA that means: there is no memory for it."""
    if isinstance(error, MemoryError):
        dims, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
        if dims is not None and dtype is not None:  # NumPy says what it was making
            return out_of_memory(dims, dtype)
    elif not str(error).startswith(_WORDS):
        return None
    return errors.ResourceExhaustedError(None, None, f"OOM: {error}")
