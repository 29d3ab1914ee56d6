"""What does a step cost that goes from one device to another and back, in one process?"""

from common import arguments, load, median_call, report


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    x = tf.placeholder(tf.float32, [])
    with tf.device("/cpu:1"):
        a = x * 2.0
    with tf.device("/cpu:0"):
        b = a + 1.0
    with tf.device("/cpu:1"):
        c = b * 3.0
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        assert session.run(c, {x: 2.5}) == 18.0
        seconds = median_call(lambda: session.run(c, {x: 2.5}))
    report("two_devices", impl, seconds)


if __name__ == "__main__":
    main()
