"""What do collectives between processes cost? `python benchmarks/collectives.py [--sizes 1 2 4 8]`

For each number of processes, each with its share of the cores: a step of data-parallel training of
a network 784-1024-1024-10 on 64 examples a process, and the sum of 100 MB over all, beside
a bare `jax.lax.psum` over the same processes. `--tensorflow PYTHON` runs the same step with
TensorFlow's MultiWorkerMirroredStrategy, by an interpreter that has TensorFlow 2.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

MEGABYTES, WARM, TIMES, BATCH, WIDTH = 100, 3, 12, 64, 1024


def median_time(call: Callable[[], Any]) -> float:
    """Seconds that a call takes, in the middle of many."""
    for _ in range(WARM):
        call()
    taken = []
    for _ in range(TIMES):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


# ---- one process ---------------------------------------------------------------------------------


def weft_process() -> dict[str, float]:
    """Seconds of what this file is about, in one process of a group."""
    from weft.lib.horovod import tensorflow as hvd

    hvd.init()
    found = {"step": median_time(training_step(hvd))}
    if hvd.size() > 1:
        found["sum"] = median_time(weft_sum(hvd))
        found["psum"] = median_time(bare_sum())
    return found


def training_step(hvd: Any) -> Callable[[], Any]:
    """A step of training, on the gradients of all processes."""
    import weft as tf

    with tf.Graph().as_default():
        rng = np.random.default_rng(hvd.rank())
        x = tf.constant(rng.random([BATCH, 784], np.float32))
        y = tf.constant(rng.integers(10, size=BATCH))
        hidden = tf.layers.dense(tf.layers.dense(x, WIDTH, tf.nn.relu), WIDTH, tf.nn.relu)
        loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(hidden, 10))
        optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.01))
        train = optimizer.minimize(loss)
        start = [tf.global_variables_initializer(), hvd.broadcast_global_variables(0)]
        session = tf.Session()
        for each in start:
            session.run(each)
    return lambda: session.run(train)


def weft_sum(hvd: Any) -> Callable[[], Any]:
    """The sum of a variable over all processes; one number of it is looked at."""
    import weft as tf

    with tf.Graph().as_default():
        v = tf.get_variable("v", [MEGABYTES * 250_000], initializer=tf.ones_initializer())
        total = hvd.allreduce(v, average=False)[0]
        session = tf.Session()
        session.run(v.initializer)
    return lambda: session.run(total)


def bare_sum() -> Callable[[], Any]:
    """The same in jax alone."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    devices = np.array(jax.devices())
    mesh, parts = Mesh(devices, ("processes",)), PartitionSpec("processes")
    local = np.ones([MEGABYTES * 250_000], np.float32)
    given = jax.make_array_from_process_local_data(NamedSharding(mesh, parts), local)

    def run(x: Any) -> Any:
        return jax.lax.psum(x, "processes")[:1]

    whole = jax.jit(
        jax.shard_map(run, mesh=mesh, in_specs=parts, out_specs=PartitionSpec(), check_vma=False)
    )
    return lambda: jax.block_until_ready(whole(given))  # type: ignore[no-untyped-call]


def tensorflow_process() -> dict[str, float]:
    """The step of training with TensorFlow 2's own collectives."""
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    keras, rank = tf.keras, json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    with strategy.scope():
        layers = [
            keras.layers.Dense(n, a) for n, a in ((WIDTH, "relu"), (WIDTH, "relu"), (10, None))
        ]
        model = keras.Sequential([keras.Input((784,)), *layers])
        optimizer = keras.optimizers.SGD(0.01)
        optimizer.build(model.trainable_variables)
    rng = np.random.default_rng(rank)
    x = tf.constant(rng.random([BATCH, 784], np.float32))
    y = tf.constant(rng.integers(10, size=BATCH))

    def replica() -> None:
        with tf.GradientTape() as tape:
            scores = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x))
            loss = tf.reduce_mean(scores)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    step = tf.function(lambda: strategy.run(replica))
    return {"step": median_time(step)}


# ---- all processes -------------------------------------------------------------------------------


def measure(size: int, kind: str, python: str) -> dict[str, float]:
    """The slowest process's times."""
    cores = sorted(os.sched_getaffinity(0))
    share = max(1, len(cores) // size)
    addresses = free_addresses(size)
    started = [
        subprocess.Popen(
            [python, __file__, "--process", kind],
            env={**os.environ, **variables(rank, addresses, kind)},
            stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda rank=rank: os.sched_setaffinity(  # type: ignore[misc]
                0, cores[rank * share % len(cores) :][:share]
            ),
        )
        for rank in range(size)
    ]  # fmt: skip
    lines = [process.communicate(timeout=600)[0].splitlines()[-1] for process in started]
    found = [json.loads(line) for line in lines]
    return {name: max(each[name] for each in found) for name in found[0]}


def variables(rank: int, addresses: list[str], kind: str) -> dict[str, str]:
    """What tells a process who it is."""
    if kind == "tensorflow":
        task = {"type": "worker", "index": rank}
        return {"TF_CONFIG": json.dumps({"cluster": {"worker": addresses}, "task": task})}
    from weft.core.processes import Place

    return Place(rank, len(addresses), rank, len(addresses), addresses[0]).environment()


def free_addresses(count: int) -> list[str]:
    """Addresses on this machine that nobody listens at just now."""
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    found = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--tensorflow", metavar="PYTHON", default="")
    parser.add_argument("--process", choices=("weft", "tensorflow"))
    args = parser.parse_args()
    if args.process:
        found = weft_process() if args.process == "weft" else tensorflow_process()
        print(json.dumps(found), flush=True)
        return
    for size in args.sizes:
        found = measure(size, "weft", sys.executable)
        line = f"{size} processes: step {found['step'] * 1e3:.1f} ms"
        if "sum" in found:
            ratio = found["sum"] / found["psum"]
            line += (
                f"; sum of {MEGABYTES} MB {found['sum'] * 1e3:.0f} ms, {ratio:.2f} of a bare psum"
            )
        if args.tensorflow and size > 1:
            other = measure(size, "tensorflow", args.tensorflow)["step"]
            line += (
                f"; step of TensorFlow {other * 1e3:.1f} ms, {other / found['step']:.2f} of weft's"
            )
        print(line, flush=True)


if __name__ == "__main__":
    main()
