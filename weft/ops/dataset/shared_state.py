"""Datasets whose state is a resource of its own: a cache, or the seeds of a shuffle."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST_STATE
from weft.ops.dataset.cache import FileCache, Keeping, MemoryCache
from weft.ops.dataset.declare import INPUT, dataset_op, scalar
from weft.ops.dataset.objects import Dataset, Element, Iterator
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.shuffle import SeedGenerator, Shuffle
from weft.ops.dataset.sources import chosen_seeds
from weft.ops.kit.shared import invalid

_HANDLES: dict[str, Any] = dict(
    outputs="handle: resource, deleter: variant", shape=lambda c: [(), ()], traits=HOST_STATE
)
_serial = itertools.count()


def _deleting_op(name: str) -> None:
    @op(name, inputs="handle: resource, deleter: variant", shape=s.none, traits=HOST_STATE)
    def delete(xp: Any, ctx: Any, handle: Any, deleter: Any) -> None:
        ctx.resources.remove(handle)


# ---- caches --------------------------------------------------------------------------------------


class CacheHandle:
    """Elements that datasets keep for each other."""

    def __init__(self) -> None:
        self.name = f"AnonymousMemoryCache{next(_serial)}"
        self.kept: list[Element] | None = None


@op("AnonymousMemoryCache", **_HANDLES)
def anonymous_memory_cache(xp: Any, ctx: Any) -> Any:
    made = CacheHandle()
    return made, made


_deleting_op("DeleteMemoryCache")


class SharedCache(MemoryCache):
    """As a cache in memory, where others find it too."""

    def __init__(self, input: Dataset, cache: CacheHandle) -> None:
        super().__init__(input)
        self.cache = cache

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Keeping(lambda: self.input.open(scope), self._keep, self.cache.kept)

    def _keep(self, elements: list[Element]) -> None:
        self.cache.kept = elements


@dataset_op("CacheDatasetV2", f"{INPUT}, filename: string, cache: resource", stateful=True)
def cache_dataset_v2(
    xp: Any, ctx: Any, input_dataset: Dataset, filename: Any, cache: CacheHandle
) -> Dataset:
    name = np.asarray(filename).item().decode()
    return FileCache(input_dataset, name) if name else SharedCache(input_dataset, cache)


# ---- shuffles ------------------------------------------------------------------------------------


class SharedShuffle(Shuffle):
    """A shuffle whose seeds come of a generator that others may use, too."""

    def __init__(self, input: Dataset, size: int, handle: SeedHandle) -> None:
        super().__init__(input, size, (0, 0), anew=True)
        self.handle = handle

    def generator(self, scope: Scope) -> SeedGenerator | None:
        return self.handle

    def over_and_over(self, scope: Scope, raw: bool, count: int) -> None:
        """One pass after the other: others take seeds in between."""


class SeedHandle(SeedGenerator):
    def __init__(self, seeds: tuple[int, int]) -> None:
        super().__init__(seeds)
        self.name = f"AnonymousRandomSeedGenerator{next(_serial)}"


@op("AnonymousRandomSeedGenerator", inputs="seed: int64, seed2: int64", **_HANDLES)
def anonymous_random_seed_generator(xp: Any, ctx: Any, seed: Any, seed2: Any) -> Any:
    made = SeedHandle(chosen_seeds(seed, seed2))
    return made, made


_deleting_op("DeleteRandomSeedGenerator")


@dataset_op(
    "ShuffleDatasetV2", f"{INPUT}, buffer_size: int64, seed_generator: resource", stateful=True
)
def shuffle_dataset_v2(
    xp: Any, ctx: Any, input_dataset: Dataset, buffer_size: Any, seed_generator: SeedHandle
) -> Dataset:
    size = scalar(buffer_size, "buffer_size")
    if size <= 0:
        raise invalid("buffer_size must be greater than zero.")
    return SharedShuffle(input_dataset, size, seed_generator)
