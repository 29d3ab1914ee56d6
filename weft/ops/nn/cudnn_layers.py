"""Stacked recurrent layers whose weights are one vector, laid out as NVIDIA's library has them.

First come the matrices of all layers, then the biases of all: for each layer and direction those of
the gates on its inputs, then those on its state. Gates are, in order: of an LSTM input, forget, new
value and output; of a GRU reset, update and new value.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from weft.core.errors import UnimplementedError
from weft.ops.kit.shared import invalid

Array = Any
GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


@dataclass(frozen=True)
class Layers:
    """How many layers there are, and how large."""

    mode: str
    directions: int
    count: int
    units: int
    depth: int

    @staticmethod
    def of(attrs: dict[str, Any], count: int, units: int, depth: int) -> Layers:
        if count <= 0 or units <= 0 or depth < 0:
            raise invalid(f"Recurrent layers of sizes {count}, {units} and {depth}")
        _check_supported(attrs, units, depth)
        directions = 2 if attrs["direction"] == "bidirectional" else 1
        return Layers(attrs["rnn_mode"], directions, count, units, depth)

    def input_size(self, layer: int) -> int:
        return self.depth if layer == 0 else self.directions * self.units

    def weight_shapes(self) -> list[tuple[int, int]]:
        found = []
        for place in range(self.count * self.directions):
            own = self.input_size(place // self.directions)
            for size in (own, self.units):
                found += [(self.units, size)] * GATES[self.mode]
        return found

    def bias_shapes(self) -> list[tuple[int]]:
        return [(self.units,)] * len(self.weight_shapes())

    @property
    def size(self) -> int:
        inputs = self.depth + (self.count - 1) * self.input_size(1)
        gates = GATES[self.mode] * self.directions * self.units
        return gates * (inputs + self.count * (self.units + 2))

    def split(self, xp: Any, params: Array) -> tuple[list[Array], list[Array]]:
        """Matrices and biases out of the vector."""
        if params.size != self.size:
            raise invalid(f"Expected {self.size} parameters of the layers, got {params.size}")
        shapes: list[Any] = [*self.weight_shapes(), *self.bias_shapes()]
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)]).tolist()
        parts = [
            xp.reshape(params[begin:end], shape)
            for (begin, end), shape in zip(pairwise(ends), shapes, strict=True)
        ]
        half = len(parts) // 2
        return parts[:half], parts[half:]


def _check_supported(attrs: dict[str, Any], units: int, depth: int) -> None:
    skips = attrs["input_mode"] == "skip_input"
    if skips or (attrs["input_mode"] == "auto_select" and units == depth):
        raise UnimplementedError(None, None, "Recurrent layers without weights on their inputs.")
    if attrs.get("num_proj", 0) not in (0, units):
        raise UnimplementedError(None, None, "Recurrent layers with a projection of their outputs.")


# ---- one step ------------------------------------------------------------------------------------


def _sigmoid(x: Array) -> Array:
    import jax

    return jax.nn.sigmoid(x)


def _step(xp: Any, mode: str, from_input: Array, h: Array, c: Array, u: Array, b: Array) -> Any:
    """The new (h, c); `from_input` and `h @ u + b` have the gates side by side."""
    from_state = h @ u + b
    if mode == "gru":
        (xr, xz, xn), (hr, hz, hn) = (xp.split(x, 3, -1) for x in (from_input, from_state))
        z, new = _sigmoid(xz + hz), xp.tanh(xn + _sigmoid(xr + hr) * hn)
        return (1 - z) * new + z * h, c
    both = from_input + from_state
    if mode == "lstm":
        i, f, g, o = xp.split(both, 4, -1)
        c = _sigmoid(f) * c + _sigmoid(i) * xp.tanh(g)
        return _sigmoid(o) * xp.tanh(c), c
    return (xp.tanh(both) if mode == "rnn_tanh" else xp.maximum(both, 0)), c


def _run_layer(
    xp: Any, mode: str, x: Array, state: Any, weights: Any, lengths: Array | None, back: bool
) -> Any:
    """(outputs, h, c) of one layer in one direction; rows past their length change nothing."""
    from jax import lax

    w, u, bw, bu = weights
    from_input = x @ w + bw
    times = xp.arange(x.shape[0])

    def step(carry: Any, now: Any) -> Any:
        t, given = now
        h, c = _step(xp, mode, given, carry[0], carry[1], u, bu)
        if lengths is None:
            return (h, c), h
        there = (t < lengths)[:, None]
        kept = xp.where(there, h, carry[0]), xp.where(there, c, carry[1])
        return kept, xp.where(there, h, xp.zeros_like(h))

    (h, c), out = lax.scan(step, state, (times, from_input), reverse=back)
    return out, h, c


def _gathered(xp: Any, layers: Layers, place: int, matrices: Any, biases: Any) -> Any:
    """The weights of one layer in one direction, with its gates side by side."""
    gates = GATES[layers.mode]
    first = place * 2 * gates
    of_input, of_state = slice(first, first + gates), slice(first + gates, first + 2 * gates)
    return (
        xp.concatenate(matrices[of_input]).T, xp.concatenate(matrices[of_state]).T,
        xp.concatenate(biases[of_input]), xp.concatenate(biases[of_state]),
    )  # fmt: skip


def run(
    xp: Any, layers: Layers, x: Array, h: Array, c: Array, params: Array, lengths: Array | None
) -> tuple[Array, Array, Array]:
    """(outputs, h, c) of all layers; x is [time, batch, depth], states [layers, batch, units]."""
    matrices, biases = layers.split(xp, params)
    ends = []
    for layer in range(layers.count):
        outputs = []
        for direction in range(layers.directions):
            place = layer * layers.directions + direction
            weights = _gathered(xp, layers, place, matrices, biases)
            state = h[place], (c[place] if layers.mode == "lstm" else xp.zeros_like(h[place]))
            out, *end = _run_layer(xp, layers.mode, x, state, weights, lengths, direction == 1)
            outputs.append(out)
            ends.append(end)
        x = xp.concatenate(outputs, -1)
    new_h, new_c = (xp.stack(each) for each in zip(*ends, strict=True))
    return x, new_h, new_c if layers.mode == "lstm" else xp.zeros((), x.dtype)
