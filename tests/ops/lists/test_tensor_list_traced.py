"""Lists of tensors inside compiled programs, against lists of the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.ops.functions.defun import Defun
from weft.ops.functions.function_calls import If, While
from weft.ops.lists import tensor_list
from weft.runtime.xla import region

raw, f32, i32 = tf.raw_ops, tf.float32, tf.int32
ROWS = np.arange(4 * 32 * 32, dtype=np.float32).reshape(4, 32, 32) % 7.0


def empty() -> Any:
    return raw.EmptyTensorList(element_shape=[32, 32], max_num_elements=-1, element_dtype=f32)


def push(rows: Any, value: Any) -> Any:
    return raw.TensorListPushBack(input_handle=rows, tensor=value)


def pop(rows: Any) -> Any:
    return raw.TensorListPopBack(input_handle=rows, element_shape=[32, 32], element_dtype=f32)


def stack(rows: Any, count: int = -1) -> Any:
    return raw.TensorListStack(
        input_handle=rows, element_shape=[32, 32], element_dtype=f32, num_elements=count
    )


def by_index(x):
    rows = raw.TensorListFromTensor(tensor=x, element_shape=[32, 32])
    rows = raw.TensorListSetItem(input_handle=rows, index=2, item=x[0] * 3.0)
    one = raw.TensorListGetItem(
        input_handle=rows, index=1, element_shape=[32, 32], element_dtype=f32
    )
    some = raw.TensorListGather(
        input_handle=rows, indices=[3, 2, 2], element_shape=[32, 32], element_dtype=f32
    )
    return [one, some, stack(rows), raw.TensorListLength(input_handle=rows)]


def by_matrix(x):
    """Indices count however they are arranged."""
    rows = raw.TensorListScatterV2(
        tensor=x, indices=[[3, 0], [2, 1]], element_shape=[32, 32], num_elements=4
    )
    some = [
        raw.TensorListGather(
            input_handle=rows, indices=indices, element_shape=[32, 32], element_dtype=f32
        )
        for indices in ([[3, 2], [2, 0]], 1)
    ]
    assert [each.shape.as_list() for each in some] == [[4, 32, 32], [1, 32, 32]]
    return [*some, stack(rows)]


def never_set(x):
    """Elements that nobody sets are zeros."""
    rows = raw.TensorListReserve(element_shape=[32, 32], num_elements=3, element_dtype=f32)
    blank = stack(rows)
    rows = raw.TensorListSetItem(input_handle=rows, index=1, item=x[1])
    spread = raw.TensorListScatterV2(
        tensor=x[:2], indices=[3, 0], element_shape=[32, 32], num_elements=5
    )
    return [blank, stack(rows), stack(spread)]


def ends(x):
    """A list that is pushed on after it was popped from, and one that is not changed by it."""
    two = push(push(empty(), x[0]), x[1])
    rest, last = pop(two)
    other = push(push(rest, x[2] + last), x[3])
    shape = raw.TensorListElementShape(input_handle=two, shape_type=i32)
    return [last, stack(two), stack(other), shape]


def sums(x):
    one, two = push(push(empty(), x[0]), x[1]), push(push(empty(), x[2]), x[3])
    return [stack(tf.add_n([one, two, tf.zeros_like(two)])), stack(tf.zeros_like(one))]


def two_pushes_a_turn(x):
    """A loop is given room for all that it pushes, and for what was there before."""

    @Defun(i32, f32, tf.variant)
    def more(i, x, rows):
        return i < 3

    @Defun(i32, f32, tf.variant)
    def turn(i, x, rows):
        return i + 1, x, push(push(rows, x[i] + 1.0), x[i] * 2.0)

    rows = While([0, x, push(empty(), x[3])], more, turn)[2]
    return [stack(push(rows, x[0]), 8)]


def lists_in_a_list(x):
    """The inner ones are filled in a loop and differ in length."""

    @Defun(i32, i32, f32, tf.variant)
    def more(i, n, x, rows):
        return i < n

    @Defun(i32, i32, f32, tf.variant)
    def turn(i, n, x, rows):
        return i + 1, n, x, push(rows, x[i])

    outer = raw.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.variant)
    for n in (1, 3):
        outer = push(outer, While([0, n, x, empty()], more, turn)[3])
    for _ in range(2):
        outer, inner = raw.TensorListPopBack(
            input_handle=outer, element_shape=-1, element_dtype=tf.variant
        )
        yield pop(inner)[1]
        yield raw.TensorListLength(input_handle=inner)


def of_branches(x):
    """Branches that give lists of different lengths."""

    @Defun(f32)
    def one(x):
        return push(empty(), x[0])

    @Defun(f32)
    def two(x):
        return push(push(empty(), x[1]), x[2])

    for least in (0.0, 1e9):
        rows = If(tf.reduce_sum(x) > least, [x], one, two)[0]
        yield raw.TensorListLength(input_handle=rows)
        yield pop(rows)[1]


@pytest.mark.parametrize(
    "program",
    [by_index, by_matrix, never_set, ends, sums, two_pushes_a_turn, lists_in_a_list, of_branches],
    ids=lambda p: p.__name__,
)
def test_as_on_the_host(program, monkeypatch) -> None:
    monkeypatch.setattr(region, "CALL_COST", 0.0)  # the smallest program is compiled
    x = tf.placeholder(f32, ROWS.shape)
    fetches = [*program(tf.tensordot(x, tf.eye(32), 1))]
    with flags.XLA.override(False), tf.Session() as session:
        wanted = session.run(fetches, {x: ROWS})
    with tf.Session() as session:
        for _ in range(2):
            session.run(fetches, {x: ROWS})
        monkeypatch.setattr(tensor_list.TensorList, "__init__", None)  # there are none from now on
        found = session.run(fetches, {x: ROWS})
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5)
        assert np.asarray(mine).dtype == np.asarray(other).dtype


def test_what_cannot_be_compiled_runs_on_the_host() -> None:
    """Elements of different shapes; a list that is fetched by an operation of the host."""
    x = tf.placeholder(f32, [4, 4])
    rows = raw.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=f32)
    rows = push(push(rows, x), x[:2])
    whole, lengths = raw.TensorListConcat(input_handle=rows, element_dtype=f32)
    with tf.Session() as session:
        for _ in range(3):
            values = session.run([whole, lengths], {x: np.eye(4)})
    assert values[0].shape == (6, 4) and values[1].tolist() == [4, 2]
