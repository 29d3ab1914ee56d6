"""Iterators as resources of a session: what initializers start and `get_next` takes from."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from weft.core.deferred import Deferred
from weft.core.dtypes import DType
from weft.core.errors import FailedPreconditionError, OpError
from weft.graph import shape_fn as s
from weft.graph.shape_fn import Dims
from weft.ops.dataset.objects import Dataset, Iterator
from weft.ops.dataset.prefetch import Producer, end_of_sequence
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import for_kernels
from weft.ops.kit.shared import invalid
from weft.ops.strings.numbers import type_name

Finish = Callable[[Sequence[Any]], Any]


class IteratorResource:
    """An iterator over whatever dataset it was last given.

    `factory` makes the dataset of a one-shot iterator when the first element is asked for.
    """

    def __init__(
        self, name: str, types: Sequence[DType], shapes: Sequence[Dims],
        factory: Callable[[], Dataset] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.types, self.shapes = name, list(types), list(shapes)
        self.factory = factory
        self.failure: BaseException | None = None
        self.lock = threading.Lock()
        self.scope: Scope | None = None
        self.iterator: Iterator | None = None

    def initialize(self, dataset: Dataset) -> None:
        """Starts over, with a dataset."""
        scope = Scope()
        iterator = dataset.open(scope)
        if dataset.waits and not isinstance(iterator, Producer):
            iterator = Producer(lambda: iterator, 0, scope)
        with self.lock:
            before, self.scope = (self.iterator, self.scope), scope
            self.iterator = iterator
        _end(*before)

    def get_next(self, finish: Finish = for_kernels) -> Any:
        """`finish` of the next element, or a `Deferred` of that."""
        iterator = self.iterator
        if iterator is None:
            iterator = self._begin()
        if isinstance(iterator, Producer):
            element = iterator.ask()
            if isinstance(element, Deferred):
                element.then = finish
                return element
        else:
            with self.lock:
                element = iterator.next()
        if element is None:
            raise end_of_sequence()
        return finish(element)

    def _begin(self) -> Iterator:
        if self.failure is not None:
            raise self.failure
        if self.factory is None:
            raise FailedPreconditionError(
                None, None,
                "GetNext() failed because the iterator has not been initialized. Ensure that you"
                " have run the initializer operation for this iterator before getting the next"
                " element.",
            )  # fmt: skip
        try:
            self.initialize(self.factory())
        except OpError as error:
            self.failure = error
            raise
        assert self.iterator is not None
        return self.iterator

    def released(self) -> None:
        """The session is over, or the iterator was deleted."""
        if (scope := self.scope) is not None:
            scope.close(for_good=True)  # ends what holds the lock
        with self.lock:
            before = self.iterator, self.scope
            self.iterator = self.scope = None
        _end(*before)

    # ---- checks ----

    def check_like(self, types: Sequence[DType], shapes: Sequence[Dims]) -> None:
        """Whether elements of these types and shapes can come from here."""
        check_types(types, self.types)
        check_shapes(shapes, self.shapes)

    # ---- saving ----

    def save(self) -> Any:
        iterator = self.iterator
        if iterator is None and self.factory is not None:
            iterator = self._begin()
        if iterator is None:
            raise FailedPreconditionError(
                None, None,
                "SaveInternal() failed because the iterator has not been initialized. Ensure that"
                " you have run the initializer operation for this iterator before saving it.",
            )  # fmt: skip
        with self.lock:
            return iterator.save()

    def restore(self, saved: Any) -> None:
        if self.iterator is None and self.factory is not None:
            self._begin()
        if self.iterator is None:
            raise FailedPreconditionError(
                None, None,
                "Restore() failed because the iterator has not been initialized. Ensure that you"
                " have run the initializer operation for this iterator before restoring it.",
            )  # fmt: skip
        with self.lock:
            self.iterator.restore(saved)


def _end(iterator: Iterator | None, scope: Scope | None) -> None:
    """Ends a traversal: files and generators are let go, threads are told."""
    if iterator is not None:
        iterator.close()
    if scope is not None:
        scope.close()


def check_types(wanted: Sequence[DType], found: Sequence[DType]) -> None:
    if len(wanted) != len(found):
        raise invalid(
            f"Number of components does not match: expected {len(wanted)} types but got"
            f" {len(found)}."
        )
    for i, (a, b) in enumerate(zip(wanted, found, strict=True)):
        if a != b:
            raise invalid(
                f"Data type mismatch at component {i}: expected {type_name(a)} but got"
                f" {type_name(b)}."
            )


def check_shapes(wanted: Sequence[Dims], found: Sequence[Dims]) -> None:
    for i, (a, b) in enumerate(zip(wanted, found, strict=True)):
        try:
            s.merge(a, b)
        except ValueError:
            raise invalid(
                f"Incompatible shapes at component {i}: expected {s.show(a)} but got {s.show(b)}."
            ) from None
