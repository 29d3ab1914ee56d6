"""Lists of tensors and optional values."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

raw = tf.raw_ops
f32 = tf.float32


def evaluate(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def empty(shape=(), most=-1):
    return raw.EmptyTensorList(
        element_shape=list(shape) or tf.constant([], tf.int32), max_num_elements=most,
        element_dtype=f32,
    )  # fmt: skip


def push(handle, *values):
    for value in values:
        handle = raw.TensorListPushBack(input_handle=handle, tensor=tf.constant(value, f32))
    return handle


def pop(handle):
    return raw.TensorListPopBack(input_handle=handle, element_shape=-1, element_dtype=f32)


def stack(handle, shape=-1, **attrs):
    return raw.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=f32, **attrs)


def reserve(count, shape=-1):
    return raw.TensorListReserve(element_shape=shape, num_elements=count, element_dtype=f32)


def test_lists_that_share_a_beginning() -> None:
    base = push(empty(), 1.0, 2.0)
    left, right = push(base, 3.0), push(base, 4.0)
    shorter, last = pop(left)
    found = evaluate([stack(left), stack(right), stack(push(shorter, 9.0)), last, stack(base)])
    assert [np.ravel(f).tolist() for f in found] == [[1, 2, 3], [1, 2, 4], [1, 2, 9], [3], [1, 2]]


def test_elements_never_set_are_zeros() -> None:
    handle = raw.TensorListSetItem(input_handle=reserve(3), index=1, item=[5.0, 6.0])
    assert evaluate(stack(handle)).tolist() == [[0, 0], [5, 6], [0, 0]]
    item = raw.TensorListGetItem(
        input_handle=reserve(2, [2]), index=0, element_shape=[-1], element_dtype=f32
    )
    assert evaluate(item).tolist() == [0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not fully defined"):
        evaluate(stack(reserve(2)))


def test_from_and_to_tensors() -> None:
    rows = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    handle = raw.TensorListFromTensor(tensor=rows, element_shape=[2])
    gathered = raw.TensorListGather(
        input_handle=handle, indices=[2, 0], element_shape=[2], element_dtype=f32
    )
    scattered = raw.TensorListScatterV2(
        tensor=rows, indices=[3, 1, 0], element_shape=[2], num_elements=5
    )
    split = raw.TensorListSplit(tensor=rows, element_shape=[-1, 2], lengths=[1, 2])
    whole, lengths = raw.TensorListConcatV2(
        input_handle=split, element_shape=[-1, 2], leading_dims=tf.constant([], tf.int64),
        element_dtype=f32,
    )  # fmt: skip
    resized = raw.TensorListResize(input_handle=handle, size=1)
    shape = raw.TensorListElementShape(input_handle=split, shape_type=tf.int32)
    found = evaluate([gathered, stack(scattered), whole, lengths, stack(resized), shape])
    assert found[0].tolist() == [[5, 6], [1, 2]]
    assert found[1].tolist() == [[5, 6], [3, 4], [0, 0], [1, 2], [0, 0]]
    assert found[2].tolist() == [[1, 2], [3, 4], [5, 6]] and found[3].tolist() == [1, 2]
    assert found[4].tolist() == [[1, 2]] and found[5].tolist() == [-1, 2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pop(empty()), "pop from an empty list"),
        (lambda: stack(push(empty(most=1), 1.0, 2.0)), "Tried to push item into a full list"),
        (lambda: stack(push(empty(), 1.0), num_elements=2), "expected a list with 2 elements"),
        (lambda: stack(push(empty([2]), [1.0])), "Incompatible shapes"),
        (
            lambda: raw.TensorListSetItem(input_handle=reserve(1), index=1, item=1.0),
            "modify element 1 in a list with 1 elements",
        ),
        (
            lambda: raw.TensorListGetItem(
                input_handle=reserve(1, [1]), index=0, element_shape=-1, element_dtype=tf.int32
            ),
            "Invalid data types",
        ),
    ],
)
def test_errors(make, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        evaluate(make())


def test_gradients() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    handle = raw.TensorListFromTensor(tensor=x, element_shape=[2])
    item = raw.TensorListGetItem(input_handle=handle, index=1, element_shape=[2], element_dtype=f32)
    handle = raw.TensorListSetItem(input_handle=handle, index=0, item=item * item)
    handle = raw.TensorListPushBack(input_handle=handle, tensor=x[0] * 3.0)
    handle, last = pop(handle)
    y = tf.reduce_sum(stack(handle, [2])) + tf.reduce_sum(last)
    assert evaluate(tf.gradients(y, x))[0].tolist() == [[3, 3], [7, 9]]


def test_static_shapes() -> None:
    assert stack(reserve(2), [2, 3], num_elements=4).shape.as_list() == [4, 2, 3]
    assert stack(reserve(2)).shape.ndims is None


def test_optional_values() -> None:
    some = raw.OptionalFromValue(components=[tf.constant(1.0), tf.constant([2, 3])])
    none = raw.OptionalNone()
    types = {"output_types": [f32, tf.int32], "output_shapes": [[], [2]]}
    found = evaluate([
        raw.OptionalHasValue(optional=some), raw.OptionalHasValue(optional=none),
        *raw.OptionalGetValue(optional=some, **types),
    ])  # fmt: skip
    assert found[:3] == [True, False, 1.0] and found[3].tolist() == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        evaluate(raw.OptionalGetValue(optional=none, **types))
