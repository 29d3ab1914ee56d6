"""Checks of the arguments that columns are made from."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes, nest


def assert_key_is_string(key: Any) -> None:
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def assert_string_or_int(dtype: Any, prefix: str) -> None:
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def check_numeric(dtype: Any, key: Any, normalizer_fn: Any) -> None:
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")


def check_input_kind(column: Any, dtype: Any) -> None:
    """Whether a feature holds integers is what its column says."""
    if column.dtype.is_integer != dtype.is_integer:
        raise ValueError(
            "Column dtype and SparseTensors dtype must be compatible. "
            f"key: {column.key}, column dtype: {column.dtype}, tensor dtype: {dtype}"
        )


def check_input_dtype(column: Any, dtype: Any) -> None:
    assert_string_or_int(dtype, prefix=f"column_name: {column.key} input_tensor")


def refuse(*rules: tuple[Any, str]) -> None:
    """Raises ValueError with the message of the first rule that holds."""
    for holds, message in rules:
        if holds:
            raise ValueError(message)


def check_shape(shape: Any, key: Any) -> tuple[int, ...]:
    """`shape` as a tuple of positive integers."""
    assert shape is not None
    sizes = tuple(shape) if nest.is_nested(shape) else (shape,)
    for size in sizes:
        is_number = isinstance(size, int)
        if is_number and size > 0:
            continue
        error, rule = (ValueError, "greater than 0") if is_number else (TypeError, "integer")
        raise error(f"shape dimensions must be {rule}. shape: {sizes}, key: {key}")
    return sizes


def _suit(values: list[Any], dtype: Any) -> bool:
    """Whether these are integers, or have a float among them where `dtype` is of floats."""
    if all(isinstance(value, int) for value in values):
        return True
    return dtype.is_floating and any(isinstance(value, float) for value in values)


def check_default_value(shape: tuple[int, ...], default_value: Any, dtype: Any, key: Any) -> Any:
    """`default_value` as nested tuples of the given shape, or None."""
    if default_value is None:
        return None
    if isinstance(default_value, int | float) and _suit([default_value], dtype):
        return _repeated(shape, default_value)
    if callable(getattr(default_value, "tolist", None)):
        default_value = default_value.tolist()
    if nest.is_nested(default_value):
        if not _has_shape(default_value, shape):
            raise ValueError(
                "The shape of default_value must be equal to given shape. "
                f"default_value: {default_value}, shape: {shape}, key: {key}"
            )
        if _suit(nest.flatten(default_value), dtype):
            return _as_tuples(default_value)
    raise TypeError(
        "default_value must be compatible with dtype. "
        f"default_value: {default_value}, dtype: {dtype}, key: {key}"
    )


def _repeated(shape: tuple[int, ...], value: Any) -> Any:
    return tuple(_repeated(shape[1:], value) for _ in range(shape[0])) if shape else value


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if nest.is_nested(value) else value


def _has_shape(value: Any, shape: tuple[int, ...]) -> bool:
    if nest.is_nested(value) != bool(shape):
        return False
    if not shape:
        return True
    return len(value) == shape[0] and all(_has_shape(each, shape[1:]) for each in value)
