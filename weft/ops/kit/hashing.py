"""TensorFlow's hashes of strings, bit for bit: FarmHash, SipHash, and the older Murmur.

Every function takes a list or an object array of strings and gives an array of uint64. Strings of
one length are hashed together, each step on all of them: arithmetic on uint64 arrays wraps as the
hashes want.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core.bytes_memory import BytesMemory, memory_of

Words = Any  # an array of uint64
Strings = Sequence[bytes] | np.ndarray
_K0, _K1, _K2 = (np.uint64(k) for k in (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F))
_LONG = 64


def _by_length(texts: BytesMemory | _Joined, function: Callable[[np.ndarray], Words]) -> np.ndarray:
    """`function` of the rows [strings, length] of each length."""
    result = np.empty(len(texts.lengths), np.uint64)
    for length in np.unique(texts.lengths).tolist():
        places = np.flatnonzero(texts.lengths == length)
        with np.errstate(over="ignore"):
            result[places] = function(texts.rows(places, length))
    return result


class _Joined:
    """Strings whose memory cannot be read, or that are few."""

    def __init__(self, strings: Sequence[bytes]) -> None:
        self._strings = strings
        self.lengths = np.fromiter(map(len, strings), np.int64, len(strings))

    def rows(self, chosen: np.ndarray, length: int) -> np.ndarray:
        data = b"".join([self._strings[i] for i in chosen.tolist()])
        return np.frombuffer(data, np.uint8).reshape(len(chosen), length)


def _texts(strings: Strings) -> BytesMemory | _Joined:
    if isinstance(strings, np.ndarray):
        return memory_of(strings) or _Joined(strings.tolist())
    return _Joined(strings)


def _word(rows: np.ndarray, at: int, size: int = 8) -> Words:
    """The little-endian number at `at` in each row."""
    part = np.ascontiguousarray(rows[:, at : at + size])
    return part.view(f"<u{size}")[:, 0].astype(np.uint64)


def _rotate(x: Words, by: int) -> Words:
    """To the right."""
    return (x >> np.uint64(by)) | (x << np.uint64(64 - by))


def _rotate_left(x: Words, by: int) -> Words:
    return _rotate(x, 64 - by)


# ---- FarmHash (farmhashna::Hash64) ---------------------------------------------------------------


def _mix(x: Words) -> Words:
    return x ^ (x >> np.uint64(47))


def _pair(u: Words, v: Words, mul: Words) -> Words:
    a = _mix((u ^ v) * mul)
    return _mix((v ^ a) * mul) * mul


def _farm_short(rows: np.ndarray, n: int) -> Words:
    """Up to 16 bytes."""
    if n >= 4:
        size = 8 if n >= 8 else 4
        return _farm_ends(size, _word(rows, 0, size), _word(rows, n - size, size), np.uint64(n))
    if n == 0:
        return np.full(len(rows), _K2)
    a, b, c = (rows[:, i].astype(np.uint64) for i in (0, n >> 1, n - 1))
    y = a + (b << np.uint64(8))
    z = np.uint64(n) + (c << np.uint64(2))
    return _mix(y * _K2 ^ z * _K0) * _K2


def _farm_middle(rows: np.ndarray, n: int) -> Words:
    """17 to 64 bytes."""
    mul = _K2 + np.uint64(2 * n)
    a = _word(rows, 0) * (_K1 if n <= 32 else _K2)
    b, c, d = _word(rows, 8), _word(rows, n - 8) * mul, _word(rows, n - 16) * _K2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _pair(y, a + _rotate(b + _K2, 18) + c, mul)
    if n <= 32:
        return z
    e, f = _word(rows, 16) * mul, _word(rows, 24)
    g = (y + _word(rows, n - 32)) * mul
    h = (z + _word(rows, n - 24)) * mul
    return _pair(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, mul)


def _weak(rows: np.ndarray, at: int, a: Words, b: Words) -> tuple[Words, Words]:
    w, x, y, z = (_word(rows, at + i) for i in (0, 8, 16, 24))
    a = a + w
    b = _rotate(b + a + z, 21)
    c = a
    a = a + x + y
    return a + z, b + _rotate(a, 44) + c


def _farm_long(rows: np.ndarray, n: int) -> Words:
    zero = np.zeros(len(rows), np.uint64)
    y = zero + np.uint64(81) * _K1 + np.uint64(113)
    z = _mix(y * _K2 + np.uint64(113)) * _K2
    x = np.uint64(81) * _K2 + _word(rows, 0)
    v, w = (zero, zero), (zero, zero)
    last = (n - 1) // _LONG * _LONG

    def step(at: int, mul: Words, extra: int) -> None:
        """One block of 64 bytes; the last has multipliers of its own."""
        nonlocal x, y, z, v, w
        factor = np.uint64(extra)
        x = _rotate(x + y + v[0] + _word(rows, at + 8), 37) * mul
        y = _rotate(y + v[1] + _word(rows, at + 48), 42) * mul
        x = x ^ (w[1] * factor)
        y = y + v[0] * factor + _word(rows, at + 40)
        z = _rotate(z + w[0], 33) * mul
        v = _weak(rows, at, v[1] * mul, x + w[0])
        w = _weak(rows, at + 32, z + w[1], y + _word(rows, at + 16))
        x, z = z, x

    for at in range(0, last, _LONG):
        step(at, _K1, 1)
    mul = _K1 + ((z & np.uint64(0xFF)) << np.uint64(1))
    w = (w[0] + np.uint64((n - 1) & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    step(n - _LONG, mul, 9)
    return _pair(_pair(v[0], w[0], mul) + _mix(y) * _K0 + z, _pair(v[1], w[1], mul) + x, mul)


# Features repeat a few values; their hashes are kept.
_kept: dict[bytes, int] = {}
_MOST_KEPT, _LARGE_BATCH = 1 << 16, 1 << 9


def farm_hash(strings: Strings) -> np.ndarray:
    """FarmHash's Fingerprint64: what StringToHashBucketFast and Fingerprint use."""
    if len(strings) > _LARGE_BATCH:
        return _farm_hash(strings)
    texts = strings.tolist() if isinstance(strings, np.ndarray) else strings
    try:
        return np.fromiter(map(_kept.__getitem__, texts), np.uint64, len(texts))
    except KeyError:
        return _farm_hash_and_keep(texts)


