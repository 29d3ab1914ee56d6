"""How a convolution is carried out on each type of device.

Everything here is channels-last: x [batch, *spatial, c], w [*window, c / groups, o], y and its
gradient g [batch, *output, o]. GPUs and TPUs take XLA's convolution as it is. CPUs have weft's own
kernels (ops/kit/native.py); on ARM they leave to Winograd what suits it. Where they could not be
built, heavy convolutions become matrix products: at once (1x1 windows, windows as large as the
image), of Winograd tiles, or of patches, whichever `choose` finds cheapest; for XLA's own
convolution uses a single core of ARM's for up to 64 output channels and is several times slower
still for the gradient of the filter, as it is on x86 for few images.
`benchmarks/bench_convolution.py` measures them against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from weft.core import machine
from weft.ops.kit import native
from weft.ops.kit.target import target_platform
from weft.ops.nn import winograd
from weft.ops.nn.windows import Ints, Window, are_theirs, fit, native_sizes, spread, taps

Array = Any


# ---- the three passes -------------------------------------------------------------------------


def convolve(x: Array, w: Array, window: Window) -> Array:
    """y for x and w."""
    groups = _groups(x.shape[-1], w)
    if target_platform() != "cpu":
        return _xla(x, w, window)
    if groups == x.shape[-1] and groups > 1:
        return depthwise(x, _depth_filters(w, groups), window)
    if groups > 1:
        parts = zip(_split(x, groups), _split(w, groups), strict=True)
        return _join([convolve(part, filters, window) for part, filters in parts])
    if (axis := _filled_axis(window)) is not None:
        return convolve(_put_away(x, axis + 1), _put_away(w, axis, 1), _without(window, axis))
    return _in_single(lambda x, w: _forward(x, w, window), x, w)


def convolve_input(w: Array, g: Array, window: Window, channels: int) -> Array:
    """The gradient of `convolve` for its x of `channels` channels, given that of its result."""
    groups = _groups(channels, w)
    if target_platform() != "cpu":
        shape = (g.shape[0], *window.input, channels)
        return _transpose(lambda x: _xla(x, w, window), shape, g)
    if groups == channels and groups > 1:
        return depthwise_input(_depth_filters(w, groups), g, window)
    if groups > 1:
        parts = zip(_split(w, groups), _split(g, groups), strict=True)
        each = channels // groups
        return _join([convolve_input(filters, part, window, each) for filters, part in parts])
    if (axis := _filled_axis(window)) is not None:
        deep = channels * window.size[axis]
        inner = convolve_input(_put_away(w, axis, 1), g, _without(window, axis), deep)
        return _bring_back(inner, axis + 1, window.input[axis])
    return _in_single(lambda w, g: _input_gradient(w, g, window), w, g)


def convolve_filter(x: Array, g: Array, window: Window, shape: Ints) -> Array:
    """The gradient of `convolve` for its w of `shape`, given that of its result."""
    groups = x.shape[-1] // shape[-2]
    if target_platform() != "cpu":
        return _transpose(lambda w: _xla(x, w, window), shape, g)
    if groups == x.shape[-1] and groups > 1:
        deep = (*shape[:-2], groups, shape[-1] // groups)
        return depthwise_filter(x, g, window, deep).reshape(shape)
    if groups > 1:
        parts = zip(_split(x, groups), _split(g, groups), strict=True)
        each = (*shape[:-1], shape[-1] // groups)
        return _join([convolve_filter(part, grads, window, each) for part, grads in parts])
    if (axis := _filled_axis(window)) is not None:
        inner = _without(window, axis)
        deep = (*inner.size, shape[-2] * window.size[axis], shape[-1])
        found = convolve_filter(_put_away(x, axis + 1), g, inner, deep)
        return _bring_back(found, axis, window.size[axis], 1)
    return _in_single(lambda x, g: _filter_gradient(x, g, window), x, g)


# ---- axes that are channels in all but name ---------------------------------------------------


def _filled_axis(window: Window) -> int | None:
    """An axis that every window fills, as in filters over the words of a sentence.

    XLA's gradient for an input of one channel is hundreds of times slower than that of many.
    """
    if _covers_all(window):
        return None
    for i in window.axes:
        fills = window.size[i] == window.input[i] > 1 and window.output[i] == 1
        if fills and not window.before[i] and window.dilation[i] == 1:
            return i
    return None


def _without(window: Window, axis: int) -> Window:
    def with_one(values: Ints) -> Ints:
        return (*values[:axis], 1, *values[axis + 1 :])

    return replace(
        window, size=with_one(window.size), input=with_one(window.input),
        stride=with_one(window.stride),
    )  # fmt: skip


def _put_away(a: Array, axis: int, after: int = 0) -> Array:
    """Makes an axis part of the channels, which `after` axes follow; it stays, with length 1."""
    import jax.numpy as jnp

    moved = jnp.moveaxis(a, axis, -2 - after)
    shape = list(moved.shape)
    shape[-2 - after : len(shape) - after] = [shape[-2 - after] * shape[-1 - after]]
    return jnp.expand_dims(moved.reshape(shape), axis)


def _bring_back(a: Array, axis: int, size: int, after: int = 0) -> Array:
    """The reverse of `_put_away`, for an axis that had `size` positions."""
    import jax.numpy as jnp

    shape = list(jnp.squeeze(a, axis).shape)
    at = len(shape) - 1 - after
    shape[at : at + 1] = [size, shape[at] // size]
    return jnp.moveaxis(a.reshape(shape), at, axis)


# ---- our own kernels --------------------------------------------------------------------------

TINY = 2**16  # multiplications up to which a call does not pay
MOST_FILTERS = 2**24  # numbers of filters that each thread has room for
COLUMNS = 32  # that are computed at once, whether there are as many channels or not
# Fewer channels of the result than these leave too many of those columns idle.
FEWEST = {"convolve": 3, "convolve_input": 4, "convolve_filter": 3}
# What the two arrays are that a kernel takes.
_ROLES = {
    "convolve": ("image", "filters"),
    "convolve_input": ("filters", "result"),
    "convolve_filter": ("image", "result"),
    "depthwise": ("image", "depthwise"),
    "depthwise_input": ("depthwise", "result"),
    "depthwise_filter": ("image", "result"),
}


def _is_native(kernel: str, window: Window, sizes: Ints, a: Array, b: Array) -> bool:
    """Whether one of our kernels is there for it; `sizes` are batch, c and o.

    They take up to two axes, each with strides or with gaps.
    """
    batch, c, o = sizes
    taps, positions = math.prod(window.size), batch * math.prod(window.output)
    steps = zip(window.stride, window.dilation, strict=True)
    return (
        native.offers(kernel, a, b)
        and len(window.size) <= 2
        and all(1 in pair for pair in steps)
        and (c if kernel == "convolve_input" else o) >= FEWEST[kernel]
        and positions * taps * c * o >= TINY
        and taps * max(c, COLUMNS) * max(o, COLUMNS) <= MOST_FILTERS
        and not _covers_all(window)
        and not (taps * c > positions and _suits_xla(kernel, window, batch))
        and not (machine.IS_ARM and _worth_winograd(window, batch, c, o, 10))
        and _are_theirs(kernel, window, sizes, a, b)
    )


def _are_theirs(kernel: str, window: Window, sizes: Ints, a: Array, b: Array) -> bool:
    """Whether the arrays have the shapes that the kernel relies on."""
    shapes = dict(zip(_ROLES[kernel], (a.shape, b.shape), strict=True))
    return are_theirs(window, *sizes, **shapes)


def _suits_xla(kernel: str, window: Window, batch: int) -> bool:
    """Whether XLA is the faster one where there are more filters than positions."""
    strided_back = kernel == "convolve_input" and max(window.stride) > 1
    return strided_back or (kernel == "convolve_filter" and batch >= FEW_IMAGES)


def _native(kernel: str, shape: Ints, window: Window, sizes: Ints, a: Array, b: Array) -> Array:
    """What the kernel makes of two arrays."""
    return native.call(kernel, shape, a, b, sizes=native_sizes(window, *sizes))


# ---- the CPU's choices ------------------------------------------------------------------------

MATMUL, WINOGRAD, PATCHES, XLA = "matmul", "winograd", "patches", "xla"
TILE = 4  # outputs per Winograd tile and axis
LIGHT = 2**24  # multiplications up to which nothing is worth more than XLA's 20 ms to compile
MOST_PATCHES = 2**26  # numbers in an array of patches; more would not pay for their memory
FEW_IMAGES = 8


def choose(task: str, window: Window, batch: int, c: int, o: int) -> str:
    """The lowering for `task` (forward, input, filter) with c input and o output channels."""
    if all(k == 1 for k in window.size) or _covers_all(window):
        return MATMUL
    positions = batch * math.prod(window.output)
    if positions * math.prod(window.size) * c * o < LIGHT:
        return XLA
    # On x86, XLA's is at its worst where few images are all there is to add up over.
    prefers_xla = not machine.IS_ARM and not (task == "filter" and batch < FEW_IMAGES)
    if _worth_winograd(window, batch, c, o, 100 if prefers_xla else 10):
        return WINOGRAD
    if len(window.size) != 2:
        return PATCHES if task == "filter" and c >= 8 else XLA
    fits = positions * window.size[1] * c <= MOST_PATCHES
    worth = _worth_patches_on_x86 if prefers_xla else _worth_patches
    return PATCHES if fits and worth(task, window, positions, c, o) else XLA


def _worth_winograd(window: Window, batch: int, c: int, o: int, least: int) -> bool:
    """Whether it saves more products than its transforms cost, `least` of them for each number."""
    if len(window.size) != 2 or not window.plain or not set(window.size) <= {1, 3, 5}:
        return False
    # Nor should the transforms be mostly that of the filters.
    tiles = batch * math.prod(-(-n // TILE) for n in window.output)
    return c * o >= least * (c + o) and 4 * tiles >= min(c, o)


def _worth_patches_on_x86(task: str, window: Window, positions: int, c: int, o: int) -> bool:
    """XLA's own convolution uses all cores there, but not for the gradient of a few channels."""
    return task == "input" and o > 1 and (c <= 8 or max(window.stride) > 1)


