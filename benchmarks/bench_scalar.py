"""What does a step cost that is fed a scalar and fetches one?"""

from common import arguments, load, median_call, report


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    with tf.Session() as session:
        assert session.run(y, {x: 2.5}) == 3.5
        seconds = median_call(lambda: session.run(y, {x: 2.5}))
    report("scalar", impl, seconds)


if __name__ == "__main__":
    main()
