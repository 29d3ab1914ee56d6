"""tf.strings: the public functions."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def run(tensor: object) -> object:
    with tf.Session() as sess:
        return sess.run(tensor)


def test_splitting() -> None:
    found = run(tf.string_split(["a b", " c "]))
    assert found.values.tolist() == [b"a", b"b", b"c"]
    assert found.indices.tolist() == [[0, 0], [0, 1], [1, 0]]
    found = run(tf.strings.split(["a::b", ""], sep="::"))
    assert found.values.tolist() == [b"a", b"b", b""] and found.dense_shape.tolist() == [2, 2]
    found = run(tf.string_split(["a,b;c"], ",;"))
    assert found.values.tolist() == [b"a", b"b", b"c"]


@pytest.mark.parametrize("delimiter", [",", ",;", ""])
@pytest.mark.parametrize("texts", [["", "a,", ","], ["", "a,", ",", "b", "c", "d", ""]])
def test_nothing_splits_into_nothing(delimiter: str, texts: list[str]) -> None:
    found = run(tf.string_split(texts, delimiter, skip_empty=False))
    of_one = {",": [b"a", b"", b"", b""], ",;": [b"a", b"", b"", b""], "": [b"a", b",", b","]}
    rest = [b"b", b"c", b"d"] if len(texts) > 3 else []
    assert found.values.tolist() == of_one[delimiter] + rest
    assert 0 not in found.indices[:, 0] and found.dense_shape.tolist() == [len(texts), 2]


@pytest.mark.parametrize("pos", [-3, -1, 0, 2, 3])
def test_the_rest_of_each_text(pos: int) -> None:
    texts = [b"abc", b"defgh"]
    rest = [text[pos:] for text in texts]
    for given in (tf.constant(texts), tf.placeholder_with_default(texts, [None])):
        assert run(tf.substr(given, pos, -1)).tolist() == rest
        assert run(tf.substr(given, [pos] * 2, [-1, -7])).tolist() == rest
    assert run(tf.substr(texts[0], pos, -2)) == texts[0][pos:]
    characters = tf.strings.substr(texts, pos, -1, unit="UTF8_CHAR")
    if pos >= 0:
        assert run(characters).tolist() == [b"", b""]
    else:
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range for string at"):
            run(characters)


def test_joining() -> None:
    words = tf.constant([["a", "b"], ["c", "d"]])
    assert run(tf.reduce_join(words)) == b"abcd"
    assert run(tf.reduce_join(words, 0, separator="-")).tolist() == [b"a-c", b"b-d"]
    assert run(tf.strings.reduce_join(words, axis=[1, 0])) == b"abcd"


def test_patterns() -> None:
    assert run(tf.regex_replace(["a1b22"], r"(\d)", r"<\1>")).tolist() == [b"a<1>b<2><2>"]
    assert run(tf.strings.regex_full_match(["ab", "b"], "a.*")).tolist() == [True, False]
    pattern = tf.placeholder(tf.string, [])
    with tf.Session() as sess:
        matches = sess.run(tf.strings.regex_full_match("xy", pattern), {pattern: "x."})
        assert matches


def test_numbers() -> None:
    assert run(tf.string_to_number(["1.5", "-2"])).tolist() == [1.5, -2]
    assert run(tf.as_string([1, 2])).tolist() == [b"1", b"2"]
    found = run(tf.string_to_number(["7"], out_type=tf.int64))
    assert found.dtype == np.int64 and found.tolist() == [7]


def test_formatting() -> None:
    assert run(tf.strings.format("x={}", tf.constant([1, 2]))) == b"x=[1 2]"
    with pytest.raises(ValueError, match="2 placeholder"):
        tf.strings.format("{} {}", [tf.constant(1)])


def test_buckets_are_those_of_tensorflow() -> None:
    words = ["Hello", "TensorFlow", "2.x"]
    assert run(tf.strings.to_hash_bucket_fast(words, 3)).tolist() == [0, 2, 2]
    assert run(tf.strings.to_hash_bucket_strong(["Hello", "TF"], 3, [1, 2])).tolist() == [2, 0]


def test_stacking_scalars_gives_strings() -> None:
    x = tf.placeholder(tf.string, [])
    with tf.Session() as session:
        found = session.run(tf.stack([x, x]), {x: "a"})
    assert found.tolist() == [b"a", b"a"]