def _farm_hash_and_keep(strings: Sequence[bytes]) -> np.ndarray:
    found = list(map(_kept.get, strings))
    new = [text for text, known in zip(strings, found, strict=True) if known is None]
    made = dict(zip(new, _farm_hash(new).tolist(), strict=True))
    if len(_kept) > _MOST_KEPT:
        _kept.clear()
    _kept.update((text, h) for text, h in made.items() if len(text) <= _LONG)
    hashes = [made[text] if h is None else h for text, h in zip(strings, found, strict=True)]
    return np.array(hashes, np.uint64)


def _farm_hash(strings: Strings) -> np.ndarray:
    def of(rows: np.ndarray) -> Words:
        n = rows.shape[1]
        return (_farm_short if n <= 16 else _farm_middle if n <= _LONG else _farm_long)(rows, n)

    texts = _texts(strings)
    if isinstance(texts, BytesMemory) and ((texts.lengths >= 4) & (texts.lengths <= 16)).all():
        return _farm_words(texts)
    return _by_length(texts, of)


def _farm_words(texts: BytesMemory) -> np.ndarray:
    """As `_farm_short`, for strings of 4 to 16 bytes of several lengths."""
    lengths, first, second = texts.lengths.view(np.uint64), texts.words(0), texts.words(1)
    result = np.empty(len(lengths), np.uint64)
    is_long = lengths >= np.uint64(8)
    for chosen, ends in ((~is_long, _ends_of_one), (is_long, _ends_of_two)):
        at = np.flatnonzero(chosen)
        result[at] = ends(first[at], second[at], lengths[at])
    return result


