"""tf.decode_raw: the bytes of strings as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import op, raw
from weft.graph.tensor import Tensor
from weft.ops.kernels import as_array, deprecated_alias, invalid

_TYPE_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


@op(
    "DecodeRaw",
    inputs="bytes: string",
    outputs="output: out_type",
    attrs="out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64,"
    " complex128, bool}, little_endian: bool = true",
    shape=lambda c: s.concat(c.dims(0), (None,)),
    runs_on="host",
    differentiable=False,
)
def decode_raw_(xp: Any, bytes: Any, *, out_type: DType, little_endian: bool) -> np.ndarray:
    strings = as_array(bytes).ravel().tolist()
    length = len(strings[0]) if strings else 0
    for i, each in enumerate(strings):
        if len(each) != length:
            raise invalid(
                "DecodeRaw requires input strings to all be the same size, but element"
                f" {i} has size {length} != {len(each)}"
            )
    dtype = np.dtype(out_type.np_storage)
    if length % dtype.itemsize:
        raise invalid(
            f"Input to DecodeRaw has length {length} that is not a multiple of {dtype.itemsize},"
            f" the size of {_TYPE_NAMES.get(out_type.name, out_type.name)}"
        )
    stored = dtype.newbyteorder("<" if little_endian else ">")
    flat = np.frombuffer(b"".join(strings), stored).astype(dtype)
    return flat.reshape((*np.shape(bytes), length // dtype.itemsize))


def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,
) -> Tensor:
    """Each string of `input_bytes`, all of one length, as a row of numbers."""
    given = deprecated_alias("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    given = convert_to_tensor(given, name="bytes")
    return raw.DecodeRaw(given, out_type=out_type, little_endian=little_endian, name=name)
