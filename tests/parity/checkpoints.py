"""Tensors that both TensorFlow and weft save, for the tests of checkpoint files.

Both interpreters import this module, so it knows neither library.
"""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np

FOLDER = Path(__file__).parent / "data" / "checkpoints"

_NUMBERS = (
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128"
).split()
QUANTIZED = {
    "qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16,
    "qint32": np.int32,
}  # fmt: skip


def _ramp(dtype: np.dtype, shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    count = int(np.prod(shape))
    return (np.arange(count) * 7 % 31 + 1).astype(dtype).reshape(shape)


def every_dtype() -> dict[str, tuple[str, np.ndarray]]:
    """Name -> (type, value), in the order in which they are saved, which is not that of names."""
    found = {f"all/{name}": (name, _ramp(np.dtype(name))) for name in reversed(_NUMBERS)}
    found["all/bfloat16"] = "bfloat16", _ramp(np.dtype(ml_dtypes.bfloat16))
    found["all/bool"] = "bool", np.array([True, False, True])
    found |= {f"all/{n}": (n, _ramp(np.dtype(t), (4,))) for n, t in QUANTIZED.items()}
    texts = np.array([b"", b"hello", b"\x00\xff", b"x" * 200], object).reshape(2, 2)
    found["all/string"] = "string", texts
    found["scalar"] = "int64", np.array(-5, np.int64)
    found["text"] = "string", np.array(b"one", object)
    found["none"] = "float32", np.zeros((0, 3), np.float32)
    found["no_text"] = "string", np.empty((0,), object)
    found["nan"] = "float32", np.array([np.nan, np.inf, -0.0], np.float32)
    return found


def many() -> dict[str, tuple[str, np.ndarray]]:
    """More names than fit between two restarts of the index, with much in common."""
    return {
        f"layer_{i // 7}/unit_{i % 7}/kernel{'s' * (i % 3)}": ("int32", np.array([i], np.int32))
        for i in range(60)
    }


def large_index() -> dict[str, tuple[str, np.ndarray]]:
    """So many and so long names that the index has several blocks."""
    return {f"{i:05d}" + "n" * 200: ("int16", np.array(i, np.int16)) for i in range(3000)}


ROWS = _ramp(np.dtype(np.float32), (7, 3))
