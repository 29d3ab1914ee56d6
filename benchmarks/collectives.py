"""What do collectives between processes cost? `python benchmarks/collectives.py [--sizes 1 2 4 8]`

For each number of processes, each with its share of the cores: a step of data-parallel training of
a network 784-1024-1024-10 on 64 examples a process, and the sum of 100 MB over all, beside
a bare `jax.lax.psum` over the same processes, by turns: of numbers that the step computes, as
gradients are, and of a variable as it is. `--tensorflow PYTHON` runs the same step with
TensorFlow's MultiWorkerMirroredStrategy, by an interpreter that has TensorFlow 2.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

MEGABYTES, WARM, TIMES, BATCH, WIDTHS = 100, 3, 12, 64, (1024, 1024)


def median_time(call: Callable[[], Any]) -> float:
    """Seconds that a call takes, in the middle of many."""
    return median_times(call)[0]


def median_times(*calls: Callable[[], Any]) -> list[float]:
    """The same for several calls, which are made by turns: what else the machine does slows all."""
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(WARM + TIMES):
        for call, seconds in zip(calls, taken, strict=True):
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds[WARM:]) for seconds in taken]


# ---- one process ---------------------------------------------------------------------------------


def weft_process() -> dict[str, float]:
    """Seconds of what this file is about, in one process of a group."""
    from weft.lib.horovod import tensorflow as hvd

    hvd.init()
    found = {"step": median_time(training_step(hvd, WIDTHS))}
    if hvd.size() > 1:
        for name, factor in (("sum", 0.5), ("variable", 1.0)):
            sums = weft_sum(hvd, factor), bare_sum(factor)
            found[name], found[f"{name}, bare"] = median_times(*sums)
    return found


def training_step(hvd: Any, widths: Sequence[int], batch: int = BATCH) -> Callable[[], Any]:
    """A step of training, on the gradients of all processes."""
    import weft as tf

    with tf.Graph().as_default():
        rng = np.random.default_rng(hvd.rank())
        hidden = tf.constant(rng.random([batch, 784], np.float32))
        y = tf.constant(rng.integers(10, size=batch))
        for width in widths:
            hidden = tf.layers.dense(hidden, width, tf.nn.relu)
        loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(hidden, 10))
        optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.01))
        train = optimizer.minimize(loss)
        start = [tf.global_variables_initializer(), hvd.broadcast_global_variables(0)]
        session = tf.Session()
        for each in start:
            session.run(each)
    return lambda: session.run(train)


def weft_sum(hvd: Any, factor: float) -> Callable[[], Any]:
    """The sum of a variable, times `factor`, over all processes; one number of it is looked at."""
    import weft as tf

    with tf.Graph().as_default():
        v = tf.get_variable("v", [MEGABYTES * 250_000], initializer=tf.ones_initializer())
        total = hvd.allreduce(v if factor == 1.0 else v * factor, average=False)[0]
        session = tf.Session()
        session.run(v.initializer)
    return lambda: session.run(total)


def bare_sum(factor: float) -> Callable[[], Any]:
    """The same in jax alone."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    devices = np.array(jax.devices())
    mesh, parts = Mesh(devices, ("processes",)), PartitionSpec("processes")
    local = np.ones([MEGABYTES * 250_000], np.float32)
    given = jax.make_array_from_process_local_data(NamedSharding(mesh, parts), local)

    def run(x: Any) -> Any:
        return jax.lax.psum(x if factor == 1.0 else x * factor, "processes")[:1]

    whole = jax.jit(
        jax.shard_map(run, mesh=mesh, in_specs=parts, out_specs=PartitionSpec(), check_vma=False)
    )
    return lambda: jax.block_until_ready(whole(given))  # type: ignore[no-untyped-call]


def tensorflow_step(widths: Sequence[int], batch: int = BATCH) -> Callable[[], Any]:
    """The step of training with TensorFlow 2's own collectives: a ring over gRPC."""
    tf: Any = importlib.import_module("tensorflow")
    communication = tf.distribute.experimental.CommunicationOptions(
        implementation=tf.distribute.experimental.CommunicationImplementation.RING
    )
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=communication)
    keras, rank = tf.keras, json.loads(os.environ["TF_CONFIG"])["task"]["index"]
    with strategy.scope():
        layers = [keras.layers.Dense(width, "relu") for width in widths]
        model = keras.Sequential([keras.Input((784,)), *layers, keras.layers.Dense(10)])
        optimizer = keras.optimizers.SGD(0.01)
        optimizer.build(model.trainable_variables)
    rng = np.random.default_rng(rank)
    x = tf.constant(rng.random([batch, 784], np.float32))
    y = tf.constant(rng.integers(10, size=batch))

    def replica() -> None:
        with tf.GradientTape() as tape:
            scores = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x))
            loss = tf.reduce_mean(scores)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    step: Callable[[], Any] = tf.function(lambda: strategy.run(replica))
    return step


# ---- all processes -------------------------------------------------------------------------------


def measure(size: int, kind: str, python: str) -> dict[str, float]:
    """The slowest process's times."""
    started = start_group(size, kind, [python, __file__, "--process", kind])
    lines = [process.communicate(timeout=600)[0].splitlines()[-1] for process in started]
    found = [json.loads(line) for line in lines]
    return {name: max(each[name] for each in found) for name in found[0]}


def start_group(size: int, kind: str, command: list[str]) -> list[subprocess.Popen[str]]:
    """Processes that know each other, each with its share of the cores."""
    cores = sorted(os.sched_getaffinity(0))
    share = max(1, len(cores) // size)
    addresses = free_addresses(size)
    return [
        subprocess.Popen(
            command, env={**os.environ, **variables(rank, addresses, kind)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda rank=rank: os.sched_setaffinity(  # type: ignore[misc]
                0, cores[rank * share % len(cores) :][:share]
            ),
        )
        for rank in range(size)
    ]  # fmt: skip


def variables(rank: int, addresses: list[str], kind: str) -> dict[str, str]:
    """What tells a process who it is."""
    if kind == "tensorflow":
        task = {"type": "worker", "index": rank}
        return {"TF_CONFIG": json.dumps({"cluster": {"worker": addresses}, "task": task})}
    from weft.core.processes import MEMORY, Place

    place = Place(rank, len(addresses), rank, len(addresses), addresses[0])
    return {**MEMORY, **place.environment()}  # as `weft launch -n` does


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
        is_weft = args.process == "weft"
        found = weft_process() if is_weft else {"step": median_time(tensorflow_step(WIDTHS))}
        print(json.dumps(found), flush=True)
        return
    for size in args.sizes:
        found = measure(size, "weft", sys.executable)
        line = f"{size} processes: step {found['step'] * 1e3:.1f} ms"
        if "sum" in found:
            line += f"; sum of {MEGABYTES} MB {found['sum'] * 1e3:.0f} ms"
            line += f", {found['sum'] / found['sum, bare']:.2f} of a bare psum"
            line += f" (of a variable {found['variable'] / found['variable, bare']:.2f})"
        if args.tensorflow and size > 1:
            other = measure(size, "tensorflow", args.tensorflow)["step"]
            line += (
                f"; step of TensorFlow {other * 1e3:.1f} ms, {other / found['step']:.2f} of weft's"
            )
        print(line, flush=True)


if __name__ == "__main__":
    main()
