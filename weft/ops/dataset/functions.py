"""The functions of datasets: what `map`, `filter` and their like call for each element."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.errors import FailedPreconditionError, OpError
from weft.ops.dataset.declare import QUICK
from weft.ops.dataset.lift import lift
from weft.ops.dataset.objects import Dataset, Element, Iterator, Over, Unary
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import batch, for_kernels, from_kernels

# A lifted function is called for no fewer and no more elements than this at a time.
SOME, CHUNK = 4, 128

CAPTURED = "other_arguments: list(Targuments)"
CAPTURED_TYPES = "Targuments: list(type) >= 0"


class Captured:
    """A function together with what it takes besides the elements."""

    def __init__(self, function: Any, arguments: Sequence[Any]) -> None:
        self.function, self.arguments = function, list(arguments)
        instance = self.function.take()
        self.may_wait, self.is_stateful = instance.may_wait, instance.is_stateful
        self.runs_python = instance.runs_python
        self.opens_quickly = all(map(_is_quick, instance.graph.nodes)) and not any(
            isinstance(value, Dataset) and value.waits for value in arguments
        )
        self.function.give_back(instance)

    def bind(self, scope: Scope) -> Bound:
        return Bound(scope.instance(self.function), self.arguments)

    def lifted(self) -> Captured | None:
        """The function of many elements at once, if there is one."""
        if self.is_stateful:
            return None
        count = len(self.function.body().inputs) - len(self.arguments)
        function = self.function.derived("lifted", lambda body: lift(body, count))
        return None if function is None else Captured(function, self.arguments)


def _is_quick(node: Any) -> bool:
    """Whether a node of a function makes no dataset that has to be waited for."""
    makes_variant = any(dtype is dtypes.variant for dtype in node.dtypes)
    return not makes_variant or node.type == "_Arg" or node.type in QUICK


def captured(ctx: Any, reference: Any, arguments: Sequence[Any]) -> Captured:
    """The function that an attribute of a node names, with what it captured."""
    return Captured(ctx.function(reference), arguments)


class Bound:
    """A captured function within a scope."""

    __slots__ = ("arguments", "instance")

    def __init__(self, instance: Any, arguments: list[Any]) -> None:
        self.instance, self.arguments = instance, arguments

    def __call__(self, element: Sequence[Any]) -> Element:
        return from_kernels(self.instance([*for_kernels(element), *self.arguments]))


class Calling(Unary):
    """A dataset that calls a function for every element of its input."""

    def __init__(self, input: Dataset, function: Captured) -> None:
        super().__init__(input)
        self.function = function
        self.waits = input.waits or function.may_wait


class CallingIterator(Over):
    def __init__(self, input: Iterator, function: Captured, scope: Scope) -> None:
        super().__init__(input)
        self.captured, self.scope = function, scope
        self.function = function.bind(scope)

    @functools.cached_property
    def lifted(self) -> Bound | None:
        """The function of many elements at once, if there is one."""
        many = self.captured.lifted()
        return None if many is None else many.bind(self.scope)

    def save(self) -> Any:
        if self.function.instance.is_stateful:
            raise FailedPreconditionError(
                None,
                None,
                "A function of the dataset is stateful, so that its iterator cannot be saved.",
            )
        return super().save()


class Mapping(CallingIterator):
    """Results of a function.

    `backlog`: elements that come after one for which the function failed.
    """

    state: tuple[str, ...] = ("backlog",)

    def __init__(self, input: Iterator, function: Captured, scope: Scope) -> None:
        super().__init__(input, function, scope)
        self.backlog: list[Any] = []

    def following(self) -> Any:
        """The next element to call the function with."""
        return self.backlog.pop(0) if self.backlog else self.input.next()

    def can_lift(self) -> bool:
        return not self.backlog and self.lifted is not None

    def batch(self, count: int) -> tuple[int, Sequence[np.ndarray]]:
        if not self.can_lift():
            return super().batch(count)
        found, columns = self.input.batch(count)
        if not found:
            return 0, ()
        try:
            return found, self._all(columns)
        except OpError:
            results, error = self._each(columns)
            if error is not None:
                raise error from None
            return found, batch(results)

    def some(self, count: int) -> tuple[list[Any], BaseException | None]:
        if count < SOME or not self.can_lift():
            return super().some(count)
        rows: list[Any] = []
        while (wanted := min(count - len(rows), CHUNK)) > 0:
            found, columns = self.input.batch(wanted)
            if not found:
                break
            try:
                rows.extend(zip(*self._all(columns), strict=True))
            except OpError:
                results, error = self._each(columns)
                rows += results
                if error is not None:
                    return rows, error
            if found < wanted:
                break
        return rows, None

    def _all(self, columns: Sequence[np.ndarray]) -> list[np.ndarray]:
        assert self.lifted is not None
        results: list[np.ndarray] = self.lifted.instance([*columns, *self.lifted.arguments])
        return results

    def _each(self, columns: Sequence[np.ndarray]) -> tuple[list[Any], BaseException | None]:
        """The results for one element after the other, up to an error."""
        results: list[Any] = []
        rows = list(zip(*columns, strict=True))
        for i, row in enumerate(rows):
            try:
                results.append(self.function(row))
            except OpError as error:
                self.backlog = rows[i + 1 :]
                return results, error
        return results, None
