"""tf.strings functions that make ragged tensors: what they refuse, and static shapes."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from tests.ragged.programs import words


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: tf.strings.split(["a"], result_type="list"), ValueError, "result_type must be"),
        (lambda: tf.string_split(["a"], result_type="list"), ValueError, "result_type must be"),
        (lambda: tf.strings.unicode_encode(97, "UTF-8"), ValueError, "rank must be at least 1"),
        (lambda: tf.strings.ngrams("a", 2), ValueError, "Data must have rank>0"),
        (lambda: tf.strings.ngrams(words(tf), 0), ValueError, "must be greater than 0. Got 0"),
        (lambda: tf.strings.ngrams(words(tf), 2, pad_values=3), TypeError, "pad_values must be a"),
        (
            lambda: tf.strings.ngrams(words(tf), 2, padding_width=1),
            ValueError,
            "pad_values must be provided",
        ),
        (
            lambda: tf.strings.unicode_decode(tf.placeholder(tf.string), "UTF-8"),
            ValueError,
            "Rank of `input` must be statically known",
        ),
    ],
)
def test_refused(build: Any, kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        build()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"errors": "strict"}, "Invalid formatting on input string"),
        ({"replacement_char": 11141111}, "replacement_char out of unicode codepoint range"),
    ],
)
def test_refused_when_it_runs(options: Any, message: str) -> None:
    codes = tf.strings.unicode_decode([b"\xfeED"], "UTF-8", **options)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(codes)


def test_static_shapes() -> None:
    assert tf.strings.split(["a b", "c"], result_type="RaggedTensor").shape.as_list()[1] is None
    assert tf.strings.unicode_decode(["a", "b"], "UTF-8").shape.as_list() == [2, None]
    assert tf.strings.unicode_decode([["a", "b"]], "UTF-8").shape.as_list() == [1, None, None]
    assert tf.strings.unicode_encode([[97, 98], [99, 100]], "UTF-8").shape.as_list() == [2]


def test_splits_of_higher_rank_are_sparse_by_default() -> None:
    found = tf.strings.split([["a b", "c"], ["", "d e f"]])
    with tf.Session() as session:
        value = session.run(found)
    assert value.dense_shape.tolist() == [2, 2, 3]
    assert value.values.tolist() == [b"a", b"b", b"c", b"d", b"e", b"f"]


def test_scripts_of_ragged_code_points() -> None:
    codes = tf.strings.unicode_decode(["aß", "", "жש"], "UTF-8")
    with tf.Session() as session:
        assert session.run(tf.strings.unicode_script(codes)).to_list() == [[25, 25], [], [8, 19]]
