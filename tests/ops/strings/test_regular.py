r"""Regular expressions are RE2's: its syntax, its empty matches, its rewrites.

The expected values are TensorFlow's.
"""

from __future__ import annotations

import pytest

import weft as tf

# text, pattern, rewrite -> all replaced, first replaced, whether all of the text matches
CASES = [
    ("baac", "a*", "x", "xbxcx", "xbaac", False),
    ("abc", "b", r"\q", "ac", "abc", False),
    ("abcb", "b", r"x\q", "axcx", "abcb", False),
    ("abc", "(b)", r"[\1\0\\]", "a[bb\\]c", "a[bb\\]c", False),
    ("abc", "b", r"\3", "ac", "ac", False),
    ("añb", "", "-", "-a-ñ-b-", "-añb", False),
    (b"a\xffb", "", "-", b"-a-\xff-b-", b"-a\xffb", False),
    (b"a\xffb", ".", "-", b"-\xff-", b"-\xffb", False),
    ("aXbX", r"\p{Lu}", "_", "a_b_", "a_bX", False),
    ("abc", r"\z", "!", "abc!", "abc!", False),
    ("ab\ncd", "^c", "x", "ab\ncd", "ab\ncd", False),
    ("ab\ncd", "(?m)^c", "x", "ab\nxd", "ab\nxd", False),
    ("ab\ncd", ".", "x", "xx\nxx", "xb\ncd", False),
    ("été", r"\w", "x", "éxé", "éxé", False),
    ("abab", "(?P<n>ab)", r"<\1>", "<ab><ab>", "<ab>ab", False),
    ("", "", "x", "x", "x", True),
    ("abc", "b", "x\\", "axc", "abc", False),
    ("aaa", "a+", "x", "x", "x", True),
]
REFUSED = {
    "(": "missing ): (",
    r"\Z": r"invalid escape sequence: \Z",
    "(?=b)": "invalid perl operator: (?=",
    "a{2,1}": "invalid repetition size: {2,1}",
    r"(a)\1": r"invalid escape sequence: \1",
    "a{1001}": "invalid repetition size: {1001}",
}


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


@pytest.mark.parametrize(("text", "pattern", "rewrite", "every", "first", "whole"), CASES)
def test_what_is_replaced(text, pattern, rewrite, every, first, whole) -> None:
    fetches = []
    for given in (pattern, tf.constant(pattern)):  # an attribute, or an input
        replace = tf.strings.regex_replace
        fetches += [
            replace([text], given, rewrite),
            replace([text], given, rewrite, replace_global=False),
            tf.strings.regex_full_match([text], given),
        ]
    with tf.Session() as session:
        found = [each[0] for each in session.run(fetches)]
    assert found == [as_bytes(every), as_bytes(first), whole] * 2


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_re2_does_not_read(pattern: str) -> None:
    with tf.Session() as session:
        for fetch in (
            tf.strings.regex_full_match(["a"], pattern),
            tf.strings.regex_replace(["a"], tf.constant(pattern), ""),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError) as found:
                session.run(fetch)
            assert f"Invalid pattern: {pattern}, error: {REFUSED[pattern]}" in str(found.value)


def test_patterns_that_are_no_text() -> None:
    with tf.Session() as session:
        for pattern in (b"\xff", tf.constant(b"\xff")):
            with pytest.raises(tf.errors.InvalidArgumentError, match="invalid UTF-8"):
                session.run(tf.strings.regex_full_match(["a"], pattern))
