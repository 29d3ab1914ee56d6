"""Hostile values, as the source text of expressions: shapes, arrays, attributes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType

SIZES = (0, 1, 1, 2, 2, 3, 4, 7)
INTEGERS = (0, 0, 1, 1, 2, 2, 3, 4, 5, 7, -1, -2, 64, 255, 2**31 - 1, -(2**31), 2**40, 2**63 - 1)
FLOATS = ("0.0", "1.0", "-1.0", "0.5", "2.5", "1e30", "-1e-30", "np.inf", "-np.inf", "np.nan")
TEXTS = (
    b"", b"a", b"abc", b"\xff\xfe", b"1", b"-7", b"3.5", b"nan", b"x" * 300, b"a b,c\n", b"\x00",
    b"{", b"[", b"%", b"\\", "\N{SNOWMAN}".encode(), b"0" * 64, b"/job:a/task:-1", b"float32",
)  # fmt: skip
FLOATING = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)
COMMON = (
    dtypes.float32, dtypes.int32, dtypes.int64, dtypes.string, dtypes.bool, dtypes.uint8,
    dtypes.float64, dtypes.complex64, dtypes.int8,
)  # fmt: skip


def shape(rng: random.Random) -> tuple[int, ...]:
    """Mostly small, now and then one that has no elements but is huge otherwise."""
    if rng.random() < 0.02:
        return rng.choice([(0, 2**31), (2**40, 0), (1,) * 9, (0,) * 5])
    return tuple(rng.choice(SIZES) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4, 4, 5))))


def _fitting(rng: random.Random, kind: np.dtype) -> int:
    info = np.iinfo(kind)
    value = rng.choice(INTEGERS) if rng.random() < 0.5 else rng.choice((0, 1, 2, 3))
    return value if info.min <= value <= info.max else rng.choice((0, 1, int(info.max)))


def _element(rng: random.Random, dtype: DType) -> str:
    if dtype is dtypes.string:
        return repr(rng.choice(TEXTS))
    if dtype is dtypes.bool:
        return rng.choice(("True", "False"))
    if dtype.is_complex:
        return f"complex({rng.choice(FLOATS)}, {rng.choice(FLOATS)})"
    storage = np.dtype(dtype.np_storage)
    if storage.kind in "iu":
        return str(_fitting(rng, storage))
    if dtype.is_floating:
        return rng.choice(FLOATS)
    return rng.choice(("0", "1", "2"))


def array(rng: random.Random, dtype: DType, dims: tuple[int, ...] | None = None) -> str:
    """An array of a dtype: a few hostile elements, repeated as often as its shape says."""
    dims = shape(rng) if dims is None else dims
    elements = ", ".join(_element(rng, dtype) for _ in range(rng.choice((1, 2, 3, 5))))
    name = "object" if dtype is dtypes.string else f"tf.{dtype.name}.as_numpy_dtype"
    return f"np.resize(np.array([{elements}], {name}), {dims})"


def literal(value: Any) -> str:
    """An array that is given, as text."""
    value = np.asarray(value)
    name = "object" if value.dtype == object else f"tf.{dtypes.as_dtype(value.dtype).name}"
    numpy_name = "object" if value.dtype == object else f"{name}.as_numpy_dtype"
    return f"np.array({_listed(value)}, {numpy_name}).reshape({value.shape})"


def _listed(value: np.ndarray) -> str:
    if value.dtype.kind not in "iubO":
        wide = value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)
        return repr(wide.ravel().tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    return repr(value.ravel().tolist())


# ---- attributes --------------------------------------------------------------------------------


def attribute(rng: random.Random, kind: str, allowed: Any, minimum: int | None = None) -> str:
    """The value of an attribute of a declared kind."""
    if kind.startswith("list("):
        count = rng.choice((0, 1, 1, 2, 4, 4, 5)) if minimum is None else max(minimum, 2)
        return f"[{', '.join(attribute(rng, kind[5:-1], allowed) for _ in range(count))}]"
    if allowed is not None and rng.random() < 0.97:
        picked = rng.choice(list(allowed))
        return f"tf.{picked.name}" if isinstance(picked, DType) else repr(picked)
    return _ATTRIBUTES[kind](rng)


def _integer(rng: random.Random) -> str:
    return str(rng.choice(INTEGERS) if rng.random() < 0.3 else rng.choice((0, 1, 2, 3, 4)))


_ATTRIBUTES: dict[str, Any] = {
    "int": _integer,
    "float": lambda rng: rng.choice(FLOATS),
    "bool": lambda rng: rng.choice(("True", "False")),
    "string": lambda rng: repr(rng.choice(TEXTS)),
    "type": lambda rng: f"tf.{rng.choice(COMMON).name}",
    "shape": lambda rng: rng.choice(("None", "[]", "[2]", "[None, 3]", "[0]", "[2**40, 2**40]")),
    "tensor": lambda rng: array(rng, rng.choice(COMMON)),
    "func": lambda rng: repr(rng.choice(("nope", "Neg", ""))),
}
