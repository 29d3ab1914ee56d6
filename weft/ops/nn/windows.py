"""Sliding windows over the spatial axes of channels-last arrays: geometry and the two walks.

Arrays are [batch, *spatial, channels]. A *tap* is one position inside the window. `taps` lists what
lies under each tap, one value per output position; `spread` is its transpose: for every input
position it adds up what the windows over it contribute. Both are plain slices of arrays padded
once, which XLA fuses into vector loops on any device; scatters and interior padding are far slower.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weft.core.errors import InvalidArgumentError
from weft.core.step_limits import looking_up

Array = Any
Ints = tuple[int, ...]


@dataclass(frozen=True)
class Window:
    """The windows of one op: a tuple entry per spatial axis. `before` is the padding in front."""

    size: Ints
    stride: Ints
    dilation: Ints
    before: Ints
    input: Ints
    output: Ints

    @property
    def axes(self) -> range:
        return range(len(self.size))

    @property
    def extent(self) -> Ints:
        """How far a window reaches, dilation included."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.size, self.dilation, strict=True))

    @property
    def after(self) -> Ints:
        """Padding behind that makes the windows fit exactly; negative for a tail that is unread."""
        return tuple(
            (self.output[i] - 1) * self.stride[i] + self.extent[i] - self.before[i] - self.input[i]
            for i in self.axes
        )

    @property
    def plain(self) -> bool:
        """Neither strides nor dilation."""
        return all(v == 1 for v in self.stride + self.dilation)

    @property
    def taps(self) -> Iterator[Ints]:
        return itertools.product(*map(range, self.size))

    def transposed(self) -> Window:
        """Of a window without strides: the one that walks from the outputs back to the inputs."""
        before = tuple(e - 1 - b for e, b in zip(self.extent, self.before, strict=True))
        return replace(self, before=before, input=self.output, output=self.input)


