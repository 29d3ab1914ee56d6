"""How long does a chain of element-wise operations on a million floats take, fed and fetched?"""

import numpy as np
from common import arguments, load, median_call, report

SIZE = 1_000_000


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    x = tf.placeholder(tf.float32, [SIZE])
    y = x
    for _ in range(5):
        y = tf.maximum(y * 0.5 + x, -1.0) - tf.tanh(y)
    values = np.random.default_rng(0).standard_normal(SIZE, np.float32)
    expected = values
    for _ in range(5):
        expected = np.maximum(expected * np.float32(0.5) + values, -1) - np.tanh(expected)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(y, {x: values}), expected, rtol=1e-4, atol=1e-4)
        seconds = median_call(lambda: session.run(y, {x: values}))
    report("elementwise", impl, seconds)


if __name__ == "__main__":
    main()
