"""How long does an iteration of a loop take that may have to wait?

Its body takes an element from a queue: it cannot become one program. What the body computes with
the element is ordinary.
"""

from typing import Any

import numpy as np
from common import arguments, load, median_call, report

ITERATIONS, SIZE = 500, 16


def build(tf: Any) -> tuple[Any, Any]:
    """(fills the queue, the loop over it)."""
    queue = tf.FIFOQueue(ITERATIONS, tf.float32, shapes=[[SIZE]])
    elements = np.random.default_rng(0).standard_normal((ITERATIONS, SIZE)).astype(np.float32)
    weights = tf.constant(np.eye(SIZE, dtype=np.float32) * 0.5)

    def body(i: Any, state: Any, total: Any) -> tuple[Any, Any, Any]:
        x = queue.dequeue()
        rows = tf.reshape(x, [1, -1])
        state = tf.tanh(tf.matmul(state, weights) + rows)
        state = tf.where(tf.shape(state)[0] > 1, state[:1], state)
        return i + 1, state, total + tf.reduce_sum(state * state)

    start = [0, tf.zeros([1, SIZE]), 0.0]
    _, _, total = tf.while_loop(lambda i, *_: i < ITERATIONS, body, start)
    return queue.enqueue_many(tf.constant(elements)), total


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    fill, total = build(tf)
    with tf.Session() as session:
        session.run(fill)
        first = session.run(total)

        def once() -> None:
            session.run(fill)
            # Where iterations overlap, elements may be taken in another order.
            assert abs(session.run(total) - first) < 0.1 * abs(first)

        seconds = median_call(once, samples=7, first=3)
    report("loop_queue", impl, seconds / ITERATIONS)


if __name__ == "__main__":
    main()
