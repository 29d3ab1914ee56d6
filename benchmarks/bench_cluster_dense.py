"""What does a step cost in which a worker uses 100 MB of a parameter server?"""

from clusters import session
from common import arguments, load, median_call, report

FLOATS = 25_000_000


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    with tf.device("/job:ps/task:0"):
        far = tf.Variable(tf.ones([FLOATS]))
    with tf.device("/job:worker/task:0"):
        near = tf.identity(far)[-1]
    with session(tf, impl, ps=1, worker=1) as opened:
        opened.run(far.initializer)
        assert opened.run(near) == 1.0
        seconds = median_call(lambda: opened.run(near), samples=9, first=3)
    report("cluster_dense", impl, seconds)


if __name__ == "__main__":
    main()
