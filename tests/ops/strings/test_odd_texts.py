"""What TensorFlow 1.15 makes of texts, numbers and formats that are not quite in order."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("rewrite", "everywhere", "expected"),
    [(r"\1", True, b"heo"), (r"\1", False, b"helo"), (r"[\3]", True, b"he[][]o")],
)
def test_groups_that_a_pattern_does_not_have_are_empty(sess, rewrite, everywhere, expected):
    new = tf.strings.regex_replace(["hello"], "l", rewrite, replace_global=everywhere)
    assert sess.run(new).tolist() == [expected]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_what_is_no_number_is_not_filled_with_zeros(sess, dtype):
    texts = tf.as_string(tf.constant([NAN, -INF, -1.5], dtype), width=6, precision=1, fill="0")
    assert sess.run(texts).tolist() == [b"   nan", b"  -inf", b"-001.5"]


def test_parts_of_complex_numbers_are_filled_one_by_one(sess):
    texts = tf.as_string(tf.constant([complex(NAN, 1)]), width=5, precision=1, fill="0")
    assert sess.run(texts).tolist() == [b"(  nan,001.0)"]


@pytest.mark.parametrize("text", ["Infinity", "-infinity", "INFINITY"])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_infinity_is_written_inf(sess, text, dtype):
    assert np.isinf(sess.run(tf.strings.to_number([text[:-5]], dtype))).all()
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
        sess.run(tf.strings.to_number([text], dtype))
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not a valid float"):
        sess.run(tf.decode_csv([text], [[1.0]]))


@pytest.mark.parametrize(("line", "chosen"), [("1,2", [0, 2]), ("1", [1]), ("1", [2])])
def test_chosen_columns_must_be_there(sess, line, chosen):
    columns = tf.decode_csv([line], [["-"]] * len(chosen), select_cols=chosen)
    with pytest.raises(tf.errors.InvalidArgumentError, match="fields but have"):
        sess.run(columns)


def test_what_comes_after_the_chosen_columns_is_not_read(sess):
    (column,) = sess.run(tf.decode_csv(['1,"2'], [["-"]], select_cols=[0]))
    assert column.tolist() == [b"1"]


@pytest.mark.parametrize("errors", ["strict", "replace", "ignore"])
@pytest.mark.parametrize(
    ("codes", "encoding", "expected"),
    [
        ([0xD800, 65], "UTF-8", b"\xef\xbf\xbdA"),
        ([0xD800], "UTF-16-BE", b"\xd8\x00"),
        ([0xDFFF], "UTF-32-BE", b"\x00\x00\xdf\xff"),
        ([0xD83D, 0xDE00], "UTF-8", b"\xf0\x9f\x98\x80"),
        ([0xD83D, 0xDE00], "UTF-32-BE", b"\x00\x01\xf6\x00"),
    ],
)
def test_surrogates_are_code_points(sess, codes, encoding, expected, errors):
    text = tf.strings.unicode_encode(codes, encoding, errors=errors, replacement_char=63)
    assert sess.run(text) == expected


def test_lengths_of_pieces_may_have_another_shape_than_places(sess):
    places = tf.placeholder_with_default([[1], [2]], None)
    lengths = tf.placeholder_with_default([2, 3], None)
    pieces = tf.strings.substr([["thirteen", "fourteen"], ["sixteen", "nineteen"]], places, lengths)
    assert sess.run(pieces).tolist() == [[b"hi", b"ou"], [b"xte", b"net"]]


@pytest.mark.parametrize("dtype", [tf.complex64, tf.bfloat16])
@pytest.mark.parametrize(
    ("summarize", "expected"), [(3, b"[? ? ?...]"), (-1, b"[? ? ? ?]"), (0, b"[...]")]
)
def test_numbers_of_some_types_are_not_shown(sess, dtype, summarize, expected):
    numbers = tf.cast([[1, 2], [3, 4]], dtype)
    text = tf.strings.format("{}", numbers, summarize=summarize)
    for _ in range(3):
        assert sess.run(text) == expected


def test_joined_strings_have_one_shape(sess):
    parts = [tf.placeholder_with_default(each, None) for each in (["a", "b"], ["c", "d", "e"])]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"do not match: \[2\] vs. \[3\]"):
        sess.run(tf.strings.join(parts))


def test_an_example_in_json_is_an_object(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Root element must be a message"):
        sess.run(tf.decode_json_example("[]"))


@pytest.mark.parametrize(("pos", "expected"), [(0, b"\xa9ab"), (1, b"abc"), (-3, b"abc")])
def test_a_text_begins_with_a_character_whatever_its_first_byte_is(sess, pos, expected):
    piece = tf.strings.substr(b"\xa9abc", pos, 3, unit="UTF8_CHAR")
    assert sess.run(piece) == expected
