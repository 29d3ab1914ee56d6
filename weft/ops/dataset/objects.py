"""Datasets and iterators as objects of the host.

The kernel of a dataset operation makes a `Dataset`; `open` gives an `Iterator` over its elements.
An element is a tuple with a value for each component: an array or a NumPy scalar, `bytes` for a
scalar string (cheaper to keep and to batch), any object for a variant.

Datasets that only choose and order elements (`shuffle`, `repeat`, `take`) need not look at them.
Over a source whose elements are rows of arrays they are opened `raw`: they pass on row numbers,
and the topmost dataset gets the rows, a whole batch with one gather.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core.errors import UnimplementedError
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import batch
from weft.ops.kit.shared import invalid

Element = tuple[Any, ...]

INFINITE, UNKNOWN = -1, -2


class Rows:
    """Arrays whose first axis counts elements."""

    def __init__(self, columns: Sequence[np.ndarray]) -> None:
        self.columns = columns
        self.size = len(columns[0])

    def row(self, i: int) -> Element:
        return tuple([column[i] for column in self.columns])

    def gather(self, indices: Sequence[int]) -> list[np.ndarray]:
        """The rows as a batch."""
        if isinstance(indices, range) and indices.step > 0:
            cut = slice(indices.start, indices.stop, indices.step)
            return [column[cut].copy() for column in self.columns]
        chosen = np.asarray(indices, np.intp)
        return [column.take(chosen, axis=0) for column in self.columns]


class Dataset:
    """A dataset, as an operation describes it. Immutable, and opened any number of times.

    `waits`: to get an element may take long, or for ever: it needs Python or another thread.
    `rows`: the arrays whose rows the elements are, if they are.
    """

    waits = False
    rows: Rows | None = None

    def inputs(self) -> Sequence[Dataset]:
        return ()

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many elements there are; INFINITE or UNKNOWN."""
        return UNKNOWN

    def over_and_over(self, scope: Scope, raw: bool, count: int) -> Iterator | None:
        """An iterator over `count` passes, if that is more than one pass after the other.

        A count of -1 has no end. Only asked for where `scope` says that datasets are rewritten.
        """
        return None

    def in_batches(self, scope: Scope, size: int, drop: bool) -> Iterator | None:
        """An iterator over batches, if that is not one that puts elements together."""
        return None


def checked_dataset(value: Any) -> Dataset:
    if not isinstance(value, Dataset):
        raise invalid("Tensor must be a Dataset object.")
    return value


class Unary(Dataset):
    """A dataset made of another one."""

    def __init__(self, input: Dataset) -> None:
        self.input, self.waits = input, input.waits

    def inputs(self) -> Sequence[Dataset]:
        return (self.input,)

    def cardinality(self) -> int:
        return self.input.cardinality()

    def changes_nothing(self) -> bool:
        """Whether the input gives the very same elements, so that this dataset can be left out."""
        return False

    def over_and_over(self, scope: Scope, raw: bool, count: int) -> Iterator | None:
        left_out = self.changes_nothing() and scope.leaves_out
        return self.input.over_and_over(scope, raw, count) if left_out else None

    def in_batches(self, scope: Scope, size: int, drop: bool) -> Iterator | None:
        left_out = self.changes_nothing() and scope.leaves_out
        return self.input.in_batches(scope, size, drop) if left_out else None


class Choosing(Unary):
    """Chooses and orders elements of its input without looking at them."""

    def __init__(self, input: Dataset) -> None:
        super().__init__(input)
        self.rows = input.rows

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        if self.rows is not None and not raw:
            return RowIterator(self.rows, self.over(scope, True))
        return self.over(scope, raw)

    def over(self, scope: Scope, raw: bool) -> Iterator:
        """The iterator over elements, or row numbers, of the input."""
        raise NotImplementedError


