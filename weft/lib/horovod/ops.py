"""Horovod's operations on tensors: sums, rows of all processes, a value of one for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import device
from weft.graph.slices import IndexedSlices
from weft.lib.distribute import group_ops
from weft.lib.horovod.adasum import adasum
from weft.lib.horovod.basics import size
from weft.ops.math import casts

Average, Sum, Adasum = 0, 1, 2


class NoneCompressor:
    """Tensors are sent as they are."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        return tensor, None

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        return tensor


class FP16Compressor:
    """Floating-point tensors are sent in 16 bits."""

    @staticmethod
    def compress(tensor: Any) -> tuple[Any, Any]:
        """The tensor in 16 bits, and the type it had."""
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.is_floating:
            return tensor, None
        return casts.cast(tensor, dtypes.float16), tensor.dtype

    @staticmethod
    def decompress(tensor: Any, ctx: Any) -> Any:
        return tensor if ctx is None else casts.cast(tensor, ctx)


class Compression:
    """The ways in which tensors can be sent."""

    none = NoneCompressor
    fp16 = FP16Compressor


def checked_op(op: Any, average: bool | None = None) -> int:
    """`op`, or what the older argument `average` says; the mean if neither is given."""
    if op is not None and average is not None:
        raise ValueError("The op parameter supersedes average. Please provide only one of them.")
    if op is None:
        return Sum if average is False else Average
    return int(op)


def allreduce(
    tensor: Any,
    average: bool | None = None,
    device_dense: str = "",
    device_sparse: str = "",
    compression: Any = Compression.none,
    op: Any = None,
) -> Any:
    """The mean of a tensor over all processes, or its sum; of rows, those of all."""
    way = checked_op(op, average)
    mean = way == Average
    if way == Adasum:
        with device(device_dense or None):
            return adapted(tensor, compression)
    if isinstance(tensor, IndexedSlices):
        with device(device_sparse or None):
            return group_ops.reduce_slices(tensor, mean)
    with device(device_dense or None):
        return reduced([tensor], mean, compression)[0]


def adapted(tensor: Any, compression: Any) -> Any:
    """The adaptive sum of a dense tensor over all processes."""
    if isinstance(tensor, IndexedSlices):
        return adasum(tensor)
    packed, kind = compression.compress(convert_to_tensor(tensor))
    return compression.decompress(adasum(packed), kind)


def reduced(tensors: Sequence[Any], mean: bool, compression: Any) -> list[Any]:
    """Dense tensors over all processes, many of them at once.

    As Horovod does, the mean is the sum, divided after it was sent.
    """
    packed = [compression.compress(convert_to_tensor(each)) for each in tensors]
    sums = group_ops.reduce_all([each for each, _ in packed])
    found = [compression.decompress(each, ctx) for each, (_, ctx) in zip(sums, packed, strict=True)]
    return [each / casts.cast(size(), each.dtype) for each in found] if mean else found


def allgather(tensor: Any, name: str | None = None) -> Any:
    """The rows of all processes, in the order of their ranks."""
    size()  # raises an error before hvd.init()
    return group_ops.gather(tensor, name)


def broadcast(
    tensor: Any, root_rank: int, name: str | None = None, ignore_name_scope: bool = False
) -> Any:
    """The value that the process of rank `root_rank` has."""
    size()
    return group_ops.broadcast(tensor, root_rank, name)
