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
    parser.add_argument("--mb", type=int, default=256, help="size of the model (1024: the target)")
    parser.add_argument("--samples", type=int, default=5)
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


def median(call: Callable[[int], Any], samples: int) -> float:
    """Median seconds of `call(i)`; the disk is at rest before each."""
    times = []
    for i in range(samples + 1):
        os.sync()
        began = time.perf_counter()
        call(i)
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])


def copy_seconds(path: str, samples: int, to_disk: bool = False) -> float:
    """Median seconds of `cp` of a file; with `to_disk`, until the copy is on the disk."""

    def copy(i: int) -> None:
        target = f"{path}.copy{i}"
        subprocess.run(["cp", path, target], check=True)
        if to_disk:
            subprocess.run(["sync", target], check=True)
        os.remove(target)

    return median(copy, samples)