def _worth_patches(task: str, window: Window, positions: int, c: int, o: int) -> bool:
    """Patches take up to twice the work of XLA's own convolution, but that of all cores.

    XLA's uses them all only with many output channels for the positions there are, and is at its
    worst for the gradient of the filter.
    """
    if task == "filter":
        return c > 1 and o >= 8
    inner, outer = (c, o) if task == "forward" else (o, c)
    if outer >= 128 or outer < 16 or positions <= 32 * outer:
        return False
    strided_back = task == "input" and max(window.stride) > 1
    return inner > 1 and (strided_back or machine.cores() >= 4)


def _forward(x: Array, w: Array, window: Window) -> Array:
    sizes = batch, c, o = x.shape[0], w.shape[-2], w.shape[-1]
    if _is_native("convolve", window, sizes, x, w):
        return _native("convolve", (batch, *window.output, o), window, sizes, x, w)
    lowering = choose("forward", window, batch, c, o)
    if lowering == MATMUL:
        return _dense_rows(x, window) @ w.reshape(-1, o)
    if lowering == WINOGRAD:
        return winograd.forward(x, w, window, _tile(window))
    if lowering == XLA:
        return _xla(x, w, window)
    rows = _row_patches(x, window)
    return sum(row @ w[i].reshape(-1, o) for i, row in enumerate(rows))


