"""Trains one model on several devices at once: data parallelism inside one graph.

    python examples/towers.py [--devices cpu:1 cpu:2 | --devices gpu:0 gpu:1] [--steps 150]

Every device has a tower: the same layers, the same variables, its own share of the batch. The
variables are on cpu:0, which averages the towers' gradients and applies them once a step. Without
`--devices`: every GPU there is, else two virtual CPUs. Look at the last lines: the gradients that
the towers averaged are those of the whole batch on one device, and every step ran both towers.
"""

from __future__ import annotations

import argparse

import numpy as np

import weft as tf

CLASSES, FEATURES, BATCH = 4, 8, 64
Pairs = list[tuple[tf.Tensor, tf.Variable]]


def draw(rng: np.random.Generator, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points around the centers, and which center each belongs to."""
    labels = rng.integers(CLASSES, size=BATCH)
    return (centers[labels] + rng.normal(size=[BATCH, FEATURES])).astype(np.float32), labels


def tower(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """The loss on a share of the batch; the variables are those of the first tower."""
    with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
        hidden = tf.layers.dense(x, 32, tf.nn.relu, name="hidden")
        scores = tf.layers.dense(hidden, CLASSES, name="scores")
    return tf.losses.sparse_softmax_cross_entropy(y, scores)


def place_on(device: str) -> object:
    """Variables on the first CPU, everything else on `device`."""
    kinds = ("Variable", "VariableV2", "VarHandleOp")
    return lambda op: "/cpu:0" if op.type in kinds else device


def averaged(towers: list[Pairs]) -> Pairs:
    """For each variable the mean of its gradients over the towers."""
    result = []
    for pairs in zip(*towers, strict=True):
        gradients = tf.stack([gradient for gradient, _ in pairs])
        result.append((tf.reduce_mean(gradients, axis=0), pairs[0][1]))
    return result


def available() -> list[str]:
    with tf.Session() as session:
        devices = session.list_devices()
    gpus = [f"gpu:{i}" for i, d in enumerate(d for d in devices if d.device_type == "GPU")]
    return gpus or ["cpu:1", "cpu:2"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Train towers on several devices.")
    parser.add_argument("--devices", nargs="+", help="where the towers are, such as cpu:1 gpu:0")
    parser.add_argument("--steps", type=int, default=150, help="training steps (default 150)")
    options = parser.parse_args()
    devices = [f"/{name}" for name in options.devices or available()]
    rng = np.random.default_rng(0)
    centers = rng.normal(0.0, 1.5, size=[CLASSES, FEATURES])

    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [BATCH, FEATURES], name="points")
    y = tf.placeholder(tf.int32, [BATCH], name="labels")
    optimizer = tf.train.GradientDescentOptimizer(0.3)
    losses, gradients = [], []
    shares = zip(tf.split(x, len(devices)), tf.split(y, len(devices)), devices, strict=True)
    for i, (points, labels, device) in enumerate(shares):
        with tf.device(place_on(device)), tf.name_scope(f"tower_{i}"):
            loss = tower(points, labels)
            losses.append(loss)
            gradients.append(optimizer.compute_gradients(loss))
    with tf.device("/cpu:0"):
        mean = averaged(gradients)
        train = optimizer.apply_gradients(mean)
        loss = tf.reduce_mean(losses)
        whole = optimizer.compute_gradients(tower(x, y))

    cpus = [int(name.rpartition(":")[2]) for name in devices if "cpu" in name]
    config = tf.ConfigProto(device_count={"CPU": max(cpus, default=0) + 1})
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for step in range(1, options.steps + 1):
            batch = dict(zip([x, y], draw(rng, centers), strict=True))
            last, _ = session.run([loss, train], batch)
            if step % 50 == 0:
                print(f"step {step}: loss {last:.3f}")
        ours, wanted = session.run([[g for g, _ in mean], [g for g, _ in whole]], batch)
        metadata = tf.RunMetadata()
        trace = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(train, batch, options=trace, run_metadata=metadata)
    used = sorted(d.device.rpartition("device:")[2] for d in metadata.step_stats.dev_stats)
    furthest = max(np.abs(a - b).max() for a, b in zip(ours, wanted, strict=True))
    print(f"A step ran on {', '.join(used)}")
    print(f"Averaged gradients differ from the whole batch's by at most {furthest:.1e}")


if __name__ == "__main__":
    main()
