"""Shows a run to the real TensorBoard and takes pictures of what it makes of it.

    python -m tests.summary.look_at_tensorboard pictures/ [--browser chromium]

Needs TensorBoard (weft depends on it) and a Chromium or Chrome that can run without a screen. Not a
test: a person looks at the pictures.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np

import weft as tf

PAGES = [
    "timeseries",
    "scalars",
    "images",
    "audio",
    "graphs",
    "distributions",
    "histograms",
    "text",
]
PORT = 16006


def write_run(logdir: str) -> None:
    """A small regression with every kind of summary."""
    rng = np.random.default_rng(0)
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.variable_scope("layer"):
        weights = tf.get_variable("weights", [2, 64], initializer=tf.random_normal_initializer())
        hidden = tf.nn.relu(tf.matmul(x, weights), name="hidden")
    with tf.name_scope("loss"):
        loss = tf.reduce_mean(tf.square(tf.reduce_mean(hidden, axis=1) - x[:, 0]))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("weights", weights)
    tf.summary.image("waves", _waves(x))
    tf.summary.audio("tone", tf.sin(tf.range(8000.0) * 0.3)[tf.newaxis], 8000.0, max_outputs=1)
    tf.summary.text("note", tf.constant("**weft** wrote this"))
    merged = tf.summary.merge_all()
    with tf.Session() as session, tf.summary.FileWriter(logdir, session.graph) as writer:
        session.run(tf.global_variables_initializer())
        for i in range(60):
            batch = rng.normal(size=[32, 2])
            _, summary = session.run([step, merged], {x: batch})
            writer.add_summary(summary, i)


def _waves(x: tf.Tensor) -> tf.Tensor:
    """Two pictures that differ from step to step."""
    row = tf.reshape(tf.range(64.0) / 5.0, [1, 1, 64, 1])
    column = tf.reshape(tf.range(64.0) / 7.0, [1, 64, 1, 1])
    phase = tf.reshape(x[:2, 0], [2, 1, 1, 1])
    return tf.concat([tf.sin(row + phase) * tf.cos(column + k) for k in range(3)], axis=3)


def wait_for(url: str, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).read()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def photograph(browser: str, url: str, picture: Path) -> None:
    """A picture of a page, after its scripts have had (virtual) time to run."""
    flags = "--headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1400,1000"
    command = [browser, *flags.split(), "--virtual-time-budget=20000", f"--screenshot={picture}"]
    subprocess.run([*command, url], check=True, timeout=120, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--browser", default="chromium")
    parser.add_argument("--pages", nargs="*", default=PAGES)
    arguments = parser.parse_args()
    arguments.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as logdir:
        write_run(logdir)
        program = ["-m", "tensorboard.main", "--logdir", logdir, "--port", str(PORT)]
        server = subprocess.Popen(
            [sys.executable, *program, "--host", "127.0.0.1", "--load_fast=false"],
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for(f"http://127.0.0.1:{PORT}/data/runs")
            for page in arguments.pages:
                picture = arguments.pictures / f"{page}.png"
                photograph(arguments.browser, f"http://127.0.0.1:{PORT}/#{page}", picture)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
