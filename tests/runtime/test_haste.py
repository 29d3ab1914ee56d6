"""How long XLA thinks about a program: by how much there is to compute."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.runtime.xla import compile, haste, region

SQUARE = np.zeros((4, 4), np.float32)
IMAGE, FILTER = np.zeros((1, 8, 8, 2), np.float32), np.zeros((3, 3, 2, 5), np.float32)


def convolve(image: Any, filter: Any) -> Any:
    import jax

    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(image, filter, (1, 1), "SAME", dimension_numbers=numbers)


def pool(image: Any) -> Any:
    import jax

    window = (1, 2, 2, 1)
    return jax.lax.reduce_window(image, -np.inf, jax.lax.max, window, window, "VALID")


def scan(x: Any) -> Any:
    import jax

    return jax.lax.scan(lambda carry, _: (carry + 1, None), x, None, length=100)[0]


def loop(x: Any) -> Any:
    import jax

    return jax.lax.while_loop(lambda x: x[0, 0] < 3, lambda x: x + 1, x)


def choose(x: Any) -> Any:
    import jax

    return jax.lax.cond(x[0, 0] > 0, lambda x: x @ x, lambda x: x, x)


WORK: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[float, float]]] = [
    (lambda x: x + 1, (SQUARE,), (32, 33)),
    (lambda x: x @ x, (SQUARE,), (16 * 4 + 32, 16 * 4 + 32)),
    (convolve, (IMAGE, FILTER), (8 * 8 * 5 * 18, 8 * 8 * 5 * 90 + 300)),
    (pool, (IMAGE,), (4 * 4 * 2 * 4 + 128, 4 * 4 * 2 * 4 + 129)),
    (scan, (SQUARE,), (3200, 3300)),
    (choose, (SQUARE,), (96, 200)),
    (loop, (SQUARE,), (math.inf, math.inf)),
]


@pytest.mark.parametrize(("function", "arguments", "bounds"), WORK)
def test_work(function: Any, arguments: Any, bounds: tuple[float, float]) -> None:
    import jax

    least, most = bounds
    assert least <= haste.work(jax.make_jaxpr(function)(*arguments)) <= most


@pytest.mark.parametrize(("size", "is_light"), [(8, True), (4000, False)])
def test_options_of_a_step(
    size: int, is_light: bool, sess: tf.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    compiled = compile._compiled

    def noted(lowered: Any, options: Any = None) -> Any:
        asked.append(options or {})
        return compiled(lowered, options)

    monkeypatch.setattr(compile, "_compiled", noted)
    monkeypatch.setattr(region, "CALL_COST", -1e9)
    x = tf.placeholder(tf.float32, [size])
    y = tf.tanh(x * 2.0 + 1.0)
    values = np.linspace(-1, 1, size, dtype=np.float32)
    for _ in range(3):
        np.testing.assert_allclose(sess.run(y, {x: values}), np.tanh(values * 2 + 1), 1e-5)
    (options,) = asked
    assert (haste.AT_ONCE.items() <= options.items()) is is_light
    assert is_light or not haste.AT_ONCE.keys() & options.keys()


@pytest.mark.parametrize(
    ("compute", "is_so"),
    [
        (lambda x, jax: jax.numpy.exp(x), True),
        (lambda x, jax: jax.numpy.exp(x[:2]), False),
        (lambda x, jax: jax.numpy.sqrt(x) / (x + 1), False),
        (lambda x, jax: jax.lax.fori_loop(0, 9, lambda _, y: jax.numpy.tanh(y), x), True),
        (lambda x, jax: jax.lax.cond(x[0] > 0, lambda y: jax.numpy.log(y), lambda y: y, x), True),
    ],
)
def test_programs_with_functions_of_many_floats(compute, is_so):
    jax = compile.load()
    jaxpr = jax.make_jaxpr(lambda x: compute(x, jax))(np.ones(5000, np.float32))
    assert haste.has_functions(jaxpr.jaxpr) is is_so
