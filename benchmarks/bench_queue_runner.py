"""How many examples a second does a training loop take that queue runners feed from TFRecords?"""

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import arguments, load, report

EXAMPLES, FEATURES, CLASSES, BATCH = 2_000, 64, 10, 64
STEPS, SAMPLES = 60, 5


def write(tf: Any, folder: str) -> list[str]:
    """Two files of records: a label, then the features, all as floats."""
    random = np.random.default_rng(0)
    names = [str(Path(folder) / f"part-{i}") for i in range(2)]
    for name in names:
        with tf.python_io.TFRecordWriter(name) as writer:
            for _ in range(EXAMPLES // 2):
                features = random.standard_normal(FEATURES).astype(np.float32)
                label = np.float32(features[:CLASSES].argmax())
                writer.write(label.tobytes() + features.tobytes())
    return names


def pipeline(tf: Any, names: list[str]) -> tuple[Any, Any]:
    files = tf.train.string_input_producer(names)
    _, record = tf.TFRecordReader().read(files)
    row = tf.reshape(tf.decode_raw(record, tf.float32), [1 + FEATURES])
    label, features = tf.cast(row[0], tf.int32), row[1:]
    return tf.train.shuffle_batch(
        [label, features], BATCH, capacity=1_000, min_after_dequeue=200, num_threads=2
    )


def model(tf: Any, labels: Any, features: Any) -> tuple[Any, Any]:
    weights = tf.get_variable("weights", [FEATURES, CLASSES])
    biases = tf.get_variable("biases", [CLASSES], initializer=tf.zeros_initializer())
    logits = tf.matmul(features, weights) + biases
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
    return loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    with tempfile.TemporaryDirectory() as folder:
        loss, train = model(tf, *pipeline(tf, write(tf, folder)))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            first = session.run(loss)
            times = []
            for _ in range(SAMPLES + 1):
                began = time.perf_counter()
                for _ in range(STEPS):
                    session.run(train)
                times.append(time.perf_counter() - began)
            last = session.run(loss)
            coordinator.request_stop()
            coordinator.join(threads)
    assert last < first, "it does not learn"
    seconds = sorted(times[1:])[SAMPLES // 2] / STEPS
    report("queue_runner", impl, seconds, examples_per_second=BATCH / seconds)


if __name__ == "__main__":
    main()
