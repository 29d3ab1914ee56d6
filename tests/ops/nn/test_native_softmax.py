"""Softmax and its losses by the kernels in C++ give what XLA's give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.native import computed, needs_native, program_of
from weft.core import flags


def _everything(x: Any) -> list[Any]:
    """Softmax, its logarithm, both cross entropies and the gradients of all."""
    rows, columns = x.shape.as_list()
    labels = tf.constant(np.arange(rows) * 7 % columns)
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
    dense = tf.nn.softmax_cross_entropy_with_logits_v2(tf.one_hot(labels, columns), x)
    made = [tf.nn.softmax(x), tf.nn.log_softmax(x), sparse, dense]
    weights = tf.constant(np.linspace(0, 1, columns), x.dtype)
    weighted = [y * weights if y.shape.ndims == 2 else y for y in made]
    return made + [tf.gradients(y, x)[0] for y in weighted]


def _check(x: np.ndarray) -> None:
    with flags.NATIVE.override(False):
        wanted = computed(_everything, x)
    for found, expected in zip(computed(_everything, x), wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


@needs_native
@pytest.mark.parametrize("shape", [(64, 512), (33, 1001), (7, 5000), (1, 40_000), (3, 32_769)])
@pytest.mark.parametrize("scale", [1, 30])
def test_they_are_xlas(shape: tuple[int, int], scale: float) -> None:
    random = np.random.RandomState(1)
    _check((random.standard_normal(shape) * scale).astype(np.float32))


@needs_native
def test_random_rows_are_xlas() -> None:
    random = np.random.RandomState()
    seed = random.randint(1 << 30)
    random.seed(seed)
    for _ in range(4):
        columns = random.randint(512, 3000)
        shape = (random.randint(2**15 // columns + 1, 100), columns)
        x = random.standard_normal(shape) * 10 ** random.uniform(-2, 2) + random.uniform(-50, 50)
        try:
            _check(x.astype(np.float32))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {shape}") from error


@needs_native
def test_powers_are_precise() -> None:
    x = np.linspace(-104, 0, 1 << 17, dtype=np.float32)[None]
    (found,) = computed(lambda x: [tf.nn.softmax(x)], x)
    powers = np.exp(x.astype(np.float64))
    wanted = powers / powers.sum()
    normal = wanted > 1.2e-38
    np.testing.assert_allclose(found[normal], wanted[normal], rtol=4e-7)
    assert (found[~normal] < 1.3e-38).all()


@needs_native
def test_infinities_and_nans_go_where_they_belong() -> None:
    x = np.random.RandomState(1).standard_normal((64, 600)).astype(np.float32)
    x[0, 5], x[1, 599], x[2, 0] = np.nan, np.inf, -np.inf
    x[3], x[4], x[5] = -np.inf, np.inf, np.nan
    x[6, 1:] = -np.inf
    x[7] = 3e38
    x[8, ::2], x[8, 1::2] = 3e38, -3e38
    with np.errstate(all="ignore"):
        _check(x)
    softmax, *_ = computed(_everything, x)
    assert softmax[2, 0] == 0 and softmax[6, 0] == 1 and np.isfinite(softmax[[2, 6, 7, 8]]).all()
    assert np.isnan(softmax[[0, 1, 3, 4, 5]]).all()


@needs_native
def test_the_same_step_gives_the_same_bits() -> None:
    x = np.random.RandomState(1).standard_normal((50, 9001)).astype(np.float32)
    first, second = computed(_everything, x), computed(_everything, x)
    assert all(map(np.array_equal, first, second))


@needs_native
def test_labels_that_do_not_exist_are_errors() -> None:
    labels = np.arange(64)
    labels[40] = 600
    with tf.Session() as sess:
        given = tf.placeholder(tf.int64, [64])
        logits = tf.Variable(tf.ones([64, 600]))
        sess.run(tf.global_variables_initializer())
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=given + 0, logits=logits)
        for wrong in (600, -1, 2**40):
            labels[40] = wrong
            with pytest.raises(tf.errors.InvalidArgumentError, match=str(wrong)):
                sess.run(loss, {given: labels})


@needs_native
def test_they_are_part_of_the_program() -> None:
    program = program_of(_everything, np.ones([64, 600], np.float32))
    assert "@weft_softmax" in program and "@weft_sum_powers" in program
    halves = program_of(tf.nn.softmax, np.ones([64, 6000], np.float16))
    assert "@weft_softmax" in halves, "halves are computed with as 32-bit floats"


@needs_native
@pytest.mark.parametrize(
    "x", [np.ones([64, 600]), np.ones([640, 60], np.float32), np.ones([4, 600], np.float32)]
)
def test_others_are_left_to_xla(x: np.ndarray) -> None:
    assert "@weft_" not in program_of(_everything, x)
