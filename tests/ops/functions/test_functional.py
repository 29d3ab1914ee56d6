"""map_fn, scan, foldl and foldr: what they compute, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


def run(fetches: Any, feeds: dict[Any, Any] | None = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first, second, third = (session.run(fetches, feeds) for _ in range(3))
    for other in (second, third):
        for a, b in zip(tf.nest.flatten(first), tf.nest.flatten(other), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
    return first


def test_nodes_of_map_fn() -> None:
    x = tf.placeholder(tf.float32, [3, 2], name="x")
    tf.map_fn(lambda row: row * 2.0, x)
    names = {op.name for op in tf.get_default_graph().get_operations()}
    assert {
        "map/TensorArray",
        "map/TensorArrayUnstack/TensorArrayScatter/TensorArrayScatterV3",
        "map/Const",
        "map/TensorArray_1",
        "map/while/maximum_iterations",
        "map/while/iteration_counter",
        "map/while/TensorArrayReadV3",
        "map/while/mul",
        "map/while/TensorArrayWrite/TensorArrayWriteV3",
        "map/while/TensorArrayWrite/TensorArrayWriteV3/Enter",
        "map/while/Exit_2",
        "map/TensorArrayStack/TensorArrayGatherV3",
    } <= names


@pytest.mark.parametrize("rows", [3, None])
def test_map_fn(rows: int | None) -> None:
    x, w = tf.placeholder(tf.float32, [rows, 2]), tf.placeholder(tf.float32, [2])
    y = tf.map_fn(lambda row: tf.reduce_sum(row * row * w), x)
    assert y.shape.as_list() == [rows]
    got = run([y, *tf.gradients(y, [x, w])], {x: ROWS, w: [1.0, 3.0]})
    np.testing.assert_allclose(got[0], (ROWS**2) @ [1.0, 3.0])
    np.testing.assert_allclose(got[1], 2 * ROWS * [1.0, 3.0])
    np.testing.assert_allclose(got[2], (ROWS**2).sum(0))


def test_map_fn_of_structures() -> None:
    x = tf.constant(ROWS)
    total, whole = tf.map_fn(
        lambda pair: (tf.reduce_sum(pair["a"] - pair["b"]), tf.cast(pair["b"], tf.int32)),
        {"a": x, "b": x * 2.0},
        dtype=(tf.float32, tf.int32),
    )
    got = run([total, whole])
    np.testing.assert_allclose(got[0], -ROWS.sum(1))
    np.testing.assert_array_equal(got[1], 2 * ROWS)


def test_map_fn_with_rows_of_different_shape() -> None:
    ends = tf.constant([1, 2])
    y = tf.map_fn(
        lambda n: tf.reduce_sum(tf.range(n)), ends, infer_shape=False, parallel_iterations=1
    )
    assert run(y).tolist() == [0, 1]


def test_variables_are_made_once() -> None:
    with tf.variable_scope("scope"):
        y = tf.map_fn(
            lambda row: row * tf.get_variable("w", [], initializer=tf.ones_initializer()),
            tf.constant(ROWS),
        )
        assert tf.get_variable_scope().caching_device is None
    assert [v.name for v in tf.global_variables()] == ["scope/w:0"]
    np.testing.assert_allclose(run(y), ROWS)


def test_map_fn_refuses() -> None:
    with pytest.raises(TypeError, match="fn must be callable"):
        tf.map_fn(0, ROWS)
    with pytest.raises(ValueError, match="must be a 1\\+ dimensional Tensor, not a scalar"):
        tf.map_fn(lambda x: x, tf.constant(1.0))
    with pytest.raises(TypeError, match="values of a sparse tensor"):
        tf.map_fn(lambda x: x, tf.SparseTensor([[0]], [1.0], [1]))
    with pytest.raises((TypeError, ValueError), match="structure"):
        tf.map_fn(lambda x: (x, x), tf.constant(ROWS))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("start", [None, [1.0, 10.0]])
def test_scan(reverse: bool, start: list[float] | None) -> None:
    x, w = tf.placeholder(tf.float32, [3, 2]), tf.placeholder(tf.float32, [2])
    initializer = None if start is None else tf.constant(start)
    y = tf.scan(lambda a, row: a * w + row, x, initializer=initializer, reverse=reverse)
    assert y.shape.as_list() == [3, 2]
    order = [2, 1, 0] if reverse else [0, 1, 2]
    weights = np.array([2.0, 3.0])
    state = None if start is None else np.array(start)
    wanted = np.zeros((3, 2))
    for i in order:
        state = ROWS[i] if state is None else state * weights + ROWS[i]
        wanted[i] = state
    got = run([y, tf.gradients(y, x)[0]], {x: ROWS, w: weights})
    np.testing.assert_allclose(got[0], wanted)
    slopes = np.array([1 + weights + weights**2, 1 + weights, np.ones(2)])
    np.testing.assert_allclose(got[1], slopes[::-1] if reverse else slopes)


def test_scan_of_structures() -> None:
    ones = tf.constant([1, 0, 0, 0, 0, 0])
    got = run(tf.scan(lambda a, _: (a[1], a[0] + a[1]), ones, (0, 1)))
    assert got[0].tolist() == [1, 1, 2, 3, 5, 8]
    assert got[1].tolist() == [1, 2, 3, 5, 8, 13]


def test_folds() -> None:
    x = tf.placeholder(tf.float32, [3, 2])
    left = tf.foldl(lambda a, row: a * 2.0 + row, x)
    right = tf.foldr(lambda a, row: a * 2.0 + row, x, initializer=tf.ones([2]))
    got = run([left, right, tf.gradients(left, x)[0], tf.gradients(right, x)[0]], {x: ROWS})
    np.testing.assert_allclose(got[0], 4 * ROWS[0] + 2 * ROWS[1] + ROWS[2])
    np.testing.assert_allclose(got[1], 8 + 4 * ROWS[2] + 2 * ROWS[1] + ROWS[0])
    np.testing.assert_allclose(got[2], np.array([[4, 4], [2, 2], [1, 1]]))
    np.testing.assert_allclose(got[3], np.array([[1, 1], [2, 2], [4, 4]]))


def test_fold_of_structures() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    got = tf.foldl(lambda a, e: (a[0] + e[0], a[1] * e[1]), (x, x), initializer=(0.0, 1.0))
    assert run(list(got)) == [6.0, 6.0]


def test_no_rows() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    mapped = tf.map_fn(lambda row: row * 2.0, x)
    folded = tf.foldl(lambda a, row: a + row, x, initializer=tf.zeros([2]))
    got = run([mapped, folded], {x: np.zeros((0, 2))})
    assert got[0].shape == (0, 2)
    np.testing.assert_allclose(got[1], [0, 0])
