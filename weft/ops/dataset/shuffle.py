"""Shuffling: the order that TensorFlow gives elements for the same seeds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from weft.ops.dataset.choose import Repeat
from weft.ops.dataset.declare import INPUT, STRUCTURE, dataset_op, scalar
from weft.ops.dataset.objects import Choosing, Dataset, Iterator, Reopening
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.sources import Words, chosen_seeds
from weft.ops.kit.shared import invalid

# While the buffer holds elements of more passes than this, it is filled one element at a time.
_MAX_PASSES = 3


class SeedGenerator:
    """New seeds for every pass over a dataset that is shuffled anew each time."""

    def __init__(self, seeds: tuple[int, int]) -> None:
        self.words = Words(*seeds)
        self.lock = threading.Lock()

    def next(self) -> tuple[int, int]:
        with self.lock:
            return self.words.next(), self.words.next()


class Shuffle(Choosing):
    def __init__(
        self, input: Dataset, size: int, seeds: tuple[int, int], anew: bool, count: int = 1
    ) -> None:
        super().__init__(input)
        self.size, self.seeds, self.anew, self.count = size, seeds, anew, count

    def generator(self, scope: Scope) -> SeedGenerator | None:
        """What gives seeds to the passes over the dataset at one place, one after the other."""
        return scope.first(lambda: SeedGenerator(self.seeds)) if self.anew else None

    def over(self, scope: Scope, raw: bool) -> Iterator:
        generator, below = self.generator(scope), scope.at("shuffled")
        seeds = generator.next() if generator is not None else self.seeds
        return Shuffled(
            lambda: self.input.open(below, raw), self.size, seeds, self.count, generator, raw, scope
        )

    def over_and_over(self, scope: Scope, raw: bool, count: int) -> Iterator | None:
        """One shuffle of all passes, with the seeds of the dataset itself."""
        if not self.anew:
            return None
        fused = Shuffle(self.input, self.size, self.seeds, False, _times(count))
        return fused.over(scope, raw)

    def cardinality(self) -> int:
        return Repeat(self.input, self.count).cardinality()


class Shuffled(Reopening):
    """A buffer from which elements are drawn. It holds elements of several passes over the input;

    `slices` says from where to where those of each pass are: they leave one pass after the other.
    """

    state = (
        "opened", "started", "passes", "held", "buffer", "slices", "seeds", "drawn", "given_seeds",
    )  # fmt: skip

    def __init__(
        self, make: Callable[[], Iterator], size: int, seeds: tuple[int, int], count: int,
        generator: SeedGenerator | None, raw: bool, scope: Scope,
    ) -> None:  # fmt: skip
        super().__init__(make, scope.draws)
        self.raw = raw  # row numbers come in, which cannot fail
        self.size, self.count, self.generator = size, count, generator
        self.seeds = seeds
        self.words = Words(*seeds)
        self.started, self.passes, self.held = False, 0, 0
        self.buffer: list[Any] = []
        self.slices: list[list[int]] = [[0, 0]]

    @property
    def drawn(self) -> int:
        return self.words.drawn

    @drawn.setter
    def drawn(self, count: int) -> None:
        self.words = Words(*self.seeds)
        self.words.seek(count)

    @property
    def given_seeds(self) -> int:
        """How many seeds the dataset has given to its iterators so far."""
        return self.generator.words.drawn if self.generator is not None else 0

    @given_seeds.setter
    def given_seeds(self, count: int) -> None:
        if self.generator is not None:
            self.generator.words.seek(count)

    def save(self) -> Any:
        own, parts = super().save()
        return {**own, "slices": [list(each) for each in self.slices]}, parts

    def next(self) -> Any:
        if self.input is not None or not self.started:
            if not self._fill():
                return None
        if not self.held:
            return None
        slices = self.slices
        while slices[0][0] == slices[0][1]:
            slices.pop(0)
        first, last = slices[0]
        size, buffer = self.size, self.buffer
        at = (first + self.words.next() % (last - first)) % size
        element = buffer[at]
        front = first % size
        buffer[at] = buffer[front]
        buffer[front] = None
        slices[0][0] = first + 1
        self.held -= 1
        return element

    def many(self, count: int) -> list[Any]:
        found: list[Any] = []
        while (wanted := count - len(found)) > 0:
            slices = self.slices
            while len(slices) > 1 and slices[0][0] == slices[0][1]:
                slices.pop(0)
            if self.input is None and self.started and self.held:
                self._draw(found, min(wanted, slices[0][1] - slices[0][0]))
                continue
            if self._is_full():
                one = len(slices) == 1
                elements, error = self._some(
                    wanted if one else min(wanted, slices[0][1] - slices[0][0])
                )
                if len(elements):
                    self._exchange(found, elements)
                if error is not None:
                    raise error
                if len(elements):
                    continue
            element = self.next()
            if element is None:
                break
            found.append(element)
        return found

    def _is_full(self) -> bool:
        """Whether one element comes in for each that goes out."""
        has_room = self.held == self.size - 1 and len(self.slices) <= _MAX_PASSES
        return has_room and self.input is not None

    def _exchange(self, found: list[Any], elements: Sequence[Any]) -> None:
        """Each of `elements` comes in, and one goes out: what `next` does with a full buffer."""
        buffer, size = self.buffer, self.size
        going, coming = self.slices[0], self.slices[-1]
        if len(buffer) < size:
            buffer.append(None)
        # What comes in takes the only free place. Of a single slice there is always as much.
        front, free = going[0] % size, coming[1] % size
        span, less = (size, 0) if going is coming else (going[1] - going[0], 1)
        for element, word in zip(elements, self.words.take(len(elements)), strict=True):
            buffer[free] = element
            at = front + word % span
            if at >= size:
                at -= size
            found.append(buffer[at])
            buffer[at] = buffer[front]
            free = front
            front = front + 1 if front + 1 < size else 0
            span -= less
        going[0] += len(elements)
        coming[1] += len(elements)

    def _draw(self, found: list[Any], count: int) -> None:
        """Elements of one pass, when no more come in."""
        buffer, size = self.buffer, self.size
        first, last = self.slices[0]
        front, span = first % size, last - first
        for word in self.words.take(count):
            at = front + word % span
            if at >= size:
                at -= size
            found.append(buffer[at])
            buffer[at] = buffer[front]
            front = front + 1 if front + 1 < size else 0
            span -= 1
        self.slices[0][0] = first + count
        self.held -= count

    def _fill(self) -> bool:
        """Fills the buffer; False if the input is empty and would be repeated for ever."""
        fresh = False
        if not self.started:
            self.started = fresh = True
            self.reopen()
        while self.input is not None and self.held < self.size:
            fetched = self._fetch()
            if fetched:
                fresh = False
                if len(self.slices) > _MAX_PASSES:
                    break
            elif fresh and self.count == -1:
                self.drop()
                return False
            else:
                self._next_pass()
        return True

    def _fetch(self) -> bool:
        """Puts elements of the input into the buffer: all that there is room for, at first."""
        assert self.input is not None
        wanted = 1 if len(self.slices) > _MAX_PASSES else self.size - self.held
        elements, error = self._some(wanted)
        if not len(elements) and error is None:
            return False
        buffer, size, end = self.buffer, self.size, self.slices[-1][1]
        if len(buffer) < size and end == len(buffer):
            buffer.extend(elements)
        else:
            for i, element in enumerate(elements):
                self._put((end + i) % size, element)
        self.held += len(elements)
        self.slices[-1][1] = end + len(elements)
        if error is not None:
            raise error
        return True

    def _some(self, count: int) -> tuple[Sequence[Any], BaseException | None]:
        """Elements of the input; what comes before an error stays in the buffer."""
        assert self.input is not None
        if count == 1:
            element = self.input.next()
            return ([] if element is None else [element]), None
        if self.raw:
            return self.input.many(count), None
        return self.input.some(count)

    def _put(self, at: int, element: Any) -> None:
        if at < len(self.buffer):
            self.buffer[at] = element
        else:
            self.buffer.append(element)

    def _next_pass(self) -> None:
        self.passes += 1
        if self.count != -1 and self.passes >= self.count:
            self.end()
            return
        end = self.slices[-1][1]
        self.slices.append([end, end])
        self.reopen()


def _times(count: int) -> int:
    if count <= 0 and count != -1:
        raise invalid("count must be greater than zero or equal to -1.")
    return count


def _size(value: Any) -> int:
    size = scalar(value, "buffer_size")
    if size <= 0:
        raise invalid("buffer_size must be greater than zero.")
    return size


@dataset_op(
    "ShuffleDataset", f"{INPUT}, buffer_size: int64, seed: int64, seed2: int64",
    f"reshuffle_each_iteration: bool = true, {STRUCTURE}",
)  # fmt: skip
def shuffle_dataset(
    xp: Any, input_dataset: Dataset, buffer_size: Any, seed: Any, seed2: Any, *,
    reshuffle_each_iteration: bool,
) -> Dataset:  # fmt: skip
    seeds = chosen_seeds(seed, seed2)
    return Shuffle(input_dataset, _size(buffer_size), seeds, reshuffle_each_iteration)


@dataset_op(
    "ShuffleAndRepeatDataset",
    f"{INPUT}, buffer_size: int64, seed: int64, seed2: int64, count: int64",
)
def shuffle_and_repeat_dataset(
    xp: Any, input_dataset: Dataset, buffer_size: Any, seed: Any, seed2: Any, count: Any
) -> Dataset:
    times, seeds = _times(scalar(count, "count")), chosen_seeds(seed, seed2)
    return Shuffle(input_dataset, _size(buffer_size), seeds, False, times)
