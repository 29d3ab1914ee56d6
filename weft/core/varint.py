"""Numbers as protocol buffers, tables and packed strings write them: seven bits a byte."""

from __future__ import annotations

_SHORT = tuple(bytes([number]) for number in range(128))
_MOST_BITS = 70


def varint(number: int) -> bytes:
    """The lowest seven bits first; all bytes but the last have the top bit set."""
    if number < 0x80:
        return _SHORT[number]
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """The number that begins at `at`, and where it ends; IndexError if it does not end."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    number, shift = byte & 0x7F, 7
    while shift < _MOST_BITS:
        at += 1
        byte = data[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at + 1
        shift += 7
    raise IndexError("a number of more than 64 bits")
