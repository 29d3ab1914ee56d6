"""How good placements are, and how long they take, on a cluster that exists only on paper.

    python benchmarks/placement.py

Eight unequal devices in two machines, fast links inside and slow ones between. Small random graphs
are compared with the best of every possible placement; a model-parallel LSTM and an Inception-like
network with everything on the fastest device, and with operations dealt out in turn.
"""

from __future__ import annotations

import itertools
import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import weft as tf
from weft.passes.client_graph import ClientGraph
from weft.passes.devices import DeviceInfo, DeviceSet, Link
from weft.passes.place.cost import CostModel
from weft.passes.place.place import Groups, PlaceOptions, place
from weft.passes.place.simulate import Simulation, simulated_time
from weft.passes.prune import prune

SPEEDS = (1e6, 5e5, 1e6, 2.5e5, 4e5, 8e5, 1e6, 2e5)  # floating-point operations a microsecond
OPTIONS = PlaceOptions(by_type=False)


def paper_cluster() -> DeviceSet:
    """Two machines of four unequal accelerators."""
    devices = tuple(
        DeviceInfo(f"/job:worker/replica:0/task:{i // 4}/device:GPU:{i % 4}", speed, speed / 10)
        for i, speed in enumerate(SPEEDS)
    )
    links = {}
    for a, b in itertools.permutations(devices, 2):
        links[a.name, b.name] = Link(5.0, 2e4) if a.worker == b.worker else Link(30.0, 5e3)
    return DeviceSet(devices, links)


# ---- graphs -----------------------------------------------------------------------------------


def random_graph(seed: int, count: int) -> ClientGraph:
    """`count` matrix products of different sizes; each takes one or two earlier results."""
    rng = random.Random(seed)
    with tf.Graph().as_default() as graph:
        made = [tf.placeholder(tf.float32, [512, rng.choice([128, 256, 512])])]
        for _ in range(count):
            a, b = rng.choice(made), rng.choice(made)
            if a.shape[1] == b.shape[1] and rng.random() < 0.5:
                made.append(tf.matmul(a, b, transpose_b=True))
            else:
                weights = tf.placeholder(tf.float32, [a.shape[1], rng.choice([128, 256, 512])])
                made.append(tf.matmul(a, weights))
        return whole(graph)


def lstm(layers: int = 4, steps: int = 8, width: int = 256, batch: int = 64) -> ClientGraph:
    """An unrolled LSTM with gradients: layers can run at once, a step behind each other."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [steps, batch, width])
        outputs = tf.unstack(x)
        for layer in range(layers):
            with tf.variable_scope(f"layer_{layer}"):
                cell = tf.nn.rnn_cell.BasicLSTMCell(width)
                outputs, _ = tf.nn.static_rnn(cell, outputs, dtype=tf.float32)
        loss = tf.reduce_sum(outputs[-1])
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        return whole(graph)


def inception(blocks: int = 4, batch: int = 8) -> ClientGraph:
    """Blocks of four parallel branches of convolutions, joined at their ends."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [batch, 28, 28, 64])
        for block in range(blocks):
            branches = [convolution(x, 1, 32, f"b{block}/1")]
            for size, depth in ((3, 48), (5, 32), (7, 16)):
                narrow = convolution(x, 1, 24, f"b{block}/{size}/reduce")
                branches.append(convolution(narrow, size, depth, f"b{block}/{size}"))
            x = tf.concat(branches, 3)
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(x))
        return whole(graph)


def convolution(x: Any, size: int, depth: int, name: str) -> Any:
    shape = [size, size, x.shape[3].value, depth]
    kernel = tf.get_variable(name, shape, initializer=tf.zeros_initializer())
    return tf.nn.relu(tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME"))


def long_graph(count: int = 10_000) -> ClientGraph:
    with tf.Graph().as_default() as graph:
        rows = [tf.placeholder(tf.float32, [64, 64]) for _ in range(10)]
        for _ in range(count // 10 - 1):
            rows = [a + b for a, b in zip(rows, rows[1:] + rows[:1], strict=True)]
        return whole(graph)


def whole(graph: Any) -> ClientGraph:
    return prune([], [], graph.get_operations())


# ---- placements -------------------------------------------------------------------------------


def placed(graph: ClientGraph, devices: DeviceSet) -> float:
    """The simulated time of a step where weft puts it."""
    place(graph, devices, OPTIONS)
    return simulated_time(graph.nodes, devices, CostModel())


def best_of_all(graph: ClientGraph, devices: DeviceSet) -> float:
    """The shortest simulated step over every placement of what has a choice.

    Groups that cost nothing follow the device of their first user, which loses nothing.
    """
    groups = Groups(graph, devices, OPTIONS, {})
    roots = groups.roots
    home = {root: i for i, root in enumerate(roots)}
    group_of = [home[groups.find(node)] for node in graph.nodes]
    choices = [groups.devices(root) for root in roots]
    simulation = Simulation(graph.nodes, group_of, choices, devices, CostModel())
    costly = [g for g, work in enumerate(simulation.work) if max(work) > 1.0]
    best = float("inf")
    for assigned in itertools.product(range(len(devices)), repeat=len(costly)):
        chosen = [-1] * len(roots)
        for group, device in zip(costly, assigned, strict=True):
            chosen[group] = device
        best = min(best, simulation.run(chosen))
    return best


def on_one(graph: ClientGraph, devices: DeviceSet) -> float:
    times = []
    for device in devices:
        for node in graph.nodes:
            node.device = device.name
        times.append(simulated_time(graph.nodes, devices, CostModel()))
    return min(times)


def in_turn(graph: ClientGraph, devices: DeviceSet) -> float:
    """Groups dealt out one by one."""
    clear(graph)
    groups = Groups(graph, devices, OPTIONS, {})
    turn = {root: devices.devices[i % len(devices)] for i, root in enumerate(groups.roots)}
    for node in graph.nodes:
        node.device = turn[groups.find(node)].name
    return simulated_time(graph.nodes, devices, CostModel())


def clear(graph: ClientGraph) -> None:
    for node in graph.nodes:
        node.device = ""


def compare(graph: ClientGraph, devices: DeviceSet) -> tuple[float, float, float]:
    """Simulated times: ours, all on the best device, dealt out in turn."""
    ours = placed(graph, devices)
    return ours, on_one(graph, devices), in_turn(graph, devices)


def main() -> None:
    devices = paper_cluster()
    ratios = []
    for seed in range(12):
        graph = random_graph(seed, 5)
        ours = placed(graph, devices)
        clear(graph)
        ratios.append(ours / best_of_all(graph, devices))
    print(
        f"small graphs, against the best of all placements: median {statistics.median(ratios):.3f},"
        f" worst {max(ratios):.3f} of {len(ratios)}"
    )
    for name, graph in (("model-parallel LSTM", lstm()), ("Inception-like", inception())):
        began = time.perf_counter()
        ours, one, turn = compare(graph, devices)
        took = time.perf_counter() - began
        print(
            f"{name}, {len(graph.nodes)} nodes: {ours / 1e3:.2f} ms; on one device"
            f" {one / 1e3:.2f} ms, in turn {turn / 1e3:.2f} ms ({took:.1f} s for all three)"
        )
    graph = long_graph()
    began = time.perf_counter()
    place(graph, devices, OPTIONS)
    print(f"{len(graph.nodes)} nodes placed in {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
