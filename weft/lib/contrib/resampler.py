"""tf.contrib.resampler: pixels at places between the pixels."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import get_default_graph, name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.array import array, gather
from weft.ops.math import math
from weft.ops.math.sequence import range as range_


def resampler(data: Any, warp: Any, name: str = "resampler") -> Tensor:
    """`data` [batch, height, width, channels] at the points (x, y) of `warp` [batch, ..., 2].

    Between four pixels the value is bilinear; what lies outside of the image counts as zero.
    """
    with name_scope(name, "resampler", [data, warp]):
        data, warp = convert_to_tensor(data, name="data"), convert_to_tensor(warp, name="warp")
        graph = get_default_graph()
        before = graph._last_id
        shape = array.shape(warp)
        points = array.reshape(warp, array.stack([shape[0], -1, 2]))
        low = raw.Floor(points)
        share = points - low
        total: Any = 0.0
        for right in (0, 1):
            for down in (0, 1):
                x, y = low[..., 0] + right, low[..., 1] + down
                wx = share[..., 0] if right else 1.0 - share[..., 0]
                wy = share[..., 1] if down else 1.0 - share[..., 1]
                total += _at(data, x, y) * array.expand_dims(wx * wy, -1)
        found = array.reshape(total, array.concat([shape[:-1], array.shape(data)[3:]], 0))
        found.set_shape(warp.shape[:-1].concatenate(data.shape[3:]))
        graph.count_nodes(before, 1)
        return found


def _at(data: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """The pixels at whole coordinates; zeros outside of the image."""
    size = array.shape(data)
    height, width = (math.cast(size[i], x.dtype) for i in (1, 2))
    inside = (x >= 0.0) & (x < width) & (y >= 0.0) & (y < height)
    column = math.cast(raw.Minimum(raw.Maximum(x, 0.0), width - 1.0), dtypes.int32)
    row = math.cast(raw.Minimum(raw.Maximum(y, 0.0), height - 1.0), dtypes.int32)
    batch = array.expand_dims(range_(size[0]), 1) + array.zeros_like(row)
    found = gather.gather_nd(data, array.stack([batch, row, column], axis=-1))
    return found * array.expand_dims(math.cast(inside, data.dtype), -1)