class Iterator:
    """Elements one after the other. Not for two threads at a time.

    `next` gives an element, or None at the end and ever after. What an iterator has to remember is
    in the attributes that `state` names (plain values and elements) and in its `parts`.
    """

    state: tuple[str, ...] = ()

    def next(self) -> Any:
        raise NotImplementedError

    def some(self, count: int) -> tuple[list[Any], BaseException | None]:
        """Up to `count` elements; fewer at the end, or where an error comes, which is given too."""
        found: list[Any] = []
        try:
            while len(found) < count:
                element = self.next()
                if element is None:
                    break
                found.append(element)
        except Exception as error:
            return found, error
        return found, None

    def many(self, count: int) -> list[Any]:
        """Up to `count` elements; fewer only at the end. An error is raised, others are lost."""
        found, error = self.some(count)
        if error is not None:
            raise error
        return found

    def batch(self, count: int) -> tuple[int, Sequence[np.ndarray]]:
        """Up to `count` elements along a first axis, and how many; fewer only at the end."""
        elements = self.many(count)
        return len(elements), batch(elements) if elements else ()

    def parts(self) -> Sequence[Iterator | None]:
        """The iterators that this one takes from."""
        return ()

    def open_early(self) -> None:
        """Opens what TensorFlow opens before the first element is asked for."""
        for part in self.parts():
            if part is not None:
                part.open_early()

    def close(self) -> None:
        """Lets go of files, threads and functions. Elements are not asked for after that."""
        for part in self.parts():
            if part is not None:
                part.close()

    def save(self) -> Any:
        """The position of the iterator, as plain values."""
        own = {name: _kept(getattr(self, name)) for name in self.state}
        return own, [None if part is None else part.save() for part in self.parts()]

    def restore(self, saved: Any) -> None:
        """Goes to where another iterator of the same dataset stood."""
        own, parts = saved
        for name in self.state:
            setattr(self, name, _kept(own[name]))
        self.restore_parts(parts)

    def restore_parts(self, saved: Sequence[Any]) -> None:
        for part, state in zip(self.parts(), saved, strict=True):
            if part is not None and state is not None:
                part.restore(state)


def _kept(value: Any) -> Any:
    if isinstance(value, list):
        return list(value)
    return dict(value) if isinstance(value, dict) else value


class Over(Iterator):
    """An iterator over one other."""

    def __init__(self, input: Iterator) -> None:
        self.input = input

    def parts(self) -> Sequence[Iterator | None]:
        return (self.input,)


class Reopening(Iterator):
    """Takes from an iterator that it opens, and may drop or open again."""

    state: tuple[str, ...] = ("opened",)

    def __init__(
        self, make: Callable[[], Iterator], draws: Callable[[], bool] = lambda: False
    ) -> None:
        self.make, self.draws = make, draws
        self.input: Iterator | None = None
        self.opened = False

    def reopen(self) -> Iterator:
        self.drop()
        self.input, self.opened = self.make(), True
        return self.input

    def drop(self) -> None:
        if self.input is not None:
            self.input.close()
        self.input, self.opened = None, False

    def end(self) -> None:
        """After the last pass TensorFlow opens the input once more, and takes nothing from it.

        That uses up seeds of what is shuffled anew each time.
        """
        if self.draws():
            self.reopen().open_early()
        self.drop()

    def parts(self) -> Sequence[Iterator | None]:
        return (self.input,)

    def restore_parts(self, saved: Sequence[Any]) -> None:
        if self.opened:
            self.reopen().restore(saved[0])
        else:
            self.drop()


class RowIterator(Over):
    """Row numbers -> rows."""

    def __init__(self, rows: Rows, input: Iterator) -> None:
        super().__init__(input)
        self.rows = rows

    def next(self) -> Any:
        key = self.input.next()
        return None if key is None else self.rows.row(key)

    def many(self, count: int) -> list[Any]:
        return list(map(self.rows.row, self.input.many(count)))

    def batch(self, count: int) -> tuple[int, Sequence[np.ndarray]]:
        keys = self.input.many(count)
        return len(keys), self.rows.gather(keys) if len(keys) else ()


class Keys(Iterator):
    """The row numbers 0, 1, 2, ..."""

    state = ("position",)

    def __init__(self, size: int) -> None:
        self.position, self.size = 0, size

    def next(self) -> Any:
        i = self.position
        if i >= self.size:
            return None
        self.position = i + 1
        return i

    def many(self, count: int) -> Any:
        first = self.position
        self.position = min(self.size, first + count)
        return range(first, self.position)


def cannot_save(what: str) -> UnimplementedError:
    return UnimplementedError(None, None, f"{what} does not support checkpointing.")
