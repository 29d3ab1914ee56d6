"""Inputs to try a signature with, and how far two sets of its outputs are apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.lib.tools.signature_graph import SignatureGraph


def as_inputs(given: SignatureGraph, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Values for all inputs of a signature as arrays of their types."""
    for name in values:
        if name not in given.inputs:
            known = '", "'.join(given.inputs)
            raise ValueError(f'"{name}" is not a valid input key. Please choose from "{known}".')
    missing = [name for name in given.inputs if name not in values]
    if missing:
        raise ValueError(f"no value is given for the inputs: {', '.join(missing)}")
    return {key: np.asarray(values[key], _type(info)) for key, info in given.inputs.items()}


def random_inputs(given: SignatureGraph, size: int) -> dict[str, np.ndarray]:
    """Normal floats, and integers and bools of 0 and 1; unknown sizes are `size`."""
    random = np.random.default_rng(size)
    return {key: _random(random, info, size) for key, info in given.inputs.items()}


def _random(random: np.random.Generator, info: Any, size: int) -> np.ndarray:
    shape, dtype = TensorShape(info.tensor_shape), dtypes.as_dtype(info.dtype)
    if shape.ndims is None or dtype is dtypes.string:
        raise ValueError(f"values for '{info.name}' cannot be drawn: give them by --inputs")
    dims = [size if n is None else n for n in shape.as_list()]
    if dtype.is_floating or dtype.is_complex:
        return random.normal(size=dims).astype(_type(info))
    return random.integers(0, 2, dims).astype(_type(info))


def _type(info: Any) -> Any:
    return np.dtype(dtypes.as_dtype(info.dtype).as_numpy_dtype)


@dataclass(frozen=True)
class Difference:
    """How far an output is from the one expected; `agreement` is the part of rows with the same
    largest element, of outputs with several in a row."""

    key: str
    largest: float
    mean: float
    scale: float
    agreement: float | None

    def __str__(self) -> str:
        text = (
            f"output {self.key}: differs by at most {self.largest:.3g}, {self.mean:.3g} on average"
        )
        text += f" (values up to {self.scale:.3g})"
        if self.agreement is None:
            return text
        return f"{text}; the same largest element in {self.agreement:.1%} of rows"


def differences(expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[Difference]:
    """How far each output is from the one expected."""
    return [_difference(key, expected[key], found[key]) for key in sorted(expected)]


def _difference(key: str, expected: Any, found: Any) -> Difference:
    a, b = np.asarray(expected), np.asarray(found)
    if a.dtype == object:
        return Difference(key, float(np.any(a != b)), float(np.mean(a != b)), 1.0, None)
    kind = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(kind), b.astype(kind)
    apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    rows = a.ndim > 1 and a.shape[-1] > 1 and a.size > 0 and kind is np.float64
    agreement = float(np.mean(a.argmax(-1) == b.argmax(-1))) if rows else None
    if not apart.size:
        return Difference(key, 0.0, 0.0, 0.0, agreement)
    return Difference(
        key, float(apart.max()), float(apart.mean()), float(np.abs(a).max()), agreement
    )


def check_close(expected: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """ValueError if an output is not the one expected, but for rounding."""
    for each in differences(expected, found):
        if not each.largest <= 1e-4 + 1e-3 * each.scale:
            raise ValueError(f"what was exported computes something else: {each}")
