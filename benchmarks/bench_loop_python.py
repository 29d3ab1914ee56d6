"""How long do 20,000 iterations take with a Python function in the loop's body?"""

import numpy as np
from common import arguments, load, median_call, report

ITERATIONS = 20_000


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    limit = tf.placeholder(tf.int32, [])

    def step(i, v):
        made = tf.py_func(lambda x: x + np.float32(1), [v], tf.float32)
        made.set_shape([])
        return i + 1, made * 0.999

    _, total = tf.while_loop(lambda i, v: i < limit, step, [0, tf.constant(0.0)])
    with tf.Session() as session:
        run = session.make_callable(total, [limit])
        result = run(ITERATIONS)
        seconds = median_call(lambda: run(ITERATIONS), samples=3, first=1)
    assert abs(result - 999) < 1, result
    report("loop_python", impl, seconds)


if __name__ == "__main__":
    main()
