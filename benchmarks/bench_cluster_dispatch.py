"""How many subgraphs a second does one worker run? Threads send it steps, one after another.

The master is in this process, the worker in another; each step is one subgraph of one operation.
"""

import threading
import time

from clusters import session
from common import arguments, load, report

THREADS, SECONDS = 4, 2.0


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    with tf.device("/job:ps/task:0"):
        nothing = tf.no_op()
    counts = [0] * THREADS
    with session(tf, impl, ps=1, worker=1) as opened:
        for _ in range(1000):
            opened.run(nothing)
        until = time.perf_counter() + SECONDS

        def send(i: int) -> None:
            while time.perf_counter() < until:
                opened.run(nothing)
                counts[i] += 1

        threads = [threading.Thread(target=send, args=(i,)) for i in range(THREADS)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    rate = sum(counts) / SECONDS
    report("cluster_dispatch", impl, 1 / rate, subgraphs_per_second=rate)


if __name__ == "__main__":
    main()
