"""Winograd convolution along two axes: m outputs of r taps each from only m + r - 1 products.

Tiles of inputs and filters are evaluated at m + r - 1 points (Cook-Toom); there a convolution is a
product, so all tiles together are a batch of matrix products. Stride 1, no dilation. Rounding
errors are about ten times those of the direct sum with the six or eight points used here, and a
NaN or infinity spoils the whole tile it lies in.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from weft.ops.windows import Ints, Window

Array = Any
POINTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)  # and infinity


class Transform(NamedTuple):
    """y = output @ ((filter @ g) * (input @ d)) for taps g and inputs d."""

    input: np.ndarray
    filter: np.ndarray
    output: np.ndarray


@functools.cache
def transform(outputs: int, taps: int) -> Transform:
    """Cook-Toom for a correlation: the transpose of multiplying polynomials by interpolation."""
    count = outputs + taps - 1
    points = np.array(POINTS[: count - 1])

    def powers(degree: int) -> np.ndarray:
        rows = points[:, None] ** np.arange(degree)
        return np.vstack([rows, np.eye(degree)[-1:]])

    gaps = points[:, None] - points
    np.fill_diagonal(gaps, 1.0)
    scale = np.append(gaps.prod(axis=1), 1.0)[:, None]
    # The scale makes the input transform (the one applied most) a matrix of short binary fractions.
    inverse = np.round(np.linalg.inv(powers(count)).T * scale * 64) / 64
    return Transform(inverse, powers(taps) / scale, powers(outputs).T)


def forward(x: Array, w: Array, window: Window, tile: Ints) -> Array:
    """[n, h, w, c] with filters [kh, kw, c, o]; `tile` outputs per tile and axis."""
    import jax.numpy as jnp
    from jax import lax

    rows, columns = (transform(m, r) for m, r in zip(tile, window.size, strict=True))
    counts = _tile_counts(window, tile)
    grown = np.einsum("xj,yi->xyij", columns.filter, rows.filter).reshape(-1, w[..., 0, 0].size)
    filters = (jnp.asarray(grown, w.dtype) @ w.reshape(grown.shape[1], -1)).reshape(
        -1, *w.shape[2:]
    )
    products = lax.dot_general(_input_tiles(x, window, tile), filters, (((2,), (1,)), ((0,), (0,))))
    products = products.reshape(len(columns.input), len(rows.input), -1, *counts, w.shape[3])
    columns_done = jnp.stack(_combine(columns.output, list(products)))
    strips = [jnp.stack(_combine(rows.output, list(strip)), 2) for strip in columns_done]
    whole = jnp.stack(strips, 4)
    whole = whole.reshape(-1, counts[0] * tile[0], counts[1] * tile[1], w.shape[3])
    return whole[:, : window.output[0], : window.output[1]]


def filter_gradient(x: Array, g: Array, window: Window, tile: Ints) -> Array:
    """The gradient of `forward` for its filters, given that of its result: its exact transpose."""
    import jax.numpy as jnp
    from jax import lax

    rows, columns = (transform(m, r) for m, r in zip(tile, window.size, strict=True))
    counts = _tile_counts(window, tile)
    edges = [(0, counts[i] * tile[i] - window.output[i], 0) for i in window.axes]
    g = lax.pad(g, g.dtype.type(0), [(0, 0, 0), *edges, (0, 0, 0)])
    pieces = [_every(g, 1, i, counts[0], tile[0]) for i in range(tile[0])]
    strips = jnp.stack(_combine(rows.output.T, pieces))
    pieces = [_every(strips, 3, i, counts[1], tile[1]) for i in range(tile[1])]
    tiles = jnp.stack(_combine(columns.output.T, pieces)).reshape(
        len(rows.input) * len(columns.input), -1, g.shape[3]
    )
    products = lax.dot_general(_input_tiles(x, window, tile), tiles, (((1,), (1,)), ((0,), (0,))))
    shrunk = np.einsum("xj,yi->ijxy", columns.filter, rows.filter)
    shrunk = shrunk.reshape(-1, len(products))
    gradient = jnp.asarray(shrunk, g.dtype) @ products.reshape(len(products), -1)
    return gradient.reshape(*window.size, x.shape[3], g.shape[3])


def _tile_counts(window: Window, tile: Ints) -> Ints:
    return tuple(-(-n // m) for n, m in zip(window.output, tile, strict=True))


def _input_tiles(x: Array, window: Window, tile: Ints) -> Array:
    """Transformed tiles: [column point * row point, image * tile row * tile column, channel]."""
    import jax.numpy as jnp
    from jax import lax

    rows, columns = (transform(m, r).input for m, r in zip(tile, window.size, strict=True))
    counts = _tile_counts(window, tile)
    edges = []
    for i in window.axes:
        length = counts[i] * tile[i] + window.size[i] - 1
        edges.append((window.before[i], length - window.before[i] - window.input[i], 0))
    x = lax.pad(x, x.dtype.type(0), [(0, 0, 0), *edges, (0, 0, 0)])
    strips = jnp.stack(
        _combine(rows, [_every(x, 1, i, counts[0], tile[0]) for i in range(len(rows))])
    )
    pieces = [_every(strips, 3, i, counts[1], tile[1]) for i in range(len(columns))]
    return jnp.stack(_combine(columns, pieces)).reshape(len(rows) * len(columns), -1, x.shape[3])


def _every(x: Array, axis: int, start: int, count: int, step: int) -> Array:
    from jax import lax

    return lax.slice_in_dim(x, start, start + (count - 1) * step + 1, step, axis)


def _combine(matrix: np.ndarray, arrays: list[Array]) -> list[Array]:
    """`matrix @ arrays` written out: its entries are few, small and often 0 or 1."""
    sums = []
    for row in matrix:
        total = None
        for factor, array in zip(row, arrays, strict=True):
            if factor == 0:
                continue
            part = array if abs(factor) == 1 else array * array.dtype.type(abs(factor))
            if total is None:
                total = part if factor > 0 else -part
            else:
                total = total + part if factor > 0 else total - part
        assert total is not None, "a transform has no zero rows"
        sums.append(total)
    return sums
