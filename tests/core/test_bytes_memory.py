"""Strings read where the interpreter keeps them: the same as Python tells of them."""

import numpy as np
import pytest

from weft.core import bytes_memory
from weft.core.bytes_memory import all_bytes, memory_of


def _array(values):
    return np.fromiter(values, object, len(values))


def _texts(count=300):
    random = np.random.default_rng(0)
    return [random.bytes(int(n)) for n in random.integers(0, 40, count)] + [b"", b"a", b"\0\0"]


def test_lengths_and_rows():
    texts = _texts()
    memory = memory_of(_array(texts))
    assert memory is not None
    assert memory.lengths.tolist() == [len(text) for text in texts]
    for length in set(map(len, texts)):
        chosen = np.flatnonzero(memory.lengths == length)
        rows = memory.rows(chosen, length)
        assert rows.shape == (len(chosen), length)
        assert [row.tobytes() for row in rows] == [texts[i] for i in chosen]


def test_words_are_the_bytes_in_their_order():
    memory = memory_of(_array([b"abcdefghijklmnop", b"12345678"] * 50))
    assert memory is not None
    assert memory.words(0).tobytes() == b"abcdefgh12345678" * 50
    assert memory.words(1)[::2].tobytes() == b"ijklmnop" * 50


def test_any_layout_of_the_array():
    texts = _array(_texts(97)).reshape(10, 10)
    for array in (texts.T, texts[::2, 1:], texts[::-1]):
        memory = memory_of(array)
        assert memory is not None
        assert memory.lengths.tolist() == [len(text) for text in array.ravel()]


class _Text(bytes):
    """A string that is not quite one."""


@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize("count", [3, 300])
@pytest.mark.parametrize("odd", ["text", 5, None, bytearray(b"text"), _Text(b""), np.bytes_(b"")])
def test_what_is_not_bytes_is_found(monkeypatch, readable, count, odd):
    monkeypatch.setattr(bytes_memory, "_is_readable", lambda: readable)
    texts = _array([b"text"] * count)
    assert all_bytes(texts)
    texts[1] = odd
    assert not all_bytes(texts)


def test_elements_that_were_never_set_are_not_bytes():
    assert not all_bytes(np.empty(300, object))
    assert all_bytes(np.empty(0, object))
