"""Datasets that pass their input on: hints, markers, and what skips or counts along the way."""

from __future__ import annotations

import time
from collections.abc import Container
from typing import Any

import numpy as np

from weft.core.errors import InternalError, OpError
from weft.ops.dataset.declare import INPUT, STRUCTURE, dataset_op, scalar
from weft.ops.dataset.objects import UNKNOWN, Choosing, Dataset, Iterator, Over, Unary
from weft.ops.dataset.scope import Scope
from weft.ops.kit.shared import invalid


class Same(Choosing):
    """A dataset that passes its input on, unchanged."""

    def over(self, scope: Scope, raw: bool) -> Iterator:
        return self.input.open(scope, raw)

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return self.input.open(scope, raw)


@dataset_op("ModelDataset", INPUT, f"algorithm: int = 0, cpu_budget: int = 0, {STRUCTURE}")
def model_dataset(xp: Any, input_dataset: Dataset) -> Dataset:
    return Same(input_dataset)


# The rewrites that TensorFlow 1.15 has. They change nothing that comes out but its order.
_REWRITES = frozenset(
    "filter_fusion hoist_random_uniform inject_prefetch latency_all_edges make_sloppy"
    " make_stateless map_and_batch_fusion map_and_filter_fusion map_fusion map_parallelization"
    " map_vectorization noop_elimination parallel_batch shuffle_and_repeat_fusion slack".split()
)


class Rewritten(Same):
    """A dataset whose iterators are told which rewrites of the pipeline were asked for."""

    def __init__(self, input: Dataset, asked: Container[str]) -> None:
        super().__init__(input)
        self.asked = asked

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        scope.any_order |= "make_sloppy" in self.asked
        scope.leaves_out |= "noop_elimination" in self.asked
        scope.batches_results |= "map_and_batch_fusion" in self.asked
        scope.fuses |= "shuffle_and_repeat_fusion" in self.asked
        return self.input.open(scope, raw)

    over = open


@dataset_op(
    "OptimizeDataset", f"{INPUT}, optimizations: string",
    f"{STRUCTURE}, optimization_configs: list(string) = []",
)  # fmt: skip
def optimize_dataset(xp: Any, input_dataset: Dataset, optimizations: Any) -> Dataset:
    asked = [name.decode() for name in np.ravel(optimizations).tolist()]
    for name in asked:
        if name not in _REWRITES:
            text = f"Tried to register a dataset optimizer that doesn't exist: {name}"
            raise InternalError(None, None, text)
    return Rewritten(input_dataset, asked)


@dataset_op("RewriteDataset", f"{INPUT}, rewrite_name: string")
def rewrite_dataset(xp: Any, input_dataset: Dataset, rewrite_name: Any) -> Dataset:
    """A rewrite of newer versions: of what is done, not of what comes out."""
    return Same(input_dataset)


@dataset_op("OptionsDataset", INPUT, f"serialized_options: string, {STRUCTURE}")
def options_dataset(xp: Any, input_dataset: Dataset) -> Dataset:
    """Options of newer clients, which tune what is done and change no result."""
    return Same(input_dataset)


@dataset_op("NonSerializableDataset", INPUT, experimental=True)
def non_serializable_dataset(xp: Any, input_dataset: Dataset) -> Dataset:
    return Same(input_dataset)


@dataset_op(
    "MaxIntraOpParallelismDataset", f"{INPUT}, max_intra_op_parallelism: int64", experimental=True
)
def max_intra_op_parallelism_dataset(
    xp: Any, input_dataset: Dataset, max_intra_op_parallelism: Any
) -> Dataset:
    if scalar(max_intra_op_parallelism, "max_intra_op_parallelism") < 0:
        raise invalid("`max_intra_op_parallelism` must be >= 0")
    return Same(input_dataset)


@dataset_op("PrivateThreadPoolDataset", f"{INPUT}, num_threads: int64", experimental=True)
def private_thread_pool_dataset(xp: Any, input_dataset: Dataset, num_threads: Any) -> Dataset:
    if scalar(num_threads, "num_threads") < 0:
        raise invalid("`num_threads` must be >= 0")
    return Same(input_dataset)


@dataset_op("AssertNextDataset", f"{INPUT}, transformations: string", experimental=True)
def assert_next_dataset(xp: Any, input_dataset: Dataset, transformations: Any) -> Dataset:
    return Same(input_dataset)


@dataset_op("AutoShardDataset", f"{INPUT}, num_workers: int64, index: int64", experimental=True)
def auto_shard_dataset(xp: Any, input_dataset: Dataset, num_workers: Any, index: Any) -> Dataset:
    from weft.ops.dataset.choose import Shard

    count = scalar(num_workers, "num_workers")
    if count <= 1:
        return Same(input_dataset)
    return Shard(input_dataset, count, scalar(index, "index"), False)


# ---- what they do along the way ------------------------------------------------------------------


class IgnoreErrors(Unary):
    """Leaves out elements that end in an error."""

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return WithoutErrors(self.input.open(scope))

    def cardinality(self) -> int:
        """How many there are if none ends in an error, which is what TensorFlow 1.15 says."""
        return self.input.cardinality()


class WithoutErrors(Over):
    def next(self) -> Any:
        while True:
            try:
                return self.input.next()
            except OpError:
                continue


@dataset_op("IgnoreErrorsDataset", INPUT, experimental=True)
def ignore_errors_dataset(xp: Any, input_dataset: Dataset) -> Dataset:
    return IgnoreErrors(input_dataset)


class Sleep(Unary):
    """Waits before every element."""

    def __init__(self, input: Dataset, seconds: float) -> None:
        super().__init__(input)
        self.seconds, self.waits = seconds, True

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Sleeping(self.input.open(scope), self.seconds, scope)


class Sleeping(Over):
    def __init__(self, input: Iterator, seconds: float, scope: Scope) -> None:
        super().__init__(input)
        self.seconds, self.scope = seconds, scope

    def next(self) -> Any:
        until = time.monotonic() + self.seconds
        while (left := until - time.monotonic()) > 0:
            self.scope.check()
            time.sleep(min(left, 0.05))
        return self.input.next()


@dataset_op("SleepDataset", f"{INPUT}, sleep_microseconds: int64", experimental=True, waits=True)
def sleep_dataset(xp: Any, input_dataset: Dataset, sleep_microseconds: Any) -> Dataset:
    return Sleep(input_dataset, scalar(sleep_microseconds, "sleep_microseconds") / 1e6)


class Unique(Unary):
    """Every element once."""

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return UniqueElements(self.input.open(scope))

    def cardinality(self) -> int:
        return UNKNOWN


class UniqueElements(Over):
    state = ("seen",)

    def __init__(self, input: Iterator) -> None:
        super().__init__(input)
        self.seen: dict[Any, None] = {}

    def next(self) -> Any:
        while True:
            element = self.input.next()
            if element is None:
                return None
            key = _key(element[0])
            if key not in self.seen:
                self.seen[key] = None
                return element


def _key(value: Any) -> Any:
    if type(value) is bytes:
        return value
    array = np.asarray(value)
    content = tuple(array.ravel().tolist()) if array.dtype == object else array.tobytes()
    return array.shape, content


@dataset_op("UniqueDataset", INPUT, experimental=True)
def unique_dataset(xp: Any, input_dataset: Dataset) -> Dataset:
    return Unique(input_dataset)
