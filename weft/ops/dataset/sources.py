"""Datasets that begin a pipeline: tensors, their slices, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.ops.dataset.declare import STRUCTURE, dataset_op, scalar
from weft.ops.dataset.objects import INFINITE, Dataset, Element, Iterator, Keys, RowIterator, Rows
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import from_kernels
from weft.ops.kit import philox
from weft.ops.kit.shared import invalid

_TENSORS = "Toutput_types: list(type) >= 1, output_shapes: list(shape) >= 1"


class Tensors(Dataset):
    """One element."""

    def __init__(self, element: Element) -> None:
        self.element = element

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Listed([self.element])

    def cardinality(self) -> int:
        return 1


class Listed(Iterator):
    """The elements of a list."""

    state = ("position",)

    def __init__(self, elements: Sequence[Element]) -> None:
        self.elements, self.position = elements, 0

    def next(self) -> Any:
        i = self.position
        if i >= len(self.elements):
            return None
        self.position = i + 1
        return self.elements[i]


@dataset_op("TensorDataset", "components: list(Toutput_types)", _TENSORS, stateful=True)
def tensor_dataset(xp: Any, components: list[Any]) -> Dataset:
    return Tensors(from_kernels(components))


class Slices(Dataset):
    """The rows of arrays."""

    def __init__(self, rows: Rows) -> None:
        self.rows: Rows = rows

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        keys = Keys(self.rows.size)
        return keys if raw else RowIterator(self.rows, keys)

    def cardinality(self) -> int:
        return self.rows.size


@dataset_op("TensorSliceDataset", "components: list(Toutput_types)", _TENSORS, stateful=True)
def tensor_slice_dataset(xp: Any, components: list[Any]) -> Dataset:
    columns = [np.asarray(value) for value in components]
    if any(not column.ndim for column in columns):
        raise invalid("All components must be at least 1-dimensional")
    if any(len(column) != len(columns[0]) for column in columns):
        raise invalid("All components must have the same size in the 0th dimension")
    return Slices(Rows(columns))


# ---- numbers -------------------------------------------------------------------------------------


class Counted(Rows):
    """The numbers of a range, as rows."""

    def __init__(self, numbers: range) -> None:
        self.numbers, self.size = numbers, len(numbers)

    def row(self, i: int) -> Element:
        return (np.int64(self.numbers[i]),)

    def gather(self, indices: Sequence[int]) -> list[np.ndarray]:
        chosen = np.asarray(indices, np.int64)
        return [chosen * self.numbers.step + self.numbers.start]


@dataset_op("RangeDataset", "start: int64, stop: int64, step: int64", stateful=True)
def range_dataset(xp: Any, start: Any, stop: Any, step: Any) -> Dataset:
    if scalar(step, "step") == 0:
        raise invalid("step must be a non-zero integer.")
    return Slices(Counted(range(scalar(start, "start"), scalar(stop, "stop"), int(step))))


class Words:
    """A stream of 32-bit random words."""

    _BLOCKS = 256

    def __init__(self, seed: int, seed2: int) -> None:
        self.origin = philox.initial_state(seed, seed2)
        self.drawn = 0
        self._words: list[int] = []

    def next(self) -> int:
        if not self._words:
            self._refill()
        self.drawn += 1
        return self._words.pop()

    def take(self, count: int) -> list[int]:
        """The next `count` words."""
        while len(self._words) < count:
            later, self._words = self._words, []
            self.drawn += len(later)
            self._refill()
            self.drawn -= len(later)
            self._words += later
        found = self._words[: -count - 1 : -1]
        del self._words[-count:]
        self.drawn += count
        return found

    def _refill(self) -> None:
        """The words from `drawn` on, the next one at the end."""
        first, skip = divmod(self.drawn, 4)
        state = philox.advance(self.origin, first)
        blocks = np.stack(philox.blocks(np, state, self._BLOCKS), axis=1)
        self._words = blocks.ravel()[skip:][::-1].tolist()

    def seek(self, drawn: int) -> None:
        self.drawn, self._words = drawn, []


class Random(Dataset):
    """Numbers of 32 random bits."""

    def __init__(self, seeds: tuple[int, int]) -> None:
        self.seeds = seeds

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return RandomNumbers(self.seeds)

    def cardinality(self) -> int:
        return INFINITE


class RandomNumbers(Iterator):
    state = ("drawn",)

    def __init__(self, seeds: tuple[int, int]) -> None:
        self.words = Words(*seeds)

    @property
    def drawn(self) -> int:
        return self.words.drawn

    @drawn.setter
    def drawn(self, count: int) -> None:
        self.words.seek(count)

    def next(self) -> Any:
        return (np.int64(self.words.next()),)


@dataset_op(
    "RandomDataset", "seed: int64, seed2: int64", STRUCTURE, stateful=True, experimental=True
)
def random_dataset(xp: Any, seed: Any, seed2: Any) -> Dataset:
    return Random(chosen_seeds(seed, seed2))


def chosen_seeds(seed: Any, seed2: Any) -> tuple[int, int]:
    """The seeds of an operation; two zeros ask for unpredictable ones."""
    seeds = scalar(seed, "seed"), scalar(seed2, "seed2")
    if seeds != (0, 0):
        return seeds
    state = philox.initial_state(0, 0)
    return tuple(int(word) for word in (state[0] | 1, state[4]))  # type: ignore[return-value]


# ---- sparse tensors ------------------------------------------------------------------------------


class SparseSlices(Dataset):
    """The rows of a sparse tensor, each as indices, values and shape."""

    def __init__(self, indices: np.ndarray, values: np.ndarray, dense_shape: np.ndarray) -> None:
        self.indices, self.values, self.dense_shape = indices, values, dense_shape

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return SparseRows(self)

    def cardinality(self) -> int:
        return int(self.dense_shape[0])


class SparseRows(Iterator):
    state = ("position",)

    def __init__(self, source: SparseSlices) -> None:
        self.source, self.position = source, 0
        self.ends = np.searchsorted(
            source.indices[:, 0], np.arange(int(source.dense_shape[0]) + 1), side="left"
        )

    def next(self) -> Any:
        i, source = self.position, self.source
        if i >= int(source.dense_shape[0]):
            return None
        self.position = i + 1
        here = slice(self.ends[i], self.ends[i + 1])
        return source.indices[here, 1:], source.values[here], source.dense_shape[1:]


@dataset_op(
    "SparseTensorSliceDataset", "indices: int64, values: Tvalues, dense_shape: int64",
    "Tvalues: type", stateful=True,
)  # fmt: skip
def sparse_tensor_slice_dataset(xp: Any, indices: Any, values: Any, dense_shape: Any) -> Dataset:
    for value, rank, name in ((indices, 2, "indices"), (values, 1, "values")):
        if np.ndim(value) != rank:
            kind = "matrix" if rank == 2 else "vector"
            shown = s.show(np.shape(value))
            raise invalid(f"Input {name} should be a {kind} but received shape {shown}")
    if np.ndim(dense_shape) != 1:
        raise invalid(
            f"Input shape should be a vector but received shape {s.show(np.shape(dense_shape))}"
        )
    if len(indices) and (np.diff(indices[:, 0]) < 0).any():
        i = int(np.flatnonzero(np.diff(indices[:, 0]) < 0)[0]) + 1
        raise _unordered(indices, i)
    return SparseSlices(indices, values, dense_shape)


def _unordered(indices: np.ndarray, i: int) -> Exception:
    from weft.core.errors import UnimplementedError

    return UnimplementedError(
        None, None,
        "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered"
        " input is not currently supported.",
    )  # fmt: skip
