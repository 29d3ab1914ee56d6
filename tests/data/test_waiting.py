"""Steps that wait for elements: they hold no thread, can end early, and leave nothing behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf


def started(dataset: Any, session: Any) -> Any:
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    session.run(iterator.initializer)
    return element


def gated(gate: threading.Event) -> Any:
    """A dataset of 0, 1, 2, ... whose elements from the second on wait for `gate`."""

    def generate() -> Iterator[int]:
        yield 0
        for i in range(1, 5):
            assert gate.wait(20)
            yield i

    return tf.data.Dataset.from_generator(generate, tf.int64, [])


@pytest.mark.parametrize("ahead", [0, 2])
def test_a_step_that_waits_too_long_times_out_and_loses_nothing(ahead: int) -> None:
    gate = threading.Event()
    with tf.Session() as session:
        element = started(gated(gate).prefetch(ahead), session)
        assert session.run(element) == 0
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(element, options=tf.RunOptions(timeout_in_ms=50))
        gate.set()
        assert [session.run(element) for _ in range(4)] == [1, 2, 3, 4]
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            session.run(element)


@pytest.mark.parametrize("ahead", [0, 1])
def test_closing_the_session_ends_a_step_that_waits(ahead: int) -> None:
    gate = threading.Event()
    session = tf.Session()
    element = started(gated(gate).prefetch(ahead), session)
    session.run(element)
    found: list[BaseException] = []

    def wait() -> None:
        try:
            session.run(element)
        except (tf.errors.CancelledError, RuntimeError) as error:
            found.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.1)  # most often it waits by now; a thread that is slow finds the session closed
    session.close()
    thread.join(30)
    gate.set()  # lets the generator's thread go on, and end
    assert not thread.is_alive()
    assert len(found) == 1


def test_initializing_again_starts_over_while_a_generator_is_stuck() -> None:
    gate = threading.Event()
    with tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(gated(gate))
        element = iterator.get_next()
        for _ in range(3):
            session.run(iterator.initializer)
            assert session.run(element) == 0
        gate.set()
        assert session.run(element) == 1


def test_python_functions_of_a_parallel_map_run_at_the_same_time() -> None:
    both = threading.Barrier(3)

    def meet(x: np.int64) -> np.int64:
        both.wait(20)
        return x

    numbers = tf.data.Dataset.range(6)
    dataset = numbers.map(lambda x: tf.py_func(meet, [x], tf.int64), num_parallel_calls=3)
    with tf.Session() as session:
        element = started(dataset, session)
        assert [session.run(element) for _ in range(6)] == list(range(6))


def test_prefetching_reads_ahead_of_the_steps() -> None:
    made: list[int] = []
    enough = threading.Event()

    def generate() -> Iterator[int]:
        for i in range(10):
            made.append(i)
            if i == 4:
                enough.set()
            yield i

    dataset = tf.data.Dataset.from_generator(generate, tf.int32, []).prefetch(4)
    with tf.Session() as session:
        element = started(dataset, session)
        assert session.run(element) == 0
        assert enough.wait(30)


def test_an_error_comes_where_the_element_would_and_the_rest_follows() -> None:
    dataset = tf.data.Dataset.range(4).map(lambda x: 10 // (x - 1))
    for each in (dataset, dataset.prefetch(2), tf.data.Dataset.range(4).map(divided, 2)):
        with tf.Session() as session:
            element = started(each, session)
            assert session.run(element) == -10
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(element)
            assert session.run(element) == 10
            assert session.run(element) == 5


def divided(x: tf.Tensor) -> tf.Tensor:
    return 10 // (x - 1)


def test_errors_of_a_generator_name_what_was_wrong() -> None:
    def generate() -> Iterator[Any]:
        yield [1, 2]
        yield "text"

    dataset = tf.data.Dataset.from_generator(generate, tf.int64, [None])
    with tf.Session() as session:
        element = started(dataset, session)
        assert session.run(element).tolist() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="could not be converted"):
            session.run(element)


def test_a_generator_is_let_go_at_its_end_and_with_its_session() -> None:
    alive: set[int] = set()

    class Rows:
        def __init__(self) -> None:
            alive.add(id(self))

        def __iter__(self) -> Rows:
            return self

        def __next__(self) -> int:
            return 7

        def __del__(self) -> None:
            alive.discard(id(self))

    dataset = tf.data.Dataset.from_generator(Rows, tf.int64, []).take(2)
    with tf.Session() as session:
        element = started(dataset, session)
        assert [session.run(element) for _ in range(2)] == [7, 7]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
        assert not alive


def test_a_queue_in_a_function_is_waited_for() -> None:
    queue = tf.FIFOQueue(3, tf.int64, [])
    put, close = queue.enqueue(5), queue.close()
    dataset = tf.data.Dataset.range(10).map(lambda x: x + queue.dequeue())
    with tf.Session() as session:
        element = started(dataset, session)
        timer = threading.Timer(0.1, lambda: session.run(put))
        timer.start()
        assert session.run(element) == 5
        timer.join()
        session.run(close)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


def test_many_threads_take_every_element_once() -> None:
    dataset = tf.data.Dataset.range(200).map(lambda x: x * 2, num_parallel_calls=2).prefetch(4)
    taken: list[int] = []
    with tf.Session() as session:
        element = started(dataset, session)

        def take() -> None:
            try:
                while True:
                    taken.append(int(session.run(element)))
            except tf.errors.OutOfRangeError:
                pass

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert sorted(taken) == list(range(0, 400, 2))


@pytest.mark.parametrize("ahead", [0, 2])
def test_a_generator_in_the_middle_is_let_go_when_its_session_closes(ahead: int) -> None:
    ended = threading.Event()

    def generate() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            ended.set()

    dataset = tf.data.Dataset.from_generator(generate, tf.int64, []).prefetch(ahead)
    with tf.Session() as session:
        assert session.run(started(dataset, session)) == 0
        assert not ended.is_set()
    assert ended.wait(30)


def test_datasets_that_are_opened_one_after_the_other_do_not_pile_up() -> None:
    def inner(n: tf.Tensor) -> Any:
        return tf.data.Dataset.from_tensors(n).map(python).prefetch(1)

    def python(n: tf.Tensor) -> tf.Tensor:
        return tf.py_func(lambda v: v, [n], tf.int64)

    dataset = tf.data.Dataset.range(10**9).interleave(inner, cycle_length=2)
    with tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        session.run(iterator.initializer)
        assert [int(session.run(element)) for _ in range(60)] == list(range(60))
        resource = next(each for _, kind, _, each in session._runner.store if kind == "iterator")
        assert len(resource.scope._members) < 15


def test_results_come_as_they_are_ready_where_any_order_will_do() -> None:
    gates = [threading.Event() for _ in range(6)]

    def waits(i: Any) -> Any:
        assert gates[i].wait(20)
        return i

    options = tf.data.Options()
    options.experimental_deterministic = False
    dataset = tf.data.Dataset.range(6).map(lambda i: tf.py_func(waits, [i], tf.int64), 3)
    with tf.Session() as session:
        element = started(dataset.with_options(options), session)
        for i in (1, 0, 3, 4, 2, 5):
            gates[i].set()
            assert session.run(element) == i
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


@pytest.mark.parametrize("ahead", [0, 2])
def test_closing_the_session_ends_a_function_that_loops_for_ever(ahead: int) -> None:
    def loops(x: Any) -> Any:
        return tf.while_loop(lambda x: x > -1, lambda x: x * 1, [x])

    session = tf.Session()
    element = started(tf.data.Dataset.range(3).map(loops).prefetch(ahead), session)
    found: list[str] = []

    def run() -> None:
        # The latter if the session is closed before the thread has come so far.
        with pytest.raises((tf.errors.CancelledError, RuntimeError)):
            session.run(element)
        found.append("over")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    time.sleep(0.3)
    session.close()
    thread.join(30)
    assert found == ["over"]