def _input_gradient(w: Array, g: Array, window: Window) -> Array:
    sizes = batch, c, o = g.shape[0], w.shape[-2], w.shape[-1]
    if _is_native("convolve_input", window, sizes, w, g):
        return _native("convolve_input", (batch, *window.input, c), window, sizes, w, g)
    lowering = choose("input", window, batch, c, o)
    if lowering == MATMUL and _covers_all(window):
        return (g.reshape(batch, o) @ w.reshape(-1, o).T).reshape(batch, *window.input, c)
    if lowering == WINOGRAD:
        back = window.transposed()
        return winograd.forward(g, _turned(w), back, _tile(back))
    if lowering == XLA:
        if window.plain:
            return _xla(g, _turned(w), window.transposed())
        shape = (batch, *window.input, c)
        return _transpose(lambda x: _xla(x, w, window), shape, g)
    numbers = {tap: n for n, tap in enumerate(window.taps)}
    products = g @ w.reshape(-1, o).T

    def term(tap: Ints, piece: Array) -> Array:
        return piece[..., numbers[tap] * c : (numbers[tap] + 1) * c]

    return spread([products], window, term)


def _filter_gradient(x: Array, g: Array, window: Window) -> Array:
    import jax.numpy as jnp

    sizes = batch, c, o = x.shape[0], x.shape[-1], g.shape[-1]
    shape = (*window.size, c, o)
    if _is_native("convolve_filter", window, sizes, x, g):
        return _native("convolve_filter", shape, window, sizes, x, g)
    lowering = choose("filter", window, batch, c, o)
    if lowering == MATMUL:
        return _over_rows(_dense_rows(x, window), g).reshape(shape)
    if lowering == WINOGRAD:
        return winograd.filter_gradient(x, g, window, _tile(window))
    if lowering == XLA:
        return _transpose(lambda w: _xla(x, w, window), shape, g)
    pieces = _row_patches(x, window) if len(window.size) == 2 else taps(x, window)
    return jnp.stack([_over_rows(piece, g) for piece in pieces]).reshape(shape)


