"""`MultiRNNCell` as it was before TensorFlow 1.0: a cell that is given again has its own weights.

Cells then had no variables; each place in the stack made its own. Today a cell keeps those that it
makes first. Which of both a program means shows in what else it uses, at the latest when it runs
the stack.
"""

from __future__ import annotations

import copy
from typing import Any

import weft
from weft.legacy.old import notices

_Today: Any = weft.nn.rnn_cell.MultiRNNCell


class _AsBefore(type(_Today)):  # type: ignore[misc]
    """The stacks that others made are stacks, too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _Today)


class MultiRNNCell(_Today, metaclass=_AsBefore):  # type: ignore[misc]
    """Cells one upon another."""

    _cells: Any

    def __call__(self, *args: Any, **options: Any) -> Any:
        if not self.built and notices.is_before_1_0():
            self._cells = _each_its_own(self._cells)
        return super().__call__(*args, **options)


def _each_its_own(cells: Any) -> list[Any]:
    found: list[Any] = []
    for cell in cells:
        if any(cell is each for each in found) and not cell.built:
            notices.tell_of("tensorflow.nn.rnn_cell.MultiRNNCell", "of one cell again", "a copy")
            cell = _twin(cell)
        found.append(cell)
    return found


def _twin(cell: Any) -> Any:
    """Another cell like this one, and like those in it; tensors are the same."""
    twin = copy.copy(cell)
    for name, value in vars(cell).items():
        if isinstance(value, weft.nn.rnn_cell.RNNCell):
            vars(twin)[name] = _twin(value)
        elif isinstance(value, list | dict | set):
            vars(twin)[name] = copy.copy(value)
    return twin
