"""tf.contrib.nccl: reductions of the tensors of several devices, with the result on each of them.

TensorFlow uses NVIDIA's library; here a reduction is an operation on the first of the devices, and
what the others get is sent to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from weft.graph.graph import device
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor


def _all(tensors: Sequence[Tensor], together: Callable[[Any, Any], Any]) -> list[Tensor]:
    _check(tensors)
    with device(tensors[0].device):
        total = reduce(together, tensors)
    found = []
    for tensor in tensors:
        with device(tensor.device):
            found.append(raw.Identity(total))
    return found


def _check(tensors: Sequence[Tensor]) -> None:
    if not tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations")
    placed = [tensor.device for tensor in tensors]
    if not all(placed):
        raise ValueError(f"Device assignment required for nccl collective ops: {placed}")
    if len(set(placed)) != len(placed):
        raise ValueError(f"Tensors must be on different devices: {placed}")


def all_sum(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The sum of tensors, on the device of each."""
    return _all(tensors, raw.Add)


def all_prod(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The product of tensors, on the device of each."""
    return _all(tensors, raw.Mul)


def all_min(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The smallest elements of tensors, on the device of each."""
    return _all(tensors, raw.Minimum)


def all_max(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The largest elements of tensors, on the device of each."""
    return _all(tensors, raw.Maximum)


def reduce_sum(tensors: Sequence[Tensor]) -> Tensor:
    """The sum of tensors of several devices, on that of the open device scope."""
    _check(tensors)
    found: Tensor = reduce(raw.Add, tensors)
    return found


def broadcast(tensor: Tensor) -> Tensor:
    """A tensor that other devices are going to use."""
    _check([tensor])
    with device(tensor.device):
        found: Tensor = raw.Identity(tensor)
    return found
