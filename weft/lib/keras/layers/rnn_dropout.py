"""Dropout in recurrent cells: one noise for all steps of a sequence."""

from __future__ import annotations

from typing import Any

from weft.lib.keras import backend as K
from weft.ops.array import fill as array_fill


class DropoutRNNCellMixin:
    """Masks for inputs and states, made at the first step and used at all others.

    A cell has the rates `dropout` and `recurrent_dropout`; code that applies it to a sequence
    calls the two `reset` methods before.
    """

    dropout: float
    recurrent_dropout: float

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._dropout_mask: Any = None
        self._recurrent_dropout_mask: Any = None
        super().__init__(*args, **kwargs)

    def reset_dropout_mask(self) -> None:
        """The next sequence gets other noise on its inputs."""
        self._dropout_mask = None

    def reset_recurrent_dropout_mask(self) -> None:
        """The next sequence gets other noise on its states."""
        self._recurrent_dropout_mask = None

    def get_dropout_mask_for_cell(self, inputs: Any, training: Any, count: int = 1) -> Any:
        """One mask or `count` of them, like `inputs`; None without dropout."""
        if self.dropout == 0:
            return None
        if self._dropout_mask is None:
            self._dropout_mask = _masks(inputs, self.dropout, training, count)
        return self._dropout_mask

    def get_recurrent_dropout_mask_for_cell(
        self, inputs: Any, training: Any, count: int = 1
    ) -> Any:
        """One mask or `count` of them, like the state `inputs`; None without dropout."""
        if self.recurrent_dropout == 0:
            return None
        if self._recurrent_dropout_mask is None:
            self._recurrent_dropout_mask = _masks(inputs, self.recurrent_dropout, training, count)
        return self._recurrent_dropout_mask

    def _gate_masks(self, inputs: Any, state: Any, training: Any, count: int) -> tuple[Any, Any]:
        """Masks for the gates of inputs and state; a rate of one switches them off."""
        of_inputs = self.get_dropout_mask_for_cell(inputs, training, count)
        of_state = self.get_recurrent_dropout_mask_for_cell(state, training, count)
        return (
            of_inputs if self.dropout < 1 else None,
            of_state if self.recurrent_dropout < 1 else None,
        )


def _masks(x: Any, rate: float, training: Any, count: int) -> Any:
    ones = array_fill.ones_like(x)
    made = [
        K.in_train_phase(lambda: K.dropout(ones, rate), ones, training=training)
        for _ in range(count)
    ]
    return made if count > 1 else made[0]


def reset_masks(cell: Any) -> None:
    """Forgets the noise of `cell`, or of the cells stacked in it."""
    for each in getattr(cell, "cells", [cell]):
        if isinstance(each, DropoutRNNCellMixin):
            each.reset_dropout_mask()
            each.reset_recurrent_dropout_mask()
