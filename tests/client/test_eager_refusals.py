"""What TensorFlow refuses in eager execution, because it would not mean anything there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import weft as tf
from weft.client.eager import EagerExecution


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with EagerExecution().as_default():
        yield


QUEUES = "Input pipelines based on Queues are not supported when eager execution is enabled."


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda x: tf.gradients(x * x, x), RuntimeError, "tf.gradients is not supported when"),
        (lambda x: tf.hessians(x * x, x), RuntimeError, "tf.gradients is not supported when"),
        (lambda x: tf.metrics.mean(x), RuntimeError, "tf.metrics.mean is not supported when eager"),
        (lambda x: tf.metrics.auc([True], [0.1]), RuntimeError, "tf.metrics.auc is not supported"),
        (
            lambda x: tf.metrics.precision_at_k(tf.constant([[1]], tf.int64), [[0.1, 0.2]], 1),
            RuntimeError,
            "tf.metrics.sparse_precision_at_k is not supported when eager execution is enabled.",
        ),
        (lambda x: tf.train.batch([x], 2), ValueError, QUEUES),
        (lambda x: tf.train.shuffle_batch([x], 2, 10, 5), ValueError, QUEUES),
        (lambda x: tf.train.batch_join([[x]], 2), ValueError, QUEUES),
        (lambda x: tf.train.string_input_producer(["a"]), RuntimeError, QUEUES),
        (lambda x: tf.train.range_input_producer(3), RuntimeError, QUEUES),
        (lambda x: tf.train.QueueRunner(), RuntimeError, "QueueRunners are not supported when"),
        (lambda x: tf.train.start_queue_runners(), RuntimeError, "Queues are not compatible with"),
        (lambda x: tf.TextLineReader(), RuntimeError, "Readers are not supported when eager"),
        (lambda x: tf.summary.merge([]), RuntimeError, "Merging tf.summary.* ops is not"),
        (lambda x: tf.summary.merge_all(), RuntimeError, "Merging tf.summary.* ops is not"),
    ],
)
def test_refusals(call: Callable[[Any], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        call(tf.constant([1.0, 2.0]))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.no_op(),
        lambda: tf.group(tf.constant(1)),
        lambda: tf.Assert(True, [1.0]),
        lambda: tf.assert_equal(1, 1),
        lambda: tf.print("", end=""),
    ],
)
def test_what_is_done_gives_nothing(call: Callable[[], Any]) -> None:
    assert call() is None


def test_loops_give_tensors() -> None:
    for result in (
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]),
        tf.while_loop(lambda i: i < 0, lambda i: i + 1, [3])[0],
        tf.while_loop(lambda i, n: i < 9, lambda i, n: [i + 1, n], [0, 3], maximum_iterations=2)[1],
    ):
        assert result.numpy() == 3
