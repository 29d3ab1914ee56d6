"""What one worker's step costs here, and what 1 to 8 real processes do: the input of a simulation.

As a program it is one of the processes: of asynchronous training, or of an all-reduce.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from clusters import addresses, end_with_input, process, session
from common import load, median_call

WORKERS = (1, 2, 4, 8)
DENSE_BYTES = 25e6
SUM_BYTES = (4e3, 25e6)
BATCH, WIDTH, SECONDS = 128, 1024, 3.0
TRAINED_BYTES = 4.0 * (784 * WIDTH + WIDTH + WIDTH * 10 + 10)
_ME = Path(__file__).name


def measure(most: int = 8, seconds: float = SECONDS) -> dict[str, Any]:
    """Everything, for as many processes as are wanted."""
    counts = [n for n in WORKERS if n <= most]
    found: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "cores": os.cpu_count(),
        "dense_bytes": DENSE_BYTES,
        "trained_bytes": TRAINED_BYTES,
        "batch": BATCH,
    }
    for name, part in {
        "null": lambda: null_steps(counts),
        "updates": lambda: {n: training(n, seconds, "count") for n in counts},
        "training": lambda: {n: training(n, seconds, "train") for n in counts},
        "steps": step_times,
        "sums": lambda: {n: sums(n) for n in counts if n > 1},
    }.items():
        print(f"measuring {name}", file=sys.stderr, flush=True)
        found[name] = part()
    return json.loads(json.dumps(found))  # keys are texts, as in a file


# ---- steps that do nothing, on one parameter server ----


def null_steps(counts: list[int]) -> dict[str, dict[int, float]]:
    """Seconds of a synchronous step in which every worker uses a scalar, 25 MB, or 32 rows."""
    tf = load("weft")
    with tf.device("/job:ps/task:0"):
        small = tf.Variable(tf.zeros([]))
        large = tf.Variable(tf.zeros([int(DENSE_BYTES / 4)]))
        table = tf.Variable(tf.zeros([100_000, 64]))
        total = tf.Variable(tf.zeros([]))
    ids = np.random.default_rng(0).integers(100_000, size=[max(counts), 32])
    steps: dict[str, dict[int, Any]] = {"scalar": {}, "dense": {}, "sparse": {}}
    used: dict[str, list[Any]] = {name: [] for name in steps}
    for i in range(max(counts)):
        with tf.device(f"/job:worker/task:{i}"):
            used["scalar"].append(tf.identity(small) + 1.0)
            used["dense"].append(tf.identity(large)[-1] + 1.0)
            used["sparse"].append(tf.reduce_sum(tf.gather(table, ids[i])))
        if i + 1 in counts:
            with tf.device("/job:ps/task:0"):
                for name, values in used.items():
                    steps[name][i + 1] = tf.assign_add(total, tf.add_n(values)).op
    with session(tf, "weft", ps=1, worker=max(counts)) as opened:
        opened.run(tf.global_variables_initializer())
        return {
            name: {
                n: median_call(lambda s=step: opened.run(s), samples=9, first=5)
                for n, step in of.items()
            }
            for name, of in steps.items()
        }


# ---- a worker's own work, and training by several ----


def model(tf: Any) -> tuple[Any, Any]:
    """An update of a network for MNIST, and what it is fed."""
    x, y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
    w1, b1 = tf.get_variable("w1", [784, WIDTH]), tf.get_variable("b1", [WIDTH])
    w2, b2 = tf.get_variable("w2", [WIDTH, 10]), tf.get_variable("b2", [10])
    scores = tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))
    rng = np.random.default_rng(0)
    batch = {x: rng.random([BATCH, 784], np.float32), y: rng.integers(10, size=BATCH)}
    return tf.train.GradientDescentOptimizer(0.01).minimize(loss), batch


def step_times(steps: int = 300) -> dict[str, Any]:
    """Seconds of single steps without a cluster, and how many cores they keep busy."""
    tf = load("weft")
    with tf.Graph().as_default(), tf.Session() as opened:
        train, batch = model(tf)
        opened.run(tf.global_variables_initializer())
        for _ in range(20):
            opened.run(train, batch)
        times = []
        used = time.process_time()
        for _ in range(steps):
            began = time.perf_counter()
            opened.run(train, batch)
            times.append(time.perf_counter() - began)
        used = time.process_time() - used
    return {"seconds": times, "cores": used / sum(times)}


def training(workers: int, seconds: float, what: str) -> float:
    """Steps a second of asynchronous workers on one parameter server."""
    spec = json.dumps(addresses(ps=1, worker=workers))
    with ExitStack() as stack:
        ps = stack.enter_context(process("clusters.py", "weft", spec, "ps", "0"))
        assert ps.stdout is not None and ps.stdout.readline(), "the server did not start"
        started = [
            stack.enter_context(process(_ME, what, spec, str(i), str(seconds)))
            for i in range(workers)
        ]
        return sum(_released(started)) / seconds


def _released(started: list[Any]) -> list[float]:
    """Lets processes go once all are ready; what each has found."""
    for each in started:
        _said(each, "ready")
    for each in started:
        each.stdin.write("go\n")
        each.stdin.flush()
    return [float(_said(each, "found")) for each in started]


def _said(started: Any, word: str) -> str:
    """The rest of the line that begins with a word; libraries may have said others before."""
    for line in started.stdout:
        if line.startswith(word):
            return line.removeprefix(word).strip()
    raise AssertionError("a process did not start")


def count(tf: Any) -> tuple[Any, Any]:
    """An update that is next to nothing: a scalar is fetched, and one is sent back."""
    with tf.device("/job:ps/task:0"):
        total = tf.Variable(tf.zeros([]))
    one = tf.identity(total) * 0.0 + 1.0
    return total.assign_add(one), {}


def train(what: str, spec: str, index: int, seconds: float) -> None:
    """One worker of asynchronous training: prints how many steps it has made."""
    tf = load("weft")
    here = f"/job:worker/task:{index}"
    server = tf.train.Server(json.loads(spec), "worker", index)
    with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device=here)):
        update, batch = {"train": model, "count": count}[what](tf)
        update = update.op if what == "count" else update
    config = tf.ConfigProto(device_filters=["/job:ps", here])
    with tf.Session(server.target, config=config) as opened:
        if index == 0:
            opened.run(tf.global_variables_initializer())
        while len(opened.run(tf.report_uninitialized_variables())):
            time.sleep(0.1)
        for _ in range(20):
            opened.run(update, batch)
        print("ready", flush=True)
        sys.stdin.readline()
        end_with_input()
        until, steps = time.perf_counter() + seconds, 0
        while time.perf_counter() < until:
            opened.run(update, batch)
            steps += 1
    print("found", steps, flush=True)


# ---- all-reduce ----


def sums(processes: int) -> dict[str, float]:
    """Seconds of XLA's all-reduce over Gloo, by the bytes that each process brings."""
    where = addresses(all=1)["all"][0]
    found = {}
    for size in SUM_BYTES:
        with ExitStack() as stack:
            started = [
                stack.enter_context(
                    process(_ME, "sum", where, str(processes), str(i), str(int(size)))
                )
                for i in range(processes)
            ]
            found[str(int(size))] = max(_released(started))
    return found


def sum_up(where: str, processes: int, index: int, size: int) -> None:
    """One process of an all-reduce: prints the median of its seconds."""
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(where, processes, index)
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("all",))
    spread = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("all"))
    own = np.ones([1, size // 4], np.float32)
    values = jax.make_array_from_process_local_data(spread, own)
    specs = {
        "in_specs": jax.sharding.PartitionSpec("all"),
        "out_specs": jax.sharding.PartitionSpec(),
    }
    summed = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x[0], "all"), mesh=mesh, **specs))
    for _ in range(5):
        summed(values).block_until_ready()
    print("ready", flush=True)
    sys.stdin.readline()
    times = []
    for _ in range(20):
        began = time.perf_counter()
        summed(values).block_until_ready()
        times.append(time.perf_counter() - began)
    print("found", statistics.median(times), flush=True)
    end_with_input()
    time.sleep(60)  # the others may not be done: whoever has started us ends us


def main() -> None:
    what, *rest = sys.argv[1:]
    if what == "sum":
        sum_up(rest[0], *map(int, rest[1:]))
    else:
        train(what, rest[0], int(rest[1]), float(rest[2]))


if __name__ == "__main__":
    main()
