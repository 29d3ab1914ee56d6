"""What holding receives back does to the memory of the device that receives.

    python benchmarks/recv_schedule.py

Large tensors made on one device are used, one after the other, on another. All of them could be
sent at once; held back, each comes while the one before is in use. Prints the peak that the
analysis predicts and the one that the executor saw, with and without the schedule.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import weft as tf
from weft.passes.recv_schedule import peak_bytes
from weft.runtime.continuation import StepContext


def fan_in(count: int, side: int) -> tuple[Any, Any]:
    """`count` matrices from CPU:1, each multiplied into a running result on CPU:0.

    That begins when all of them could be there.
    """
    x = tf.placeholder(tf.float32, [side, side])
    with tf.device("/cpu:1"):
        sent = [x * float(i + 1) for i in range(count)]
        made = tf.group(*sent)
    with tf.device("/cpu:0"), tf.control_dependencies([made]):
        total = tf.reduce_mean(x) * tf.ones([side, side])
        for tensor in sent:
            total = tf.tanh(tf.matmul(total, tensor))
    return x, tf.reduce_sum(total)


class Meter:
    """The most bytes that tensors of a partition take, from being made to their last use."""

    def __init__(self, graph: Any) -> None:
        uses = Counter(edge for node in graph.nodes for edge in dict.fromkeys(node.inputs))
        self.uses, self.nodes = uses, set(graph.nodes)
        self.size: dict[Any, int] = {}
        self.peak = 0
        self._lock = threading.Lock()

    def __call__(self, node: Any, inputs: Any, outputs: Any, start: float, end: float) -> None:
        """Is told of every node that has been computed."""
        with self._lock:
            if node not in self.nodes:
                return
            made = {(node, i): value.nbytes for i, value in enumerate(outputs)}
            self.size.update({edge: size for edge, size in made.items() if self.uses[edge]})
            self.peak = max(self.peak, sum(self.size.values()))
            for edge in dict.fromkeys(node.inputs):
                self.uses[edge] -= 1
                if not self.uses[edge]:
                    self.size.pop(edge, None)


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
            parts = getattr(plan, "plain", plan).parts
            where = [part.device.endswith("CPU:0") for part in parts].index(True)
            graph = parts[where].graph
            meter = Meter(graph)
            plan.run([fed[x]], StepContext(meter))
            predicted = peak_bytes(graph)
    return predicted / size, meter.peak / size, float(result)


def main() -> None:
    for scheduled in (False, True):
        predicted, seen, _ = peaks(scheduled)
        how = "held back" if scheduled else "at once  "
        print(f"receives {how}: peak of {predicted:.1f} tensors predicted, {seen:.1f} seen")


if __name__ == "__main__":
    main()