def _tile(window: Window) -> Ints:
    return tuple(1 if k == 1 else TILE for k in window.size)


# ---- lowerings --------------------------------------------------------------------------------


def _xla(x: Array, w: Array, window: Window) -> Array:
    from jax import lax

    edges = _edges(window)
    if min(min(pair) for pair in edges) < 0:
        x = fit(x, window)
        edges = [(0, 0)] * len(window.size)
    axes = "DHW"[-len(window.size) :]
    return lax.conv_general_dilated(
        x,
        w,
        window.stride,
        edges,
        rhs_dilation=window.dilation,
        dimension_numbers=(f"N{axes}C", f"{axes}IO", f"N{axes}C"),
        feature_group_count=_groups(x.shape[-1], w),
    )


def _edges(window: Window) -> list[tuple[int, int]]:
    """Padding along each axis, as much behind as in front where the windows leave the choice.

    With strides up to stride - 1 positions may be added behind that no window reaches. cuDNN pads
    both ends alike; for anything else XLA first makes a padded copy of the images.
    """
    found = []
    for i in window.axes:
        least, before = window.after[i], window.before[i]
        found.append((before, min(max(least, before), least + window.stride[i] - 1)))
    return found


def _transpose(linear: Callable[[Array], Array], shape: Ints, g: Array) -> Array:
    """The transpose of a linear function of one array, applied to g."""
    import jax

    (result,) = jax.linear_transpose(linear, jax.ShapeDtypeStruct(shape, g.dtype))(g)
    return result


def _covers_all(window: Window) -> bool:
    """One window, over the whole image and nothing else."""
    return (
        all(n == 1 for n in window.output)
        and window.size == window.input
        and not any(window.before)
        and all(d == 1 for d in window.dilation)
    )


def _dense_rows(x: Array, window: Window) -> Array:
    """[batch, *output, window * c] for windows of one position, or one window over everything."""
    if _covers_all(window):
        return x.reshape(x.shape[0], *window.output, -1)
    (only,) = taps(x, window)
    return only


def _row_patches(x: Array, window: Window) -> list[Array]:
    """For every row of the windows of an image what lies under it, [batch, *output, width * c]."""
    import jax.numpy as jnp
    from jax import lax

    x = fit(x, window)

    def cut(x: Array, axis: int, tap: int) -> Array:
        start, step = tap * window.dilation[axis], window.stride[axis]
        end = start + (window.output[axis] - 1) * step + 1
        return lax.slice_in_dim(x, start, end, step, axis + 1)

    wide = jnp.concatenate([cut(x, 1, i) for i in range(window.size[1])], axis=-1)
    return [cut(wide, 0, i) for i in range(window.size[0])]


def _over_rows(rows: Array, g: Array) -> Array:
    """rows^T g, with batch and output positions as one long axis."""
    from jax import lax

    rows, g = rows.reshape(-1, rows.shape[-1]), g.reshape(-1, g.shape[-1])
    return lax.dot_general(rows, g, (((0,), (0,)), ((), ())))


def _turned(w: Array) -> Array:
    """Filters of the transposed convolution: every axis reversed, channels exchanged."""
    import jax.numpy as jnp

    return jnp.swapaxes(jnp.flip(w, tuple(range(w.ndim - 2))), -1, -2)


