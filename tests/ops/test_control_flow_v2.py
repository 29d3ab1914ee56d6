"""tf.enable_control_flow_v2: conditionals and loops as single nodes over functions.

What they compute is compared with TensorFlow in `tests/parity/test_control_flow.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution


@pytest.fixture(autouse=True)
def second_version() -> Iterator[None]:
    tf.enable_control_flow_v2()
    yield
    tf.disable_control_flow_v2()


def kinds() -> set[str]:
    return {op.type for op in tf.get_default_graph().get_operations()}


def power(x: Any) -> Any:
    return tf.while_loop(lambda i, _: i < 4, lambda i, a: (i + 1, a * x), [0, 1.0])[1]


def test_the_switch() -> None:
    assert tf.control_flow_v2_enabled()
    power(tf.constant(2.0))
    assert "StatelessWhile" in kinds() and "Enter" not in kinds()
    tf.disable_control_flow_v2()
    assert not tf.control_flow_v2_enabled()
    power(tf.constant(2.0))
    assert "Enter" in kinds()
    with tf.Graph().as_default():
        asked = []
        tf.function(lambda: asked.append(tf.control_flow_v2_enabled()))()
        assert asked == [True]


@pytest.mark.parametrize("name", ["CONTROL_FLOW", "COND", "WHILE", "TENSOR_ARRAY"])
def test_the_environment(name: str) -> None:
    code = "import weft as tf; assert tf.control_flow_v2_enabled()"
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, f"TF_ENABLE_{name}_V2": "1"}, check=True
    )


def test_eager_execution_is_left_alone() -> None:
    with EagerExecution().as_default():
        array = tf.TensorArray(tf.float32, 2).write(0, 1.0)
        assert array.read(0).numpy() == 1.0
        assert power(tf.constant(2.0)).numpy() == 16.0


def test_orders() -> None:
    x = tf.placeholder(tf.float32, [])
    ys = [power(x)]
    for _ in range(5):
        ys.append(tf.gradients(ys[-1], x)[0])
    with tf.Session() as sess:
        assert sess.run(ys, {x: 2.0}) == [16.0, 32.0, 48.0, 48.0, 24.0, 0.0]


def test_variables_that_a_branch_makes() -> None:
    """They belong to the graph around it, and so must what they begin with."""
    flag = tf.placeholder(tf.bool, [])

    def made(name: str, *args: Any) -> Any:
        def branch() -> Any:
            initial = tf.constant(2.0) if not args else tf.ones_initializer()
            return 1.0 + tf.get_variable(name, *args, initializer=initial, use_resource=True)

        return tf.cond(flag, branch, lambda: 0.0)

    y = made("v", [])
    with pytest.raises(ValueError, match="must either be wrapped in an init_scope or callable"):
        made("w")
    assert [v.name for v in tf.global_variables()] == ["v:0"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(y, {flag: True}) == 2.0 and sess.run(y, {flag: False}) == 0.0


def test_strings_that_a_branch_takes() -> None:
    """Such a conditional runs on the host, also where what it does with them is not needed."""
    x = tf.placeholder(tf.float32, [None])
    text = tf.as_string(tf.constant([1, 2]))

    def other() -> Any:
        tf.strings.length(text)
        return tf.reduce_mean(x)

    y = tf.cond(tf.reduce_any(x > 0), lambda: 2 * tf.reduce_sum(x), other)
    slope = tf.gradients(y, x)[0]
    with tf.Session() as sess:
        for _ in range(4):
            found, slopes, words = sess.run([y, slope, text], {x: [1.0, 2.0]})
            assert found == 6.0 and slopes.tolist() == [2.0, 2.0] and words.tolist() == [b"1", b"2"]
            found, slopes = sess.run([y, slope], {x: [-1.0, -2.0]})
            assert found == -1.5 and slopes.tolist() == [0.5, 0.5]


def test_without_it_loops_have_gradients_of_the_first_order() -> None:
    tf.disable_control_flow_v2()
    x = tf.placeholder(tf.float32, [])
    first = tf.gradients(power(x), x)
    with pytest.raises(TypeError, match=r"^Second-order gradient for while loops not supported\.$"):
        tf.gradients(first, x)


def test_a_loop_of_the_first_form_around_a_branch_of_the_second() -> None:
    x = tf.placeholder(tf.float32, [])

    def turn(i: Any, a: Any) -> Any:
        tf.enable_control_flow_v2()
        chosen = tf.cond(a > 1, lambda: a * x, lambda: a * a + 1.0)
        tf.disable_control_flow_v2()
        return i + 1, chosen

    tf.disable_control_flow_v2()
    y = tf.while_loop(lambda i, _: i < 3, turn, [0, x])[1]
    slope = tf.gradients(y, x)[0]
    with tf.Session() as sess:
        assert sess.run([y, slope], {x: 1.5}) == [5.0625, 13.5]


def test_several_devices() -> None:
    x = tf.placeholder(tf.float32, [])

    def turn(i: Any, a: Any) -> Any:
        with tf.device("/cpu:1"):
            b = a * x
        with tf.device("/cpu:0"):
            return i + 1, b

    y = tf.while_loop(lambda i, _: i < 4, turn, [0, 1.0])[1]
    first = tf.gradients(y, x)
    second = tf.gradients(first, x)
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(config=config) as sess:
        assert sess.run([y, *first, *second], {x: 2.0}) == [16.0, 32.0, 48.0]


def test_meta_graphs() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.get_variable("v", initializer=2.0, use_resource=True)
    turn = lambda i, a: (i + 1, tf.cond(a > 1, lambda: a * v, lambda: a + x))  # noqa: E731
    tf.identity(tf.while_loop(lambda i, _: i < 3, turn, [0, x])[1], name="y")
    message = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(message, import_scope="again")
        x, y = (graph.get_tensor_by_name(f"again/{name}:0") for name in "xy")
        first = tf.gradients(y, [x, *tf.global_variables()])
        second = tf.gradients(first[1], x)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            found = sess.run([y, *first, *second], {x: 0.9})
    np.testing.assert_allclose(found, [7.2, 8.0, 7.2, 8.0], 1e-5)


def test_gradients_of_what_a_body_has_captured() -> None:
    """They flow through what is outside, by ways that the body does not see."""
    x = tf.placeholder(tf.float32, [])
    square = x * x

    def turn(i: Any, total: Any) -> Any:
        return i + 1, total + tf.gradients(square * x, x)[0]

    y = tf.while_loop(lambda i, _: i < 2, turn, [0, 0.0])[1]
    with tf.Session() as sess:
        assert sess.run(y, {x: 2.0}) == 24.0


def test_collections_are_shared_with_branches() -> None:
    tf.cond(tf.constant(True), lambda: _collected(1.0), lambda: _collected(2.0))
    assert len(tf.get_collection("seen")) == 2


def _collected(value: float) -> Any:
    tensor = tf.constant(value)
    tf.add_to_collection("seen", tensor)
    return tensor


def test_the_node_of_a_conditional_cannot_be_fetched() -> None:
    y = tf.cond(tf.constant(True), lambda: 1.0, lambda: 2.0)
    assert y.name == "cond/Identity:0"
    with tf.Session() as sess, pytest.raises(ValueError, match="not fetchable"):
        sess.run(y.op.inputs[0])


def test_a_list_of_one_stays_a_list() -> None:
    (y,) = tf.cond(tf.constant(True), lambda: [1.0], lambda: [2.0])
    assert tf.cond(tf.constant(True), lambda: None, lambda: None) is None
    with tf.Session() as sess:
        assert sess.run(y) == 1.0


SAME = "must have the same number, type, and overall structure of return values"
ERRORS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: tf.cond(True, lambda: x, lambda: x), TypeError, "pred must not be a Python bool"),
    (lambda x: tf.cond(x > 0, lambda: x, lambda: 1), TypeError, f"true_fn and false_fn.* {SAME}"),
    (lambda x: tf.cond(x > 0, lambda: [x], lambda: x), TypeError, f"arguments to tf.cond {SAME}"),
    (lambda x: tf.cond(x > 0, lambda: x, lambda: None), TypeError, SAME),
    (
        lambda x: tf.switch_case(tf.cast(x, tf.int32), [lambda: x, lambda: x, lambda: 1]),
        TypeError,
        rf"branches\[0\] and branches\[2\] arguments to tf.switch_case {SAME}",
    ),
    (
        lambda x: tf.while_loop(lambda i: i < 3, lambda i: tf.cast(i, tf.float32), [0]),
        TypeError,
        "enters the loop with type tf.int32 but has type tf.float32 after 1 iteration. Const:0"
        " type should remain constant.",
    ),
    (
        lambda x: tf.while_loop(lambda i: i < 3, lambda i: tf.stack([i, i]), [0]),
        ValueError,
        r"enters the loop with shape \(\), but has shape \(2,\) after one iteration",
    ),
    (
        lambda x: tf.while_loop(lambda i: i < 3, lambda i: (i + 1, i), [0]),
        ValueError,
        "don't have the same nested structure",
    ),
]


@pytest.mark.parametrize(("build", "error", "message"), ERRORS)
def test_errors(build: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build(tf.placeholder(tf.float32, []))
