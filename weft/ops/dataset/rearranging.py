"""Datasets that cut batches smaller, leave elements out at random, keep them in files, or choose
among ways to make them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST_STATE
from weft.ops.dataset.cache import Keeping, read_elements, write_elements
from weft.ops.dataset.declare import INPUT, STRUCTURE, dataset_op, scalar
from weft.ops.dataset.functions import CAPTURED, captured
from weft.ops.dataset.objects import UNKNOWN, Choosing, Dataset, Element, Iterator, Over, Unary
from weft.ops.dataset.passing import Same
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.sources import Words, chosen_seeds
from weft.ops.kit.resource_names import find_or_make
from weft.ops.kit.shared import invalid
from weft.storage.confinement import permitted

# ---- smaller batches -----------------------------------------------------------------------------


class Rebatch(Unary):
    """Batches for one of several replicas: each is cut into as many."""

    def __init__(self, input: Dataset, replicas: int) -> None:
        super().__init__(input)
        self.replicas = replicas

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Rebatched(self.input.open(scope), self.replicas)

    def cardinality(self) -> int:
        return UNKNOWN


class Rebatched(Over):
    """Each batch in one part for each replica: the first are as large as can be, the last may be
    smaller or empty, so that all replicas have something of every batch."""

    state = ("left",)

    def __init__(self, input: Iterator, replicas: int) -> None:
        super().__init__(input)
        self.replicas = replicas
        self.left: list[Element] = []

    def next(self) -> Any:
        if not self.left:
            element = self.input.next()
            if element is None:
                return None
            self.left = self._parts(element)
        return self.left.pop(0)

    def _parts(self, element: Element) -> list[Element]:
        size = -(-_rows(element) // self.replicas)
        starts = (size * i for i in range(self.replicas))
        return [tuple(value[at : at + size] for value in element) for at in starts]


def _rows(element: Sequence[Any]) -> int:
    if any(not np.ndim(value) for value in element):
        raise invalid(
            "Cannot use rebatching fallback when the final dataset is unbatched: a component is a"
            " scalar."
        )
    return len(element[0])


@dataset_op(
    "RebatchDataset", f"{INPUT}, num_replicas: int64", f"{STRUCTURE}, use_fallback: bool = true",
    experimental=True,
)  # fmt: skip
def rebatch_dataset(xp: Any, input_dataset: Dataset, num_replicas: Any) -> Dataset:
    count = scalar(num_replicas, "num_replicas")
    if count <= 0:
        raise invalid("num_replicas must be greater than zero.")
    return Same(input_dataset) if count == 1 else Rebatch(input_dataset, count)


# ---- some of the elements ------------------------------------------------------------------------


class Sampling(Choosing):
    """Each element with a certain probability."""

    def __init__(self, input: Dataset, rate: float, seeds: tuple[int, int]) -> None:
        super().__init__(input)
        self.rate, self.seeds = rate, seeds

    def over(self, scope: Scope, raw: bool) -> Iterator:
        return Sampled(self.input.open(scope, raw), self.rate, self.seeds)

    def cardinality(self) -> int:
        return UNKNOWN


class Sampled(Over):
    state = ("drawn",)

    def __init__(self, input: Iterator, rate: float, seeds: tuple[int, int]) -> None:
        super().__init__(input)
        self.rate, self.words = rate, Words(*seeds)

    @property
    def drawn(self) -> int:
        return self.words.drawn

    @drawn.setter
    def drawn(self, count: int) -> None:
        self.words.seek(count)

    def next(self) -> Any:
        while True:
            element = self.input.next()
            # 23 bits of a word make a number from 0 to 1.
            if element is None or (self.words.next() & 0x7FFFFF) / 2**23 < self.rate:
                return element


@dataset_op("SamplingDataset", f"{INPUT}, rate: float, seed: int64, seed2: int64")
def sampling_dataset(xp: Any, input_dataset: Dataset, rate: Any, seed: Any, seed2: Any) -> Dataset:
    return Sampling(input_dataset, float(np.float32(rate)), chosen_seeds(seed, seed2))


# ---- elements in files ---------------------------------------------------------------------------


class Snapshot(Unary):
    """Writes its elements to a folder once; from then on they are read from there."""

    def __init__(self, input: Dataset, folder: str) -> None:
        super().__init__(input)
        self.path = os.path.join(folder, "elements.snapshot")

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        permitted(self.path)
        kept = read_elements(self.path) if os.path.exists(self.path) else None
        return Keeping(lambda: self.input.open(scope), self._write, kept)

    def _write(self, elements: list[Element]) -> None:
        if os.path.exists(self.path):  # another iterator or process has been quicker
            return
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        partial = f"{self.path}.{os.getpid()}"
        write_elements(partial, elements)
        os.replace(partial, self.path)


@dataset_op(
    "SnapshotDataset", f"{INPUT}, path: string",
    f'{STRUCTURE}, compression: string = "", reader_path_prefix: string = "",'
    ' writer_path_prefix: string = "", shard_size_bytes: int = 10737418240,'
    " pending_snapshot_expiry_seconds: int = 86400, num_reader_threads: int = 1,"
    " reader_buffer_size: int = 1, num_writer_threads: int = 1, writer_buffer_size: int = 1",
)  # fmt: skip
def snapshot_dataset(xp: Any, input_dataset: Dataset, path: Any) -> Dataset:
    return Snapshot(input_dataset, np.asarray(path).item().decode())


# ---- one of several ways -------------------------------------------------------------------------


@dataset_op(
    "ChooseFastestDataset", "input_datasets: N * variant",
    f"N: int >= 2, num_experiments: int, {STRUCTURE}", experimental=True,
)  # fmt: skip
def choose_fastest_dataset(xp: Any, input_datasets: list[Dataset]) -> Dataset:
    """All give the same elements; there is nothing to gain here by trying them all."""
    return Same(input_datasets[0])


@dataset_op(
    "ChooseFastestBranchDataset",
    f"{INPUT}, ratio_numerator: int64, ratio_denominator: int64, {CAPTURED}",
    "Targuments: list(type) >= 0, num_elements_per_branch: int >= 1, branches: list(func) >= 1,"
    f" other_arguments_lengths: list(int) >= 1, {STRUCTURE}",
)  # fmt: skip
def choose_fastest_branch_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, ratio_numerator: Any, ratio_denominator: Any,
    other_arguments: list[Any], *, branches: list[Any], other_arguments_lengths: list[int],
) -> Dataset:  # fmt: skip
    function = captured(ctx, branches[0], other_arguments[: other_arguments_lengths[0]])
    scope = Scope()
    try:
        (made,) = function.bind(scope)((input_dataset,))
    finally:
        scope.close()
    return Same(made)


# ---- thread pools --------------------------------------------------------------------------------


class ThreadPool:
    """A pool of threads that a graph names. Datasets here choose their own threads."""

    def __init__(self, name: str) -> None:
        self.name = name


def _pool_op(name: str) -> None:
    @op(
        name, outputs="handle: resource", shape=s.scalar,
        attrs="num_threads: int, max_intra_op_parallelism: int = 1, display_name: string,"
        ' container: string = "", shared_name: string = ""',
        traits=HOST_STATE,
    )  # fmt: skip
    def pool(xp: Any, ctx: Any, *, container: str, shared_name: str) -> ThreadPool:
        found, _ = find_or_make(ctx, "thread pool", container, shared_name, ThreadPool)
        made: ThreadPool = found
        return made


_pool_op("ThreadPoolHandle")
_pool_op("ExperimentalThreadPoolHandle")


@dataset_op(
    "ThreadPoolDataset", f"{INPUT}, thread_pool: resource", stateful=True, experimental=True
)
def thread_pool_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, thread_pool: ThreadPool
) -> Dataset:
    return Same(input_dataset)
