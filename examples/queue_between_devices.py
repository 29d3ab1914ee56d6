"""A queue on one device, filled from another and drained by a third.

    python examples/queue_between_devices.py [--numbers 24]

The queue is on cpu:1, and with it whatever puts in or takes out: operations on a queue run where it
is. The numbers are made on cpu:2 and used on cpu:0, so every element travels twice. The queue holds
only four: who puts in waits for room, who takes out waits for elements, and closing the queue ends
the consumer once it is empty. Look at the placement (`log_device_placement` prints it to standard
error) and at the order of events: the producer is never further ahead than the queue has room,
and the one element that has been taken and not yet noted.
"""

from __future__ import annotations

import argparse
import threading

import weft as tf

CAPACITY = 4


class Events:
    """What happened, in order, from both threads."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.lock = threading.Lock()

    def add(self, what: str) -> None:
        with self.lock:
            self.log.append(what)


def furthest_ahead(log: list[str]) -> int:
    """How many more had been put in than taken out, at most."""
    ahead = most = 0
    for event in log:
        ahead += 1 if event.startswith("put") else -1
        most = max(most, ahead)
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description="Pass numbers through a queue on a device.")
    parser.add_argument("--numbers", type=int, default=24, help="how many (default 24)")
    count = parser.parse_args().numbers

    with tf.device("/cpu:1"):
        queue = tf.FIFOQueue(CAPACITY, [tf.int64, tf.float32], [[], [2]], name="queue")
        held = queue.size()
        close = queue.close()
    with tf.device("/cpu:2"):
        counter = tf.get_variable("counter", [], tf.int64, tf.zeros_initializer())
        number = tf.assign_add(counter, 1)
        powers = tf.stack([tf.cast(number, tf.float32) ** 2, tf.cast(number, tf.float32) ** 3])
    put = queue.enqueue([number, powers])
    taken, got = queue.dequeue()
    with tf.device("/cpu:0"):
        total = tf.get_variable("total", [2], initializer=tf.zeros_initializer())
        add = tf.assign_add(total, got)

    config = tf.ConfigProto(device_count={"CPU": 3}, log_device_placement=True)
    events = Events()
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())

        def produce() -> None:
            for i in range(count):
                session.run(put)
                events.add(f"put {i + 1}")
            session.run(close)

        producer = threading.Thread(target=produce)
        producer.start()
        try:
            while True:
                which, _ = session.run([taken, add])
                events.add(f"took {which}")
        except tf.errors.OutOfRangeError:
            print("The queue is closed and empty")
        producer.join()
        sums, left = session.run([total, held])

    took = [int(event.split()[1]) for event in events.log if event.startswith("took")]
    print(f"Taken in order: {took == list(range(1, count + 1))}; left in the queue: {left}")
    print(f"At most {furthest_ahead(events.log)} ahead, with room for {CAPACITY}")
    print(f"Sum of squares {sums[0]:.0f}, of cubes {sums[1]:.0f}")


if __name__ == "__main__":
    main()
