"""Attention by the kernels in C++ is what XLA makes of its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.native import (
    assert_xlas,
    computed,
    needs_native,
    numbers,
    program_of,
    with_gradients,
)

Mask = Callable[[Any], Any]


def _plain(scores: Any) -> Any:
    return scores


def _causal(scores: Any) -> Any:
    rows, keys = scores.shape.as_list()[-2:]
    seen = tf.matrix_band_part(tf.ones([rows, keys]), -1, 0)
    return scores * seen - 1e10 * (1 - seen)


def _added(shape: tuple[int, ...]) -> Mask:
    return lambda scores: scores + tf.constant(numbers(shape, 9))


def _attention(q: Any, k: Any, v: Any, mask: Mask = _plain) -> Any:
    scores = tf.matmul(q, k, transpose_b=True) * (q.shape.as_list()[-1] ** -0.5)
    return tf.matmul(tf.nn.softmax(mask(scores)), v)


def _inputs(q: tuple[int, ...], keys: int, width: int, seed: int = 1) -> list[np.ndarray]:
    k, v = (*q[:-2], keys, q[-1]), (*q[:-2], keys, width)
    return [numbers(shape, seed + i) for i, shape in enumerate((q, k, v))]


def _check(inputs: list[np.ndarray], mask: Mask) -> None:
    def everything(q: Any, k: Any, v: Any) -> list[Any]:
        return with_gradients(_attention(q, k, v, mask), q, k, v)

    assert "@weft_attend(" in program_of(_attention, *inputs)
    assert "@weft_attend_gradient(" in program_of(everything, *inputs)
    assert_xlas(lambda: computed(everything, *inputs))
    assert_xlas(lambda: [computed(lambda *x: _attention(*x, mask), *inputs)])


CASES: list[tuple[Any, int, int, Mask]] = [
    ((2, 3, 128, 64), 128, 64, _plain),
    ((2, 3, 128, 64), 128, 64, _causal),
    ((1, 2, 300, 8), 300, 24, _causal),
    ((5, 77, 40), 131, 33, _plain),
    ((12, 500, 1), 275, 1, _plain),
    ((6, 90, 19), 90, 7, _causal),
    ((9, 12, 4, 32), 100, 32, _plain),
    ((2, 5, 61, 16), 57, 16, _added((2, 5, 61, 57))),
    ((2, 5, 61, 16), 57, 16, _added((2, 1, 1, 57))),
    ((2, 5, 61, 16), 57, 16, _added((5, 61, 1))),
    ((4, 100, 16), 83, 48, _added((4, 1, 83))),
    ((4, 100, 16), 83, 48, _added((1, 1, 1))),
]


@needs_native
@pytest.mark.parametrize(("q", "keys", "width", "mask"), CASES)
def test_attention_is_xlas(q: Any, keys: int, width: int, mask: Mask) -> None:
    _check(_inputs(q, keys, width), mask)


@needs_native
def test_random_attention_is_xlas() -> None:
    random = np.random.RandomState()
    seed = random.randint(1 << 30)
    random.seed(seed)
    for _ in range(6):
        batch, heads, rows, depth, width = random.randint(
            [1, 1, 1, 16, 1], [5, 7, 150, 70, 70]
        ).tolist()
        rows += 3
        least = 2**15 // (batch * heads * rows) + 1
        keys = random.randint(least, least + 90)
        whole = (batch, heads, rows, keys)
        shape = tuple(n if random.randint(2) else 1 for n in whole)[random.randint(4) :]
        mask = _plain if rows % 3 == 0 else _causal if rows == keys else _added(shape)
        try:
            _check(_inputs((batch, heads, rows, depth), keys, width, seed), mask)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {whole}, {depth}, {width}, {shape}") from error


@needs_native
def test_infinities_and_nans_go_where_they_belong() -> None:
    q, k, v = _inputs((4, 100, 16), 83, 16)
    q[0, 3, 2], q[0, 50] = np.nan, np.inf
    k[1, 7, 7], v[2, 9, 9] = np.nan, np.inf
    hidden = np.zeros([4, 100, 83], np.float32)
    hidden[3, :, 40:], hidden[3, 7] = -np.inf, -np.inf  # and one row that sees nothing

    def everything(q: Any, k: Any, v: Any) -> list[Any]:
        out = _attention(q, k, v, lambda scores: scores + tf.constant(hidden))
        return with_gradients(out, q, k, v)

    with np.errstate(all="ignore"):
        assert_xlas(lambda: computed(everything, q, k, v))
    out = computed(everything, q, k, v)[0]
    assert np.isnan(out[1]).all() and np.isnan(out[3, 7]).all()
    assert np.isfinite(out[0, 4]).all() and np.isfinite(out[3, 8]).all()


@needs_native
def test_large_scores_do_not_overflow() -> None:
    q, k, v = _inputs((4, 100, 16), 83, 16)
    q *= 300
    assert np.isfinite(computed(_attention, q, k, v)).all()
    assert_xlas(lambda: [computed(_attention, q, k, v)], atol=2e-4)


@needs_native
def test_the_same_step_gives_the_same_bits() -> None:
    inputs = _inputs((2, 12, 128, 64), 128, 64)

    def everything(q: Any, k: Any, v: Any) -> list[Any]:
        return with_gradients(_attention(q, k, v), q, k, v)

    first, second = computed(everything, *inputs), computed(everything, *inputs)
    assert all(map(np.array_equal, first, second))


def _turned(q: Any, k: Any, v: Any) -> Any:
    return tf.matmul(tf.nn.softmax(tf.matmul(q, tf.transpose(k, [0, 2, 1])) * 0.25), v)


def _of_one_head(q: Any, k: Any, v: Any) -> Any:
    return _attention(q, k[:1], v[:1])


@needs_native
def test_others_are_left_to_xla() -> None:
    inputs = _inputs((4, 100, 16), 83, 16)
    assert "@weft_attend" not in program_of(_attention, *_inputs((4, 10, 16), 8, 16)), "small"
    assert "@weft_attend" not in program_of(_attention, *_inputs((900, 1, 16), 83, 16)), "a row"
    assert "@weft_attend" not in program_of(_attention, *(x.astype(np.float64) for x in inputs))
    assert "@weft_attend" not in program_of(_of_one_head, *inputs)
    assert_xlas(lambda: [computed(_turned, *inputs)])
    assert_xlas(lambda: [computed(_of_one_head, *inputs)])


@needs_native
def test_attention_that_is_not_compiled() -> None:
    """Steps that run a few times only are computed by NumPy."""
    q, k, v = _inputs((2, 40, 16), 30, 8)
    with tf.Session() as sess:
        out = sess.run(_attention(*map(tf.constant, (q, k, v))))
    scores = np.exp(np.einsum("bqd,bkd->bqk", q, k) / 4)
    wanted = np.einsum("bqk,bkd->bqd", scores / scores.sum(-1, keepdims=True), v)
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-5)
