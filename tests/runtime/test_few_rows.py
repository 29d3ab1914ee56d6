"""Products of a few rows and a large matrix are rewritten for x86, and stay what they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import machine
from weft.runtime.xla import compile
from weft.runtime.xla.few_rows import multiply_few_rows


@pytest.fixture(autouse=True)
def on_x86(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "IS_ARM", False)


def lowered(compute: Any, *shapes: tuple[int, ...], dtype: str = "float32") -> Any:
    jax = compile.load()
    return jax.jit(compute).lower(*(jax.ShapeDtypeStruct(shape, dtype) for shape in shapes))


def by_rows(a: Any, b: Any) -> Any:
    return a @ b


def by_columns(a: Any, b: Any) -> Any:
    return a @ b.swapaxes(-1, -2)


def first_transposed(a: Any, b: Any) -> Any:
    return a.T @ b


def both_turned(a: Any, b: Any) -> Any:
    return compile.load().lax.dot_general(a.T, b, (((0,), (0,)), ((), ())))


def in_a_loop(x: Any, w: Any) -> Any:
    return compile.load().lax.fori_loop(0, 9, lambda _, y: y @ w.T, x)


def step(x: Any, w: Any) -> Any:
    """A layer and its gradients, of which that of the matrix has many rows."""
    y = x @ w
    return y @ w.T, x.T @ y


@pytest.mark.parametrize(
    ("compute", "shapes", "count"),
    [
        (by_rows, [(16, 1024), (1024, 1024)], 1),
        (by_rows, [(17, 1024), (1024, 1024)], 0),
        (by_columns, [(16, 1024), (1024, 1024)], 1),
        (by_columns, [(17, 1024), (1024, 1024)], 0),
        (by_rows, [(1, 1024), (1024, 1024)], 0),
        (by_rows, [(0, 1024), (1024, 1024)], 0),
        (by_rows, [(4, 512), (512, 512)], 1),
        (by_rows, [(8, 512), (512, 512)], 0),
        (by_columns, [(2, 16, 1024), (2, 1024, 1024)], 0),
        (first_transposed, [(1024, 16), (1024, 1024)], 0),
        (step, [(16, 1024), (1024, 2048)], 2),
        (in_a_loop, [(16, 1024), (1024, 1024)], 1),
    ],
)
def test_which_are_rewritten(compute: Any, shapes: list[tuple[int, ...]], count: int) -> None:
    assert multiply_few_rows(lowered(compute, *shapes).compiler_ir()) == count


@pytest.mark.parametrize("dtype", ["int32", "float64", "float16", "complex64"])
def test_other_numbers_stay(dtype: str) -> None:
    module = lowered(by_rows, (16, 1024), (1024, 1024), dtype=dtype).compiler_ir()
    assert multiply_few_rows(module) == 0


def test_on_arm_all_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "IS_ARM", True)
    module = lowered(by_columns, (16, 1024), (1024, 1024)).compiler_ir()
    before = str(module)
    assert multiply_few_rows(module) == 0 and str(module) == before


@pytest.mark.parametrize(
    ("compute", "shapes"),
    [
        (by_rows, [(16, 1024), (1024, 1030)]),
        (by_columns, [(16, 1024), (1030, 1024)]),
        (lambda a, b: (a + 1) @ b.T + 1, [(2, 1024), (1030, 1024)]),
        (lambda a, b: (a + 1) @ b + 1, [(2, 1024), (1024, 1030)]),
        (both_turned, [(9, 1024), (1024, 600)]),
        (lambda a, b: (a @ b.T) @ b, [(16, 1024), (1024, 1024)]),
        (lambda a, b: (a.T.copy().T @ b) @ b.T, [(5, 600), (600, 700)]),
        (lambda a, b: compile.load().numpy.tensordot(a, b, [[1], [1]]), [(8, 512), (1024, 512)]),
    ],
)
def test_they_stay_what_they_were(compute: Any, shapes: list[tuple[int, ...]]) -> None:
    random = np.random.default_rng(5)
    values = [random.standard_normal(shape, np.float32) for shape in shapes]
    program = lowered(compute, *shapes)
    assert multiply_few_rows(program.compiler_ir()) >= 1
    found = program.compile()(*values)
    wanted = compile.load().jit(compute)(*values)
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-2)


@pytest.mark.parametrize("transpose_b", [False, True])
def test_a_step_has_them(transpose_b: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    monkeypatch.setattr(machine, "cores", lambda: 2)
    monkeypatch.setattr(
        compile, "multiply_few_rows", lambda module: counts.append(multiply_few_rows(module))
    )
    random = np.random.default_rng(6)
    a, b = (random.standard_normal(shape, np.float32) for shape in [(9, 1024), (1024, 1024)])
    fed = tf.placeholder(tf.float32, [None, 1024])
    product = tf.matmul(fed, tf.Variable(b), transpose_b=transpose_b)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            found = session.run(product, {fed: a})
    wanted = a.astype(np.float64) @ (b.T if transpose_b else b)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)
    assert 1 in counts
