"""A queue on one task, filled by others and emptied by yet another.

    weft launch --ps 1 --workers 3 examples/cluster_queue.py [--numbers 40]

The queue is on the parameter server, under a name that all graphs share. All workers but the chief
put numbers in, and have to wait while it is full; the chief takes them out, a batch at a time, and
adds up their squares. Look at the last lines: nothing is lost, nothing comes twice, and the numbers
of each worker come in the order in which it has put them in.
"""

from __future__ import annotations

import argparse

import cluster_task

import weft as tf

CAPACITY, BATCH = 8, 4


def numbers_queue() -> tf.QueueBase:
    """The same queue in whichever process it is asked for: (who, number) pairs."""
    with tf.device("/job:ps/task:0"):
        return tf.FIFOQueue(CAPACITY, [tf.int32, tf.int32], [[], []], shared_name="numbers")


def produce(session: tf.Session, queue: tf.QueueBase, index: int, count: int) -> None:
    number = tf.placeholder(tf.int32, [])
    enqueue = queue.enqueue([index, number])
    for i in range(count):
        session.run(enqueue, {number: i})
    print(f"Put in {count} numbers")


def consume(session: tf.Session, queue: tf.QueueBase, count: int) -> None:
    """Takes `count` numbers."""
    with tf.device("/job:worker/task:0"):
        who, number = queue.dequeue_many(BATCH)
        squares = tf.reduce_sum(tf.square(number))
    taken: dict[int, list[int]] = {}
    total = 0
    for _ in range(count // BATCH):
        whose, numbers, added = session.run([who, number, squares])
        total += added
        for index, value in zip(whose.tolist(), numbers.tolist(), strict=True):
            taken.setdefault(index, []).append(value)
    for index, values in sorted(taken.items()):
        in_order = values == list(range(len(values)))
        print(f"From worker {index}: {len(values)} numbers, in order: {in_order}")
    print(f"Sum of squares {total}; left in the queue: {session.run(queue.size())}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Pass numbers from task to task.")
    parser.add_argument("--numbers", type=int, default=40, help="by each worker (default 40)")
    options = parser.parse_args()
    server, cluster, job, index = cluster_task.start()
    if job == "ps":
        server.join()
    queue = numbers_queue()
    filters = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])
    with tf.Session(server.target, config=filters) as session:
        if index == 0:
            consume(session, queue, options.numbers * (cluster.num_tasks("worker") - 1))
        else:
            produce(session, queue, index, options.numbers)


if __name__ == "__main__":
    main()
