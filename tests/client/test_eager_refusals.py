"""What TensorFlow refuses in eager execution, because it would not mean anything there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
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


def test_what_stands_beside_a_tensor_becomes_of_its_type() -> None:
    whole, real = tf.constant([1, 2]), tf.constant([1.5, -2.0])
    for result, dtype, values in (
        (tf.add(np.ones(2), whole), tf.int32, [2, 3]),
        (tf.maximum(0, real), tf.float32, [1.5, 0]),
        (tf.pow(np.ones(2, np.int64), real), tf.float32, [1, 1]),
        (tf.concat([np.array([7.9]), whole], 0), tf.int32, [7, 1, 2]),
        (tf.concat([np.array([7.9]), np.array([1])], 0), tf.float64, [7.9, 1]),
        (tf.where([True, False], np.zeros(2), real), tf.float32, [0, -2]),
        (tf.add(np.ones(2), tf.Variable(real)), tf.float32, [2.5, -1]),
    ):
        assert result.dtype == dtype
        np.testing.assert_allclose(result.numpy(), values)
    with pytest.raises(TypeError):
        tf.add(1.5, whole)


def test_tensors_of_other_types_are_found_when_an_operation_is_run() -> None:
    whole, real = tf.constant([1, 2]), tf.constant([1.5, -2.0])
    for call, text in (
        (lambda: tf.add(real, whole), "Add as input #1(zero-based) was expected to be a float"),
        (lambda: real * whole, "a float tensor but is a int32 tensor [Op:Mul]"),
        (lambda: tf.concat([real, real, whole], 0), "ConcatV2 as input #2(zero-based)"),
        (lambda: tf.add_n([tf.ones(2, tf.float64), real]), "was expected to be a double"),
        (lambda: tf.where([True, False], real, whole), "Select as input #2(zero-based)"),
        (lambda: tf.logical_and(whole, True), "input #0(zero-based) was expected to be a bool"),
        (lambda: tf.nn.bias_add([[1.0, 2.0]], whole), "BiasAdd as input #1(zero-based)"),
    ):  # fmt: skip
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                call()
            assert text in str(caught.value)
    for call in (
        lambda: tf.add(tf.constant(True), real),
        lambda: tf.reshape(real, real),
        lambda: tf.fill(real, 1),
    ):
        with pytest.raises(tf.errors.NotFoundError, match="Could not find valid device for node"):
            call()


def test_functions_find_other_types_while_they_are_traced() -> None:
    added = tf.function(lambda x, y: tf.add(x, y))
    with pytest.raises(TypeError, match="that does not match type float32 of argument"):
        added(tf.constant(1.0), tf.constant(1))
