"""Functions that make a dataset of each element: flat_map and interleave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core.errors import OpError
from weft.ops.dataset.declare import DETERMINISTIC, INPUT, STRUCTURE, dataset_op, scalar
from weft.ops.dataset.functions import (
    CAPTURED,
    CAPTURED_TYPES,
    Calling,
    CallingIterator,
    Captured,
    captured,
)
from weft.ops.dataset.map import checked_calls
from weft.ops.dataset.objects import UNKNOWN, Dataset, Element, Iterator
from weft.ops.dataset.prefetch import Producer
from weft.ops.dataset.scope import Scope
from weft.ops.kit.shared import invalid

_CALLS = f"f: func, {CAPTURED_TYPES}, {STRUCTURE}"


class Flattening(Calling):
    """Calls a function that gives datasets."""

    def __init__(self, input: Dataset, function: Captured) -> None:
        super().__init__(input, function)
        self.waits = self.waits or not function.opens_quickly

    def cardinality(self) -> int:
        return UNKNOWN


class Opening(CallingIterator):
    """Has datasets made and opens them."""

    def dataset(self, element: Element) -> Dataset:
        found = self.function(element)
        if len(found) != 1 or not isinstance(found[0], Dataset):
            raise invalid("Function must return a single scalar of dtype DT_VARIANT.")
        return found[0]

    def open(self, element: Element, number: int) -> Iterator:
        return self.dataset(element).open(self.scope.at("each", number))


class FlatMap(Flattening):
    """The elements of one dataset after the other."""

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return FlatMapped(self.input.open(scope.at("flattened")), self.function, scope)


class FlatMapped(Opening):
    state = ("element", "count")

    def __init__(self, input: Iterator, function: Captured, scope: Scope) -> None:
        super().__init__(input, function, scope)
        self.element: Any = None
        self.count = 0
        self.current: Iterator | None = None

    def parts(self) -> Sequence[Iterator | None]:
        return self.input, self.current

    def restore_parts(self, saved: Sequence[Any]) -> None:
        self.input.restore(saved[0])
        self.current = None
        if saved[1] is not None:
            self.current = self.open(self.element, self.count)
            self.current.restore(saved[1])

    def next(self) -> Any:
        while True:
            if self.current is None:
                self.element = self.input.next()
                if self.element is None:
                    return None
                self.count += 1
                self.current = self.open(self.element, self.count)
            found = self.current.next()
            if found is not None:
                return found
            self.current.close()
            self.current = None


@dataset_op("FlatMapDataset", f"{INPUT}, {CAPTURED}", _CALLS)
def flat_map_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any], *, f: Any
) -> Dataset:
    return FlatMap(input_dataset, captured(ctx, f, other_arguments))


# ---- interleave ----------------------------------------------------------------------------------


class Interleave(Flattening):
    """Elements of `cycle` datasets in turn, `block` of each at a time.

    `ahead`: how many elements of each are fetched before they are asked for, by threads (where
    they are not there at once).
    `numbered`: each dataset is at a place of its own, not at that of its turn.
    """

    def __init__(
        self, input: Dataset, function: Captured, cycle: int, block: int, ahead: int = 0,
        numbered: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(input, function)
        if cycle <= 0:
            raise invalid("cycle_length must be greater than zero.")
        if block <= 0:
            raise invalid("block_length must be greater than zero.")
        self.cycle, self.block, self.ahead, self.numbered = cycle, block, ahead, numbered

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Interleaved(self, self.input.open(scope.at("flattened")), self.function, scope)


class Failed(Iterator):
    """An error that has its turn."""

    def __init__(self, error: OpError) -> None:
        self.error: OpError | None = error

    def next(self) -> Any:
        error, self.error = self.error, None
        if error is not None:
            raise error
        return None


class Interleaved(Opening):
    state = ("elements", "at", "taken", "ended", "places", "count")

    def __init__(
        self, dataset: Interleave, input: Iterator, function: Captured, scope: Scope
    ) -> None:
        super().__init__(input, function, scope)
        self.cycle, self.block, self.ahead = dataset.cycle, dataset.block, dataset.ahead
        self.iterators: list[Iterator | None] = [None] * self.cycle
        self.elements: list[Any] = [None] * self.cycle
        self.numbered, self.places, self.count = dataset.numbered, list(range(self.cycle)), 0
        self.at = self.taken = 0
        self.ended = False

    def parts(self) -> Sequence[Iterator | None]:
        return self.input, *self.iterators

    def restore_parts(self, saved: Sequence[Any]) -> None:
        self.input.restore(saved[0])
        self.iterators = [None] * self.cycle
        for i, state in enumerate(saved[1:]):
            if state is not None:
                self.iterators[i] = self.open(self.elements[i], self.places[i])
                self.iterators[i].restore(state)  # type: ignore[union-attr]

    def open(self, element: Element, number: int) -> Iterator:
        if not self.ahead:
            return super().open(element, number)
        dataset, scope = self.dataset(element), self.scope.at("each", number)
        return Producer(
            lambda: dataset.open(scope), self.ahead, self.scope, direct=not dataset.waits
        )

    def next(self) -> Any:
        while not self.ended or any(each is not None for each in self.iterators):
            current = self.iterators[self.at]
            if current is not None:
                found = current.next()
                if found is not None:
                    self._step()
                    return found
                current.close()
                self.iterators[self.at] = self.elements[self.at] = None
                self._turn()
            elif not self.ended:
                self._fill_slot()
            else:
                self._turn()
        return None

    def _fill_slot(self) -> None:
        element = self.input.next()
        if element is None:
            self.ended = True
            return
        self.elements[self.at] = element
        self.iterators[self.at] = self.open(element, self._place(self.at))
        if self.ahead:
            self._open_others()

    def _place(self, i: int) -> int:
        """Where the dataset that begins now is opened."""
        if self.numbered:
            self.places[i] = self.count
            self.count += 1
        return self.places[i]

    def _open_others(self) -> None:
        """Begins to read from the datasets whose turn comes next, all at once."""
        for i in [*range(self.at + 1, self.cycle), *range(self.at)]:
            if self.ended or self.iterators[i] is not None:
                continue
            try:
                element = self.input.next()
                if element is None:
                    self.ended = True
                    return
                self.elements[i] = element
                self.iterators[i] = self.open(element, self._place(i))
            except OpError as error:
                self.iterators[i] = Failed(error)

    def _step(self) -> None:
        self.taken += 1
        if self.taken == self.block:
            self._turn()

    def _turn(self) -> None:
        self.taken, self.at = 0, (self.at + 1) % self.cycle


@dataset_op(
    "InterleaveDataset", f"{INPUT}, {CAPTURED}, cycle_length: int64, block_length: int64", _CALLS
)
def interleave_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any], cycle_length: Any,
    block_length: Any, *, f: Any,
) -> Dataset:  # fmt: skip
    cycle, block = scalar(cycle_length, "cycle_length"), scalar(block_length, "block_length")
    return Interleave(input_dataset, captured(ctx, f, other_arguments), cycle, block)


@dataset_op(
    "ParallelInterleaveDatasetV2",
    f"{INPUT}, {CAPTURED}, cycle_length: int64, block_length: int64, num_parallel_calls: int64",
    f"{_CALLS}, sloppy: bool = false",
)
def parallel_interleave_dataset_v2(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any], cycle_length: Any,
    block_length: Any, num_parallel_calls: Any, *, f: Any,
) -> Dataset:  # fmt: skip
    calls = checked_calls(num_parallel_calls)
    cycle, block = scalar(cycle_length, "cycle_length"), scalar(block_length, "block_length")
    if calls > cycle and scalar(num_parallel_calls, "num_parallel_calls") != -1:
        raise invalid("num_parallel_calls must less than or equal to cycle_length.")
    function = captured(ctx, f, other_arguments)
    return Interleave(input_dataset, function, cycle, block, _ahead(calls, block), numbered=True)


@dataset_op(
    "ParallelInterleaveDatasetV3",
    f"{INPUT}, {CAPTURED}, cycle_length: int64, block_length: int64, num_parallel_calls: int64",
    f"{_CALLS}, {DETERMINISTIC}",
)
def parallel_interleave_dataset_v3(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any], cycle_length: Any,
    block_length: Any, num_parallel_calls: Any, *, f: Any,
) -> Dataset:  # fmt: skip
    """For graphs of newer clients, as V4, which says how much is read ahead, too."""
    calls = checked_calls(num_parallel_calls)
    cycle, block = _cycle(cycle_length), scalar(block_length, "block_length")
    function = captured(ctx, f, other_arguments)
    return Interleave(input_dataset, function, cycle, block, _ahead(calls, block), numbered=True)


@dataset_op(
    "ParallelInterleaveDatasetV4",
    f"{INPUT}, {CAPTURED}, cycle_length: int64, block_length: int64,"
    " buffer_output_elements: int64, prefetch_input_elements: int64, num_parallel_calls: int64",
    f"{_CALLS}, {DETERMINISTIC}",
)
def parallel_interleave_dataset_v4(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any], cycle_length: Any,
    block_length: Any, buffer_output_elements: Any, prefetch_input_elements: Any,
    num_parallel_calls: Any, *, f: Any,
) -> Dataset:  # fmt: skip
    calls = checked_calls(num_parallel_calls)
    cycle, block = _cycle(cycle_length), scalar(block_length, "block_length")
    function = captured(ctx, f, other_arguments)
    return Interleave(input_dataset, function, cycle, block, _ahead(calls, block), numbered=True)


def _cycle(value: Any) -> int:
    """How many datasets take turns; -1 leaves it to us."""
    cycle = scalar(value, "cycle_length")
    return checked_calls(value) if cycle == -1 else cycle


def _ahead(calls: int, block: int) -> int:
    return max(block, 2) if calls > 1 else 0


@dataset_op(
    "ParallelInterleaveDataset",
    f"{INPUT}, {CAPTURED}, cycle_length: int64, block_length: int64, sloppy: bool,"
    " buffer_output_elements: int64, prefetch_input_elements: int64",
    _CALLS, experimental=True,
)  # fmt: skip
def parallel_interleave_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any], cycle_length: Any,
    block_length: Any, sloppy: Any, buffer_output_elements: Any, prefetch_input_elements: Any, *,
    f: Any,
) -> Dataset:  # fmt: skip
    if scalar(buffer_output_elements, "buffer_output_elements") <= 0:
        raise invalid("`buffer_output_elements` must be > 0")
    if scalar(prefetch_input_elements, "prefetch_input_elements") < 0:
        raise invalid("`prefetch_input_elements` must be >= 0")
    cycle, block = scalar(cycle_length, "cycle_length"), scalar(block_length, "block_length")
    if cycle <= 0:
        raise invalid("`cycle_length` must be > 0")
    if block <= 0:
        raise invalid("`block_length` must be > 0")
    function = captured(ctx, f, other_arguments)
    ahead = int(buffer_output_elements) if cycle > 1 else 0
    return Interleave(input_dataset, function, cycle, block, ahead)


@dataset_op(
    "LegacyParallelInterleaveDatasetV2",
    f"{INPUT}, {CAPTURED}, cycle_length: int64, block_length: int64,"
    " buffer_output_elements: int64, prefetch_input_elements: int64",
    f"{_CALLS}, {DETERMINISTIC}",
)
def legacy_parallel_interleave_dataset_v2(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any], cycle_length: Any,
    block_length: Any, buffer_output_elements: Any, prefetch_input_elements: Any, *, f: Any,
) -> Dataset:  # fmt: skip
    """As `ParallelInterleaveDataset`, for graphs of newer clients."""
    assert parallel_interleave_dataset.kernel is not None
    return parallel_interleave_dataset.kernel(
        xp, ctx, input_dataset, other_arguments, cycle_length, block_length, False,
        buffer_output_elements, prefetch_input_elements, f=f,
    )  # fmt: skip
