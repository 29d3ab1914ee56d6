"""Datasets that choose elements of others by position: take, skip, repeat, shard and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.ops.dataset.declare import INPUT, STRUCTURE, dataset_op, scalar
from weft.ops.dataset.objects import (
    INFINITE,
    UNKNOWN,
    Choosing,
    Dataset,
    Iterator,
    Over,
    Reopening,
)
from weft.ops.dataset.scope import Scope
from weft.ops.kit.shared import invalid

# ---- take ----------------------------------------------------------------------------------------


class Take(Choosing):
    def __init__(self, input: Dataset, count: int) -> None:
        super().__init__(input)
        self.count = count

    def over(self, scope: Scope, raw: bool) -> Iterator:
        found = self.input.open(scope, raw)
        return found if self.count < 0 else First(found, self.count)

    def changes_nothing(self) -> bool:
        return self.count == -1

    def cardinality(self) -> int:
        """As TensorFlow 1.15 counts: all elements of what has an end are said to have none."""
        n = self.input.cardinality()
        if n == UNKNOWN:
            return n
        return self.count if n == INFINITE else min(n, self.count)


class First(Over):
    """The first elements."""

    state = ("left",)

    def __init__(self, input: Iterator, count: int) -> None:
        super().__init__(input)
        self.left = count

    def next(self) -> Any:
        element = self.input.next() if self.left > 0 else None
        self.left = self.left - 1 if element is not None else 0
        if element is None:
            self.input.close()
        return element

    def many(self, count: int) -> list[Any]:
        found = self.input.many(min(count, self.left)) if self.left else []
        self.left -= len(found)
        if len(found) < count:
            self.input.close()
        return found


@dataset_op("TakeDataset", f"{INPUT}, count: int64")
def take_dataset(xp: Any, input_dataset: Dataset, count: Any) -> Dataset:
    return Take(input_dataset, scalar(count, "count"))


# ---- skip ----------------------------------------------------------------------------------------


class Skip(Choosing):
    def __init__(self, input: Dataset, count: int) -> None:
        super().__init__(input)
        self.count = count

    def over(self, scope: Scope, raw: bool) -> Iterator:
        return Rest(self.input.open(scope, raw), self.count)

    def changes_nothing(self) -> bool:
        return self.count == 0

    def cardinality(self) -> int:
        n = self.input.cardinality()
        if n < 0:
            return n
        return 0 if self.count < 0 else max(n - self.count, 0)


class Rest(Over):
    """All but the first elements; of a negative count, none."""

    state = ("left",)

    def __init__(self, input: Iterator, count: int) -> None:
        super().__init__(input)
        self.left = count

    def _skip(self) -> bool:
        while self.left > 0:
            skipped = len(self.input.many(min(self.left, 1024)))
            self.left = self.left - skipped if skipped else -1
        return self.left == 0

    def next(self) -> Any:
        return self.input.next() if self._skip() else None

    def many(self, count: int) -> list[Any]:
        return self.input.many(count) if self._skip() else []


@dataset_op("SkipDataset", f"{INPUT}, count: int64")
def skip_dataset(xp: Any, input_dataset: Dataset, count: Any) -> Dataset:
    return Skip(input_dataset, scalar(count, "count"))


# ---- repeat --------------------------------------------------------------------------------------


class Repeat(Choosing):
    """The input `count` times; a negative count is no limit."""

    def __init__(self, input: Dataset, count: int) -> None:
        super().__init__(input)
        self.count = count

    def over(self, scope: Scope, raw: bool) -> Iterator:
        if scope.fuses and not (scope.leaves_out and self.changes_nothing()):
            found = self.input.over_and_over(scope, raw, self.count)
            if found is not None:
                return found
        return Repeated(lambda: self.input.open(scope, raw), self.count, scope)

    def changes_nothing(self) -> bool:
        return self.count == 1

    def cardinality(self) -> int:
        n = self.input.cardinality()
        if self.count < 0:
            return 0 if n == 0 else INFINITE
        if self.count == 0:
            return 0
        return n if n < 0 else n * self.count


class Repeated(Reopening):
    state = ("opened", "left", "fresh", "over")

    def __init__(self, make: Callable[[], Iterator], count: int, scope: Scope) -> None:
        super().__init__(make, scope.draws)
        self.left, self.fresh, self.over = count, True, False

    def next(self) -> Any:
        while not self.over:
            if self.input is None:
                if self.left == 0:
                    break
                self.left -= 1
                self.reopen()
                self.fresh = True
            assert self.input is not None
            element = self.input.next()
            if element is not None:
                self.fresh = False
                return element
            if self.left:
                self.drop()
            else:
                self.end()
            if self.fresh and self.left < 0:
                break  # of nothing there is no repetition
        self.over = True
        return None

    def open_early(self) -> None:
        if self.input is None and self.left and not self.over:
            self.left -= 1
            self.reopen().open_early()

    def many(self, count: int) -> list[Any]:
        found: list[Any] = []
        while len(found) < count:
            element = self.next()
            if element is None:
                break
            found.append(element)
            if len(found) < count and self.input is not None:
                more = self.input.many(count - len(found))
                if not found[:-1] and len(more) == count - 1 and isinstance(more, range):
                    return _joined(element, more)
                found.extend(more)
        return found


def _joined(first: int, rest: range) -> Any:
    """Row numbers that follow each other stay a range: they are cut out, not gathered."""
    return range(first, rest.stop) if rest.start == first + 1 else [first, *rest]


@dataset_op("RepeatDataset", f"{INPUT}, count: int64")
def repeat_dataset(xp: Any, input_dataset: Dataset, count: Any) -> Dataset:
    return Repeat(input_dataset, scalar(count, "count"))


# ---- shard ---------------------------------------------------------------------------------------


class Shard(Choosing):
    """Every n-th element, from `index` on."""

    def __init__(self, input: Dataset, count: int, index: int, required: bool) -> None:
        super().__init__(input)
        self.count, self.index, self.required = count, index, required

    def over(self, scope: Scope, raw: bool) -> Iterator:
        return Sharded(self.input.open(scope, raw), self.count, self.index, self.required)

    def cardinality(self) -> int:
        n = self.input.cardinality()
        return n if n < 0 else n // self.count + int(self.index < n % self.count)


class Sharded(Over):
    state = ("position",)

    def __init__(self, input: Iterator, count: int, index: int, required: bool) -> None:
        super().__init__(input)
        self.count, self.index, self.required = count, index, required
        self.position = 0

    def next(self) -> Any:
        while True:
            element = self.input.next()
            if element is None:
                return None
            i, self.position = self.position, self.position + 1
            if i % self.count == self.index:
                self._check_others()
                return element

    def _check_others(self) -> None:
        """Where every shard must have an element, the first of this one must not be the last."""
        if not self.required or self.position > self.count:
            return
        while self.position < self.count:
            if self.input.next() is None:
                raise invalid(
                    f"There aren't enough elements in this dataset for each shard to have at least"
                    f" one element (# elems = {self.position}, # shards = {self.count}). If you are"
                    " using datasets with distribution strategy, considering setting the auto shard"
                    " policy to either DATA or OFF using the `experimental_distribute."
                    "auto_shard_policy` option of `tf.data.Options()`."
                )
            self.position += 1


@dataset_op(
    "ShardDataset", f"{INPUT}, num_shards: int64, index: int64",
    f"require_non_empty: bool = false, {STRUCTURE}",
)  # fmt: skip
def shard_dataset(
    xp: Any, input_dataset: Dataset, num_shards: Any, index: Any, *, require_non_empty: bool
) -> Dataset:
    count, at = scalar(num_shards, "num_shards"), scalar(index, "index")
    if count <= 0:
        raise invalid(
            f"Number of shards must be greater than zero (currently num_shards = {count})."
        )
    if not 0 <= at < count:
        raise invalid(f"Index must be between 0 and {count - 1} (currently index = {at}).")
    return Shard(input_dataset, count, at, require_non_empty)
