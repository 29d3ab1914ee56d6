"""How long does `map_fn` take over 10,000 elements?"""

import numpy as np
from common import arguments, load, median_call, report

ELEMENTS = 10_000


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    rows = tf.placeholder(tf.float32, [None, 8])
    mapped = tf.map_fn(lambda row: row * tf.reduce_sum(row) + 1.0, rows)
    fed = np.random.default_rng(0).random((ELEMENTS, 8), np.float32)
    with tf.Session() as session:
        run = session.make_callable(mapped, [rows])
        result = run(fed)
        seconds = median_call(lambda: run(fed), samples=7, first=3)
    np.testing.assert_allclose(result, fed * fed.sum(1, keepdims=True) + 1, rtol=1e-4)
    report("map_fn", impl, seconds)


if __name__ == "__main__":
    main()