def are_theirs(window: Window, batch: int, c: int, o: int, **shapes: Ints) -> bool:
    """Whether `image`, `filters` and `result` have the shapes of these windows and channels.

    Kernels in C++ must be sure of it. Depthwise filters have o / c for each channel.
    """
    theirs = {
        "image": (batch, *window.input, c),
        "filters": (*window.size, c, o),
        "depthwise": (*window.size, c, o // c if c else 0),
        "result": (batch, *window.output, o),
    }
    return all(theirs[name] == tuple(shape) for name, shape in shapes.items())


def native_sizes(window: Window, batch: int, c: int, o: int) -> Ints:
    """The numbers that kernels in C++ expect of windows over one or two axes."""
    missing = 2 - len(window.size)

    def two(values: Ints, absent: int = 1) -> Ints:
        return (absent,) * missing + values

    return (
        batch, *two(window.input), c, *two(window.output), o, *two(window.size),
        *two(window.stride), *two(window.dilation), *two(window.before, 0),
    )  # fmt: skip


def padded_size(
    size: int, window: int, stride: int, dilation: int, padding: str, pads: tuple[int, int] = (0, 0)
) -> tuple[int, int]:
    """Output size along one axis and the padding in front."""
    extent = (window - 1) * dilation + 1
    if padding == "SAME":
        output = -(-size // stride)
        return output, max((output - 1) * stride + extent - size, 0) // 2
    before, after = pads if padding == "EXPLICIT" else (0, 0)
    # Rounded toward zero: a window that overhangs by less than a stride leaves no output.
    return int((size + before + after - extent + stride) / stride), before


def window_of(
    input: Sequence[int],
    size: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    padding: str,
    pads: Sequence[tuple[int, int]] | None = None,
) -> Window:
    """The windows over spatial sizes `input`; InvalidArgumentError where none would fit."""
    output, before, steps = [], [], list(stride)
    for i, length in enumerate(input):
        edges = pads[i] if pads else (0, 0)
        out, front = padded_size(length, size[i], stride[i], dilation[i], padding, edges)
        if out < 0:
            raise InvalidArgumentError(
                None,
                None,
                f"Computed output size would be negative: {out} [input_size: {length}, "
                f"effective_filter_size: {(size[i] - 1) * dilation[i] + 1}, stride: {stride[i]}]",
            )
        output.append(out)
        before.append(front)
        if out <= 1:  # the step to a window that is not there may be of any length
            reach = max(length + front, (size[i] - 1) * dilation[i] + 1)
            steps[i] = min(steps[i], reach)
    shapes = (size, steps, dilation, before, input, output)
    return Window(*(tuple(int(v) for v in values) for values in shapes))


def fit(x: Array, window: Window, fill: float = 0) -> Array:
    """`x` with `fill` around it and an unread tail cut off: the windows fill it exactly."""
    from jax import lax

    edges = [(b, a, 0) for b, a in zip(window.before, window.after, strict=True)]
    if not any(b or a for b, a, _ in edges):
        return x
    return lax.pad(x, x.dtype.type(fill), [(0, 0, 0), *edges, (0, 0, 0)])


def taps(x: Array, window: Window, fill: float = 0) -> list[Array]:
    """Per tap, in row-major order, an array [batch, *output, channels]."""
    from jax import lax

    x = fit(x, window, fill)
    ones = (1,)
    found = []
    for tap in looking_up(window.taps):
        begin = [t * d for t, d in zip(tap, window.dilation, strict=True)]
        end = [b + (window.output[i] - 1) * window.stride[i] + 1 for i, b in enumerate(begin)]
        limits = (x.shape[0], *end, x.shape[-1])
        found.append(lax.slice(x, (0, *begin, 0), limits, ones + window.stride + ones))
    return found


def spread(
    arrays: Sequence[Array],
    window: Window,
    term: Callable[..., Array],
    fills: Sequence[float] | None = None,
) -> Array:
    """The contributions to every input position, [batch, *input, channels].

    `arrays` are [batch, *output, ...]; `term(tap, *pieces)` is the contribution of the windows in
    which a position lies under `tap`, given those windows' pieces of the arrays (`fills` where
    there is no such window).
    """
    import jax.numpy as jnp
    from jax import lax

    reach = [((k - 1) * d) // s for k, d, s in _sds(window)]
    length = [-(-(n + b) // s) for n, b, s in _nbs(window)]
    edges = [(reach[i], length[i] - window.output[i], 0) for i in window.axes]
    outer = ((0, 0, 0),)
    padded = [
        lax.pad(a, a.dtype.type(fills[n] if fills else 0), (*outer, *edges, *outer))
        for n, a in enumerate(arrays)
    ]

    def piece(a: Array, shift: Sequence[int]) -> Array:
        begin = [reach[i] - shift[i] for i in window.axes]
        end = [begin[i] + length[i] for i in window.axes]
        return lax.slice(a, (0, *begin, 0), (a.shape[0], *end, a.shape[-1]))

    by_remainder = _by_remainder(window)

    def phase(remainder: Ints) -> Array:
        """The input positions that lie `remainder` behind a multiple of the stride."""
        total = None
        for tap, shift in looking_up(by_remainder.get(remainder, ())):
            value = term(tap, *(piece(a, shift) for a in padded))
            total = value if total is None else total + value
        return total

    # No window reaches the phases behind these.
    used = tuple(map(min, window.stride, window.extent))
    phases = [phase(r) for r in itertools.product(*map(range, used))]
    some = next(p for p in phases if p is not None)
    phases = [jnp.zeros_like(some) if p is None else p for p in phases]
    whole = _interleave(phases, used, window.stride)
    end = [b + n for b, n in zip(window.before, window.input, strict=True)]
    return lax.slice(whole, (0, *window.before, 0), (whole.shape[0], *end, whole.shape[-1]))


def _by_remainder(window: Window) -> dict[Ints, list[tuple[Ints, Ints]]]:
    """The taps by how far behind a multiple of the stride they are, with that multiple."""
    found: dict[Ints, list[tuple[Ints, Ints]]] = {}
    for tap in window.taps:
        pairs = [divmod(t * d, s) for t, d, s in _tds(tap, window)]
        shift, remainder = zip(*pairs, strict=True)
        found.setdefault(remainder, []).append((tap, shift))
    return found


def _interleave(phases: list[Array], used: Ints, stride: Ints) -> Array:
    """Position p of phase r becomes position p * stride + r, axis by axis from the last.

    There are `used` phases of each axis; the others are zero.
    """
    import jax.numpy as jnp

    for axis in reversed(range(len(stride))):
        step = stride[axis]
        if step == 1:
            continue
        groups = [phases[i : i + used[axis]] for i in range(0, len(phases), used[axis])]
        at = axis + 1
        shape = groups[0][0].shape
        merged = (*shape[:at], shape[at] * step, *shape[at + 1 :])
        empty = [(0, step - used[axis] if i == at + 1 else 0) for i in range(len(shape) + 1)]
        phases = [jnp.pad(jnp.stack(group, at + 1), empty).reshape(merged) for group in groups]
    return phases[0]


def _sds(window: Window) -> Iterator[tuple[int, int, int]]:
    return zip(window.size, window.dilation, window.stride, strict=True)


def _tds(tap: Ints, window: Window) -> Iterator[tuple[int, int, int]]:
    return zip(tap, window.dilation, window.stride, strict=True)


def _nbs(window: Window) -> Iterator[tuple[int, int, int]]:
    return zip(window.input, window.before, window.stride, strict=True)
