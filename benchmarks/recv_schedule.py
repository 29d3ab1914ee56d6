"""What holding receives back does to the memory of the device that receives.

    python benchmarks/recv_schedule.py

Large tensors made on one device are used, one after the other, on another. All of them could be
sent at once; held back, each comes while the one before is in use. Prints the peak that the
analysis predicts and the one that the executor saw, with and without the schedule.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import weft as tf
from weft.passes.recv_schedule import peak_bytes


def fan_in(count: int, side: int) -> tuple[Any, Any]:
    """`count` matrices from CPU:1, each multiplied into a running result on CPU:0."""
    x = tf.placeholder(tf.float32, [side, side])
    with tf.device("/cpu:1"):
        sent = [x * float(i + 1) for i in range(count)]
    with tf.device("/cpu:0"):
        total = tf.reduce_mean(x) * tf.ones([side, side])
        for tensor in sent:
            total = tf.tanh(tf.matmul(total, tensor))
    return x, tf.reduce_sum(total)


class Meter:
    """The most bytes that arrays take in the values of a partition."""

    def __init__(self) -> None:
        self.peak = 0

    def __call__(self, values: list[Any]) -> None:
        arrays = {id(v): v.nbytes for v in values if hasattr(v, "nbytes")}
        self.peak = max(self.peak, sum(arrays.values()))


def peaks(scheduled: bool, count: int = 8, side: int = 512) -> tuple[float, float, float]:
    """Predicted and seen peak on the receiving device, in tensors; and the result."""
    config = tf.ConfigProto(device_count={"CPU": 2})
    config.graph_options.enable_recv_scheduling = scheduled
    size = side * side * 4
    with tf.Graph().as_default():
        x, y = fan_in(count, side)
        with tf.Session(config=config) as sess:
            fed = {x: np.full((side, side), 1e-3, np.float32)}
            for _ in range(3):
                result = sess.run(y, fed)
            plan = next(iter(sess._runner._plans.values()))
            where = [part.device.endswith("CPU:0") for part in plan.parts].index(True)
            meter = plan.plans[where].tasks.watch = Meter()
            sess.run(y, fed)
            predicted = peak_bytes(plan.parts[where].graph)
    fed_bytes = size  # the placeholder's own array is there throughout
    return predicted / size, (meter.peak - fed_bytes) / size, float(result)


def main() -> None:
    for scheduled in (False, True):
        predicted, seen, _ = peaks(scheduled)
        how = "held back" if scheduled else "at once  "
        print(f"receives {how}: peak of {predicted:.1f} tensors predicted, {seen:.1f} seen")


if __name__ == "__main__":
    main()
