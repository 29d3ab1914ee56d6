"""Which library multiplies the matrices of a program for x86, and products that are exchanged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.core import machine
from weft.runtime.xla.compile import load
from weft.runtime.xla.products import own_library


@pytest.fixture(autouse=True)
def on_x86(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "IS_ARM", False)


def lowered(compute: Any, *shapes: tuple[int, ...], dtype: str = "float32") -> Any:
    jax = load()
    return jax.jit(compute).lower(*(jax.ShapeDtypeStruct(shape, dtype) for shape in shapes))


def by_rows(a: Any, b: Any) -> Any:
    return a @ b


def by_columns(a: Any, b: Any) -> Any:
    return a @ b.swapaxes(-1, -2)


def both_transposed(a: Any, b: Any) -> Any:
    return a.T @ b.T


def first_transposed(a: Any, b: Any) -> Any:
    return a.T @ b


def step(x: Any, w: Any) -> Any:
    """A layer and its gradients."""
    y = x @ w
    return y @ w.T, x.T @ y


def two_layers(x: Any, w: Any, v: Any) -> Any:
    """Two layers and the gradients of their matrices."""
    y = x @ w
    z = y @ v
    return x.T @ (z @ v.T), y.T @ z


@pytest.mark.parametrize(
    ("compute", "shapes", "is_own"),
    [
        (by_rows, [(32, 1024), (1024, 2048)], True),
        (by_rows, [(128, 512), (512, 512)], True),
        (by_rows, [(1024, 1024), (1024, 1024)], False),
        (by_columns, [(128, 512), (512, 512)], False),
        (by_columns, [(32, 512), (512, 512)], False),
        (by_columns, [(32, 2048), (1024, 2048)], True),
        (by_columns, [(96, 128, 64), (96, 128, 64)], True),
        (first_transposed, [(512, 128), (512, 512)], False),
        (both_transposed, [(512, 128), (256, 512)], False),
        (by_rows, [(1, 4096), (4096, 4096)], False),
        (by_rows, [(4096, 4096), (4096, 1)], False),
        (by_rows, [(0, 512), (512, 512)], False),
        (step, [(32, 1024), (1024, 2048)], True),
        (step, [(128, 512), (512, 512)], False),
        (two_layers, [(128, 784), (784, 512), (512, 512)], False),
    ],
)
def test_who_multiplies(compute: Any, shapes: list[tuple[int, ...]], is_own: bool) -> None:
    assert own_library(lowered(compute, *shapes).compiler_ir()) is is_own


def test_only_floats_count() -> None:
    module = lowered(by_rows, (32, 1024), (1024, 2048), dtype="int32").compiler_ir()
    assert not own_library(module)


def test_arm_has_one_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "IS_ARM", True)
    module = lowered(by_columns, (32, 2048), (1024, 2048)).compiler_ir()
    before = str(module)
    assert own_library(module) and str(module) == before


@pytest.mark.parametrize(
    ("compute", "shapes"),
    [
        (by_columns, [(32, 2048), (1024, 2048)]),
        (lambda a, b: (a + 1) @ b.T + 1, [(2, 1024), (1030, 1024)]),
        (lambda a, b: (a.T @ b.T).T, [(7, 9), (1024, 7)]),
        (lambda a, b: np.float32(2) * (a @ b.T) @ b, [(64, 1024), (1024, 1024)]),
        (lambda a, b: load().numpy.tensordot(a, b, [[1], [1]]), [(8, 1024), (1024, 1024)]),
    ],
)
def test_exchanged_products_are_the_same(compute: Any, shapes: list[tuple[int, ...]]) -> None:
    random = np.random.default_rng(5)
    values = [random.standard_normal(shape, np.float32) for shape in shapes]
    program = lowered(compute, *shapes)
    own_library(program.compiler_ir())
    found = program.compile()(*values)
    wanted = load().jit(compute)(*values)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-3)


def exchanges(compute: Any, *shapes: tuple[int, ...]) -> int:
    program = lowered(compute, *shapes)
    own_library(program.compiler_ir())
    return str(program.compiler_ir()).count("optimization_barrier") // 2


def test_few_rows_by_a_large_matrix_of_columns_are_exchanged() -> None:
    assert exchanges(by_columns, (32, 2048), (1024, 2048)) == 1
    assert exchanges(by_columns, (128, 2048), (1024, 2048)) == 0
    assert exchanges(by_columns, (32, 512), (512, 512)) == 0
    assert exchanges(by_columns, (1, 32, 2048), (1, 1024, 2048)) == 0
    assert exchanges(by_rows, (32, 2048), (2048, 1024)) == 0


def test_products_inside_of_loops_count() -> None:
    def loop(x: Any, w: Any) -> Any:
        return load().lax.fori_loop(0, 9, lambda _, y: y @ w.T, x)

    assert exchanges(loop, (32, 1024), (1024, 1024)) == 1
