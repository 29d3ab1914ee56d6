"""Public names that few programs use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution


class Counter(tf.train.experimental.PythonState):
    """A number that is no tensor."""

    def __init__(self, count: int) -> None:
        self.count = count

    def serialize(self) -> str:
        return str(self.count)

    def deserialize(self, string_value: Any) -> None:
        self.count = int(string_value)


def _saved_and_restored(folder: Path) -> None:
    counter = Counter(3)
    checkpoint = tf.train.Checkpoint(counter=counter, v=tf.Variable(1.0))
    path = checkpoint.save(str(folder / "model"))
    assert tf.train.load_checkpoint(path).get_tensor("counter/.ATTRIBUTES/py_state") == b"3"
    counter.count = 7
    checkpoint.restore(path).assert_consumed()
    assert counter.count == 3
    counter.count = 8
    later = checkpoint.save(str(folder / "model"))
    assert tf.train.load_checkpoint(later).get_tensor("counter/.ATTRIBUTES/py_state") == b"8"


def test_python_state_in_a_graph(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        counter = Counter(3)
        checkpoint = tf.train.Checkpoint(counter=counter, v=tf.Variable(1.0))
        session.run(tf.global_variables_initializer())
        session.run(checkpoint.save_counter.initializer)
        path = checkpoint.save(str(tmp_path / "model"))
        counter.count = 7
        later = checkpoint.save(str(tmp_path / "model"))
        checkpoint.restore(path).assert_consumed()
        assert counter.count == 3
        checkpoint.restore(later).run_restore_ops()
        assert counter.count == 7


def test_python_state_eagerly(tmp_path: Path) -> None:
    with EagerExecution().as_default():
        _saved_and_restored(tmp_path)


def test_a_state_needs_both_ways() -> None:
    with pytest.raises(TypeError, match="abstract"):
        tf.train.experimental.PythonState()


def test_nodes_are_marked_for_mixed_precision() -> None:
    with tf.train.experimental.auto_mixed_precision_scope(False):
        inside = tf.constant(1.0)
    outside = tf.constant(1.0)
    assert inside.op.get_attr("_AutoMixedPrecisionScopeInclude") is False
    assert "_AutoMixedPrecisionScopeInclude" not in outside.op.node_def.attr


def test_a_status_becomes_an_error() -> None:
    with tf.errors.raise_exception_on_not_ok_status() as status:
        pass
    assert status.code == 0
    with pytest.raises(tf.errors.NotFoundError, match="no such thing"):
        with tf.errors.raise_exception_on_not_ok_status() as status:
            status.code, status.message = tf.errors.NOT_FOUND, "no such thing"


def test_a_looper_is_alive_until_it_stops() -> None:
    coordinator = tf.train.Coordinator()
    looper = tf.train.LooperThread.loop(coordinator, 0.01, lambda: None)
    assert looper.isAlive()
    coordinator.request_stop()
    looper.join()
    assert not looper.isAlive()


def test_the_first_class_is_blank() -> None:
    logits = np.sin(np.arange(5 * 2 * 4)).reshape(5, 2, 4).astype(np.float32)
    indices = tf.constant([[0, 0], [0, 1], [1, 0]], tf.int64)
    lengths = [5, 4]
    new = tf.ctc_loss_v2(logits, indices, [1, 3, 2], lengths)
    old = tf.raw_ops.CTCLoss(
        inputs=np.roll(logits, -1, 2), labels_indices=indices, labels_values=[0, 2, 1],
        sequence_length=lengths,
    )  # fmt: skip
    x = tf.constant(logits)
    slope = tf.gradients(tf.ctc_loss_v2(x, indices, [1, 3, 2], lengths)[0], x)[0]
    with tf.Session() as session:
        (loss, gradient), (old_loss, old_gradient), slope = session.run([new, old, slope])
    np.testing.assert_array_equal(loss, old_loss)
    np.testing.assert_array_equal(gradient, np.roll(old_gradient, 1, 2))
    np.testing.assert_array_equal(slope, gradient)
