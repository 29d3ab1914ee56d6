"""The choice of a variable's parameter server: strategies for `replica_device_setter`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.shapes import TensorShape


class RandomStrategy:
    """By the hash of the name: about evenly, and the same in every process."""

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._num_tasks, self._seed = num_ps_tasks, seed

    def __call__(self, op: Any) -> int:
        digest = hashlib.md5(f"{op.name}_{self._seed}".encode()).hexdigest()
        return int(digest, 16) % self._num_tasks


class GreedyLoadBalancingStrategy:
    """To the task that has least to carry so far, by `load_fn`."""

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]) -> None:
        self._num_tasks, self._load_fn = num_tasks, load_fn
        self._ps_loads = np.zeros(num_tasks)

    def __call__(self, op: Any) -> int:
        task = int(np.argmin(self._ps_loads))
        self._ps_loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Any) -> int:
    """How many bytes the output of `op` takes."""
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    (output,) = op.outputs
    known = output.shape.is_fully_defined()
    shape = output.shape if known else TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return output.dtype.size * shape.num_elements()