def _in_single(compute: Callable[[Array, Array], Array], a: Array, b: Array) -> Array:
    """Half-precision operands are computed with in single precision: the CPU has no faster way."""
    dtype = a.dtype
    if dtype.itemsize > 2:
        return compute(a, b)
    return compute(a.astype("float32"), b.astype("float32")).astype(dtype)


# ---- channels in groups -----------------------------------------------------------------------


def _groups(channels: int, w: Array) -> int:
    return channels // w.shape[-2] if w.shape[-2] else 1


def _split(x: Array, groups: int) -> list[Array]:
    import jax.numpy as jnp

    return jnp.split(x, groups, axis=-1)


def _join(parts: list[Array]) -> Array:
    import jax.numpy as jnp

    return jnp.concatenate(parts, axis=-1)


def _depth_filters(w: Array, groups: int) -> Array:
    """[*window, 1, groups * m] as [*window, groups, m]."""
    return w.reshape(*w.shape[:-2], groups, -1)


TOGETHER = 16  # channels that our kernels compute at once
LEAST = 2**13  # multiplications up to which a call of them does not pay


def _is_native_depthwise(kernel: str, window: Window, sizes: Ints, a: Array, b: Array) -> bool:
    """Whether one of our kernels is there for it; `sizes` are batch, c and c * m."""
    batch, _, o = sizes
    steps = zip(window.stride, window.dilation, strict=True)
    return (
        native.offers(kernel, a, b)
        and len(window.size) <= 2
        and all(1 in pair for pair in steps)
        and all(window.input)
        and o >= TOGETHER
        and batch * math.prod(window.output) * math.prod(window.size) * o >= LEAST
        and _are_theirs(kernel, window, sizes, a, b)
    )


FEW = 2**18  # multiplications up to which XLA's depthwise convolution is good enough on the CPU


def _few(window: Window, batch: int, channels: int) -> bool:
    return batch * math.prod(window.output) * math.prod(window.size) * channels < FEW


def depthwise(x: Array, w: Array, window: Window) -> Array:
    """Every channel with its own m filters, w [*window, c, m]; results are [.., c * m]."""
    c, m = w.shape[-2:]

    def compute(x: Array, w: Array) -> Array:
        sizes = x.shape[0], c, c * m
        if _is_native_depthwise("depthwise", window, sizes, x, w):
            shape = (x.shape[0], *window.output, c * m)
            return _native("depthwise", shape, window, sizes, x, w)
        return (by_xla if _few(window, x.shape[0], c * m) else by_taps)(x, w)

    def by_xla(x: Array, w: Array) -> Array:
        return _xla(x, w.reshape(*window.size, 1, c * m), window)

    def by_taps(x: Array, w: Array) -> Array:
        if len(window.size) > 1 and math.prod(window.size) > _MANY_TAPS:
            return _depthwise_by_rows(x, w, window)
        pieces = zip(taps(x, window), window.taps, strict=True)
        return sum(_scaled(piece, w[tap]) for piece, tap in pieces)

    if target_platform() != "cpu":
        return by_xla(x, w)
    return _in_single(compute, x, w)


# Beyond so many, taps are not all written out: compiling them would take seconds.
_MANY_TAPS = 49


def _depthwise_by_rows(x: Array, w: Array, window: Window) -> Array:
    """As by taps, with a loop over the rows of a window."""
    import jax.numpy as jnp
    from jax import lax

    x = fit(x, window, 0)
    deep = (window.output[0] - 1) * window.stride[0] + 1
    row = replace(
        window, size=(1, *window.size[1:]), before=(0,) * len(window.size),
        input=(deep, *x.shape[2:-1]),
    )  # fmt: skip

    def add_row(i: Any, total: Array) -> Array:
        part = lax.dynamic_slice_in_dim(x, i * window.dilation[0], deep, 1)
        weights = lax.dynamic_index_in_dim(w, i, 0, keepdims=True)
        pieces = zip(taps(part, row), row.taps, strict=True)
        return sum((_scaled(piece, weights[tap]) for piece, tap in pieces), total)

    nothing = jnp.zeros((x.shape[0], *window.output, math.prod(w.shape[-2:])), x.dtype)
    return lax.fori_loop(0, window.size[0], add_row, nothing)


