"""Batches of serialized Examples -> the features in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.ops.dataset.declare import INPUT, STRUCTURE, dataset_op
from weft.ops.dataset.map import checked_calls
from weft.ops.dataset.objects import Dataset, Iterator, Over, Unary
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import cell
from weft.ops.parsing.example_nodes import parse_example_


class ParseExample(Unary):
    def __init__(self, input: Dataset, defaults: Sequence[Any], attrs: dict[str, Any]) -> None:
        super().__init__(input)
        self.defaults, self.attrs = defaults, attrs

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Parsed(self.input.open(scope), self)


class Parsed(Over):
    """The features in the order of their names."""

    def __init__(self, input: Iterator, dataset: ParseExample) -> None:
        super().__init__(input)
        self.defaults, self.attrs = dataset.defaults, dataset.attrs
        self.sparse, self.dense = self.attrs["sparse_keys"], self.attrs["dense_keys"]
        self.sparse_cells = [cell(key.encode()) for key in self.sparse]
        self.dense_cells = [cell(key.encode()) for key in self.dense]
        keys = [*self.dense, *self.sparse]
        self.order = sorted(range(len(keys)), key=keys.__getitem__)
        self.names = np.empty(0, object)

    def next(self) -> Any:
        element = self.input.next()
        if element is None:
            return None
        found = parse_example_.kernel(  # type: ignore[misc]
            np, element[0], self.names, self.sparse_cells, self.dense_cells, self.defaults,
            sparse_types=self.attrs["sparse_types"], Tdense=self.attrs["Tdense"],
            dense_shapes=self.attrs["dense_shapes"],
        )  # fmt: skip
        count = len(self.sparse)
        columns = [*found[3 * count :], *(self._sparse(found, i, count) for i in range(count))]
        return tuple([columns[i] for i in self.order])

    @staticmethod
    def _sparse(found: Sequence[Any], i: int, count: int) -> np.ndarray:
        parts = np.empty(3, object)
        for j in range(3):
            parts[j] = found[j * count + i]
        return parts


_KINDS = "list({float, int64, string})"


@dataset_op(
    "ParseExampleDataset",
    f"{INPUT}, num_parallel_calls: int64, dense_defaults: list(Tdense)",
    "sparse_keys: list(string) >= 0, dense_keys: list(string) >= 0,"
    f" sparse_types: {_KINDS} >= 0, Tdense: {_KINDS} >= 0, dense_shapes: list(shape) >= 0,"
    f" {STRUCTURE}, sloppy: bool = false",
    experimental=True,
)  # fmt: skip
def parse_example_dataset(
    xp: Any, input_dataset: Dataset, num_parallel_calls: Any, dense_defaults: list[Any], *,
    sparse_keys: Any, dense_keys: Any, sparse_types: Any, Tdense: Any, dense_shapes: Any,
) -> Dataset:  # fmt: skip
    checked_calls(num_parallel_calls)
    attrs = {
        "sparse_keys": sparse_keys, "dense_keys": dense_keys, "sparse_types": sparse_types,
        "Tdense": Tdense, "dense_shapes": dense_shapes,
    }  # fmt: skip
    return ParseExample(input_dataset, dense_defaults, attrs)
