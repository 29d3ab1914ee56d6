"""What does a step cost in which a worker uses a scalar of a parameter server?"""

from clusters import session
from common import arguments, load, median_call, report


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    with tf.device("/job:ps/task:0"):
        far = tf.Variable(1.5)
    with tf.device("/job:worker/task:0"):
        near = far * 2.0
    with session(tf, impl, ps=1, worker=1) as opened:
        opened.run(far.initializer)
        assert opened.run(near) == 3.0
        seconds = median_call(lambda: opened.run(near))
    report("cluster_scalar", impl, seconds)


if __name__ == "__main__":
    main()
