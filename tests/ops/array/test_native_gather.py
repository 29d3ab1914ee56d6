"""Rows taken by the kernel in C++ are those that XLA takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.native import needs_native, program_of
from weft.core import flags


def _taken(table: np.ndarray, indices: np.ndarray, fed: bool = True) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as sess:
        given = tf.placeholder(indices.dtype, indices.shape)
        rows, zero = tf.Variable(table), tf.Variable(indices.dtype.type(0))
        sess.run(tf.global_variables_initializer())
        # What is fed is looked at before the program; what it computes, in the program.
        taken = tf.gather(rows, given if fed else given + zero)
        call = sess.make_callable(taken, [given])
        call(indices)
        return np.array(call(indices))  # compiled by now


def _table(rows: int, columns: int, dtype: Any) -> np.ndarray:
    numbers = np.arange(rows * columns, dtype=np.uint64).reshape(rows, columns)
    if np.dtype(dtype) == np.bool_:
        return numbers * 2654435761 >> 7 & 1 == 1
    return (numbers * 2654435761 % 60_000).astype(dtype)


TABLES = [
    (40_000, 64, np.float32), (100_000, 33, np.int32), (9000, 128, np.float64),
    (100_001, 50, np.int64), (70_000, 129, np.uint8), (60_000, 77, np.float16),
    (50_000, 130, np.bool_), (40_000, 127, np.complex64), (17_000, 63, np.complex128),
    (9000, 1024, np.float32),
]  # fmt: skip


@needs_native
@pytest.mark.parametrize("table", TABLES, ids=str)
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_they_are_xlas(table: tuple[int, int, Any], kind: Any) -> None:
    values, random = _table(*table), np.random.RandomState(1)
    indices = random.randint(0, len(values), (3, 1501)).astype(kind)
    indices[0, :3] = 0, len(values) - 1, 0
    found = _taken(values, indices)
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, values[indices])


@needs_native
@pytest.mark.parametrize("fed", [True, False])
@pytest.mark.parametrize("wrong", [40_000, -1, -40_000, 2**31 - 1, 2**40, -(2**40)])
def test_rows_that_do_not_exist_are_errors(wrong: int, fed: bool) -> None:
    indices = np.arange(6000)
    indices[4321] = wrong
    with flags.NATIVE.override(False), pytest.raises(tf.errors.InvalidArgumentError) as expected:
        _taken(_table(40_000, 64, np.float32), indices, fed)
    with pytest.raises(tf.errors.InvalidArgumentError) as found:
        _taken(_table(40_000, 64, np.float32), indices, fed)
    assert f"indices[4321] = {wrong} is not in [0, 40000)" in str(found.value)
    assert found.value.message == expected.value.message


def _rows_of(table: Any) -> Any:
    return tf.gather(table, np.arange(4000) * 7 % 20_000)


@needs_native
def test_it_is_part_of_the_program() -> None:
    table = np.ones([40_000, 64], np.float32)
    assert "@weft_gather_rows" in program_of(_rows_of, table)


@needs_native
def test_a_computed_table_is_left_to_xla() -> None:
    program = program_of(lambda x: _rows_of(x * 2 + 1), np.ones([40_000, 64], np.float32))
    assert program and "@weft_" not in program, "all of it would be written, for some of its rows"


@needs_native
@pytest.mark.parametrize("shape", [(40_000, 4), (20_000, 64), (20_000, 1100)])
def test_others_are_left_to_xla(shape: tuple[int, int]) -> None:
    assert "@weft_" not in program_of(lambda x: _rows_of(x) * 2, np.ones(shape, np.float32))