def _scaled(x: Array, factors: Array) -> Array:
    """[.., c] times [c, m] as [.., c * m]."""
    c, m = factors.shape
    if m == 1:
        return x * factors[:, 0]
    return (x[..., None] * factors).reshape(*x.shape[:-1], c * m)


def depthwise_input(w: Array, g: Array, window: Window) -> Array:
    """The gradient of `depthwise` for x."""
    c, m = w.shape[-2:]

    def compute(w: Array, g: Array) -> Array:
        sizes = g.shape[0], c, c * m
        if _is_native_depthwise("depthwise_input", window, sizes, w, g):
            shape = (g.shape[0], *window.input, c)
            return _native("depthwise_input", shape, window, sizes, w, g)
        return (by_xla if _few(window, g.shape[0], c * m) else by_taps)(w, g)

    def by_xla(w: Array, g: Array) -> Array:
        whole = w.reshape(*window.size, 1, c * m)
        shape = (g.shape[0], *window.input, c)
        return _transpose(lambda x: _xla(x, whole, window), shape, g)

    def by_taps(w: Array, g: Array) -> Array:
        # One array per multiplier: summing over a short last axis would not vectorise.
        parts = [g[..., i::m] for i in range(m)] if m > 1 else [g]

        def term(tap: Ints, *pieces: Array) -> Array:
            return sum(piece * w[tap][:, i] for i, piece in enumerate(pieces))

        return spread(parts, window, term)

    if target_platform() != "cpu":
        return by_xla(w, g)
    return _in_single(compute, w, g)


def depthwise_filter(x: Array, g: Array, window: Window, shape: Ints) -> Array:
    """The gradient of `depthwise` for w of `shape`."""
    c, m = shape[-2:]

    def compute(x: Array, g: Array) -> Array:
        sizes = x.shape[0], c, c * m
        if _is_native_depthwise("depthwise_filter", window, sizes, x, g):
            return _native("depthwise_filter", shape, window, sizes, x, g)
        return (by_xla if _few(window, x.shape[0], c * m) else by_taps)(x, g)

    def by_xla(x: Array, g: Array) -> Array:
        whole = (*window.size, 1, c * m)
        return _transpose(lambda w: _xla(x, w, window), whole, g).reshape(shape)

    def by_taps(x: Array, g: Array) -> Array:
        import jax.numpy as jnp

        if len(window.size) == 2:
            return _depthwise_filter_by_rows(x, g, window, m)
        over = tuple(range(x.ndim - 1))
        parts = [g[..., i::m] for i in range(m)]
        sums = [
            jnp.stack([jnp.sum(piece * part, axis=over) for part in parts], axis=-1)
            for piece in taps(x, window)
        ]
        return jnp.stack(sums).reshape(shape)

    if target_platform() != "cpu":
        return by_xla(x, g)
    return _in_single(compute, x, g)


def _depthwise_filter_by_rows(x: Array, g: Array, window: Window, m: int) -> Array:
    """Adds up row by row what the filters get, for all columns; then over the columns.

    A sum over positions with channels last goes through memory once for every few channels.
    """
    import jax.numpy as jnp
    from jax import lax

    x, (high, wide) = fit(x, window), window.output
    parts = [g[..., i::m] for i in range(m)]
    last = (wide - 1) * window.stride[1] + 1

    def add_row(i: Any, totals: list[Array]) -> list[Array]:
        rows = lax.dynamic_slice_in_dim(x, i * window.stride[0], window.extent[0], 1)
        rows = rows[:, :: window.dilation[0]]
        gradients = [lax.dynamic_slice_in_dim(part, i, 1, 1) for part in parts]
        starts = [j * window.dilation[1] for j in range(window.size[1])]
        pieces = [rows[:, :, j : j + last : window.stride[1]] for j in starts]
        terms = (piece * gradient for piece in pieces for gradient in gradients)
        return [total + term for total, term in zip(totals, terms, strict=True)]

    nothing = jnp.zeros((x.shape[0], window.size[0], wide, x.shape[-1]), x.dtype)
    totals = lax.fori_loop(0, high, add_row, [nothing] * (window.size[1] * m))
    sums = jnp.stack([jnp.sum(total, axis=(0, 2)) for total in totals], axis=1)
    return jnp.moveaxis(sums.reshape(*window.size, m, -1), 2, 3)
