"""tf.print: what it writes, and where."""

from __future__ import annotations

import logging
import sys

import pytest

import weft as tf


@pytest.fixture
def sess():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_structures_with_tensors(sess, capsys):
    x = tf.range(10)
    sess.run(tf.print("x:", x, {"b": x * 2, "a": tf.constant([0.3, -1.5])}, 7, [x, "s"]))
    assert capsys.readouterr().err == (
        "x: [0 1 2 ... 7 8 9] {'a': [0.3 -1.5], 'b': [0 2 4 ... 14 16 18]} 7"
        " [[0 1 2 ... 7 8 9], 's']\n"
    )


def test_separator_end_and_summary(sess, capsys):
    x = tf.range(4)
    sess.run(tf.print(x, x, sep="|", end="<>", summarize=1, output_stream=sys.stdout))
    sess.run(tf.print(x, summarize=-1, output_stream=sys.stdout))
    assert capsys.readouterr().out == "[0 ... 3]|[0 ... 3]<>[0 1 2 3]\n"


def test_text_that_looks_like_a_placeholder(sess, capsys):
    sess.run(tf.print("{}0", {"{}": tf.constant(5)}))
    assert capsys.readouterr().err == "{}0 {'{}': 5}\n"


def test_a_string_is_printed_as_it_is(sess, capsys):
    printed = tf.print(tf.constant("warp"), name="told")
    sess.run(printed)
    assert printed.name == "told"
    assert "StringFormat" not in [op.type for op in sess.graph.get_operations()]
    assert capsys.readouterr().err == "warp\n"


def test_sparse_tensors_and_variables(sess, capsys):
    sparse = tf.SparseTensor([[0, 1]], [3.5], [2, 2])
    variable = tf.Variable([1, 2])
    sess.run(tf.global_variables_initializer())
    sess.run(tf.print([sparse], variable))
    assert capsys.readouterr().err == (
        "['SparseTensor(indices=[[0 1]], values=[3.5], shape=[2 2])'] [1 2]\n"
    )


@pytest.mark.parametrize(
    ("stream", "letter"), [(tf.logging.info, "I"), (logging.warning, "W"), (tf.logging.ERROR, "E")]
)
def test_logging_levels(sess, capsys, stream, letter):
    sess.run(tf.print(tf.constant(1), output_stream=stream))
    assert capsys.readouterr().err.endswith(f": {letter} 1\n")


def test_files(sess, tmp_path):
    for value in (1, 2):
        sess.run(tf.print(tf.constant(value), output_stream=f"file://{tmp_path}/told"))
    assert (tmp_path / "told").read_text() == "1\n2\n"


def test_what_is_no_stream():
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print(1, output_stream="unknown")
    with pytest.raises(ValueError, match="Unrecognized keyword"):
        tf.print(1, stream=sys.stderr)


def test_an_unknown_stream_in_a_graph(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown output stream: ether"):
        sess.run(tf.raw_ops.PrintV2(input="x", output_stream="ether"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ([[3]], "[[3]]"),
        ([[1, 2], [3, 4]], "[[1 2][3...]...]"),
        ([[["a"]]], "[[[a]]]"),
        ([[1, 2, 3, 4, 5]], "[[1 2 3...]...]"),
        ([[1, 2, 3], [4, 5, 6]], "[[1 2 3]...]"),
        ([[1.5, 2.25], [3.0, 4.0]], "[[1.5 2.25][3...]...]"),
        ([1, 2, 3, 4], "[1 2 3...]"),
    ],
)
def test_rows_are_in_brackets(value: object, shown: str) -> None:
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as found:
        session.run(tf.Assert(False, [tf.constant(value)]))
    assert found.value.message.split("\n")[0] == f"assertion failed: {shown}"
