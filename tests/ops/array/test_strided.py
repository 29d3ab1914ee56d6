"""Brackets on tensors: the nodes they make, what they refuse, and rows chosen inside a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.graph.shape_fn import ShapeContext
from weft.ops.array.slicing import slice_static
from weft.ops.array.strided import strided_slice_, strided_static
from weft.ops.array.strided_plan import strided_plan

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "spec",
    [
        0,
        -1,
        slice(None),
        slice(None, None, -1),
        (1, slice(2)),
        (Ellipsis, 2),
        (0, Ellipsis, None),
        (None, slice(0, 1), None, slice(None, None, 2), slice(3, None, -3)),
        (slice(5, 9), slice(-9, 9)),
        (1, 2, 3),
        (),
    ],
    ids=str,
)
def test_brackets_are_numpys(spec: Any) -> None:
    sliced = tf.constant(X)[spec]
    with tf.Session() as session:
        found = session.run(sliced)
    np.testing.assert_array_equal(found, X[spec])
    assert sliced.shape == X[spec].shape


def test_brackets_make_one_slice_and_its_constants() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    assert x[0, 1:].name == "strided_slice:0"
    assert [op.name for op in tf.get_default_graph().get_operations()] == [
        "x",
        "strided_slice/stack",
        "strided_slice/stack_1",
        "strided_slice/stack_2",
        "strided_slice",
    ]
    assert x[1].name == "strided_slice_1:0"


@pytest.mark.parametrize("index", [1.5, "a", np.array([0, 1]), [0.5]], ids=str)
def test_other_indices_are_refused(index: Any) -> None:
    with pytest.raises(TypeError, match="Only integers, slices"):
        tf.constant(X)[index]


def test_out_of_range() -> None:
    with pytest.raises(ValueError, match="slice index 2 of dimension 0 out of bounds"):
        tf.constant(X)[2]
    with pytest.raises(ValueError, match="input has only 3 dims"):
        tf.constant(X)[0, 0, 0, 0]


def test_plan_of_partly_known_shapes() -> None:
    assert strided_plan((None, 3), [0, 1], [0, 3], [1, 1], begin_mask=1, end_mask=1).final == (
        None,
        2,
    )
    assert strided_plan((None, 3), None, None, [1], shrink_axis_mask=1).final == (3,)
    assert strided_plan((4,), None, None, [-1], begin_mask=1, end_mask=1).final == (4,)
    assert strided_plan((4,), None, [3], [1]).final == (None,)


@pytest.mark.parametrize("index", [0, 1, -1])
def test_a_row_chosen_inside_a_compiled_program(index: int) -> None:
    import jax
    import jax.numpy as jnp

    masks = {"begin_mask": 2, "end_mask": 2, "ellipsis_mask": 0, "new_axis_mask": 8}
    masks["shrink_axis_mask"] = 5
    strides = np.ones(4, np.int32)

    def take(x: Any, begin: Any) -> Any:
        return strided_slice_.kernel(jnp, x, begin, begin + 1, strides, **masks)

    def put(dy: Any, begin: Any) -> Any:
        from weft.ops.array.strided import strided_slice_grad_

        shape = np.array(X.shape, np.int32)
        return strided_slice_grad_.kernel(jnp, shape, begin, begin + 1, strides, dy, **masks)

    begin = np.array([index, 0, index, 0], np.int32)
    taken = jax.jit(take)(X, begin)
    np.testing.assert_array_equal(taken, X[index, :, index, None])
    want = np.zeros_like(X)
    want[index, :, index] = X[index, :, index]
    np.testing.assert_array_equal(jax.jit(put)(taken, begin), want)


def test_which_inputs_must_be_constant() -> None:
    x = tf.placeholder(tf.float32, [4, 5])
    i = tf.placeholder(tf.int32, [])
    assert "begin" not in strided_static(ShapeContext(x[i].op))
    assert "begin" not in strided_static(ShapeContext(x[:, i].op))
    assert "begin" in strided_static(ShapeContext(x[i : i + 1].op))
    begin = tf.stack([i, 0])
    assert "begin" not in slice_static(ShapeContext(tf.slice(x, begin, [1, 5]).op))
    assert "begin" in slice_static(ShapeContext(tf.slice(x, begin, [-1, 5]).op))
