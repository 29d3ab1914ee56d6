"""What the checkpoint benchmarks share: a model of a given size, and what `cp` takes."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from common import IMPLEMENTATIONS

TENSORS = 100


def arguments(question: str) -> tuple[str, int, int]:
    """(implementation, megabytes, how often) from the command line."""
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument("--impl", choices=IMPLEMENTATIONS, default="weft")
    parser.add_argument("--mb", type=int, default=1024, help="size of the model")
    parser.add_argument("--samples", type=int, default=3)
    given = parser.parse_args()
    return given.impl, given.mb, given.samples


@contextmanager
def model(tf: Any, megabytes: int) -> Iterator[tuple[Any, Any, str]]:
    """(session, saver, folder): a hundred variables of random numbers."""
    elements = megabytes * (1 << 20) // 4 // TENSORS
    values = np.random.default_rng(0).standard_normal(elements).astype(np.float32)
    source = tf.placeholder(tf.float32, [elements])
    variables = [
        tf.Variable(tf.zeros([elements]), name=f"v{i}", trainable=False) for i in range(TENSORS)
    ]
    fill = tf.group(*[tf.assign(v, source + i) for i, v in enumerate(variables)])
    saver = tf.train.Saver(variables)
    folder = tempfile.mkdtemp(prefix="bench_checkpoint")
    try:
        with tf.Session() as sess:
            sess.run(fill, {source: values})
            yield sess, saver, folder
    finally:
        shutil.rmtree(folder)


def replacing(write: Callable[[int], Any], remove: Callable[[int], Any], samples: int) -> float:
    """Median seconds of `write(i)`, each of which takes the place of the one before.

    Removing that is not timed, and comes after: so does a saver, and `cp` is held to the same.
    The disk is at rest before each.
    """
    times = []
    for i in range(samples + 1):
        os.sync()
        began = time.perf_counter()
        write(i)
        times.append(time.perf_counter() - began)
        if i:
            remove(i - 1)
    return statistics.median(times[1:])


def copy_seconds(path: str, samples: int) -> float:
    """Median seconds of `cp` of a file."""

    def copy(i: int) -> None:
        subprocess.run(["cp", path, f"{path}.copy{i}"], check=True)

    return replacing(copy, lambda i: os.remove(f"{path}.copy{i}"), samples)


def median(call: Callable[[int], Any], samples: int) -> float:
    """Median seconds of `call(i)`."""
    return replacing(call, lambda i: None, samples)
