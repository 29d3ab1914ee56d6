"""A function of every element, and batches of its results, as one dataset."""

from __future__ import annotations

from typing import Any

from weft.ops.dataset.batch import Batch
from weft.ops.dataset.declare import INPUT, STRUCTURE, dataset_op, scalar
from weft.ops.dataset.functions import CAPTURED, CAPTURED_TYPES, captured
from weft.ops.dataset.map import Map, checked_calls
from weft.ops.dataset.mapped_batches import MappedBatches
from weft.ops.dataset.objects import Dataset, Iterator
from weft.ops.dataset.scope import Scope
from weft.ops.kit.shared import invalid


class MapAndBatch(Batch):
    """Batches of what a `Map` gives."""

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return MappedBatches(self.input.open(scope), self.size, self.drop)


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
