"""How long do 100,000 iterations over scalars take, in a loop that can be compiled whole?"""

from common import arguments, load, median_call, report

ITERATIONS = 100_000


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    limit = tf.placeholder(tf.int32, [])
    _, total = tf.while_loop(
        lambda i, v: i < limit, lambda i, v: (i + 1, v * 0.999 + 1.0), [0, tf.constant(0.0)]
    )
    with tf.Session() as session:
        step = session.make_callable(total, [limit])
        result = step(ITERATIONS)
        seconds = median_call(lambda: step(ITERATIONS), samples=3, first=2)
    assert abs(result - 1000) < 1, result
    report("loop", impl, seconds)


if __name__ == "__main__":
    main()
