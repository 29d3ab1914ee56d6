"""Workers that make batches ahead."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from weft.keras.utils.data_utils import (
    GeneratorEnqueuer,
    OrderedEnqueuer,
    Sequence,
    is_generator_or_sequence,
    iter_sequence_infinite,
)


class Numbers(Sequence):
    def __init__(self, n: int, fault: int | None = None) -> None:
        self.n, self.fault, self.epochs = n, fault, 0

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> int:
        if index == self.fault:
            raise IndexError(f"no {index}")
        return index + 100 * self.epochs

    def on_epoch_end(self) -> None:
        self.epochs += 1


@pytest.mark.parametrize("processes", [False, True])
def test_batches_of_a_sequence_come_in_order(processes: bool) -> None:
    enqueuer = OrderedEnqueuer(Numbers(20), use_multiprocessing=processes)
    enqueuer.start(workers=3, max_queue_size=5)
    batches = enqueuer.get()
    taken = [next(batches) for _ in range(40)]
    enqueuer.stop()
    assert taken == [*range(20), *range(100, 120)]
    assert not enqueuer.is_running()


def test_shuffled_batches_are_all_there() -> None:
    enqueuer = OrderedEnqueuer(Numbers(20), shuffle=True)
    enqueuer.start(workers=2)
    batches = enqueuer.get()
    taken = [next(batches) for _ in range(20)]
    enqueuer.stop()
    assert sorted(taken) == list(range(20))
    assert taken != list(range(20))


def test_an_error_reaches_who_takes() -> None:
    enqueuer = OrderedEnqueuer(Numbers(5, fault=3))
    enqueuer.start()
    batches = enqueuer.get()
    assert [next(batches) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(IndexError, match="no 3"):
        next(batches)
    assert not enqueuer.is_running()


def test_a_generator_is_taken_to_its_end() -> None:
    enqueuer = GeneratorEnqueuer(iter(range(10)))
    enqueuer.start(workers=1, max_queue_size=3)
    assert list(enqueuer.get()) == list(range(10))
    enqueuer.stop()


def test_a_generator_that_goes_on() -> None:
    enqueuer = GeneratorEnqueuer(iter_sequence_infinite([1, 2, 3]))
    enqueuer.start()
    batches = enqueuer.get()
    assert [next(batches) for _ in range(7)] == [1, 2, 3, 1, 2, 3, 1]
    enqueuer.stop()


def test_generators_are_not_for_several_threads() -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow() -> Iterator[Any]:
        entered.set()
        leave.wait(10)
        yield 1

    enqueuer = GeneratorEnqueuer(slow())
    enqueuer.start(workers=2, max_queue_size=10)
    entered.wait(10)
    threading.Timer(0.3, leave.set).start()
    with pytest.raises(RuntimeError, match="NOT thread-safe"):
        list(enqueuer.get())
    enqueuer.stop()


def test_what_can_be_enqueued() -> None:
    assert is_generator_or_sequence(Numbers(1))
    assert is_generator_or_sequence(x for x in [])
    assert not is_generator_or_sequence([1])
    assert list(Numbers(3)) == [0, 1, 2]
