"""Steps with queues as one function: that it is made, where it stops, and what it says."""

import threading

import numpy as np
import pytest

import weft as tf
from weft.runtime.prepared import WARM

pytestmark = pytest.mark.on_host


def _line(sess, target):
    """The generated function of the plan that runs `target` alone."""
    wanted = [p for key, p in sess._runner._plans.items() if key[0].targets == [target]]
    return wanted[0].prepared.line


@pytest.fixture
def pipeline(sess):
    """Elements of one queue, squared into another."""
    source = tf.FIFOQueue(100, tf.float32)
    sink = tf.FIFOQueue(4, tf.float32)
    x = tf.placeholder(tf.float32)
    value = source.dequeue()
    move = sink.enqueue(value * value + 1.0)
    return source, sink, lambda v: sess.run(source.enqueue(x), {x: v}), move


def test_a_step_that_need_not_wait_becomes_one_function(sess, pipeline):
    _, sink, give, move = pipeline
    got = sink.dequeue()
    for i in range(8):
        give(float(i))
        sess.run(move)
        assert (_line(sess, move) is not None) == (i >= WARM - 1)
        assert sess.run(got) == i * i + 1


def test_it_waits_for_what_is_missing_and_for_room(sess, pipeline):
    _, sink, give, move = pipeline
    got = sink.dequeue()
    for i in range(4):
        give(float(i))
        sess.run(move)
        sess.run(got)
    assert _line(sess, move) is not None
    threads = [threading.Thread(target=sess.run, args=(move,)) for _ in range(6)]
    for thread in threads:
        thread.start()  # they wait for an element, and two of them for room in the other queue
    for i in range(6):
        give(float(i))
    assert sorted(sess.run(got) for _ in range(6)) == [i * i + 1 for i in range(6)]
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_more_than_the_host_should_do_is_left_to_the_region(sess, pipeline):
    _, sink, give, move = pipeline
    got = sink.dequeue()
    for _ in range(4):
        give(np.ones(3, np.float32))
        sess.run(move)
        sess.run(got)
    assert _line(sess, move) is not None
    large = np.arange(200_000, dtype=np.float32) / 1000
    for _ in range(4):
        give(large)
        sess.run(move)
        np.testing.assert_allclose(sess.run(got), large * large + 1, rtol=1e-6)
    assert _line(sess, move) is None


def test_errors_name_the_node(sess, pipeline):
    source, _, give, _ = pipeline
    sink = tf.FIFOQueue(100, tf.float32)
    checked = tf.reshape(source.dequeue(), [2], name="pair")
    move = sink.enqueue(checked)
    for _ in range(4):
        give(np.ones(2, np.float32))
        sess.run(move)
    assert _line(sess, move) is not None
    give(np.ones(3, np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"3 values.*has 2") as caught:
        sess.run(move)
    assert caught.value.op.name == "pair"
    sess.run(source.close())
    with pytest.raises(tf.errors.OutOfRangeError) as ended:
        sess.run(move)
    assert ended.value.op.type == "QueueDequeueV2"


def test_variables_are_updated_with_the_queue(sess):
    queue = tf.FIFOQueue(100, tf.int32, shapes=[()])
    count = tf.Variable(0)
    both = tf.group(queue.enqueue(count), tf.assign_add(count, 1))
    sess.run(count.initializer)
    threads = [
        threading.Thread(target=lambda: [sess.run(both) for _ in range(10)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sess.run(count) == 40
    assert sess.run(queue.size()) == 40


@pytest.mark.parametrize(
    ("index", "shape"),
    [(np.s_[1], (4,)), (np.s_[-1], (3, 2)), (np.s_[::-1, 1:], (4, 3)), (np.s_[..., 0], (2, 2, 3)),
     (np.s_[None, 3:1:-1], (5, 2)), (np.s_[7:], (4, 2)), (np.s_[-9:2], (4,))],
)  # fmt: skip
def test_slices_prepared_for_constant_bounds(sess, index, shape):
    """Of elements of unknown shape, so that nothing is known but the bounds."""
    value = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    queue, sink = tf.FIFOQueue(100, tf.float32), tf.FIFOQueue(100, tf.float32)
    sess.run(queue.enqueue_many([np.stack([value] * 5)]))
    element = queue.dequeue()
    element.set_shape([None] * len(shape))
    move, got = sink.enqueue(element[index]), sink.dequeue()
    for _ in range(5):
        sess.run(move)
        np.testing.assert_array_equal(sess.run(got), value[index])
    assert _line(sess, move) is not None


def test_a_prepared_slice_out_of_bounds(sess):
    queue, sink = tf.FIFOQueue(100, tf.float32), tf.FIFOQueue(100, tf.float32)
    x = tf.placeholder(tf.float32)
    give = queue.enqueue(x)
    element = queue.dequeue()
    element.set_shape([None])
    move = sink.enqueue(element[3])
    for _ in range(4):
        sess.run(give, {x: np.ones(4)})
        sess.run(move)
    sess.run(give, {x: np.ones(3)})
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="slice index 3 of dimension 0 out of bounds"
    ):
        sess.run(move)
