"""The many options that recurrent cells share with the layers around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from weft.lib.keras import initializers
from weft.lib.keras.layers.settings import take
from weft.ops.array import join as array_join

INITIALIZERS = "kernel_initializer recurrent_initializer bias_initializer"
REGULARIZERS = "kernel_regularizer recurrent_regularizer bias_regularizer"
CONSTRAINTS = "kernel_constraint recurrent_constraint bias_constraint"
DROPOUTS = "dropout recurrent_dropout"


def picked(arguments: Mapping[str, Any], options: str) -> dict[str, Any]:
    """The arguments of a constructor that are options, by name."""
    return {name: arguments[name] for name in options.split()}


def keep(cell: Any, given: Mapping[str, Any]) -> None:
    """Makes every option an attribute."""
    take(cell, **given)
    cell.dropout = min(1.0, max(0.0, cell.dropout))
    cell.recurrent_dropout = min(1.0, max(0.0, cell.recurrent_dropout))


def delegate(layer_class: type, options: str) -> None:
    """Lets a layer answer for the options of its cell."""
    for name in options.split():
        if not hasattr(layer_class, name):
            setattr(layer_class, name, property(attrgetter("cell." + name)))


def add_lstm_bias(layer: Any, units: int, before: int = 1, after: int = 2) -> Any:
    """The bias of an LSTM: the forget gate, which has `before` others ahead of it, starts open."""

    start = layer.bias_initializer

    def initializer(_: Any, *args: Any, **kwargs: Any) -> Any:
        gates = ((start, before), (initializers.Ones(), 1), (start, after))
        parts = [fill((units * count,), *args, **kwargs) for fill, count in gates]
        return array_join.concat(parts, 0)

    return layer.add_weight(
        shape=(units * (before + 1 + after),),
        name="bias",
        initializer=initializer if layer.unit_forget_bias else start,
        regularizer=layer.bias_regularizer,
        constraint=layer.bias_constraint,
    )


def step_of_lstm(
    gate: Callable[[int], Any], memory: Any, opened: Any, activation: Any
) -> tuple[Any, list[Any]]:
    """The output of an LSTM and its states; the gates let in, keep, propose and give out."""
    let_in = opened(gate(0))
    memory = opened(gate(1)) * memory + let_in * activation(gate(2))
    output = opened(gate(3)) * activation(memory)
    return output, [output, memory]
