"""Comparing values: raises AssertionError that says where two arrays or structures differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

_SHOWN = 10
_LOW_PRECISION = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


def as_array(value: Any) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else np.array(value)


def same_shape(a: np.ndarray, b: np.ndarray, msg: str | None) -> None:
    if a.shape == b.shape:
        return
    contents = f" with contents {b}" if b.ndim <= 3 or b.size < 500 else ""
    raise AssertionError(
        _joined(f"Shape mismatch: expected {a.shape}, got {b.shape}{contents}.", msg)
    )


def all_equal(a: Any, b: Any, msg: str | None = None) -> None:
    """The arrays have one shape and equal elements; NaN equals NaN."""
    a, b = as_array(a), as_array(b)
    same_shape(a, b, msg)
    same = np.asarray(a == b)
    if _has_nan(a) and _has_nan(b):
        same = same | (np.isnan(a) & np.isnan(b))
    if not same.all():
        raise AssertionError(
            _joined("Arrays are not equal.", msg, _differences("equal", a, b, same))
        )


def _has_nan(array: np.ndarray) -> bool:
    return array.dtype.kind in "fc" or array.dtype == ml_dtypes.bfloat16


def all_close(a: Any, b: Any, rtol: float, atol: float, msg: str | None = None) -> None:
    """|a - b| <= atol + rtol * |b| everywhere; NaN is close to NaN, an infinity to itself."""
    a, b = as_array(a), as_array(b)
    same_shape(a, b, msg)
    # float16 and bfloat16 would round the tolerance itself.
    wide_a = a.astype(np.float32) if a.dtype in _LOW_PRECISION else a
    wide_b = b.astype(np.float32) if b.dtype in _LOW_PRECISION else b
    close = np.isclose(wide_a, wide_b, rtol=rtol, atol=atol, equal_nan=True)
    if np.all(close):
        return
    far = ~np.asarray(close)
    with np.errstate(all="ignore"):
        distance = np.abs(wide_a - wide_b)[far]
        allowed = (atol + rtol * np.abs(wide_b))[far]
    raise AssertionError(
        _joined(
            f"Arrays are not close to tolerance rtol={rtol:g}, atol={atol:g}.",
            msg,
            _differences("close", a, b, ~far),
            f"not close dif = {distance}",
            f"not close tol = {allowed}",
            f"dtype = {a.dtype}, shape = {a.shape}",
        )
    )


def _differences(what: str, a: np.ndarray, b: np.ndarray, same: np.ndarray) -> str:
    if a.ndim == 0:
        return f"not {what} lhs = {a}\nnot {what} rhs = {b}"
    where = np.where(~same)
    return (
        f"{len(where[0])} of {a.size} elements differ\nnot {what} where = {where}\n"
        f"not {what} lhs = {a[where]}\nnot {what} rhs = {b[where]}"
    )


def _joined(*parts: str | None) -> str:
    return "\n".join(part for part in parts if part)


def structures_close(
    a: Any, b: Any, rtol: float, atol: float, msg: str | None = None, path: str = ""
) -> None:
    """`all_close` of every pair of leaves; dicts, named tuples, lists and tuples may nest."""
    a, b = _fields(a), _fields(b)
    if isinstance(a, Mapping) != isinstance(b, Mapping):
        raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg or ''}")
    if isinstance(a, Mapping):
        if set(a) != set(b):
            raise AssertionError(
                f"mismatched keys: a{path} has keys {list(a)}, but b{path} has keys {list(b)}."
                f" {msg or ''}"
            )
        for key in a:
            structures_close(a[key], b[key], rtol, atol, msg, f"{path}[{key}]")
        return
    note = f"Mismatched value: a{path} is different from b{path}. {msg or ''}"
    if not isinstance(a, (list, tuple)):
        all_close(a, b, rtol, atol, note)
        return
    arrays = _whole(a), _whole(b)
    if arrays[0] is not None and arrays[1] is not None:
        all_close(*arrays, rtol, atol, note)
        return
    if len(a) != len(b):
        raise ValueError(
            f"Mismatched length: a{path} has {len(a)} items, but b{path} has {len(b)} items."
            f" {msg or ''}"
        )
    for i, (left, right) in enumerate(zip(a, b, strict=True)):
        structures_close(left, right, rtol, atol, msg, f"{path}[{i}]")


def _fields(value: Any) -> Any:
    return value._asdict() if hasattr(value, "_asdict") else value


def _whole(value: Any) -> np.ndarray | None:
    """A sequence as one array of numbers, if it is one."""
    try:
        array = np.array(value)
    except ValueError:
        return None
    return None if array.dtype == object else array


def all_in_range(
    target: Any, lower: Any, upper: Any, open_lower: bool = False, open_upper: bool = False
) -> None:
    target = as_array(target)
    if target.dtype.kind not in "iuf" and target.dtype != ml_dtypes.bfloat16:
        raise AssertionError(
            f"The value of {target} does not have an ordered numeric type, instead it has type:"
            f" {target.dtype}"
        )
    outside = (target <= lower) if open_lower else (target < lower)
    outside = outside | ((target >= upper) if open_upper else (target > upper))
    for name, wrong in (
        ("NaN", np.isnan(target)),
        (f"outside the range {'[('[open_lower]}{lower}, {upper}{'])'[open_upper]}", outside),
    ):
        if np.any(wrong):
            raise AssertionError(
                f"{np.sum(wrong)} of the {target.size} element(s) are {name}. Subscript(s) and"
                f" value(s) of the offending elements:\n{_listing(target, np.asarray(wrong))}"
            )


def _listing(values: np.ndarray, wrong: np.ndarray) -> str:
    places = np.argwhere(wrong)
    lines = [f"  {place} : {values[tuple(place)]}" for place in places[:_SHOWN]]
    return "\n".join(lines + ["  ..."] * (len(places) > _SHOWN))
