"""tf.TensorArray: what it stores, what it refuses, and gradients through it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


def run(fetches: Any, feeds: dict[Any, Any] | None = None) -> Any:
    with tf.Session() as session:
        first, second, third = (session.run(fetches, feeds) for _ in range(3))
    for other in (second, third):
        for a, b in zip(tf.nest.flatten(first), tf.nest.flatten(other), strict=True):
            np.testing.assert_array_equal(a, b)
    return first


def array(size: Any = 3, dtype: Any = tf.float32, **options: Any) -> tf.TensorArray:
    return tf.TensorArray(dtype, size=size, **options)


def test_nodes() -> None:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    array(2).unstack(x).stack()
    names = [f"{op.type}:{op.name}" for op in tf.get_default_graph().get_operations()]
    names = [name for name in names if not name.startswith(("Const", "Placeholder"))]
    assert names == [
        "TensorArrayV3:TensorArray",
        "StridedSlice:TensorArrayUnstack/strided_slice",
        "Range:TensorArrayUnstack/range",
        "TensorArrayScatterV3:TensorArrayUnstack/TensorArrayScatter/TensorArrayScatterV3",
        "TensorArraySizeV3:TensorArrayStack/TensorArraySizeV3",
        "Range:TensorArrayStack/range",
        "TensorArrayGatherV3:TensorArrayStack/TensorArrayGatherV3",
    ]
    op = tf.get_default_graph().get_operation_by_name("TensorArray")
    assert op.get_attr("identical_element_shapes") and op.get_attr("clear_after_read")
    assert not op.get_attr("dynamic_size")


def test_write_read_stack_gather_concat_size() -> None:
    x = tf.placeholder(tf.float32, [])
    ta = array(clear_after_read=False)
    ta = ta.write(0, [x, 1.0]).write(1, [2.0, x]).write(2, [x, x])
    got = run([ta.read(1), ta.stack(), ta.gather([2, 0]), ta.concat(), ta.size()], {x: 5.0})
    np.testing.assert_array_equal(got[0], [2, 5])
    np.testing.assert_array_equal(got[1], [[5, 1], [2, 5], [5, 5]])
    np.testing.assert_array_equal(got[2], [[5, 5], [5, 1]])
    np.testing.assert_array_equal(got[3], [5, 1, 2, 5, 5, 5])
    assert got[4] == 3


def test_split_and_scatter() -> None:
    x = tf.placeholder(tf.float32, [4])
    parts = array(2, infer_shape=False, clear_after_read=False).split(x, [1, 3])
    rows = array(dynamic_size=True).scatter([3, 0, 1, 2], x)
    got = run([parts.read(0), parts.read(1), rows.stack()], {x: [1, 2, 3, 4]})
    np.testing.assert_array_equal(got[0], [1])
    np.testing.assert_array_equal(got[1], [2, 3, 4])
    np.testing.assert_array_equal(got[2], [2, 3, 4, 1])


def test_an_array_of_strings() -> None:
    words = array(2, tf.string).unstack(tf.constant(["a", "b"]))
    assert run(words.stack()).tolist() == [b"a", b"b"]


def test_what_is_known_of_elements() -> None:
    ta = array(element_shape=[None, 2])
    assert ta.element_shape.as_list() == [None, 2]
    after = ta.write(0, tf.ones([3, 2]))
    assert ta.element_shape.as_list() == after.element_shape.as_list() == [3, 2]
    assert after.read(0).shape.as_list() == [3, 2]
    assert after.stack().shape.as_list() == [None, 3, 2]
    with pytest.raises(ValueError, match="Inconsistent shapes"):
        after.write(1, tf.ones([4, 2]))
    free = array(infer_shape=False).write(0, tf.ones([2]))
    assert free.element_shape.ndims is None


def test_gathered_elements_have_the_shape_that_the_array_declares() -> None:
    def shapes(array: Any, *indices: Any) -> list[str]:
        handle, flow = array.handle, array.flow
        grad = tf.raw_ops.TensorArrayGradV3(handle=handle, flow_in=flow, source="s")
        made = [
            tf.raw_ops.TensorArrayGatherV3(handle=h, indices=i, flow_in=f, dtype=tf.float32)
            for h, f in ((handle, flow), grad)
            for i in indices
        ]
        return [str(each.shape) for each in made]

    some = tf.placeholder(tf.int32)
    declared = tf.TensorArray(tf.float32, size=4, element_shape=[None, 3])
    assert shapes(declared, [0, 1], some) == ["(2, ?, 3)", "(?, ?, 3)"] * 2
    assert shapes(tf.TensorArray(tf.float32, size=4), [0, 1], some) == ["<unknown>"] * 4
    assert declared.gather([0, 1]).shape.as_list() == [2, None, 3]


def test_unwritten_elements_are_zero_when_their_shape_is_known() -> None:
    known = array(element_shape=[2]).write(1, [1.0, 2.0])
    np.testing.assert_array_equal(run(known.stack()), [[0, 0], [1, 2], [0, 0]])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(array(infer_shape=False).read(0))
    assert "the element shape is not fully defined" in str(caught.value)


def _twice(ta: tf.TensorArray) -> Any:
    first = ta.write(0, 1.0)
    value = first.read(0)
    with tf.control_dependencies([value]):
        return first.identity().read(0)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: array().write(3, 1.0).flow, "Tried to write to index 3 but array is not"),
        (lambda: array().write(-1, 1.0).flow, "Tried to write to index -1"),
        (lambda: array().read(3), "Tried to read from index 3 but array size is: 3"),
        (lambda: array().write(0, 1.0).write(0, 2.0).flow, "already been written to"),
        (lambda: _twice(array()), "Could not read index 0 twice"),
        (lambda: array().split([1.0, 2.0], [1, 2, 0]).flow, "Expected sum of lengths"),
        (lambda: array().split([1.0], [1]).flow, "size is not equal to the size of lengths"),
        (lambda: array().scatter([0, 5], [1.0, 2.0]).flow, "Max scatter index must be < array"),
        (lambda: array(1).write(0, 1.0).concat(), "Concat saw a scalar shape at index 0"),
        (
            lambda: array(2, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0]).stack(),
            "inconsistent shapes",
        ),
    ],
)
def test_a_step_fails(build: Any, message: str) -> None:
    fetch = build()
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(fetch)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, ValueError, "Size must be provided"),
        ({"handle": 1, "flow": 1}, TypeError, "Handle must be a Tensor"),
        ({"handle": None, "size": 1, "dtype": "no"}, TypeError, "Cannot convert"),
    ],
)
def test_the_constructor_refuses(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        tf.TensorArray(**{"dtype": tf.float32, **options})


# ---- gradients --------------------------------------------------------------------------------


def test_gradients_of_every_way_in_and_out() -> None:
    x = tf.placeholder(tf.float32, [4, 2])
    weights = np.arange(8, dtype=np.float32).reshape(4, 2)
    written = array(4, clear_after_read=False)
    for i in range(4):
        written = written.write(i, x[i])
    ways = {
        "unstack, stack": array(4).unstack(x).stack(),
        "scatter, gather": array(4).scatter([1, 0, 3, 2], x).gather([1, 0, 3, 2]),
        "split, concat": array(2, infer_shape=False).split(x, [1, 3]).concat(),
        "write, read": tf.stack([written.read(i) for i in range(4)]),
    }
    gradients = {name: tf.gradients(y * y * weights, x)[0] for name, y in ways.items()}
    values = np.arange(8, dtype=np.float32).reshape(4, 2) + 1
    for name, got in run(gradients, {x: values}).items():
        np.testing.assert_allclose(got, 2 * values * weights, err_msg=name)


def test_an_element_that_is_read_twice_gets_both_gradients() -> None:
    x = tf.placeholder(tf.float32, [])
    ta = array(1, clear_after_read=False).write(0, x)
    y = ta.read(0) * 2.0 + tf.square(ta.read(0))
    np.testing.assert_allclose(run(tf.gradients(y, x)[0], {x: 3.0}), 8.0)


def test_two_gradient_calls_do_not_mix() -> None:
    x = tf.placeholder(tf.float32, [])
    ta = array(1, clear_after_read=False).write(0, x)
    y = ta.read(0)
    got = run([tf.gradients(y, x)[0], tf.gradients(y * 2.0, x)[0]], {x: 3.0})
    np.testing.assert_allclose(got, [1.0, 2.0])


def test_an_array_that_grows_in_a_loop() -> None:
    x = tf.placeholder(tf.float32, [])
    grown = tf.while_loop(
        lambda i, s, ta: i < 5,
        lambda i, s, ta: (i + 1, s * x, ta.write(i, s)),
        (0, 1.0, array(0, dynamic_size=True)),
    )[2]
    stacked = grown.stack()
    got = run([stacked, tf.gradients(stacked, x)[0], grown.size()], {x: 2.0})
    np.testing.assert_allclose(got[0], [1, 2, 4, 8, 16])
    np.testing.assert_allclose(got[1], 1 + 4 + 12 + 32)
    assert got[2] == 5


def test_arrays_in_the_branches_of_a_cond() -> None:
    x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    ta = array(1, element_shape=[])
    chosen = tf.cond(p, lambda: ta.write(0, x * 3.0), lambda: ta.write(0, tf.square(x)))
    assert isinstance(chosen, tf.TensorArray)
    y = chosen.read(0)
    gradient = tf.gradients(y, x)[0]
    np.testing.assert_allclose(run([y, gradient], {x: 5.0, p: True}), [15.0, 3.0])
    np.testing.assert_allclose(run([y, gradient], {x: 5.0, p: False}), [25.0, 10.0])


def test_the_name_of_a_gradient_call_tells_its_arrays_apart() -> None:
    x = tf.placeholder(tf.float32, [])
    y = array(1).write(0, x).read(0)
    with pytest.raises(ValueError, match="start with gradients"):
        tf.gradients(y, x, name="slopes")


def test_close() -> None:
    ta = array(1).write(0, 1.0)
    with tf.control_dependencies([ta.close()]):
        late = ta.identity().read(0)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="closed"):
        session.run(late)


def test_an_array_of_gradients_with_more_dimensions() -> None:
    value = tf.placeholder(tf.float32)
    ta = array(3, element_shape=[2])
    handle, flow = tf.raw_ops.TensorArrayGradWithShape(
        handle=ta.handle, flow_in=ta.flow, shape_to_prepend=[4], source="here"
    )
    grads = tf.TensorArray(tf.float32, handle=handle, flow=flow).write(0, value)
    with tf.Session() as session:
        assert session.run(grads.read(0), {value: np.ones((4, 2))}).shape == (4, 2)
        assert session.run(grads.read(1), {value: np.ones((4, 2))}).shape == (4, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not write"):
            session.run(grads.read(0), {value: np.ones(2)})


def test_elements_of_gradients_with_more_dimensions_have_known_shapes():
    array = tf.TensorArray(tf.float32, size=3, element_shape=[2, 3])
    made = tf.raw_ops.TensorArrayGradWithShape(
        handle=array.handle, flow_in=array.flow, shape_to_prepend=[4, 5], source="source"
    )
    gradients = tf.TensorArray(tf.float32, handle=made.grad_handle, flow=made.flow_out)
    assert gradients.read(0).shape.as_list() == [None, None, 2, 3]


def test_a_handle_may_be_given_by_position_in_a_function() -> None:
    @tf.function
    def second(handle: tf.Tensor, flow: tf.Tensor) -> tf.Tensor:
        ta = tf.TensorArray(tf.float32, None, None, None, None, handle, flow)
        assert ta.handle is handle
        return ta.read(1)

    ta = array(2, clear_after_read=False).unstack([1.0, 2.0])
    with tf.Session() as session:
        assert session.run(second(ta.handle, ta.flow)) == 2.0
