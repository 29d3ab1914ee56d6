"""How many examples a second do two workers train on that share a parameter server?

A network for MNIST, 784-128-10, batches of 128; each worker is a process with a graph of its own.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from typing import Any

import numpy as np
from clusters import addresses, end_with_input, process
from common import arguments, load, report

WORKERS, BATCH, SECONDS = 2, 128, 4.0


def work(impl: str, spec: dict[str, list[str]], index: int) -> None:
    """Says that it is ready, waits for a line, trains, and says how many examples it has used."""
    tf = load(impl)
    here = f"/job:worker/task:{index}"
    server = tf.train.Server(spec, "worker", index)
    with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device=here)):
        x, y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
        loss = model(tf, x, y)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    rng = np.random.default_rng(index)
    batch = {x: rng.random([BATCH, 784], np.float32), y: rng.integers(10, size=BATCH)}
    config = tf.ConfigProto(device_filters=["/job:ps", here])
    with tf.Session(server.target, config=config) as session:
        if index == 0:
            session.run(tf.global_variables_initializer())
        while len(session.run(tf.report_uninitialized_variables())):
            time.sleep(0.1)
        for _ in range(20):
            session.run(train, batch)
        print("ready", flush=True)
        sys.stdin.readline()
        end_with_input()
        until, steps = time.perf_counter() + SECONDS, 0
        while time.perf_counter() < until:
            session.run(train, batch)
            steps += 1
        assert np.isfinite(session.run(loss, batch))
    print(steps * BATCH, flush=True)


def model(tf: Any, x: Any, y: Any) -> Any:
    w1 = tf.get_variable("w1", [784, 128])
    b1 = tf.get_variable("b1", [128], initializer=tf.zeros_initializer())
    w2 = tf.get_variable("w2", [128, 10])
    b2 = tf.get_variable("b2", [10], initializer=tf.zeros_initializer())
    scores = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))


def main() -> None:
    if sys.argv[1:2] == ["worker"]:
        impl, spec, index = sys.argv[2:]
        work(impl, json.loads(spec), int(index))
        return
    impl = arguments(__doc__)
    spec = addresses(ps=1, worker=WORKERS)
    text = json.dumps(spec)
    with ExitStack() as stack:
        ps = stack.enter_context(process("clusters.py", impl, text, "ps", "0"))
        assert ps.stdout is not None and ps.stdout.readline(), "the server did not start"
        workers = [
            stack.enter_context(process("bench_cluster_async.py", "worker", impl, text, str(i)))
            for i in range(WORKERS)
        ]
        for each in workers:
            assert each.stdout is not None and each.stdout.readline() == "ready\n"
        for each in workers:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        examples = sum(int(each.stdout.readline()) for each in workers if each.stdout)
    report("cluster_async", impl, SECONDS, examples_per_second=examples / SECONDS)


if __name__ == "__main__":
    main()
