"""Batches: what is put together, rounded, padded and taken apart; and who fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.serve.serving import Start, models
from weft.core import errors
from weft.runtime.xla import region
from weft.serve.batching import Batcher, Places
from weft.serve.config import Batching, ModelConfig, read_batching
from weft.serve.merging import merged, rows_of, split_rows


class Steps:
    """A step that doubles, and can be held up. Negative rows are errors."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.open = threading.Event()
        self.open.set()

    def __call__(
        self, feeds: dict[str, np.ndarray], fetches: Sequence[str], deadline: Any = None
    ) -> list[np.ndarray]:
        self.open.wait()
        (value,) = feeds.values()
        self.sizes.append(len(value))
        if value.dtype != object and (value < 0).any():
            raise errors.InvalidArgumentError(None, None, "negative")
        return [value * 2 for _ in fetches]


class Crowd:
    """Requests on threads of their own, and what became of each."""

    def __init__(self, batcher: Batcher) -> None:
        self.batcher, self.results = batcher, {}  # type: Batcher, dict[int, Any]
        self.threads: list[threading.Thread] = []

    def ask(self, *rows: float, deadline: float | None = None) -> None:
        number = len(self.threads)

        def run() -> None:
            try:
                feeds = {"x": np.array(rows)}
                found = self.batcher.run(feeds, ["y"], deadline)
                self.results[number] = found[0].tolist()
            except errors.OpError as error:
                self.results[number] = type(error), error.message

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    def until(self, ready: Callable[[], bool]) -> None:
        while not ready():
            threading.Event().wait(0.002)

    def waiting(self) -> int:
        return sum(len(batch.tasks) for batch in list(self.batcher._open.values()))

    def join(self) -> list[Any]:
        for thread in self.threads:
            thread.join()
        return [self.results[number] for number in range(len(self.threads))]


def held(**parameters: Any) -> tuple[Steps, Crowd]:
    """A batcher with one place, which a first request of one row holds."""
    steps = Steps()
    crowd = Crowd(Batcher(steps, Batching(**parameters), Places(1)))
    steps.open.clear()
    crowd.ask(1.0)
    crowd.until(lambda: not crowd.batcher._open and not crowd.batcher.queued)
    return steps, crowd


def test_requests_of_different_sizes_in_one_step() -> None:
    steps, crowd = held(max_batch_size=16, allowed_batch_sizes=(4, 8, 16))
    crowd.ask(2.0, 3.0)
    crowd.ask(4.0)
    crowd.ask(5.0, 6.0, 7.0)
    crowd.until(lambda: crowd.waiting() == 3)
    steps.open.set()
    assert crowd.join() == [[2.0], [4.0, 6.0], [8.0], [10.0, 12.0, 14.0]]
    assert steps.sizes == [4, 8]


def test_a_bad_request_fails_alone() -> None:
    steps, crowd = held(max_batch_size=4)
    for rows in ([2.0], [-1.0], [3.0]):
        crowd.ask(*rows)
    crowd.until(lambda: crowd.waiting() == 3)
    steps.open.set()
    assert crowd.join() == [[2.0], [4.0], (errors.InvalidArgumentError, "negative"), [6.0]]


def test_a_full_batch_starts_another() -> None:
    steps, crowd = held(max_batch_size=2)
    crowd.ask(1.0, 2.0)
    crowd.until(lambda: crowd.batcher.queued == 1)
    crowd.ask(3.0)
    crowd.until(lambda: crowd.waiting() == 1)
    assert crowd.batcher.queued == 2
    steps.open.set()
    assert crowd.join() == [[2.0], [2.0, 4.0], [6.0]]
    assert sorted(steps.sizes) == [1, 1, 2]


def test_the_queue_is_bounded() -> None:
    steps, crowd = held(max_batch_size=1, max_enqueued_batches=2)
    for number in range(2):
        crowd.ask(float(number))
        crowd.until(lambda: crowd.batcher.queued == len(crowd.threads) - 1)
    crowd.ask(9.0)
    crowd.threads[-1].join()
    steps.open.set()
    full = "The batch scheduling queue to which this task was submitted is full"
    assert crowd.join() == [[2.0], [0.0], [2.0], (errors.UnavailableError, full)]


def test_who_has_no_time_left_is_left_out() -> None:
    steps, crowd = held(max_batch_size=4)
    crowd.ask(2.0, deadline=0.0)
    crowd.until(lambda: crowd.waiting() == 1)
    crowd.ask(3.0)
    crowd.until(lambda: crowd.waiting() == 2)
    steps.open.set()
    late = "Run() timeout exceeded while waiting in batching queue"
    assert crowd.join() == [[2.0], (errors.DeadlineExceededError, late), [6.0]]
    assert steps.sizes == [1, 1]


def test_requests_too_large() -> None:
    batcher = Batcher(Steps(), Batching(max_batch_size=2), Places(1))
    with pytest.raises(errors.InvalidArgumentError, match="Task size 3 is larger than maximum"):
        batcher.run({"x": np.zeros(3)}, ["y"])
    split = Batching(
        max_batch_size=8, enable_large_batch_splitting=True, max_execution_batch_size=2
    )
    steps = Steps()
    found = Batcher(steps, split, Places(1)).run({"x": np.arange(5.0)}, ["y"])
    assert found[0].tolist() == [0.0, 2.0, 4.0, 6.0, 8.0] and steps.sizes == [2, 2, 1]


