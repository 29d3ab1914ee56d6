"""How long do 20,000 iterations take when a shape in the loop's body depends on values?"""

import numpy as np
from common import arguments, load, median_call, report

ITERATIONS = 20_000


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    limit = tf.placeholder(tf.int32, [])
    values = tf.placeholder(tf.float32, [None])

    def step(i, v):
        chosen = tf.boolean_mask(values, values > v)
        return i + 1, v * 0.5 + tf.reduce_sum(chosen) * 0.01

    _, total = tf.while_loop(lambda i, v: i < limit, step, [0, tf.constant(0.0)])
    fed = np.linspace(0, 1, 16, dtype=np.float32)
    with tf.Session() as session:
        run = session.make_callable(total, [limit, values])
        result = run(ITERATIONS, fed)
        seconds = median_call(lambda: run(ITERATIONS, fed), samples=3, first=1)
    assert 0.1 < result < 0.2, result
    report("loop_shapes", impl, seconds)


if __name__ == "__main__":
    main()
