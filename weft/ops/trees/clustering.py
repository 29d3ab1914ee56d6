"""The parts of k-means: nearest centers, and points to begin with."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.core.step_limits import limits, long, looking_up
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.kit import philox
from weft.ops.kit.shared import invalid

Array = np.ndarray

_BLOCKS = 256


def _words(seed: int) -> Iterator[int]:
    """TensorFlow's generator for a seed, word by word."""
    key = seed % 2**64
    state = np.array([key & 0xFFFFFFFF, key >> 32, 0, 0, 0, 0], np.uint32)
    while True:
        yield from np.stack(philox.blocks(np, state, _BLOCKS), axis=1).ravel().tolist()
        state = philox.advance(state, _BLOCKS)


def _fraction(words: Iterator[int]) -> Any:
    return np.float32((next(words) & 0x7FFFFF) / 2.0**23)


def _below(words: Iterator[int], n: int) -> int:
    """An integer below `n`, each as likely as any other."""
    wide = (low | high << 32 for low, high in zip(words, words, strict=False))
    if n & (n - 1) == 0:
        return next(wide) & (n - 1)
    rest = (2**64 - 1) % n + 1
    return next(number for number in wide if number >= rest) % n


def _nearest_dims(c: ShapeContext) -> list[Dims]:
    points, _ = s.with_rank(c.dims(0), 2)
    return [(points, None)] * 2


@op(
    "NearestNeighbors",
    inputs="points: float, centers: float, k: int64",
    outputs="nearest_center_indices: int64, nearest_center_distances: float",
    shape=_nearest_dims,
    traits=HOST,
)
def nearest_neighbors_(xp: Any, points: Array, centers: Array, k: Array) -> tuple[Array, Array]:
    """The `k` nearest centers of each point, nearest first, and the squares of their distances."""
    _check_points(points)
    if points.shape[1] != centers.shape[1]:
        raise invalid(
            f"Expected point_dimensions == center_dimensions: {points.shape[1]} vs"
            f" {centers.shape[1]}."
        )
    count = min(len(centers), int(k))
    squares = (centers * centers).sum(axis=1) - 2 * (points @ centers.T)
    order = np.argsort(squares, axis=1, kind="stable")[:, :count]
    nearest = np.take_along_axis(squares, order, 1) + (points * points).sum(axis=1)[:, None]
    return order.astype(np.int64), nearest.astype(np.float32)


def _check_points(points: Array) -> None:
    if not len(points):
        raise invalid("Expected points.rows() > 0.")


@op(
    "KmeansPlusPlusInitialization",
    inputs="points: float, num_to_sample: int64, seed: int64, num_retries_per_sample: int64",
    outputs="samples: float",
    shape=lambda c: (None, s.with_rank(c.dims(0), 2)[1]),
    traits=HOST,
)
def kmeans_plus_plus_initialization_(
    xp: Any, points: Array, num_to_sample: Array, seed: Array, num_retries_per_sample: Array
) -> Array:
    """Points far from each other: each is drawn by its distance to those drawn before."""
    wanted, retries = int(num_to_sample), int(num_retries_per_sample)
    _check_points(points)
    if wanted <= 0:
        raise invalid("Expected num_to_sample > 0.")
    if wanted > len(points):
        raise invalid(f"Expected num_to_sample <= points.rows(). {wanted} vs {len(points)}.")
    if retries < 0:
        retries = 2 + int(math.log(wanted))
    words = _words(int(seed))
    drawn: list[int] = []
    distances = np.full(len(points), np.inf, np.float32)
    for _ in range(wanted):
        index, distances = _drawn(points, words, drawn, distances, retries)
        drawn.append(index)
    return points[drawn]


def _drawn(
    points: Array, words: Iterator[int], drawn: list[int], distances: Array, retries: int
) -> tuple[int, Array]:
    """Of some candidates, the one after which the distances sum up to least; and the distances."""
    norms = np.float32(0.5) * (points * points).sum(axis=1)
    sums = np.cumsum(distances)
    found: tuple[int, Array] = (0, distances)
    best = math.inf
    # TensorFlow counts in 32 bits, whatever it was given.
    for _ in looking_up(range(int(np.int64(1 + retries % 2**32).astype(np.int32)))):
        index = _candidate(words, drawn, sums)
        closer = np.minimum(distances, norms - points @ points[index] + norms[index])
        potential = float(closer.sum())
        if potential < best:
            best, found = potential, (index, closer)
    return found


def _candidate(words: Iterator[int], drawn: list[int], sums: Array) -> int:
    if not drawn:
        return _below(words, len(sums))
    while True:
        limits.check()
        index = int(np.searchsorted(sums, _fraction(words) * sums[-1], side="right"))
        if index not in drawn:
            return min(index, len(sums) - 1)


@op(
    "KMC2ChainInitialization", inputs="distances: float, seed: int64", outputs="index: int64",
    shape=s.scalar, traits=HOST,
)  # fmt: skip
def kmc2_chain_initialization_(xp: Any, distances: Array, seed: Array) -> Array:
    """The end of a Markov chain over the points that moves to the more distant."""
    if not len(distances):
        raise invalid("Expected distances_tensor.size() > 0.")
    words = _words(int(seed))
    chosen = 0
    for i in long(range(1, len(distances))):
        if distances[i] > _fraction(words) * distances[chosen]:
            chosen = i
    return np.array(chosen, np.int64)
