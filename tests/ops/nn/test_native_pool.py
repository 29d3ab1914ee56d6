"""Pools by the kernels in C++ give what XLA's give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.native import computed, needs_native, numbers, program_of
from weft.core import flags
from weft.ops.nn import pool_windows


@pytest.fixture(autouse=True)
def _native_however_small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pool_windows, "LEAST", 1)
    yield


@dataclass(frozen=True)
class _Pool:
    """A pool of images; windows have a size and a stride along each axis."""

    image: tuple[int, ...]
    size: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    padding: str = "SAME"

    def results(self, x: np.ndarray, seed: int = 2) -> list[np.ndarray]:
        """Both pools of x and their gradients for random ones."""
        random = np.random.RandomState(seed)
        how: Any = (self.size, self.stride, self.padding)

        def pools(images: Any) -> list[Any]:
            both = [tf.nn.max_pool(images, *how), tf.nn.avg_pool(images, *how)]
            g = random.choice([-0.0, 0.0, 1.5, -2.25, 3e-3], both[0].shape).astype(np.float32)
            return both + [tf.gradients(y, images, tf.constant(g))[0] for y in both]

        return computed(pools, x)


def _check(pool: _Pool, x: np.ndarray) -> None:
    with flags.NATIVE.override(False):
        largest, mean, to_largest, to_mean = pool.results(x)
    found = pool.results(x)
    _same_bits(found[0], largest)
    _same_bits(found[2], to_largest)
    np.testing.assert_allclose(found[1], mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found[3], to_mean, rtol=1e-5, atol=1e-6)


def _same_bits(found: np.ndarray, wanted: np.ndarray) -> None:
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


POOLS = [
    _Pool((1, 56, 56, 64), (3, 3), (2, 2)),
    _Pool((4, 14, 14, 192), (3, 3)),
    _Pool((3, 28, 27, 32), (2, 2), (1, 2), "VALID"),
    _Pool((2, 9, 11, 17), (3, 2), (2, 3)),
    _Pool((2, 13, 8, 40), (2, 3), (5, 2), "VALID"),
    _Pool((2, 5, 5, 130), (5, 5), (1, 1), "VALID"),
    _Pool((1, 5, 6, 16), (5, 9), (1, 2)),
    _Pool((5, 1, 1, 31), (3, 3), (2, 2)),
    _Pool((2, 12, 30, 33), (1, 3), (3, 2)),
    _Pool((1, 40, 3, 48), (6, 1), (4, 1)),
]
SOME = POOLS[:5]


@needs_native
@pytest.mark.parametrize("pool", POOLS, ids=str)
def test_every_pool_is_xlas(pool: _Pool) -> None:
    _check(pool, numbers(pool.image))


@needs_native
@pytest.mark.parametrize("pool", SOME, ids=str)
def test_of_equal_numbers_the_first_is_the_largest(pool: _Pool) -> None:
    random = np.random.RandomState(5)
    _check(pool, random.choice([0.0, -0.0, 1.0, -1.0], pool.image).astype(np.float32))
    _check(pool, np.full(pool.image, -0.0, np.float32))


@needs_native
@pytest.mark.parametrize("pool", SOME, ids=str)
def test_infinities_and_nans_are_treated_alike(pool: _Pool) -> None:
    random = np.random.RandomState(6)
    strange = [0.0, 1.0, 2.0, np.inf, -np.inf, np.nan]
    x = random.choice(strange, pool.image, p=[0.3, 0.2, 0.2, 0.05, 0.1, 0.15])
    _check(pool, x.astype(np.float32))
    _check(pool, np.full(pool.image, -np.inf, np.float32))


@needs_native
def test_random_pools_are_xlas() -> None:
    random = np.random.RandomState()
    seed = random.randint(1 << 30)
    random.seed(seed)
    for _ in range(6):
        (a, b), (c, d) = random.randint(2, 5, 2).tolist(), random.randint(1, 4, 2).tolist()
        pool = _Pool(
            (random.randint(1, 4), *random.randint(6, 30, 2).tolist(), random.randint(16, 70)),
            (a, b), (c, d), str(random.choice(["SAME", "VALID"])),
        )  # fmt: skip
        try:
            _check(pool, numbers(pool.image, seed))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {pool}") from error


KERNELS = ("max_pool", "max_pool_gradient", "average_pool", "average_pool_gradient")


def _all_four(x: Any) -> list[Any]:
    pools = [pool(x, 3, 2, "SAME") for pool in (tf.nn.max_pool, tf.nn.avg_pool)]
    return [*pools, *(tf.gradients(y * y, x)[0] for y in pools)]


@needs_native
def test_they_are_part_of_the_program() -> None:
    program = program_of(_all_four, np.ones([2, 16, 16, 32], np.float32))
    for kernel in KERNELS:
        assert f"@weft_{kernel}(" in program or f"@weft_{kernel} " in program


@needs_native
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [([2, 16, 16, 32], np.float64), ([2, 16, 16, 32], np.float16), ([2, 16, 16, 3], np.float32)],
)
def test_other_types_and_few_channels_are_left_to_xla(shape: list[int], dtype: Any) -> None:
    assert "@weft_" not in program_of(_all_four, np.ones(shape, dtype))


def test_little_work_is_left_to_xla(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert "@weft_" not in program_of(_all_four, np.ones([1, 4, 4, 16], np.float32))


@needs_native
def test_channels_in_front_are_moved_behind() -> None:
    def pool(x: Any) -> Any:
        return tf.nn.max_pool(x, 3, 2, "SAME", "NCHW")

    assert "@weft_max_pool" in program_of(pool, np.ones([2, 32, 16, 16], np.float32))


@needs_native
def test_windows_apart_are_left_to_xla() -> None:
    def pools(x: Any) -> list[Any]:
        y = tf.nn.max_pool(x, 2, 2, "SAME")
        return [y, tf.gradients(y, x)[0], tf.nn.avg_pool(x, 2, 3, "VALID")]

    assert "@weft_" not in program_of(pools, np.ones([2, 64, 64, 32], np.float32))
