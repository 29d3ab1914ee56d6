"""Functions that move elements about: reshaping, repeating, padding, joining, resizing."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.convert import constant
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.lib.keras.backend.config import standard_data_format
from weft.lib.keras.backend.variables import cast, int_shape, is_sparse, ndim, to_dense
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.array import reverse as array_reverse
from weft.ops.image import resize as image_resize  # noqa: F401
from weft.ops.math import reduce, sequence
from weft.ops.sparse import select as sparse_select


def _from_front(axis: int, x: Any) -> int:
    """An axis that may be counted from the end of `x`, counted from its front."""
    if axis >= 0:
        return axis
    rank = ndim(x)
    return axis % rank if rank else 0


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Joins along `axis`; the result is sparse only if all are."""
    axis = _from_front(axis, tensors[0])
    if all(map(is_sparse, tensors)):
        return sparse_select.sparse_concat(axis, tensors)
    return array.concat(list(map(to_dense, tensors)), axis)


def reshape(x: Any, shape: Any) -> Tensor:
    """A tensor with its elements, in order, in another shape."""
    return array.reshape(x, shape)


def permute_dimensions(x: Any, pattern: Any) -> Tensor:
    """A tensor with its dimensions in the order of `pattern`."""
    return array.transpose(x, perm=pattern)


def expand_dims(x: Any, axis: int = -1) -> Tensor:
    """A tensor with a dimension of size 1 put in at `axis`."""
    return array.expand_dims(x, axis)


def squeeze(x: Any, axis: int) -> Tensor:
    """A tensor without the dimension `axis`, whose size is 1."""
    return array.squeeze(x, [axis])


def flatten(x: Any) -> Tensor:
    """The elements of a tensor as a vector."""
    return array.reshape(x, [-1])


def batch_flatten(x: Any) -> Tensor:
    """Each example as a vector."""
    return array.reshape(x, array.stack([-1, reduce.reduce_prod(array.shape(x)[1:])]))


def stack(x: Any, axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new dimension."""
    return array.stack(x, axis=axis)


def one_hot(indices: Any, num_classes: int) -> Tensor:
    """Integers as rows of 0 and one 1, of `num_classes` entries."""
    return select.one_hot(indices, depth=num_classes, axis=-1)


def reverse(x: Any, axes: Any) -> Tensor:
    """`x` backwards along `axes`."""
    return array_reverse.reverse(x, [axes] if isinstance(axes, int) else axes)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Tensor:
    """Numbers from `start` up to `stop`, as in NumPy."""
    first = 0 if stop is None and start < 0 else start
    numbers = sequence.range(first, stop, step, name="arange")
    return numbers if dtype == "int32" else cast(numbers, dtype)


# ---- repeating ----


def tile(x: Any, n: Any) -> Tensor:
    """A tensor repeated `n` times along each dimension."""
    return array.tile(x, [n] if isinstance(n, int) else n)


def repeat(x: Any, n: int) -> Tensor:
    """A matrix of (batch, features) as (batch, n, features)."""
    assert ndim(x) == 2
    return array.tile(array.expand_dims(x, 1), array.stack([1, n, 1]))


def repeat_elements(x: Any, rep: int, axis: int) -> Tensor:
    """Each element `rep` times in a row along `axis`."""
    sizes = x.shape.as_list()
    if sizes[axis] is not None:
        slices = array.split(value=x, num_or_size_splits=sizes[axis], axis=axis)
        return concatenate([s for s in slices for _ in range(rep)], axis)
    times = np.ones(len(sizes) + 1, np.int32)
    times[axis + 1] = rep
    repeated = array.tile(array.expand_dims(x, axis=axis + 1), times)
    longer = np.ones(len(sizes), np.int32)
    longer[axis] = rep
    result = array.reshape(repeated, array.shape(x) * constant(longer))
    result.set_shape(sizes)
    return result


# ---- padding ----


def temporal_padding(x: Any, padding: Any = (1, 1)) -> Tensor:
    """Zeros before and after along the middle axis of three."""
    assert len(padding) == 2
    return array.pad(x, [[0, 0], list(padding), [0, 0]])


def _padded(x: Any, padding: Any, axes: int, data_format: str | None) -> Tensor:
    assert len(padding) == axes
    assert all(len(each) == 2 for each in padding)
    spatial = [list(each) for each in padding]
    if standard_data_format(data_format) == "channels_first":
        return array.pad(x, [[0, 0], [0, 0], *spatial])
    return array.pad(x, [[0, 0], *spatial, [0, 0]])


def spatial_2d_padding(
    x: Any, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None
) -> Tensor:
    """Zeros around images."""
    return _padded(x, padding, 2, data_format)


def spatial_3d_padding(
    x: Any, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None
) -> Tensor:
    """Zeros around volumes."""
    return _padded(x, padding, 3, data_format)


# ---- resizing ----


def resize_images(
    x: Any, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest"
) -> Tensor:
    """Images that many times as high and wide."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid `data_format` argument: {data_format}")
    first = data_format == "channels_first"
    rows = 2 if first else 1
    known = (int_shape(x) or (None,) * 4)[rows : rows + 2]
    factors = (height_factor, width_factor)
    size = array.shape(x)[rows : rows + 2] * constant(np.array(factors, np.int32))
    x = permute_dimensions(x, [0, 2, 3, 1]) if first else x
    x = _resized(x, size, interpolation)
    x = permute_dimensions(x, [0, 3, 1, 2]) if first else x
    grown = tuple(None if d is None else d * f for d, f in zip(known, factors, strict=True))
    x.set_shape((None, None, *grown) if first else (None, *grown, None))
    return x


def _resized(x: Any, size: Any, interpolation: str) -> Tensor:
    if interpolation not in ("nearest", "bilinear"):
        raise ValueError('interpolation should be one of "nearest" or "bilinear".')
    resize = raw.ResizeNearestNeighbor if interpolation == "nearest" else raw.ResizeBilinear
    with name_scope("resize"):
        return resize(x, size, half_pixel_centers=True)


def resize_volumes(
    x: Any, depth_factor: int, height_factor: int, width_factor: int, data_format: str
) -> Tensor:
    """Volumes that many times as deep, high and wide."""
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Invalid data_format: " + str(data_format))
    first = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), first):
        x = repeat_elements(x, factor, axis=axis)
    return x