def test_variable_lengths_are_padded() -> None:
    one, other = np.ones((1, 2), np.float32), np.ones((2, 3), np.float32)
    found = merged([{"x": one}, {"x": other}], 4)["x"]
    assert found.tolist() == [[1, 1, 0], [1, 1, 1], [1, 1, 1], [1, 1, 0]]
    words = merged([{"x": np.array([[b"a"]], object)}, {"x": np.array([[b"b", b"c"]], object)}], 2)
    assert words["x"].tolist() == [[b"a", b""], [b"b", b"c"]]


def test_unequal_shapes_do_not_meet_unless_they_are_padded() -> None:
    for pads, batches in ((False, 2), (True, 1)):
        steps, crowd = held(max_batch_size=4, pad_variable_length_inputs=pads)
        done = []

        def ask(width: int, crowd: Crowd = crowd, done: list[Any] = done) -> None:
            feeds = {"x": np.ones((1, width))}
            done.append(crowd.batcher.run(feeds, ["y"])[0].shape[1])

        threads = [threading.Thread(target=ask, args=(width,)) for width in (2, 3)]
        for thread in threads:
            thread.start()
        crowd.until(lambda crowd=crowd: crowd.waiting() == 2)  # type: ignore[misc]
        assert len(crowd.batcher._open) == batches
        steps.open.set()
        for thread in threads:
            thread.join()
        crowd.join()
        assert sorted(done) == ([3, 3] if pads else [2, 3])


def test_rows() -> None:
    for arrays, text in (
        ([], "at least one input tensor"),
        ([np.float32(1)], "at least one dimension"),
        ([np.zeros(2), np.zeros(3)], "equal 0th-dimension size"),
    ):
        with pytest.raises(errors.InvalidArgumentError, match=text):
            rows_of(arrays)
    with pytest.raises(errors.FailedPreconditionError, match="0th dimension"):
        split_rows([np.zeros(3)], [1, 1], 2)


PARAMETERS = """
max_batch_size { value: 32 } batch_timeout_micros { value: 500 } max_enqueued_batches { value: 7 }
num_batch_threads { value: 3 } allowed_batch_sizes: 8 allowed_batch_sizes: 32
pad_variable_length_inputs: true thread_pool_name { value: "pool" }
"""


def test_parameters() -> None:
    found = read_batching(PARAMETERS)
    assert found == Batching(32, 500, 7, 3, (8, 32), True)
    assert [found.rounded(n) for n in (1, 8, 9, 32)] == [8, 8, 32, 32]
    assert Batching(max_batch_size=12).sizes == (1, 2, 4, 8, 12)
    for text, problem in (
        ("max_batch_size { value: 0 }", "max_batch_size must be positive"),
        ("allowed_batch_sizes: 2", "must match max_batch_size"),
        ("max_batch_size { value: 2 } allowed_batch_sizes: 2 allowed_batch_sizes: 2", "increasing"),
        ("what: 1", "Cannot read the batching parameters"),
    ):
        with pytest.raises(errors.InvalidArgumentError, match=problem):
            read_batching(text)


def test_sizes_are_compiled_before_they_are_needed(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And there are no more programs than sizes, whatever is asked."""
    compiled: list[Any] = []

    def counted(unit: Any, cells: Any, spec: Any, device: Any) -> Any:
        compiled.append(spec.inputs[0])
        return original(unit, cells, spec, device)

    original = region.compile_region
    monkeypatch.setattr(region, "compile_region", counted)
    _save_dense(tmp_path / "1")
    client = start(
        models=(ModelConfig("dense", str(tmp_path)),), batching=Batching(max_batch_size=64)
    )
    before = len(compiled)
    assert before >= 4, "one for each size, but for those that NumPy does in no time"
    for rows in range(1, 65):
        found = client.predict("dense", x=np.ones((rows, 256), np.float32))
        np.testing.assert_allclose(found["y"], np.full((rows, 256), 256.0))
    assert len(compiled) == before


def _save_dense(folder: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 256], name="x")
        y = tf.matmul(x, tf.get_variable("w", initializer=np.ones((256, 256), np.float32)))
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(folder), {"x": x}, {"y": y})


def test_many_clients_and_one_answer_each(start: Start) -> None:
    batching = Batching(max_batch_size=16, num_batch_threads=2)
    client = start(models=models("half_plus_two"), batching=batching)
    wrong: list[Any] = []

    def ask(number: int) -> None:
        for i in range(10):
            x = np.arange(1 + (number + i) % 5, dtype=np.float32) + number
            found = client.predict("half_plus_two", seconds=None, x=x)["y"]
            if found.tolist() != (x / 2 + 2).tolist():
                wrong.append((x, found))

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    _, text = client.get("/monitoring/prometheus/metrics")
    assert ':tensorflow:serving:request_count{model_name="half_plus_two",status="OK"} 80.0' in text
    assert ":tensorflow:serving:batching_session:batch_size_count" in text
