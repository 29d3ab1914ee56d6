"""Samples: one op, concrete inputs, attributes. The currency of the parity tests.

`tests/parity/record.py` replays every sample in TensorFlow and keeps what came out;
`tests/ops/test_samples.py` replays it in weft and compares. Both interpreters import this module,
so it knows neither library: NumPy and ml_dtypes only.

How inputs are written:
- a NumPy array (or NumPy scalar) for a plain input, a Python list of them for a list input;
- for a `ref(T)` or `resource` input, the array its variable holds before the op runs, or
  `uninitialized(dtype, shape)`; the value it holds afterwards is compared too.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

DTYPES = {
    name: np.dtype(getattr(np, name))
    for name in (
        "float16 float32 float64 complex64 complex128 "
        "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
    ).split()
} | {"bool": np.dtype(bool), "string": np.dtype(object), "bfloat16": np.dtype(ml_dtypes.bfloat16)}


def _array(dtype: str, value: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    array = np.array(value, DTYPES[dtype])
    return array if shape is None else array.reshape(shape)


f16, f32, f64 = (partial(_array, name) for name in ("float16", "float32", "float64"))
bf16, c64, c128 = (partial(_array, name) for name in ("bfloat16", "complex64", "complex128"))
i8, i16, i32, i64 = (partial(_array, name) for name in ("int8", "int16", "int32", "int64"))
u8, u16, u32, u64 = (partial(_array, name) for name in ("uint8", "uint16", "uint32", "uint64"))
b = partial(_array, "bool")


def s(value: Any) -> np.ndarray:
    """A string array: `s("a")`, `s(["a", b"b"])`; text is encoded as UTF-8."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    array = np.empty(_nested_shape(value), object)
    for index in np.ndindex(array.shape):
        item = value
        for i in index:
            item = item[i]
        array[index] = item.encode() if isinstance(item, str) else item
    return array


def _nested_shape(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple):
        return ()
    return (len(value), *(_nested_shape(value[0]) if value else ()))


def ramp(dtype: str, shape: tuple[int, ...], start: float = -1.0, stop: float = 1.0) -> np.ndarray:
    """Evenly spaced values in a shape: a convenient "generic" input."""
    return np.linspace(start, stop, int(np.prod(shape))).reshape(shape).astype(DTYPES[dtype])


@dataclass(frozen=True)
class Uninitialized:
    """Stands for the input of a variable op whose variable holds nothing yet."""

    dtype: str
    shape: tuple[int, ...]


def uninitialized(dtype: str, shape: tuple[int, ...] = ()) -> Uninitialized:
    return Uninitialized(dtype, tuple(shape))


class Sample:
    """One call of an op. `grad=False` leaves its gradient out; `rtol` loosens the comparison."""

    def __init__(
        self,
        op: str,
        /,
        *inputs: Any,
        grad: bool | None = None,
        rtol: float | None = None,
        note: str = "",
        **attrs: Any,
    ) -> None:
        self.op = op
        self.inputs = tuple(_checked(op, value) for value in inputs)
        self.grad = grad
        self.rtol = rtol
        self.note = note
        self.attrs = attrs
        self.family = ""
        self.number = 0

    @cached_property
    def key(self) -> str:
        """A hash of what TensorFlow is asked, stable over processes and machines."""
        asked = [self.op, _canonical(list(self.inputs)), _canonical(self.attrs), self.grad]
        return hashlib.sha1(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def id(self) -> str:
        """Readable test id: op, dtypes and shapes of the inputs, attrs, a number if repeated."""
        parts = [_brief(value) for value in self.inputs]
        parts += [f"{name}={_brief(value)}" for name, value in self.attrs.items()]
        number = f"#{self.number}" if self.number else ""
        return f"{self.op}({','.join(parts)})"[:120] + number

    @property
    def flat_inputs(self) -> list[Any]:
        """Inputs with list inputs spliced in."""
        return [x for v in self.inputs for x in (v if isinstance(v, list) else [v])]

    def __repr__(self) -> str:
        return f"Sample {self.family}: {self.id}" + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True)
class Skip:
    """Says why an op has no sample."""

    op: str
    reason: str


def skip(op: str, reason: str) -> Skip:
    return Skip(op, reason)


def _checked(op: str, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_checked(op, item) for item in value]
    if isinstance(value, Uninitialized):
        return value
    if not isinstance(value, np.ndarray | np.generic):
        raise TypeError(f"sample of {op}: inputs must be NumPy arrays, received {value!r}")
    array = np.asarray(value)
    if array.dtype.kind in "SU":
        array = s(array)
    dtype_name(array)
    return array


def dtype_name(array: np.ndarray) -> str:
    """TensorFlow's name of an array's dtype ("string" for object arrays)."""
    name = "string" if array.dtype == object else array.dtype.name
    if name not in DTYPES:
        raise TypeError(f"no tensor dtype for {array.dtype}")
    return name


