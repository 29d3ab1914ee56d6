"""What does a synchronous step cost that does nothing, and how does that grow with the workers?

Every worker fetches the parameters, computes next to nothing, and sends an update; the step is over
when all updates have been applied.
"""

from clusters import session
from common import arguments, load, median_call, report

WORKERS = (1, 2, 4, 8)


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    with tf.device("/job:ps/task:0"):
        shared = tf.Variable(tf.zeros([16]))
    updates, steps = [], {}
    for i in range(max(WORKERS)):
        with tf.device(f"/job:worker/task:{i}"):
            updates.append(tf.identity(shared) * 0.0 + 1.0)
        if i + 1 in WORKERS:
            with tf.device("/job:ps/task:0"):
                steps[i + 1] = tf.assign_add(shared, tf.add_n(updates) / (i + 1)).op
    times = {}
    with session(tf, impl, ps=1, worker=max(WORKERS)) as opened:
        opened.run(shared.initializer)
        for count, step in steps.items():
            times[count] = median_call(lambda s=step: opened.run(s), samples=9)
    more = {f"workers_{count}": seconds for count, seconds in times.items()}
    report("cluster_sync", impl, times[8], growth=times[8] / times[1], **more)


if __name__ == "__main__":
    main()
