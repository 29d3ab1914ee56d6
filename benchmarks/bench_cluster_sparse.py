"""What do 1,024 rows of an embedding cost that is on a parameter server? Is its size to be felt?"""

import numpy as np
from clusters import session
from common import arguments, load, median_call, report

DEPTH, BATCH = 64, 1024
ROWS = (400_000, 4_000_000)  # 100 MB, and 1 GB


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    ids = tf.placeholder(tf.int32, [BATCH])
    sums, tables = [], []
    for rows in ROWS:
        with tf.device("/job:ps/task:0"):
            tables.append(tf.Variable(tf.ones([rows, DEPTH])))
        with tf.device("/job:worker/task:0"):
            sums.append(tf.reduce_sum(tf.nn.embedding_lookup(tables[-1], ids)))
    rng = np.random.default_rng(0)
    chosen = [rng.integers(rows, size=BATCH).astype(np.int32) for rows in ROWS]
    with session(tf, impl, ps=1, worker=1) as opened:
        opened.run([table.initializer for table in tables])
        times = []
        for total, which in zip(sums, chosen, strict=True):
            assert opened.run(total, {ids: which}) == BATCH * DEPTH
            times.append(median_call(lambda t=total, w=which: opened.run(t, {ids: w})))
    report("cluster_sparse", impl, times[1], small_table=times[0])


if __name__ == "__main__":
    main()