def _canonical(value: Any) -> Any:
    """A JSON value that is equal exactly when the sample value is."""
    if isinstance(value, np.ndarray | np.generic):
        value = np.asarray(value)
        content = repr(value.tolist()) if value.dtype == object else value.tobytes().hex()
        return [dtype_name(value), list(value.shape), content]
    if isinstance(value, Uninitialized):
        return ["uninitialized", value.dtype, list(value.shape)]
    if isinstance(value, dict):
        return {name: _canonical(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    return value


_BRIEF = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}


def _brief(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = np.asarray(value)
        name = dtype_name(value)
        kind = name.rstrip("0123456789")
        name = _BRIEF.get(kind, kind) + name[len(kind) :]
        return f"{name}[{'x'.join(map(str, value.shape))}]"
    if isinstance(value, Uninitialized):
        return f"uninitialized:{value.dtype}"
    if isinstance(value, list | tuple):
        return "(" + ",".join(_brief(item) for item in value) + ")"
    if isinstance(value, bytes):
        return value.decode("latin1").encode("unicode_escape").decode()
    return str(value)


def pattern(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """The `grad_ys` of a given shape: small, signed, without symmetry, exact in every dtype."""
    count = int(np.prod(shape, dtype=np.int64))
    values = ((np.arange(count) * 7 + 3) % 11 - 4.75) / 4
    if DTYPES[dtype].kind == "c":
        values = values + 1j * ((np.arange(count) * 5 + 1) % 7 - 2.5) / 4
    return values.reshape(shape).astype(DTYPES[dtype])


def is_inexact(dtype: str) -> bool:
    """Whether a gradient can flow through the dtype."""
    return dtype == "bfloat16" or (dtype in DTYPES and DTYPES[dtype].kind in "fc")


def has_gradient(value: np.ndarray | Uninitialized) -> bool:
    """Whether the gradient with respect to this input is looked at."""
    return is_inexact(value.dtype if isinstance(value, Uninitialized) else dtype_name(value))


# How an input is known while a graph is built, for comparing static shapes. "args" are the int32,
# int64 and bool inputs: shapes, axes and the like, whose values shape rules look at.
#   name: (args are constants, how much of a placeholder's shape is known)
SHAPE_MODES = {
    "known": (True, "all"),
    "no_values": (False, "all"),
    "first_unknown": (True, "not first"),
    "last_unknown": (True, "not last"),
    "rank_unknown": (True, "nothing"),
    "nothing": (False, "nothing"),
}


def is_arg(dtype: str) -> bool:
    return dtype in ("int32", "int64", "bool")


def placeholder_dims(shape: tuple[int, ...], knowledge: str) -> tuple[int | None, ...] | None:
    """The static shape of a placeholder that stands for a value of `shape`."""
    if knowledge == "nothing":
        return None
    dims: list[int | None] = list(shape)
    if dims and knowledge == "not first":
        dims[0] = None
    if dims and knowledge == "not last":
        dims[-1] = None
    return tuple(dims)


@lru_cache(maxsize=1)
def families() -> dict[str, tuple[Sample | Skip, ...]]:
    """The `SAMPLES` of every module in `tests/ops/samples`, by module name."""
    folder = Path(__file__).parent / "samples"
    names = sorted(info.name for info in pkgutil.iter_modules([str(folder)]))
    return {
        name: tuple(importlib.import_module(f"tests.ops.samples.{name}").SAMPLES) for name in names
    }


@lru_cache(maxsize=1)
def chosen_samples() -> tuple[Sample, ...]:
    """All samples; under `make check` those whose operation is declared in a changed module."""
    if "WEFT_CHECK_CHANGE" not in os.environ:
        return all_samples()
    from tests.affected import changed_files
    from tests.test_layers import module_of
    from weft.graph.op_def import REGISTRY

    modules = {module_of(path) for path in changed_files("HEAD")}
    declared = {name for name, op in REGISTRY.items() if op.kernel.__module__ in modules}
    return tuple(sample for sample in all_samples() if sample.op in declared)


@lru_cache(maxsize=1)
def all_samples() -> tuple[Sample, ...]:
    """Every sample, each once, with its family and a number among those of the same id."""
    samples: dict[str, Sample] = {}
    seen: dict[str, int] = {}
    for family, sample in _members(Sample):
        if sample.key in samples:
            continue
        sample.family = family
        sample.number = seen[sample.id] = seen.get(sample.id, -1) + 1
        samples[sample.key] = sample
    return tuple(samples.values())


def all_skips() -> dict[str, str]:
    """Op name to the reason why it has no sample."""
    return {item.op: item.reason for _, item in _members(Skip)}


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    for family, items in families().items():
        for item in items:
            if isinstance(item, kind):
                yield family, item
