"""Samples for weft/ops/strings/decode.py."""

import numpy as np

from tests.ops.sample import Sample


def strings(*values):
    return np.array(values, object)


SAMPLES = [
    Sample("DecodeRaw", strings(b"AbCd", b"wxyz"), out_type="uint8"),
    Sample("DecodeRaw", strings(b"AbCd", b"wxyz"), out_type="int16"),
    Sample("DecodeRaw", strings(b"AbCd", b"wxyz"), out_type="int16", little_endian=False),
    Sample("DecodeRaw", strings(b"\x00\x00\x80?"), out_type="float32"),
    Sample("DecodeRaw", strings(b"?\x80\x00\x00"), out_type="float32", little_endian=False),
    Sample("DecodeRaw", np.array(b"\x00\x01\x01", object), out_type="bool"),
    Sample("DecodeRaw", strings(b"", b""), out_type="int32"),
    Sample("DecodeRaw", np.zeros((2, 0), object), out_type="int64"),
    Sample("DecodeRaw", strings(b"12345678" * 2), out_type="complex64"),
    Sample("DecodeRaw", strings(b"12345678" * 2), out_type="complex128"),
    Sample("DecodeRaw", strings(b"12345678"), out_type="float64"),
    Sample("DecodeRaw", strings(b"abc", b"ab"), out_type="uint8", note="sizes differ"),
    Sample("DecodeRaw", strings(b"abc"), out_type="int16", note="not a multiple"),
]
