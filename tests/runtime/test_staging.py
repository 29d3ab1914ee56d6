"""Memory in which programs find what is fed, here of a CPU, which has some of that kind as well."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from weft.runtime.devices.memory import is_left_for_host, memory_for_host
from weft.runtime.xla import staging
from weft.runtime.xla.compile import load
from weft.runtime.xla.staging import Staging

SPECS = [((3, 2), np.dtype(np.float32)), ((), np.dtype(np.int64)), ((4,), np.dtype(bool))]


class Result:
    """Something that a program is still computing, until it is told to be done."""

    def __init__(self, is_done=False):
        self._done = threading.Event()
        if is_done:
            self.finish()

    def finish(self):
        self._done.set()

    def is_ready(self):
        return self._done.is_set()

    def block_until_ready(self):
        assert self._done.wait(10)


@pytest.fixture
def pieces():
    device = load().local_devices(backend="cpu")[0]
    return Staging(device, [0, 1, 2], SPECS)


def values(number):
    random = np.random.RandomState(number)
    return [random.rand(3, 2).astype(np.float32), np.int64(number), random.rand(4) > 0.5]


def test_what_is_written_is_what_a_program_reads(pieces):
    add = load().jit(lambda a, b, c: (a + b).sum() + c.sum())
    for number in range(10):
        a, b, c = given = values(number)
        piece = pieces.filled(given)
        assert all(map(is_left_for_host, piece.arrays))
        result = add(*piece.arrays)
        pieces.give_back(piece, result)
        np.testing.assert_allclose(result, (a + b).sum() + c.sum(), rtol=1e-6)


def test_a_piece_is_used_again_when_its_program_has_ended(pieces):
    first = pieces.filled(values(0))
    pieces.give_back(first, Result(is_done=True))
    assert pieces.filled(values(1)) is first


def test_a_piece_that_is_read_is_left_alone_and_so_many_are_made(pieces):
    results, made = [], []
    for number in range(staging._TURNS):
        made.append(pieces.filled(values(number)))
        results.append(Result())
        pieces.give_back(made[-1], results[-1])
    assert len({id(piece) for piece in made}) == staging._TURNS
    for number, piece in enumerate(made):
        np.testing.assert_array_equal(piece.views[0], values(number)[0])
    threading.Timer(0.05, results[0].finish).start()
    assert pieces.filled(values(9)) is made[0]  # it waits for the oldest


def test_all_programs_together_keep_only_so_much(pieces, monkeypatch):
    monkeypatch.setattr(staging, "_MOST_KEPT", 3 * pieces._bytes)
    others = [Staging(load().local_devices(backend="cpu")[0], [0], SPECS) for _ in range(6)]
    for each in others:
        taken = [each.filled(values(i)) for i in range(2)]
        for piece in taken:
            each.give_back(piece, Result(is_done=True))
    assert sum(each.kept() for each in others) <= 5 * pieces._bytes


def test_many_threads_have_a_piece_each(pieces):
    copy = load().jit(lambda a: a * 1)

    def steps(thread):
        for number in range(100):
            given = values(100 * thread + number)
            piece = pieces.filled(given)
            result = copy(piece.arrays[0])
            pieces.give_back(piece, result)
            np.testing.assert_array_equal(result, given[0])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(steps, range(4)))


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize(
    "source",
    [
        np.arange(60).reshape(3, 4, 5),
        np.arange(60).reshape(3, 4, 5).transpose(2, 0, 1),
        np.arange(60).reshape(1, 60)[:, ::-1],
        np.arange(60)[::2],
        np.arange(2),
    ],
)
def test_a_large_array_is_copied_by_several_threads(source, threads, monkeypatch):
    monkeypatch.setattr(staging, "_LARGE", 1)
    monkeypatch.setattr(staging, "_THREADS", threads)
    target = np.zeros(source.shape, source.dtype)
    staging._copy(target, source)
    np.testing.assert_array_equal(target, source)


def test_memory_of_a_device_without_any_for_the_host():
    class Bare:
        def addressable_memories(self):
            return []

    assert memory_for_host(Bare()) is None
