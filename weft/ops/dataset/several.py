"""Datasets made of several others: one after another, side by side, or as a selector says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from weft.ops.dataset.declare import INPUT, STRUCTURE, dataset_op
from weft.ops.dataset.objects import INFINITE, UNKNOWN, Dataset, Iterator, Reopening
from weft.ops.dataset.scope import Scope
from weft.ops.kit.shared import invalid


class Concatenate(Dataset):
    """One dataset after another."""

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.datasets = datasets
        self.waits = any(each.waits for each in datasets)

    def inputs(self) -> Sequence[Dataset]:
        return self.datasets

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Chain([partial(each.open, scope.at(i)) for i, each in enumerate(self.datasets)])

    def cardinality(self) -> int:
        sizes = [each.cardinality() for each in self.datasets]
        if INFINITE in sizes:
            return INFINITE
        return UNKNOWN if UNKNOWN in sizes else sum(sizes)


class Chain(Reopening):
    state = ("opened", "position")

    def __init__(self, makers: Sequence[Callable[[], Iterator]]) -> None:
        super().__init__(lambda: makers[self.position]())
        self.position, self.count = 0, len(makers)

    def next(self) -> Any:
        while self.position < self.count:
            element = (self.input or self.reopen()).next()
            if element is not None:
                return element
            self.drop()
            self.position += 1
        return None


@dataset_op("ConcatenateDataset", f"{INPUT}, another_dataset: variant")
def concatenate_dataset(xp: Any, input_dataset: Dataset, another_dataset: Dataset) -> Dataset:
    return Concatenate([input_dataset, another_dataset])


class Zip(Dataset):
    """Elements of several datasets side by side, until the first of them ends."""

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.datasets = datasets
        self.waits = any(each.waits for each in datasets)

    def inputs(self) -> Sequence[Dataset]:
        return self.datasets

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        inputs = [each.open(scope.at(i)) for i, each in enumerate(self.datasets)]
        return Zipped(inputs, self.waits)

    def cardinality(self) -> int:
        sizes = [each.cardinality() for each in self.datasets]
        if UNKNOWN in sizes:
            return UNKNOWN
        finite = [n for n in sizes if n != INFINITE]
        return min(finite) if finite else INFINITE


class Zipped(Iterator):
    state = ("over",)

    def __init__(self, inputs: Sequence[Iterator], waits: bool) -> None:
        self.inputs, self.waits, self.over = inputs, waits, False

    def parts(self) -> Sequence[Iterator | None]:
        return self.inputs

    def next(self) -> Any:
        if self.over:
            return None
        found: list[Any] = []
        for each in self.inputs:
            element = each.next()
            if element is None:
                self.over = True
                return None
            found += element
        return tuple(found)

    def batch(self, count: int) -> tuple[int, Sequence[np.ndarray]]:
        if self.over or self.waits:  # where it may wait, no more elements are made than are used
            return super().batch(count)
        found = [each.batch(count) for each in self.inputs]
        least = min(size for size, _ in found)
        self.over = least < count
        if not least:
            return 0, ()
        return least, [column[:least] for _, columns in found for column in columns]


@dataset_op("ZipDataset", "input_datasets: N * variant", f"{STRUCTURE}, N: int >= 1")
def zip_dataset(xp: Any, input_datasets: list[Dataset]) -> Dataset:
    return Zip(input_datasets)


class Directed(Dataset):
    """Elements of several datasets; another dataset says, by number, of which the next is."""

    def __init__(self, selector: Dataset, datasets: Sequence[Dataset]) -> None:
        self.selector, self.datasets = selector, datasets
        self.waits = selector.waits or any(each.waits for each in datasets)

    def inputs(self) -> Sequence[Dataset]:
        return (self.selector, *self.datasets)

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        inputs = [each.open(scope.at(i)) for i, each in enumerate(self.datasets)]
        return DirectedIterator(self.selector.open(scope), inputs)


class DirectedIterator(Iterator):
    """`chosen`: what the selector said that has not been followed yet."""

    state = ("ended", "chosen")

    def __init__(self, selector: Iterator, inputs: Sequence[Iterator]) -> None:
        self.selector, self.inputs = selector, inputs
        self.ended: list[bool] = [False] * len(inputs)
        self.chosen: list[int] = []

    def parts(self) -> Sequence[Iterator | None]:
        return (self.selector, *self.inputs)

    def next(self) -> Any:
        found = self.many(1)
        return found[0] if found else None

    def some(self, count: int) -> tuple[list[Any], BaseException | None]:
        found: list[Any] = []
        error: BaseException | None = None
        try:
            while len(found) < count and not all(self.ended):
                if not self.chosen:
                    if error is not None:
                        return found, error
                    # Each choice gives one element at most: no more are made than are followed.
                    rows, error = self.selector.some(count - len(found))
                    self.chosen = [int(np.asarray(row[0])) for row in reversed(rows)]
                    if not rows:
                        break
                self._follow(self.chosen.pop(), found)
        except Exception as failure:
            return found, failure
        # Once all inputs have ended, the selector is not asked any more.
        return found, None if all(self.ended) else error

    def _follow(self, i: int, found: list[Any]) -> None:
        if not 0 <= i < len(self.inputs):
            raise invalid(f"Selector index out of range: {i} >= {len(self.inputs)}")
        element = None if self.ended[i] else self.inputs[i].next()
        if element is None:
            self.ended[i] = True
        else:
            found.append(element)


@dataset_op(
    "DirectedInterleaveDataset",
    "selector_input_dataset: variant, data_input_datasets: N * variant",
    f"{STRUCTURE}, N: int >= 1", experimental=True,
)  # fmt: skip
def directed_interleave_dataset(
    xp: Any, selector_input_dataset: Dataset, data_input_datasets: list[Dataset]
) -> Dataset:
    return Directed(selector_input_dataset, data_input_datasets)
