"""Batches of a function's results."""

from __future__ import annotations

from typing import Any

from weft.core.errors import OpError
from weft.graph import shape_fn as s
from weft.ops.dataset.batch import Batches
from weft.ops.dataset.functions import Mapping
from weft.ops.dataset.values import batch, shape_of
from weft.ops.kit.shared import invalid


class MappedBatches(Batches):
    """An error takes its whole batch along: elements belong to a batch before they are mapped."""

    input: Mapping

    def next(self) -> Any:
        if self.input.can_lift():
            try:
                return super().next()
            except OpError:
                self.input.backlog.clear()
                raise
        found, error = self.input.some(self.size)
        if error is not None:
            self._pass_over(self.size - len(found) - 1)
            raise error
        if self.is_short(len(found)):
            return None
        _check_shapes(found)
        return batch(found)

    def _pass_over(self, count: int) -> None:
        for _ in range(count):
            try:
                if self.input.next() is None:
                    return
            except OpError:
                continue


def _check_shapes(elements: list[Any]) -> None:
    for column in zip(*elements, strict=True):
        first = shape_of(column[0])
        for value in column:
            if shape_of(value) != first:
                raise invalid(
                    "Cannot add tensor to the batch: number of elements does not match. Shapes are:"
                    f" [tensor]: {s.show(shape_of(value))}, [batch]: {s.show(first)}"
                )
