"""What does a step cost that does nothing?"""

from common import arguments, load, median_call, report


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    nothing = tf.no_op()
    with tf.Session() as session:
        seconds = median_call(lambda: session.run(nothing))
    report("noop", impl, seconds)


if __name__ == "__main__":
    main()
