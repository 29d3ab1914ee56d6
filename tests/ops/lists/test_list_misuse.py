"""What must not be done with a list of tensors fails in each step, interpreted or compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.lists.refusals import check_refusals
from weft.runtime.xla import region

raw, f32 = tf.raw_ops, tf.float32


def _rows(x: Any) -> Any:
    return raw.TensorListFromTensor(tensor=x, element_shape=[2])


def _get(x: Any, i: Any, dtype: Any = f32) -> Any:
    return raw.TensorListGetItem(
        input_handle=_rows(x), index=i, element_shape=[2], element_dtype=dtype
    )


def _stack(rows: Any, count: int = -1) -> Any:
    return raw.TensorListStack(
        input_handle=rows, element_shape=[2], element_dtype=f32, num_elements=count
    )


def _set(x: Any, i: Any) -> Any:
    return _stack(raw.TensorListSetItem(input_handle=_rows(x), index=i, item=x[0]))


def _gather(x: Any, i: Any) -> Any:
    return raw.TensorListGather(
        input_handle=_rows(x), indices=[0, i], element_shape=[2], element_dtype=f32
    )


def _scatter(x: Any, i: Any) -> Any:
    made = raw.TensorListScatterV2(tensor=x, indices=[0, i], element_shape=[2], num_elements=3)
    return _stack(made)


def _pop_of_nothing(x: Any, i: Any) -> Any:
    nothing = raw.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=f32)
    popped = raw.TensorListPopBack(input_handle=nothing, element_shape=[2], element_dtype=f32)
    return popped.tensor + x[0]


def _get_of_another_type(x: Any, i: Any) -> Any:
    return _get(x, i, dtype=tf.float64)


def _stack_of_more(x: Any, i: Any) -> Any:
    return _stack(_rows(x), 3)


@pytest.mark.parametrize(
    ("misuse", "good", "bad"),
    [
        (_get, 1, 2),
        (_get, 0, -1),
        (_set, 1, 2),
        (_gather, 1, 2),
        (_scatter, 2, -1),
        (_pop_of_nothing, None, 0),
        (_get_of_another_type, None, 0),
        (_stack_of_more, None, 0),
    ],
)
def test_misuse_fails_in_each_step(
    misuse: Callable[[Any, Any], Any],
    good: int | None,
    bad: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(region, "CALL_COST", 0.0)
    monkeypatch.setattr(region, "BUFFER_COST", 0.0)
    with tf.Graph().as_default(), tf.Session() as session:
        x, i = tf.placeholder(f32, [None, 2]), tf.placeholder(tf.int32, [])
        found = misuse(x, i)

        def run(index: int) -> Any:
            return session.run(found, {x: np.float32([[1, 2], [3, 4]]), i: index})

        check_refusals(run, good, bad)


def _overflow(stack: Any, x: Any) -> Any:
    return raw.StackPushV2(handle=stack, elem=x)


def _pop(stack: Any, x: Any) -> Any:
    popped = raw.StackPopV2(handle=stack, elem_type=f32)
    with tf.control_dependencies([popped]):
        return raw.StackPopV2(handle=stack, elem_type=f32)


@pytest.mark.parametrize("misuse", [_overflow, _pop])
def test_misuse_of_a_stack_fails_in_each_step(
    misuse: Callable[[Any, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(region, "CALL_COST", 0.0)
    monkeypatch.setattr(region, "BUFFER_COST", 0.0)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(f32, [None])
        stack = raw.StackV2(max_size=1, elem_type=f32)
        with tf.control_dependencies([raw.StackPushV2(handle=stack, elem=x)]):
            found = misuse(stack, x)
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"max_size|is empty"):
                session.run(found, {x: [1.0, 2.0]})
