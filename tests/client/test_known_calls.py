"""Eager calls like earlier ones: the short way gives the values and errors of the long one."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution


@pytest.fixture(autouse=True)
def graph() -> Iterator[EagerExecution]:
    made = EagerExecution()
    with made.as_default():
        yield made


def _numbers(*shape: int, dtype: Any = tf.float32) -> Any:
    return tf.constant(np.arange(1, 1 + np.prod(shape)).reshape(shape), dtype)


# Calls that are to raise after calls like them that did not, and a part of the message.
_ERRORS: dict[str, tuple[Callable[[], Any], Callable[[], Any], str]] = {
    "shapes": (
        lambda: tf.add(_numbers(2), _numbers(2)),
        lambda: tf.add(_numbers(2), _numbers(3)),
        r"Incompatible shapes|must be equal.*\[Op:Add\]",
    ),
    "matrices": (
        lambda: tf.matmul(_numbers(2, 3), _numbers(3, 2)),
        lambda: tf.matmul(_numbers(2, 3), _numbers(2, 3)),
        r"3 and 2.*\[Op:MatMul\]",
    ),
    "values": (
        lambda: tf.reshape(_numbers(4), tf.constant([2, 2])),
        lambda: tf.reshape(_numbers(4), tf.constant([2, 3])),
        r"4 elements to shape \[2,3\].*\[Op:Reshape\]",
    ),
    "axes": (
        lambda: tf.reduce_sum(_numbers(2, 2), tf.constant(1)),
        lambda: tf.reduce_sum(_numbers(2, 2), tf.constant(2)),
        r"Invalid reduction dimension.*\[Op:Sum\]",
    ),
    "ids": (
        lambda: tf.gather(_numbers(4), tf.constant([1])),
        lambda: tf.gather(_numbers(4), tf.constant([7])),
        r"7 is not in \[0, 4\).*\[Op:GatherV2\]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _ERRORS)
def test_errors_are_raised_every_time(name: str) -> None:
    good, bad, message = _ERRORS[name]
    for _ in range(3):
        good()
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            bad()


def test_shapes_that_follow_from_values() -> None:
    x = _numbers(2, 3)
    for _ in range(2):
        assert tf.reshape(x, [3, 2]).shape == [3, 2] and tf.reshape(x, [6]).shape == [6]
        assert tf.reduce_sum(x, 0).numpy().tolist() == [5, 7, 9]
        assert tf.reduce_sum(x, 1).numpy().tolist() == [6, 15]
        assert tf.reduce_sum(x, 1, keepdims=True).shape == [2, 1]
        assert float(tf.reduce_sum(x)) == 21
        assert tf.fill([2, 2], 3).numpy().tolist() == [[3, 3], [3, 3]]
        assert tf.fill([1], 3.5).numpy().tolist() == [3.5]


def test_types_and_attributes_make_a_difference() -> None:
    x, i = _numbers(3), _numbers(3, dtype=tf.int32)
    for _ in range(2):
        assert tf.add(x, x).dtype is tf.float32 and tf.add(i, i).dtype is tf.int32
        assert tf.cast(x, tf.int64).dtype is tf.int64 and tf.cast(x, tf.bool).dtype is tf.bool
        assert tf.argmax(x, output_type=tf.int32).dtype is tf.int32
        assert tf.argmax(x).dtype is tf.int64
        product = tf.matmul(x[None], x[None], transpose_b=True)
        assert float(product[0, 0]) == 14
        assert tf.matmul(x[None], x[None], transpose_a=True).shape == [3, 3]
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            tf.add(x, i)


def test_numbers_beside_tensors() -> None:
    x, i = tf.constant([1.0, -2.0]), tf.constant([1, -2])
    for _ in range(2):
        signs = [np.signbit((x * zero).numpy()).tolist() for zero in (0.0, -0.0)]
        assert signs == [[False, True], [True, False]]
        assert (x * 2).dtype is tf.float32 and (2 * i).dtype is tf.int32
        assert (1 - x).numpy().tolist() == [0, 3] and (x - 1).numpy().tolist() == [0, -3]
        assert (2.0**x).numpy().tolist() == [2, 0.25] and (x / 4).numpy().tolist() == [0.25, -0.5]
        assert (i // 2).numpy().tolist() == [0, -1] and (7 // i).numpy().tolist() == [7, -4]
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            2.5 * i
        with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
            i * 2.5


def test_a_tape_sees_known_calls() -> None:
    x = tf.constant([1.0, 2.0])
    for _ in range(3):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(x * x * 3.0)
            first = tape.gradient(y, x)
        assert first.numpy().tolist() == [6, 12]
        assert outer.gradient(first, x).numpy().tolist() == [6, 6]


def test_equal_constants_are_different_tensors() -> None:
    a, b = tf.constant(3.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a * a * b
    assert [float(g) for g in tape.gradient(y, [a, b])] == [18, 9]


def test_scopes_and_devices_count_in_known_calls() -> None:
    x = tf.constant(1.0)
    tf.negative(x)
    with tf.name_scope("outer"), tf.device("/cpu:0"):
        inside = tf.negative(x)
        named = tf.negative(x, name="mine")
    assert (inside.op.name, named.op.name) == ("outer/Neg", "outer/mine")
    assert inside.op.device == "/device:CPU:0" and tf.negative(x).op.name == "Neg"
    with pytest.raises(ValueError, match="not a valid"):
        tf.negative(x, name="not valid")


def test_results_go_with_their_last_user() -> None:
    gc.disable()
    try:
        x = tf.ones([1000])
        found = weakref.ref(tf.add(x, x)), weakref.ref(tf.split(x, 2)[0])
        assert [each() for each in found] == [None, None]
    finally:
        gc.enable()


def test_results_that_are_gone_are_made_again() -> None:
    first, second = tf.split(tf.constant([1.0, 2.0]), 2)
    op = first.op
    assert op.outputs[0] is first and op.outputs[1] is second
    del second
    again = op.outputs[1]
    assert again.numpy().tolist() == [2.0] and again.shape == [1] and op.outputs[1] is again


@pytest.mark.parametrize("name", ["sum", "mean", "max", "prod"])
@pytest.mark.parametrize("axis", [None, 0, (0, 1), -1])
def test_the_short_way_of_a_kernel_is_that_of_each_shape(name: str, axis: Any) -> None:
    reduce = getattr(tf, f"reduce_{name}")
    for shape in ((2, 3), (3, 2), (2, 3), (1, 4), (2, 2, 2), (2, 3)):
        x = _numbers(*shape)
        for keepdims in (False, True, False):
            wanted = getattr(np, name)(x.numpy(), axis, keepdims=keepdims)
            found = reduce(x, axis, keepdims)
            np.testing.assert_array_equal(found.numpy(), wanted)
            assert found.dtype is tf.float32 and found.shape == wanted.shape


def test_axes_that_are_tensors_are_looked_at_each_time() -> None:
    x = _numbers(2, 3)
    for axis in (0, 1, 0, -1, 1):
        found = tf.reduce_sum(x, tf.constant(axis))
        np.testing.assert_array_equal(found.numpy(), x.numpy().sum(axis))


@pytest.mark.parametrize("transpose_a", [True, False])
@pytest.mark.parametrize("transpose_b", [True, False])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float16, tf.int32])
def test_products(transpose_a: bool, transpose_b: bool, dtype: Any) -> None:
    a = _numbers(*((3, 2) if transpose_a else (2, 3)), dtype=dtype)
    b = _numbers(*((4, 3) if transpose_b else (3, 4)), dtype=dtype)
    left = a.numpy().T if transpose_a else a.numpy()
    right = b.numpy().T if transpose_b else b.numpy()
    for _ in range(3):
        found = tf.matmul(a, b, transpose_a, transpose_b)
        np.testing.assert_array_equal(found.numpy(), left @ right)
        assert found.dtype is dtype
