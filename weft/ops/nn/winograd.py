"""Winograd convolution along two axes: m outputs of r taps each from only m + r - 1 products.

Tiles of inputs and filters are evaluated at m + r - 1 points (Cook-Toom); there a convolution is a
product, so all tiles together are a batch of matrix products. Stride 1, no dilation. Rounding
errors are five to ten times those of the direct sum with the six or eight points used here, and a
NaN or infinity spoils the whole tile it lies in.

Of the two transforms, one is a matrix product and one a sum that XLA makes a loop of. Writing both
as sums, of stacked pieces, runs up to a third faster but takes four times as long to compile.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from weft.ops.nn.windows import Ints, Window

Array = Any
# How many numbers a tile has along an axis -> the points, beside infinity. Of those with few digits
# these round the least: for tiles of six numbers, by a fifth of 0, 1, -1, 2 and -2.
POINTS = {
    1: (),
    6: (0.0, 0.625, -0.625, 1.5, -1.5),
    8: (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5),
}


class Transform(NamedTuple):
    """y = output @ ((filter @ g) * (input @ d)) for taps g and inputs d."""

    input: np.ndarray
    filter: np.ndarray
    output: np.ndarray


@functools.cache
def transform(outputs: int, taps: int) -> Transform:
    """Cook-Toom for a correlation: the transpose of multiplying polynomials by interpolation."""
    count = outputs + taps - 1
    points = np.array(POINTS[count])

    def powers(degree: int) -> np.ndarray:
        rows = points[:, None] ** np.arange(degree)
        return np.vstack([rows, np.eye(degree)[-1:]])

    gaps = points[:, None] - points
    np.fill_diagonal(gaps, 1.0)
    scale = np.append(gaps.prod(axis=1), 1.0)[:, None]
    # The scale makes the input transform (the one applied most) a matrix of short binary fractions.
    inverse = np.round(np.linalg.inv(powers(count)).T * scale * 256) / 256
    return Transform(inverse, powers(taps) / scale, powers(outputs).T)


def forward(x: Array, w: Array, window: Window, tile: Ints) -> Array:
    """[n, h, w, c] with filters [kh, kw, c, o]; `tile` outputs per tile and axis."""
    import jax.numpy as jnp
    from jax import lax

    rows, columns = (transform(m, r) for m, r in zip(tile, window.size, strict=True))
    counts = _tile_counts(window, tile)
    grown = _both(columns.filter, rows.filter)
    filters = _product(grown, w.reshape(grown.shape[1], -1)).reshape(-1, *w.shape[2:])
    tiles = _input_tiles(x, window, tile)
    products = lax.dot_general(tiles, filters, (((2,), (1,)), ((0,), (0,))))
    done = _product(columns.output, products.reshape(len(columns.input), -1))
    done = done.reshape(tile[1], len(rows.input), -1, *counts, w.shape[3])
    # [row point, n, tile row, tile column, column, o] -> [n, tile row, row, tile column, column, o]
    whole = _mix(rows.output, list(jnp.moveaxis(done, 0, 4)), 2)
    whole = whole.reshape(-1, counts[0] * tile[0], counts[1] * tile[1], w.shape[3])
    return whole[:, : window.output[0], : window.output[1]]


def filter_gradient(x: Array, g: Array, window: Window, tile: Ints) -> Array:
    """The gradient of `forward` for its filters, given that of its result: its exact transpose."""
    from jax import lax

    rows, columns = (transform(m, r) for m, r in zip(tile, window.size, strict=True))
    counts = _tile_counts(window, tile)
    edges = [(0, counts[i] * tile[i] - window.output[i], 0) for i in window.axes]
    g = lax.pad(g, g.dtype.type(0), [(0, 0, 0), *edges, (0, 0, 0)])
    tiles = _tiles(g, rows.output.T, columns.output.T, counts, tile)
    inputs = _input_tiles(x, window, tile)
    products = lax.dot_general(inputs, tiles, (((1,), (1,)), ((0,), (0,))))
    shrunk = _both(columns.filter, rows.filter).T
    gradient = _product(shrunk, products.reshape(len(products), -1))
    return gradient.reshape(*window.size, x.shape[3], g.shape[3])


def _tile_counts(window: Window, tile: Ints) -> Ints:
    return tuple(-(-n // m) for n, m in zip(window.output, tile, strict=True))


def _both(columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Both axes' transforms of filters as one matrix, [column point * row point, taps]."""
    return np.einsum("xj,yi->xyij", columns, rows).reshape(len(columns) * len(rows), -1)


def _input_tiles(x: Array, window: Window, tile: Ints) -> Array:
    from jax import lax

    rows, columns = (transform(m, r).input for m, r in zip(tile, window.size, strict=True))
    counts = _tile_counts(window, tile)
    edges = []
    for i in window.axes:
        length = counts[i] * tile[i] + window.size[i] - 1
        edges.append((window.before[i], length - window.before[i] - window.input[i], 0))
    x = lax.pad(x, x.dtype.type(0), [(0, 0, 0), *edges, (0, 0, 0)])
    return _tiles(x, rows, columns, counts, tile)


def _tiles(x: Array, rows: np.ndarray, columns: np.ndarray, counts: Ints, tile: Ints) -> Array:
    """Transformed tiles: [column point * row point, image * tile row * tile column, channel]."""
    from jax import lax

    strips = _strips(x, counts[0], tile[0], rows.shape[1])
    points = _product(rows, strips.reshape(len(strips), -1)).reshape(-1, *strips.shape[1:])
    last = (counts[1] - 1) * tile[1] + 1
    pieces = [
        lax.slice_in_dim(points, i, i + last, tile[1], axis=3) for i in range(columns.shape[1])
    ]
    return _mix(columns, pieces, 0).reshape(len(columns) * len(rows), -1, x.shape[3])


def _strips(x: Array, count: int, step: int, length: int) -> Array:
    """Rows step * i + j, i below `count`, as [j below `length`, n, i, width, channel]."""
    import jax.numpy as jnp

    parts = []
    for start in range(0, length, step):
        rows = min(count * step, x.shape[1] - start)
        block = x[:, start : start + rows]
        if rows < count * step:  # the last tile reaches no further than `length`
            block = jnp.pad(block, [(0, 0), (0, count * step - rows), (0, 0), (0, 0)])
        block = block.reshape(x.shape[0], count, step, *x.shape[2:])
        parts.append(block[:, :, : length - start])
    joined = jnp.concatenate(parts, axis=2) if len(parts) > 1 else parts[0]
    return jnp.moveaxis(joined, 2, 0)


def _product(matrix: np.ndarray, x: Array) -> Array:
    import jax.numpy as jnp

    if matrix.shape == (1, 1):
        return x * x.dtype.type(matrix[0, 0])
    return jnp.asarray(matrix, x.dtype) @ x


def _mix(matrix: np.ndarray, arrays: list[Array], axis: int) -> Array:
    """`matrix @ arrays`, the results along a new `axis`."""
    import jax.numpy as jnp

    rank = arrays[0].ndim + 1
    total = None
    for column, array in zip(matrix.T, arrays, strict=True):
        factors = column.astype(array.dtype).reshape([-1 if i == axis else 1 for i in range(rank)])
        term = jnp.expand_dims(array, axis) * factors
        total = term if total is None else total + term
    return total
