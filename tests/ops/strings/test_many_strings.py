"""What is computed of many strings by words of memory is what Python makes of each."""

from __future__ import annotations

import re

import numpy as np
import pytest

import weft as tf
from weft.ops.strings.cuts import cut_all
from weft.ops.strings.decimals import decimals

COUNT = 4000
PLAIN = re.compile(rb"-?(\d+\.?\d*|\.\d+)")
EDGES = [
    b"0", b"-0", b"-.5", b"5.", b".", b"-", b"", b"-.", b"1.2.3", b"--1", b"4/0", b"4:0", b" 1",
    b"1 ", b"1e5", b"nan", b"+1", b"1-", b"12345678", b"123456789", b"-1234567", b"-12345678",
    b"1.2345678", b"1.23456789012345", b"12345678.9", b"1234567.89", b"9007199254740992",
    b"9007199254740993", b"9999999999999999", b"-999999999999999", b"0.00000000000001",
    b"1.000000.0000001", b"12345678901234567", b"1\x001", b"\x00", b"1\xff", b"0" * 16,
    b"\x1e", b"1\x0e2", b"\xb0", b"1234567890/2",
]  # fmt: skip


def _vector(values):
    return np.fromiter(values, object, len(values))


def _random_texts():
    """Strings that are nearly numbers."""
    random = np.random.default_rng(0)
    letters = np.frombuffer(b"0123456789012345678901234567890123456789..--/:+e \x00\xff", np.uint8)
    drawn = [random.choice(letters, n).tobytes() for n in random.integers(0, 20, COUNT)]
    numbers = [b"%.*f" % (n % 11, x) for n, x in enumerate(random.standard_normal(COUNT) * 1e3)]
    return [*EDGES, *drawn, *numbers]


def _is_plain(text):
    whole = re.sub(rb"\D", b"", text)
    return PLAIN.fullmatch(text) and len(text) <= 16 and int(whole) < 1 << 53


def test_decimals_are_those_that_python_reads():
    texts = _random_texts()
    values, are_other = decimals(_vector(texts))
    assert [not other for other in are_other] == [bool(_is_plain(text)) for text in texts]
    plain = [text for text in texts if _is_plain(text)]
    assert len(plain) > COUNT
    assert values[~are_other].tobytes() == np.array(list(map(float, plain))).tobytes()


@pytest.mark.parametrize("length", [1, 8, 9, 16])
def test_decimals_of_one_length(length):
    texts = [b"%0*d" % (length, i % 10**length) for i in range(COUNT)]
    values, are_other = decimals(_vector(texts))
    assert not are_other.any() and values.tolist() == list(map(float, texts))


def test_few_strings_are_not_worth_it():
    assert decimals(_vector([b"1", b"2"])) is None and cut_all(_vector([b"1"]), 0, 1) is None


def test_numbers_of_other_forms_among_many(sess):
    texts = [*(b"%d.5" % i for i in range(COUNT)), b" 1e3 ", b"0x10", b"inf", b"1e300"]
    found = sess.run(tf.string_to_number(_vector(texts)))
    assert found.tolist() == [*(i + 0.5 for i in range(COUNT)), 1000, 16, np.inf, np.inf]
    assert sess.run(tf.string_to_number(_vector(texts), tf.float64))[-1] == 1e300


@pytest.mark.parametrize("wrong", [b"1_0", b"", b"4/0", b"infinity", b"."])
def test_the_one_string_that_is_no_number_is_told(sess, wrong):
    texts = [b"1.5"] * COUNT + [b"1e3", wrong, b"x"]
    told = re.escape(f"could not correctly convert string: {wrong.decode()}")
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{told}$|{told}\n"):
        sess.run(tf.string_to_number(_vector(texts)))


def test_columns_of_many_lines(sess):
    lines = _vector([b"%d,%.3f" % (i, i / 7) for i in range(COUNT)])
    whole, parts = sess.run(tf.decode_csv(lines, [[0.0], [0.0]]))
    assert whole.tolist() == list(range(COUNT))
    assert parts.tolist() == [np.float32(b"%.3f" % (i / 7)) for i in range(COUNT)]


def _drawn(least, most, zeros=False):
    random = np.random.default_rng(1)
    pool = np.arange(0 if zeros else 1, 256, dtype=np.uint8)
    sizes = random.integers(least, most + 1, COUNT)
    return _vector([random.choice(pool[: 9 if zeros else None], n).tobytes() for n in sizes])


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("bounds", [(0, 3), (3, 12), (8, 8), (17, 40), (40, 70)])
@pytest.mark.parametrize("start", [0, 1, 3, 8, 9, 17])
def test_pieces_are_those_that_python_cuts(start, bounds, zeros):
    texts = _drawn(*bounds, zeros)
    for length in (-1, 0, 1, 3, 7, 8, 9, 16, 30, 33):
        found = cut_all(texts, start, length)
        end = None if length < 0 else start + length
        assert found is None or found.tolist() == [text[start:end] for text in texts]


def test_pieces_are_cut_at_once():
    texts = _drawn(20, 26)
    for start, length in [(0, 1), (0, 8), (3, 8), (5, 12), (19, -1), (20, 4), (4, 16)]:
        assert cut_all(texts, start, length) is not None


def test_pieces_keep_the_shape(sess):
    texts = _drawn(5, 9).reshape(-1, 2)
    found = sess.run(tf.substr(texts, 1, 3))
    assert found.shape == texts.shape
    assert found.ravel().tolist() == [text[1:4] for text in texts.ravel()]


def test_one_of_many_strings_that_is_too_short_is_named(sess):
    texts = _vector([b"abc"] * COUNT + [b"e"])
    told = f"pos 2 out of range .* at index {COUNT}"
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        sess.run(tf.substr(texts, 2, 1))
