"""The limit on the growth of data when it is read, checked before it is."""

from __future__ import annotations

import zlib

from weft.core import errors, flags

_MEGABYTE = 1 << 20


def limit() -> int:
    """Bytes that may be made of data over and above what is there."""
    return flags.MAX_EXPANDED.value * _MEGABYTE


def check_expansion(size: int, stored: int, what: str) -> None:
    """ResourceExhaustedError if `what` makes far more than the `stored` bytes that there are."""
    if size - stored > limit():
        raise too_much(what, f"would make {size} bytes of {stored}")


def inflate(data: bytes, bits: int, what: str) -> bytes:
    """As zlib.decompress, for data that does not become too much."""
    inflater = zlib.decompressobj(bits)
    found = inflater.decompress(data, len(data) + limit() + 1)
    if len(found) - len(data) > limit():
        raise too_much(what, f"makes more than {len(found)} bytes of {len(data)}")
    if not inflater.eof:
        raise zlib.error("Error -5 while decompressing data: incomplete or truncated stream")
    return found


def too_much(what: str, becomes: str) -> errors.OpError:
    """The refusal of data that grows without end."""
    return errors.ResourceExhaustedError(
        None, None, f"{what} {becomes}: more than the {limit()} bytes that data may grow by when it"
        f" is read. {flags.MAX_EXPANDED.name}, in megabytes, sets the limit",
    )  # fmt: skip
