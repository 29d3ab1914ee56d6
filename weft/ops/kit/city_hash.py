"""CityHash's 128 bits of a string, which FarmHash has taken over as its fingerprint."""

from __future__ import annotations

from weft.ops.kit.hashing import farm_hash

_MASK = 2**64 - 1
_K0, _K1 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273
_MUL = 0x9DDFEA08EB382D69


def _rotate(x: int, by: int) -> int:
    """To the right, within 64 bits."""
    x &= _MASK
    return (x >> by | x << 64 - by) & _MASK


def _mix(x: int) -> int:
    x &= _MASK
    return x ^ x >> 47


def _pair(u: int, v: int) -> int:
    """64 bits of 128."""
    a = _mix((u ^ v) * _MUL)
    return _mix(((v & _MASK) ^ a) * _MUL) * _MUL & _MASK


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _weak(data: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """32 bytes taken into two words."""
    w, x, y, z = (_word(data, at + i) for i in (0, 8, 16, 24))
    a += w
    b = _rotate(b + a + z, 21)
    c, a = a, a + x + y
    return (a + z) & _MASK, (b + _rotate(a, 44) + c) & _MASK


def _murmur(data: bytes, a: int, b: int) -> tuple[int, int]:
    """Fewer than 128 bytes."""
    n = len(data)
    if n <= 16:
        a = _mix(a * _K1) * _K1
        c = b * _K1 + int(farm_hash([data])[0])
        d = _mix(a + (_word(data, 0) if n >= 8 else c))
    else:
        c = _pair((_word(data, n - 8) + _K1) & _MASK, a)
        d = _pair((b + n) & _MASK, (c + _word(data, n - 16)) & _MASK)
        a = (a + d) & _MASK
        for at in range(0, n - 16, 16):
            a = (a ^ _mix(_word(data, at) * _K1) * _K1 & _MASK) * _K1 & _MASK
            b ^= a
            c = (c ^ _mix(_word(data, at + 8) * _K1) * _K1 & _MASK) * _K1 & _MASK
            d ^= c
    a, b = _pair(a & _MASK, c & _MASK), _pair(d & _MASK, b & _MASK)
    return a ^ b, _pair(b, a)


def _long(data: bytes, x: int, y: int) -> tuple[int, int]:
    n = len(data)
    z = n * _K1 & _MASK
    first = (_rotate(y ^ _K1, 49) * _K1 + _word(data, 0)) & _MASK
    v = first, (_rotate(first, 42) * _K1 + _word(data, 8)) & _MASK
    w = (_rotate(y + z, 35) * _K1 + x) & _MASK, _rotate(x + _word(data, 88), 53) * _K1 & _MASK
    end = n // 128 * 128
    for at in range(0, end, 64):
        x = _rotate(x + y + v[0] + _word(data, at + 8), 37) * _K1 & _MASK
        y = _rotate(y + v[1] + _word(data, at + 48), 42) * _K1 & _MASK
        x ^= w[1]
        y = (y + v[0] + _word(data, at + 40)) & _MASK
        z = _rotate(z + w[0], 33) * _K1 & _MASK
        v = _weak(data, at, v[1] * _K1, x + w[0])
        w = _weak(data, at + 32, z + w[1], y + _word(data, at + 16))
        x, z = z, x
    return _tail(data, n - end, x, y, z, v, w)


def _tail(
    data: bytes, left: int, x: int, y: int, z: int, v: tuple[int, int], w: tuple[int, int]
) -> tuple[int, int]:
    """The hash, from the state and the remaining bytes, in parts of 32 from the end."""
    x += _rotate(v[0] + z, 49) * _K0
    y = y * _K0 + _rotate(w[1], 37)
    z = z * _K0 + _rotate(w[0], 27)
    v, w = (v[0] * _K0, v[1]), (w[0] * 9, w[1])
    for done in range(32, left + 32, 32):
        at = len(data) - done
        y = _rotate(x + y, 42) * _K0 + v[1]
        w = w[0] + _word(data, at + 16), w[1]
        x = x * _K0 + w[0]
        z += w[1] + _word(data, at)
        w = w[0], w[1] + v[0]
        v = _weak(data, at, v[0] + z, v[1])
        v = v[0] * _K0, v[1]
    x = _pair(x & _MASK, v[0] & _MASK)
    y = _pair((y + z) & _MASK, w[0] & _MASK)
    low = _pair((x + v[1]) & _MASK, w[1] & _MASK) + y
    return low & _MASK, _pair((x + w[1]) & _MASK, (y + v[1]) & _MASK)


def city_hash_128(data: bytes) -> tuple[int, int]:
    """The lower and the upper half."""
    if len(data) < 16:
        return _murmur(data, _K0, _K1)
    rest, a, b = data[16:], _word(data, 0), (_word(data, 8) + _K0) & _MASK
    return _murmur(rest, a, b) if len(rest) < 128 else _long(rest, a, b)
