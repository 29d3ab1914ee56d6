"""tf.contrib.learn.read_batch_examples and its like: batches of examples from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

FEATURES = {"x": tf.FixedLenFeature([], tf.float32)}


@pytest.fixture
def files(tmp_path: Path) -> str:
    """A pattern of two files of five numbers each."""
    for k in range(2):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part{k}")) as writer:
            for i in range(5):
                value = tf.train.Feature(float_list=tf.train.FloatList(value=[10 * k + i]))
                features = tf.train.Features(feature={"x": value})
                writer.write(tf.train.Example(features=features).SerializeToString())
    return str(tmp_path / "part*")


def run(*fetches: Any, steps: int) -> list[Any]:
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        found = [sess.run(fetches) for _ in range(steps)]
        coordinator.request_stop()
        coordinator.join(threads)
    return found


def test_features_come_in_batches(files: str) -> None:
    learn = tf.contrib.learn
    key, found = learn.read_keyed_batch_features(
        files, 5, FEATURES, tf.TFRecordReader, randomize_input=False
    )
    record = learn.read_batch_record_features(files, 10, FEATURES, num_epochs=1)
    assert record["x"].op.name == "dequeue_record_examples/fifo_queue_Dequeue"
    ((keys, numbers, all_numbers),) = run(key, found["x"], record["x"], steps=1)
    np.testing.assert_array_equal(numbers, np.arange(5))
    assert keys[0].endswith(b"part0:0")
    assert sorted(all_numbers) == [*range(5), *range(10, 15)]


def test_examples_can_be_parsed_where_they_are_read(files: str) -> None:
    def parsed(example: Any) -> Any:
        return tf.parse_single_example(example, FEATURES)

    key, found = tf.contrib.learn.read_keyed_batch_examples(
        files, 3, tf.TFRecordReader, num_epochs=1, parse_fn=parsed
    )
    kinds = [op.type for op in tf.get_default_graph().get_operations()]
    # With a number of epochs the last batch may be smaller.
    assert kinds[-1] == "QueueDequeueUpToV2" and list(found) == ["x"]
    numbers = np.concatenate([x for _, x in run(key, found["x"], steps=4)])
    assert sorted(numbers) == [*range(5), *range(10, 15)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "Invalid batch_size 0, with queue_capacity 10000."),
        ({"queue_capacity": 2}, "Invalid batch_size 3, with queue_capacity 2."),
        ({"num_threads": 0}, "Invalid num_threads 0."),
        ({"num_epochs": 0}, "Invalid num_epochs 0."),
        ({"read_batch_size": 0}, "Invalid read_batch_size 0."),
        ({"file_pattern": "/nowhere*"}, "No files match /nowhere"),
    ],
)
def test_refusals(files: str, settings: dict[str, Any], message: str) -> None:
    given = {"file_pattern": files, "batch_size": 3, "reader": tf.TFRecordReader, **settings}
    with pytest.raises(ValueError, match=message):
        tf.contrib.learn.read_batch_examples(**given)
