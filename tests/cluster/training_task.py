"""One task of a training run that others disturb: a parameter server, or a worker.

Between-graph replication, asynchronous; the chief is worker 0 and saves checkpoints. Each worker
says every step it has made. The problem is convex: wherever training starts, and whoever does how
much of it, it ends at the same loss (`least_loss`).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

import weft as tf

FEATURES, EXAMPLES = 6, 64
RATE = 0.1


def data() -> tuple[np.ndarray, np.ndarray]:
    """Points and noisy values: no weights make the loss zero."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(EXAMPLES, FEATURES))
    y = x @ np.arange(1.0, FEATURES + 1).reshape(-1, 1) - 2.0 + rng.normal(size=(EXAMPLES, 1))
    return x.astype(np.float32), y.astype(np.float32)


def loss_of(weights: np.ndarray, bias: np.ndarray) -> float:
    x, y = (each.astype(np.float64) for each in data())
    return float(np.mean(np.square(x @ weights + bias - y)))


def least_loss() -> float:
    x, y = (each.astype(np.float64) for each in data())
    best = np.linalg.lstsq(np.hstack([x, np.ones((EXAMPLES, 1))]), y, rcond=None)[0]
    return loss_of(best[:-1], best[-1])


def steps_to_converge(precision: float = 1e-7) -> int:
    """After how many steps the loss is as near to the least as `precision`, from any start here.

    Gradient descent brings the error of the weights down by 1 - rate x curvature a step, at least.
    """
    x = np.hstack([data()[0].astype(np.float64), np.ones((EXAMPLES, 1))])
    least = np.linalg.eigvalsh(2 * x.T @ x / EXAMPLES)[0]
    return int(np.log(precision / 1e3) / (2 * np.log(1 - RATE * least)))


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def model(cluster: tf.train.ClusterSpec, here: str) -> tuple[tf.Tensor, tf.Operation]:
    """The global step after an update, and the update."""
    x, y = data()
    with tf.device(tf.train.replica_device_setter(worker_device=here, cluster=cluster)):
        global_step = tf.train.get_or_create_global_step()
        weights = tf.get_variable("weights", [FEATURES, 1], initializer=tf.zeros_initializer())
        bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) + bias - y))
        train = tf.train.GradientDescentOptimizer(RATE).minimize(loss, global_step)
        # Read where the counter is: its value would be sent from there before it is counted up.
        with tf.control_dependencies([train]), tf.colocate_with(global_step.op):
            done = global_step.read_value()
    return done, train


def work(server: tf.train.Server, spec: dict, index: int, options: argparse.Namespace) -> None:
    here = f"/job:worker/task:{index}"
    done, _ = model(tf.train.ClusterSpec(spec), here)
    folder = Path(options.folder)
    with tf.train.MonitoredTrainingSession(
        server.target,
        is_chief=index == 0,
        checkpoint_dir=str(folder) if index == 0 else None,
        hooks=[tf.train.StopAtStepHook(last_step=options.steps)],
        save_checkpoint_steps=options.save_every,
        save_summaries_steps=None,
        log_step_count_steps=None,
        config=tf.ConfigProto(device_filters=["/job:ps", here]),
        max_wait_secs=options.wait,
    ) as session:
        while not session.should_stop():
            say(f"step {session.run(done)}")
            if not (folder / "hurry").exists():
                time.sleep(options.pause)
    say("done")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True, help="for checkpoints")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--save-every", type=int, default=20)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds, after each step")
    parser.add_argument("--wait", type=float, default=60.0, help="most seconds to wait for a chief")
    parser.add_argument("--late", default="", help="a worker that waits for a file called join")
    options = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.INFO)
    config = json.loads(os.environ["TF_CONFIG"])
    job, index = config["task"]["type"], config["task"]["index"]
    if (job, str(index)) == ("worker", options.late):
        while not (Path(options.folder) / "join").exists():
            time.sleep(0.05)
    server = tf.train.Server(config["cluster"], job, index)
    say("up")
    if job == "ps":
        server.join()
    work(server, config["cluster"], index, options)


if __name__ == "__main__":
    main()
