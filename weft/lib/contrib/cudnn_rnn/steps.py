"""One step of each kind of recurrent layer."""

from __future__ import annotations

from typing import Any

from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.math.matmul import matmul

Weights = tuple[Any, Any]  # kernel and bias


def projected(x: Any, weights: Weights) -> Tensor:
    made: Tensor = raw.BiasAdd(matmul(x, weights[0]), weights[1])
    return made


def lstm_step(x: Any, c: Any, h: Any, weights: Weights) -> tuple[Tensor, Tensor]:
    """The new (c, h). Gates come in the order input, new value, forget, output."""
    gates = projected(array.concat([x, h], 1), weights)
    i, j, f, o = array.split(gates, 4, axis=1)
    new_c = raw.Sigmoid(f) * c + raw.Sigmoid(i) * raw.Tanh(j)
    return new_c, raw.Sigmoid(o) * raw.Tanh(new_c)


def gru_step(x: Any, h: Any, gates: Weights, of_input: Weights, of_state: Weights) -> Tensor:
    """The new state."""
    both = raw.Sigmoid(projected(array.concat([x, h], 1), gates))
    r, u = array.split(both, 2, axis=1)
    candidate = raw.Tanh(projected(x, of_input) + r * projected(h, of_state))
    made: Tensor = (1 - u) * candidate + u * h
    return made
