"""Nodes that order, check and report."""

import numpy as np
import pytest

import weft as tf
from weft.graph.op_def import raw


def test_print_hands_its_input_on_and_writes_to_standard_error(sess, capfd):
    x = tf.placeholder(tf.float32, [None])
    y = tf.Print(x, [x, tf.shape(x)], message="x is ", summarize=2, first_n=2)
    for _ in range(3):
        np.testing.assert_array_equal(sess.run(y, {x: [1.5, 2.0, 3.0]}), [1.5, 2, 3])
    assert capfd.readouterr().err == "x is [1.5 2...][3]\n" * 2


def test_gradients_pass_through_print(sess):
    x = tf.constant(2.0)
    y = tf.Print(x * x, [x], first_n=0)
    assert sess.run(tf.gradients(y, x)) == [4.0]


def test_print_v2_writes_a_line(sess, capfd):
    sess.run(raw.PrintV2(input="warp and weft", output_stream="stdout"))
    assert capfd.readouterr().out == "warp and weft\n"


def test_assert_names_what_was_wrong(sess):
    x = tf.placeholder(tf.float32, [])
    with tf.control_dependencies([tf.Assert(x > 0.0, ["x is", x], name="positive")]):
        y = tf.sqrt(x)
    assert sess.run(y, {x: 4.0}) == 2
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError) as info:
            sess.run(y, {x: -4.0})
        assert "assertion failed: [x is] [-4]" in str(info.value)
        assert "test_control.py" in str(info.value)


def test_py_func_translates_errors_and_checks_types(sess):
    def fails(x):
        raise StopIteration("nothing left")

    with pytest.raises(tf.errors.OutOfRangeError, match="nothing left"):
        sess.run(tf.py_func(fails, [1.0], tf.float32))
    wrong = tf.py_func(lambda x: np.float64(x), [np.float32(1)], tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expects float32"):
        sess.run(wrong)
    with pytest.raises(tf.errors.InternalError, match="Unsupported object type dict"):
        sess.run(tf.py_func(lambda: {"a": 1}, [], tf.int64))
    with pytest.raises(tf.errors.InternalError, match="Unsupported numpy data type"):
        sess.run(tf.py_func(lambda: np.zeros(2, [("a", np.float32)]), [], tf.float32))


def test_an_error_in_a_py_func_shows_where_it_was_raised(sess):
    def inner():
        raise ValueError("blah")

    def outer():
        return inner()

    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        sess.run(tf.py_func(outer, [], tf.float32))
    text = str(info.value)
    places = [text.index(part) for part in ("ValueError: blah", "in outer", "in inner")]
    assert places == sorted(places)


def test_a_py_func_without_results(sess):
    assert tf.py_func(lambda: None, [], [], stateful=False) == []
    seen = []
    sess.run(tf.py_func(lambda: seen.append(1), [], []))
    assert seen == [1]


def test_text_beside_bytes(sess):
    mixed = tf.constant(["weft", b"\xf0\x9f\x98\x8e"])
    assert sess.run(mixed).tolist() == [b"weft", b"\xf0\x9f\x98\x8e"]


def test_an_array_beyond_all_memory(sess):
    with pytest.raises(tf.errors.ResourceExhaustedError):
        sess.run(tf.range(0, 2**63 - 1))


def test_group_and_tuple_wait_for_all(sess):
    v = tf.Variable(0.0)
    sess.run(v.initializer)
    both = tf.tuple([tf.constant(1.0), tf.constant(2.0)], control_inputs=[v.assign_add(1.0).op])
    assert sess.run(both) == [1, 2] and sess.run(v) == 1
    sess.run(tf.group(v.assign_add(1.0), tf.no_op()))
    assert sess.run(v) == 2


def test_strings_in_a_failed_assertion_are_escaped() -> None:
    check = tf.Assert(tf.placeholder_with_default(False, []), ['it\'s "\x01" é', b"\xff"])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(check)
    assert 'assertion failed: [it\\\'s \\"\\001\\" \\303\\251] [\\377]' in str(caught.value)


def test_a_function_without_state_is_called_once_for_constants(sess) -> None:
    calls: list[object] = []

    def count(x):
        calls.append(x)
        return np.int64(len(calls))

    x = tf.placeholder(tf.int64, [])
    (constant,) = tf.py_func(count, [np.int64(5)], [tf.int64], stateful=False)
    (varying,) = tf.py_func(count, [x], [tf.int64], stateful=False)
    assert [sess.run(constant) for _ in range(3)] == [1, 1, 1]
    assert [sess.run(varying, {x: 5}) for _ in range(3)] == [2, 3, 4]
