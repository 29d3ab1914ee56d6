"""Functions applied to elements: map, filter, scan and take_while."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft.core import machine
from weft.core.errors import OpError, OutOfRangeError
from weft.ops.dataset.declare import DETERMINISTIC, INPUT, STRUCTURE, dataset_op, scalar
from weft.ops.dataset.functions import (
    CAPTURED,
    CAPTURED_TYPES,
    CHUNK,
    Bound,
    Calling,
    CallingIterator,
    Captured,
    Mapping,
    captured,
)
from weft.ops.dataset.mapped_batches import MappedBatches
from weft.ops.dataset.objects import UNKNOWN, Dataset, Element, Iterator, Over, Unary
from weft.ops.dataset.parallel import InParallel, at_end
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import from_kernels, shape_of
from weft.ops.kit.shared import invalid

_SOME_AT_ONCE = "use_inter_op_parallelism: bool = true"
_KEPT = "preserve_cardinality: bool = false"


class Map(Calling):
    """A function of every element. `keeps`: a function that reports an end is in error."""

    def __init__(self, input: Dataset, function: Captured, keeps: bool, calls: int = 1) -> None:
        super().__init__(input, function)
        self.keeps, self.calls = keeps, calls

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        found = self.input.open(scope)
        if self.calls > 1:
            return InParallel(found, self.function, scope, self.calls, self.keeps)
        return Mapped(found, self.function, scope, self.keeps)

    def in_batches(self, scope: Scope, size: int, drop: bool) -> Iterator:
        return MappedBatches(self.open(scope), size, drop)


class Mapped(Mapping):
    def __init__(self, input: Iterator, function: Captured, scope: Scope, keeps: bool) -> None:
        super().__init__(input, function, scope)
        self.keeps = keeps

    def next(self) -> Any:
        element = self.following()
        if element is None:
            return None
        try:
            return self.function(element)
        except OutOfRangeError as error:
            return at_end(error, self.keeps)


@dataset_op(
    "MapDataset", f"{INPUT}, {CAPTURED}",
    f"f: func, {CAPTURED_TYPES}, {STRUCTURE}, {_SOME_AT_ONCE}, {_KEPT}", experimental=True,
)  # fmt: skip
def map_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any], *, f: Any,
    preserve_cardinality: bool,
) -> Dataset:  # fmt: skip
    return Map(input_dataset, captured(ctx, f, other_arguments), preserve_cardinality)


@dataset_op(
    "ParallelMapDataset", f"{INPUT}, {CAPTURED}, num_parallel_calls: int32",
    f"f: func, {CAPTURED_TYPES}, {STRUCTURE}, {_SOME_AT_ONCE}, sloppy: bool = false, {_KEPT}",
)  # fmt: skip
def parallel_map_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any],
    num_parallel_calls: Any, *, f: Any, preserve_cardinality: bool,
) -> Dataset:  # fmt: skip
    calls = checked_calls(num_parallel_calls)
    return Map(input_dataset, captured(ctx, f, other_arguments), preserve_cardinality, calls)


@dataset_op(
    "ParallelMapDatasetV2", f"{INPUT}, {CAPTURED}, num_parallel_calls: int64",
    f"f: func, {CAPTURED_TYPES}, {STRUCTURE}, {_SOME_AT_ONCE}, {DETERMINISTIC}, {_KEPT},"
    " use_unbounded_threadpool: bool = false",
)  # fmt: skip
def parallel_map_dataset_v2(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any],
    num_parallel_calls: Any, *, f: Any, preserve_cardinality: bool,
) -> Dataset:  # fmt: skip
    """As before it, with the number of calls in 64 bits; for graphs of newer clients."""
    calls = checked_calls(num_parallel_calls)
    return Map(input_dataset, captured(ctx, f, other_arguments), preserve_cardinality, calls)


def checked_calls(value: Any, name: str = "num_parallel_calls") -> int:
    """How many calls there may be at a time; as many as there are processors if it is up to us."""
    calls = scalar(value, name)
    if calls == -1:
        return machine.cores()
    if calls <= 0:
        raise invalid(f"{name} must be greater than zero.")
    return calls


# ---- filter --------------------------------------------------------------------------------------


class Filter(Calling):
    """The elements for which a function holds."""

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Filtered(self.input.open(scope), self.function, scope)

    def cardinality(self) -> int:
        return UNKNOWN


class Filtered(CallingIterator):
    """`lifted` tells of many elements at once; those not asked for yet are `passed`.

    `untested` are elements of which one gave an error: they are looked at one by one.
    """

    state = ("passed", "untested")

    def __init__(self, input: Iterator, function: Captured, scope: Scope) -> None:
        super().__init__(input, function, scope)
        self.passed: list[Any] = []
        self.untested: list[Any] = []

    def next(self) -> Any:
        if self.passed:
            return self.passed.pop(0)
        while True:
            element = self.untested.pop(0) if self.untested else self.input.next()
            if element is None or _holds(self.function(element)):
                return element

    def many(self, count: int) -> list[Any]:
        while len(self.passed) < count and not self.untested and self.lifted is not None:
            if not self._test(self.lifted):
                break
        if len(self.passed) < count and (self.untested or self.lifted is None):
            return super().many(count)
        found, self.passed = self.passed[:count], self.passed[count:]
        return found

    def _test(self, lifted: Bound) -> bool:
        """Tests some elements at once; False at the end."""
        count, columns = self.input.batch(CHUNK)
        if not count:
            return False
        rows = list(zip(*columns, strict=True))
        try:
            holds = lifted.instance([*columns, *lifted.arguments])[0]
            self.passed += itertools.compress(rows, holds.tolist())
        except OpError:
            self.untested = rows
        return True


def _holds(result: Element) -> bool:
    value = result[0]
    if len(result) != 1 or shape_of(value) != () or np.asarray(value).dtype != np.bool_:
        raise invalid("Filter predicate `f` must return a scalar bool.")
    return bool(value)


@dataset_op(
    "FilterDataset", f"{INPUT}, {CAPTURED}", f"predicate: func, {CAPTURED_TYPES}, {STRUCTURE}"
)
def filter_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any], *, predicate: Any
) -> Dataset:
    return Filter(input_dataset, captured(ctx, predicate, other_arguments))


class LastComponentHolds(Unary):
    """Elements whose last component, which is dropped, is true."""

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return WithoutLast(self.input.open(scope))

    def cardinality(self) -> int:
        return UNKNOWN


class WithoutLast(Over):
    def next(self) -> Any:
        while True:
            element = self.input.next()
            if element is None:
                return None
            if shape_of(element[-1]) != ():
                raise invalid("FilterByLastComponent needs a scalar bool as last component.")
            if element[-1]:
                return element[:-1]


@dataset_op("FilterByLastComponentDataset", INPUT, output="output")
def filter_by_last_component_dataset(xp: Any, input_dataset: Dataset) -> Dataset:
    return LastComponentHolds(input_dataset)


# ---- take_while and scan -------------------------------------------------------------------------


class TakeWhile(Calling):
    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return TakenWhile(self.input.open(scope), self.function, scope)

    def cardinality(self) -> int:
        return UNKNOWN


class TakenWhile(CallingIterator):
    state = ("over",)
    over = False

    def next(self) -> Any:
        element = None if self.over else self.input.next()
        if element is None or not _holds(self.function(element)):
            self.over = True
            return None
        return element


@dataset_op(
    "TakeWhileDataset", f"{INPUT}, {CAPTURED}",
    f"predicate: func, {CAPTURED_TYPES}, {STRUCTURE}", experimental=True,
)  # fmt: skip
def take_while_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, other_arguments: list[Any], *, predicate: Any
) -> Dataset:
    return TakeWhile(input_dataset, captured(ctx, predicate, other_arguments))


class Scan(Calling):
    """A function of a state and of every element gives the next state and an element."""

    def __init__(self, input: Dataset, function: Captured, initial: Element, keeps: bool) -> None:
        super().__init__(input, function)
        self.initial, self.keeps = initial, keeps

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Scanned(self.input.open(scope), self, scope)


class Scanned(CallingIterator):
    state = ("kept",)

    def __init__(self, input: Iterator, dataset: Scan, scope: Scope) -> None:
        super().__init__(input, dataset.function, scope)
        self.kept, self.keeps = dataset.initial, dataset.keeps

    def next(self) -> Any:
        element = self.input.next()
        if element is None:
            return None
        try:
            found = self.function((*self.kept, *element))
        except OutOfRangeError as error:
            return at_end(error, self.keeps)
        count = len(self.kept)
        self.kept = found[:count]
        return found[count:]


@dataset_op(
    "ScanDataset", f"{INPUT}, initial_state: list(Tstate), {CAPTURED}",
    f"f: func, Tstate: list(type) >= 1, {CAPTURED_TYPES}, {STRUCTURE}, {_KEPT}",
    experimental=True,
)  # fmt: skip
def scan_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, initial_state: list[Any],
    other_arguments: list[Any], *, f: Any, preserve_cardinality: bool,
) -> Dataset:  # fmt: skip
    function = captured(ctx, f, other_arguments)
    return Scan(input_dataset, function, from_kernels(initial_state), preserve_cardinality)
