"""A function of every element, and batches of its results, as one dataset."""

from __future__ import annotations

from typing import Any

from weft.core.errors import OpError
from weft.graph import shape_fn as s
from weft.ops.dataset.batch import Batch, Batches
from weft.ops.dataset.declare import INPUT, STRUCTURE, dataset_op, scalar
from weft.ops.dataset.functions import CAPTURED, CAPTURED_TYPES, Mapping, captured
from weft.ops.dataset.map import Map, checked_calls
from weft.ops.dataset.objects import Dataset, Iterator
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import batch, shape_of
from weft.ops.kit.shared import invalid


class MapAndBatch(Batch):
    """Batches of what a `Map` gives."""

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return MappedBatches(self.input.open(scope), self.size, self.drop)


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


@dataset_op(
    "MapAndBatchDataset",
    f"{INPUT}, {CAPTURED}, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool",
    f"f: func, {CAPTURED_TYPES}, {STRUCTURE}, preserve_cardinality: bool = false",
    experimental=True,
)
def map_and_batch_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any], batch_size: Any,
    num_parallel_calls: Any, drop_remainder: Any, *, f: Any, preserve_cardinality: bool,
) -> Dataset:  # fmt: skip
    if scalar(batch_size, "batch_size") <= 0:
        raise invalid("batch_size must be greater than zero.")
    calls = checked_calls(num_parallel_calls)
    function = captured(ctx, f, other_arguments)
    mapped = Map(input_dataset, function, preserve_cardinality, calls)
    return MapAndBatch(mapped, batch_size, drop_remainder)
