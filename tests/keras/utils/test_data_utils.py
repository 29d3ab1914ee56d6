"""Workers that make batches ahead."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np
import pytest

from weft.lib.keras.utils import data_utils
from weft.lib.keras.utils.data_utils import (
    GeneratorEnqueuer,
    OrderedEnqueuer,
    Sequence,
    is_generator_or_sequence,
    iter_sequence_infinite,
    terminate_keras_multiprocessing_pools,
)


def no_children() -> bool:
    until = time.monotonic() + 20
    while multiprocessing.active_children() and time.monotonic() < until:
        time.sleep(0.02)  # another thread learns of their end at the same time
    return not multiprocessing.active_children()


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


class Large(Numbers):
    """Batches that are more than a pipe holds."""

    def __getitem__(self, index: int) -> Any:
        return np.full(1 << 20, index, np.int32)


def test_stopping_while_large_batches_are_under_way() -> None:
    for taken in (0, 1, 3):
        enqueuer = OrderedEnqueuer(Large(50), use_multiprocessing=True)
        enqueuer.start(workers=3, max_queue_size=10)
        batches = enqueuer.get()
        assert [int(next(batches)[-1]) for _ in range(taken)] == list(range(taken))
        enqueuer.stop()
        assert no_children()


class Deadly(Numbers):
    def __getitem__(self, index: int) -> int:
        if index == 3:
            os._exit(1)
        return index


def test_a_process_that_dies() -> None:
    enqueuer = OrderedEnqueuer(Deadly(50), use_multiprocessing=True)
    enqueuer.start(workers=1, max_queue_size=2)
    with pytest.raises(BrokenProcessPool):
        list(enqueuer.get())
    assert not enqueuer.is_running() and no_children()


def test_processes_that_are_to_go() -> None:
    enqueuer = OrderedEnqueuer(Numbers(5), use_multiprocessing=True)
    enqueuer.start(workers=2)
    assert next(enqueuer.get()) == 0
    assert terminate_keras_multiprocessing_pools(grace_period=10, use_sigkill=True) == []
    assert no_children()
    enqueuer.stop()


class Endless(Numbers):
    def __getitem__(self, index: int) -> int:
        if index:
            threading.Event().wait()
        return index


def test_a_batch_that_is_never_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_utils, "_PATIENCE", 0.2)
    enqueuer = OrderedEnqueuer(Endless(5), use_multiprocessing=True)
    enqueuer.start(workers=2)
    assert next(enqueuer.get()) == 0
    enqueuer.stop()
    assert no_children()


def test_who_waits_for_a_batch_is_let_go_when_the_workers_are_stopped() -> None:
    asked, leave = threading.Event(), threading.Event()

    class Late(Numbers):
        def __getitem__(self, index: int) -> int:
            asked.set()
            leave.wait(60)
            return index

    enqueuer = OrderedEnqueuer(Late(5))
    enqueuer.start(workers=1)
    taken: list[int] = []
    waiting = threading.Thread(target=lambda: taken.extend(enqueuer.get()))
    waiting.start()
    assert asked.wait(60)
    stopping = threading.Thread(target=enqueuer.stop)
    stopping.start()
    waiting.join(60)
    assert not waiting.is_alive() and taken == []
    leave.set()
    stopping.join(60)
    assert not stopping.is_alive()


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
    leave = threading.Event()

    class Entered:
        """A generator that stays where it is until somebody finds it running."""

        def __init__(self) -> None:
            self.made = self._slow()

        def _slow(self) -> Iterator[int]:
            leave.wait(60)
            yield 1

        def __next__(self) -> int:
            try:
                return next(self.made)
            except ValueError:
                leave.set()
                raise

    enqueuer = GeneratorEnqueuer(Entered())
    enqueuer.start(workers=2, max_queue_size=10)
    with pytest.raises(RuntimeError, match="NOT thread-safe"):
        list(enqueuer.get())
    enqueuer.stop()


def test_what_can_be_enqueued() -> None:
    assert is_generator_or_sequence(Numbers(1))
    assert is_generator_or_sequence(x for x in [])
    assert not is_generator_or_sequence([1])
    assert list(Numbers(3)) == [0, 1, 2]