def _ends_of_one(word: Words, _: Words, n: Words) -> Words:
    """The hash of 4 to 7 bytes, which are the first of a word."""
    last = word >> ((n - np.uint64(4)) << np.uint64(3)) & _LOW
    return _farm_ends(4, word & _LOW, last, n)


def _ends_of_two(first: Words, second: Words, n: Words) -> Words:
    """The hash of 8 to 16 bytes, which are a word and the first of a second."""
    behind = (np.uint64(16) - n) << np.uint64(3)
    # NumPy shifts by 64 to nothing, which is right where one word has all eight bytes.
    last = first >> (np.uint64(64) - behind) | second << behind
    return _farm_ends(8, first, last, n)


_LOW = np.uint64(2**32 - 1)


def _farm_ends(size: int, first: Words, last: Words, n: Words) -> Words:
    """The hash from the first and the last word of strings, which may share bytes."""
    mul = _K2 + n + n
    if size == 4:
        return _pair(n + (first << np.uint64(3)), last, mul)
    a = first + _K2
    return _pair(_rotate(last, 37) * mul + a, (_rotate(a, 25) + last) * mul, mul)


# ---- SipHash-2-4 ---------------------------------------------------------------------------------


def _sip_round(v: list[Words]) -> None:
    for a, b, c, d, first, second in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
        v[a], v[c] = v[a] + v[b], v[c] + v[d]
        v[b], v[d] = _rotate_left(v[b], first) ^ v[a], _rotate_left(v[d], second) ^ v[c]
        v[a] = _rotate_left(v[a], 32)


def sip_hash(strings: Strings, key: Sequence[int]) -> np.ndarray:
    """SipHash-2-4 with a key of two numbers: what StringToHashBucketStrong uses."""
    k0, k1 = (np.uint64(k % 2**64) for k in key)
    start = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)

    def of(rows: np.ndarray) -> Words:
        count, n = rows.shape
        padded = np.zeros((count, n // 8 * 8 + 8), np.uint8)
        padded[:, :n] = rows
        padded[:, -1] = n % 256
        v = [np.full(count, np.uint64(s) ^ k) for s, k in zip(start, (k0, k1) * 2, strict=True)]
        for at in range(0, padded.shape[1], 8):
            word = _word(padded, at)
            v[3] = v[3] ^ word
            _sip_round(v)
            _sip_round(v)
            v[0] = v[0] ^ word
        v[2] = v[2] ^ np.uint64(0xFF)
        for _ in range(4):
            _sip_round(v)
        return v[0] ^ v[1] ^ v[2] ^ v[3]

    return _by_length(_texts(strings), of)


# ---- Murmur --------------------------------------------------------------------------------------

_M, _R, _SEED = np.uint64(0xC6A4A7935BD1E995), np.uint64(47), np.uint64(0xDECAFCAFFE)


def murmur_hash(strings: Strings) -> np.ndarray:
    """MurmurHash64A with TensorFlow's seed: what StringToHashBucket uses."""

    def of(rows: np.ndarray) -> Words:
        count, n = rows.shape
        h = np.full(count, _SEED ^ (np.uint64(n) * _M))
        for at in range(0, n - 7, 8):
            k = _word(rows, at) * _M
            k = (k ^ (k >> _R)) * _M
            h = (h ^ k) * _M
        if n % 8:
            tail = np.zeros((count, 8), np.uint8)
            tail[:, : n % 8] = rows[:, n // 8 * 8 :]
            h = (h ^ _word(tail, 0)) * _M
        h = (h ^ (h >> _R)) * _M
        return h ^ (h >> _R)

    return _by_length(_texts(strings), of)
