"""Elements put together: batches, padded or not, sparse ones, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.ops.dataset.declare import INPUT, STRUCTURE, dataset_op, scalar
from weft.ops.dataset.objects import UNKNOWN, Dataset, Iterator, Over, Unary
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import from_kernels, rows_of, shape_of
from weft.ops.kit.shared import invalid


class Batching(Unary):
    """A dataset of batches."""

    def __init__(self, input: Dataset, size: Any, drop: bool) -> None:
        super().__init__(input)
        self.size, self.drop = scalar(size, "batch_size"), bool(drop)
        if self.size <= 0:
            raise invalid("Batch size must be greater than zero.")

    def cardinality(self) -> int:
        n = self.input.cardinality()
        if n < 0:
            return n
        return n // self.size + int(not self.drop and n % self.size > 0)


class Batch(Batching):
    """Elements along a new first axis."""

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        if scope.batches_results:
            found = self.input.in_batches(scope, self.size, self.drop)
            if found is not None:
                return found
        return Batches(self.input.open(scope), self.size, self.drop)


class Batches(Over):
    def __init__(self, input: Iterator, size: int, drop: bool) -> None:
        super().__init__(input)
        self.size, self.drop = size, drop

    def next(self) -> Any:
        count, columns = self.input.batch(self.size)
        return None if self.is_short(count) else tuple(columns)

    def is_short(self, count: int) -> bool:
        """Whether so many elements make no batch."""
        return not count or (self.drop and count < self.size)


class Joining(Batches):
    """Batches that are not just elements along a first axis."""

    def next(self) -> Any:
        elements = self.input.many(self.size)
        return None if self.is_short(len(elements)) else self.joined(elements)

    def joined(self, elements: list[Any]) -> tuple[Any, ...]:
        raise NotImplementedError


@dataset_op("BatchDataset", f"{INPUT}, batch_size: int64")
def batch_dataset(xp: Any, input_dataset: Dataset, batch_size: Any) -> Dataset:
    return Batch(input_dataset, batch_size, False)


@dataset_op(
    "BatchDatasetV2", f"{INPUT}, batch_size: int64, drop_remainder: bool",
    f"parallel_copy: bool = false, {STRUCTURE}",
)  # fmt: skip
def batch_dataset_v2(
    xp: Any, input_dataset: Dataset, batch_size: Any, drop_remainder: Any
) -> Dataset:
    return Batch(input_dataset, batch_size, drop_remainder)


# ---- padded --------------------------------------------------------------------------------------


class PaddedBatch(Batching):
    """Elements of different sizes, filled up to `shapes`, or to the largest of a batch."""

    def __init__(
        self, input: Dataset, size: Any, drop: bool, shapes: Sequence[Any], fills: Sequence[Any]
    ) -> None:
        super().__init__(input, size, drop)
        self.shapes_to = [[int(n) for n in np.ravel(shape)] for shape in shapes]
        self.fills = from_kernels(fills)

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return PaddedBatches(self.input.open(scope), self)


class PaddedBatches(Joining):
    def __init__(self, input: Iterator, dataset: PaddedBatch) -> None:
        super().__init__(input, dataset.size, dataset.drop)
        self.shapes, self.fills = dataset.shapes_to, dataset.fills

    def joined(self, elements: list[Any]) -> tuple[Any, ...]:
        columns = zip(*elements, strict=True)
        return tuple(
            [
                padded(values, i, shape, fill)
                for i, (values, shape, fill) in enumerate(
                    zip(columns, self.shapes, self.fills, strict=True)
                )
            ]
        )


def padded(values: Sequence[Any], component: int, shape: Sequence[int], fill: Any) -> np.ndarray:
    shapes = [shape_of(value) for value in values]
    for found in shapes:
        if len(found) != len(shape):
            raise invalid(
                "All elements in a batch must have the same rank as the padded shape for component"
                f"{component}: expected rank {len(shape)} but got element with rank {len(found)}"
            )
    sizes = [_extent(n, [f[i] for f in shapes]) for i, n in enumerate(shape)]
    first = values[0]
    dtype = first.dtype if isinstance(first, (np.ndarray, np.generic)) else np.dtype(object)
    out = np.empty((len(values), *sizes), dtype)
    if any(tuple(sizes) != found for found in shapes):
        out.fill(fill)
    for i, (value, found) in enumerate(zip(values, shapes, strict=True)):
        place: tuple[Any, ...] = (i, *[slice(n) for n in found])
        out[place] = value
    return out


def _extent(wanted: int, found: list[int]) -> int:
    largest = max(found)
    if wanted < 0:
        return largest
    if largest > wanted:
        raise errors.DataLossError(
            None, None, "Attempted to pad to a smaller size than the input element."
        )
    return wanted


_PADDED = "padded_shapes: N * int64, padding_values: list(Toutput_types)"
_PADDED_TYPES = "Toutput_types: list(type) >= 1, output_shapes: list(shape) >= 1, N: int >= 1"


def _check_fills(fills: Sequence[Any]) -> None:
    if any(np.ndim(fill) for fill in fills):
        raise invalid("All padding values must be scalars")


@dataset_op("PaddedBatchDataset", f"{INPUT}, batch_size: int64, {_PADDED}", _PADDED_TYPES)
def padded_batch_dataset(
    xp: Any, input_dataset: Dataset, batch_size: Any, padded_shapes: list[Any],
    padding_values: list[Any],
) -> Dataset:  # fmt: skip
    _check_fills(padding_values)
    return PaddedBatch(input_dataset, batch_size, False, padded_shapes, padding_values)


@dataset_op(
    "PaddedBatchDatasetV2", f"{INPUT}, batch_size: int64, {_PADDED}, drop_remainder: bool",
    f"parallel_copy: bool = false, {_PADDED_TYPES}",
)  # fmt: skip
def padded_batch_dataset_v2(
    xp: Any, input_dataset: Dataset, batch_size: Any, padded_shapes: list[Any],
    padding_values: list[Any], drop_remainder: Any,
) -> Dataset:  # fmt: skip
    _check_fills(padding_values)
    return PaddedBatch(input_dataset, batch_size, drop_remainder, padded_shapes, padding_values)


# ---- sparse --------------------------------------------------------------------------------------


class SparseBatch(Batching):
    """Dense elements of different sizes as one sparse tensor (three variants)."""

    def __init__(self, input: Dataset, size: Any, row_shape: Any) -> None:
        super().__init__(input, size, False)
        if np.ndim(row_shape) != 1:
            raise invalid("row_shape must be a vector")
        self.row_shape = [int(n) for n in row_shape]

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return SparseBatches(self.input.open(scope), self)


class SparseBatches(Joining):
    def __init__(self, input: Iterator, dataset: SparseBatch) -> None:
        super().__init__(input, dataset.size, dataset.drop)
        self.row_shape = dataset.row_shape

    def joined(self, elements: list[Any]) -> tuple[Any, ...]:
        values = [np.asarray(element[0]) for element in elements]
        for value in values:
            self._check(value.shape)
        largest = np.max([value.shape for value in values], axis=0)
        pairs = zip(self.row_shape, largest, strict=True)
        sizes = [n if n >= 0 else int(most) for n, most in pairs]
        indices = [_indices(i, value) for i, value in enumerate(values)]
        parts = np.empty(3, object)
        parts[0] = np.concatenate(indices).astype(np.int64)
        parts[1] = np.concatenate([value.ravel() for value in values])
        parts[2] = np.array([len(values), *sizes], np.int64)
        return (parts,)

    def _check(self, shape: tuple[int, ...]) -> None:
        if len(shape) != len(self.row_shape):
            raise invalid(
                f"Input element had shape ({s.show(shape)}) that is incompatible with the row shape"
                f" ({s.show(tuple(None if n < 0 else n for n in self.row_shape))})."
            )
        for n, most in zip(shape, self.row_shape, strict=True):
            if 0 <= most < n:
                raise errors.DataLossError(
                    None, None,
                    f"Input element had shape ({s.show(shape)}) that is larger than the row shape"
                    f" ({s.show(tuple(None if m < 0 else m for m in self.row_shape))}).",
                )  # fmt: skip


def _indices(i: int, value: np.ndarray) -> np.ndarray:
    """The indices of the elements of row `i`, in order."""
    places = np.unravel_index(np.arange(value.size), value.shape)
    return np.column_stack([np.full(value.size, i), *places])


@dataset_op(
    "DenseToSparseBatchDataset", f"{INPUT}, batch_size: int64, row_shape: int64",
    experimental=True,
)  # fmt: skip
def dense_to_sparse_batch_dataset(
    xp: Any, input_dataset: Dataset, batch_size: Any, row_shape: Any
) -> Dataset:
    return SparseBatch(input_dataset, batch_size, row_shape)


# ---- and back ------------------------------------------------------------------------------------


class Unbatch(Unary):
    """The rows of each element, one by one."""

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Unbatched(self.input.open(scope))

    def cardinality(self) -> int:
        return UNKNOWN


class Unbatched(Over):
    state = ("columns", "position", "size")

    def __init__(self, input: Iterator) -> None:
        super().__init__(input)
        self.columns: list[Any] = []
        self.position = self.size = 0

    def next(self) -> Any:
        while self.position >= self.size:
            element = self.input.next()
            if element is None:
                return None
            self._begin(element)
        i, self.position = self.position, self.position + 1
        return tuple([column[i] for column in self.columns])

    def _begin(self, element: Sequence[Any]) -> None:
        sizes = [shape_of(value)[:1] for value in element]
        for i, size in enumerate(sizes):
            if size != sizes[0]:
                raise invalid(
                    f"Input element must have the same batch size in each component. Component 0"
                    f" had size {(*sizes[0], 0)[0]} but component {i} had size, {(*size, 0)[0]}."
                )
        self.columns = [rows_of(value) for value in element]
        self.position, self.size = 0, sizes[0][0]


@dataset_op("UnbatchDataset", INPUT, experimental=True)
def unbatch_dataset(xp: Any, input_dataset: Dataset) -> Dataset:
    return Unbatch(input_dataset)
