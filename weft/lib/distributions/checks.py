"""Checks of parameters and samples, for `validate_args`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.ops.array import array
from weft.ops.control.check import (
    assert_equal,
    assert_greater_equal,
    assert_less_equal,
    assert_near,
    assert_non_negative,
    assert_positive,
)
from weft.ops.control.check_shapes import assert_rank_at_least
from weft.ops.control.control import no_op, with_dependencies
from weft.ops.math import math
from weft.ops.nn.activations import softmax

_UNSIGNED = (dtypes.bool, dtypes.uint8, dtypes.uint16)
_SIGNED = (
    dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32,
    dtypes.int64,
)  # fmt: skip
_INTEGERS = {
    dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32, dtypes.float64: dtypes.int64
}  # fmt: skip
CATEGORIES = "A categorical-distribution parameter must have at least "


def checking(validate_args: bool, checks: Callable[[], Sequence[Any]]) -> Any:
    """A context in which nodes come after `checks`, if arguments are validated."""
    return control_dependencies(checks() if validate_args else [])


def checked(validate_args: bool, x: Any, checks: Callable[[], Sequence[Any]]) -> Any:
    """`x`, which is there after `checks`, if arguments are validated."""
    return with_dependencies(checks(), x) if validate_args else x


# ---- whole numbers -------------------------------------------------------------------------------


def assert_integer_form(
    x: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    int_dtype: DType | None = None, name: str = "assert_integer_form",
) -> Any:  # fmt: skip
    """Checks that a tensor, of whatever type, has no fractions in it."""
    with name_scope(name, values=[x, data]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return no_op()
        if int_dtype is None and x.dtype.base_dtype not in _INTEGERS:
            raise TypeError(f"Unrecognized type {x.dtype.name}")
        whole = math.cast(x, int_dtype or _INTEGERS[x.dtype.base_dtype])
        return assert_equal(
            x, math.cast(whole, x.dtype), data=data, summarize=summarize,
            message=message or f"{x} has non-integer components", name=name,
        )  # fmt: skip


def nonnegative_integers(x: Any, name: str = "embed_check_nonnegative_integer_form") -> Tensor:
    """`x`, checked to be counts."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        return with_dependencies(list(_count_checks(x)), x)


def _count_checks(x: Tensor) -> Iterator[Any]:
    yield assert_non_negative(x, message=f"'{x}' must be non-negative.")
    if not x.dtype.is_integer:
        yield assert_integer_form(x, message=f"'{x}' cannot contain fractional components.")


def _largest(dtype: DType) -> int:
    """Up to which all whole numbers can be told apart."""
    dtype = dtype.base_dtype
    if dtype not in _UNSIGNED + _SIGNED:
        raise TypeError(f"Unrecognized dtype: {dtype.name}")
    if dtype.is_floating:
        return int(2 ** (np.finfo(dtype.as_numpy_dtype).nmant + 1))
    return int(np.iinfo(dtype.as_numpy_dtype).max) if dtype.is_integer else 1


def _smallest(dtype: DType) -> int:
    return 0 if dtype.base_dtype in _UNSIGNED else -_largest(dtype)


def _check_kinds(x: Tensor, target: DType) -> None:
    whole = [dtype.is_integer or dtype.base_dtype == dtypes.bool for dtype in (x.dtype, target)]
    if not whole[0] and not x.dtype.is_floating:
        raise TypeError(f"{x.dtype.name}.dtype must be floating- or integer-type.")
    if not whole[1] and not target.is_floating:
        raise TypeError(f"target_dtype ({target.name}) must be floating- or integer-type.")
    if not any(whole):
        raise TypeError(
            f"At least one of {x}.dtype ({x.dtype.name}) and target_dtype ({target.name}) must be"
            " integer-type."
        )


def integers_castable_to(
    x: Any, target_dtype: DType, assert_nonnegative: bool = True,
    name: str = "embed_check_casting_closed",
) -> Tensor:  # fmt: skip
    """`x`, checked to hold numbers that a cast to `target_dtype` leaves as they are."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        _check_kinds(x, target_dtype)
        checks: list[Any] = []
        if assert_nonnegative:
            checks.append(assert_non_negative(x, message="Elements must be non-negative."))
        if x.dtype.is_floating:
            message = f"Elements must be {target_dtype.name}-equivalent."
            checks.append(assert_integer_form(x, int_dtype=target_dtype, message=message))
        else:
            checks += _bounds(x, target_dtype, assert_nonnegative)
        return with_dependencies(checks, x) if checks else x


def _bounds(x: Tensor, target: DType, nonnegative: bool) -> list[Any]:
    checks = []
    most, least = _largest(target), _smallest(target)
    if _largest(x.dtype) > most:
        checks.append(assert_less_equal(x, most, message=f"Elements cannot exceed {most}."))
    if not nonnegative and _smallest(x.dtype) < least:
        message = f"Elements cannot be smaller than {least}."
        checks.append(assert_greater_equal(x, least, message=message))
    return checks


# ---- categories ----------------------------------------------------------------------------------


def categorical_event(x: Any, name: str = "embed_check_categorical_event_shape") -> Tensor:
    """`x`, checked to have a number for each of at least two categories on its last axis."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="categorical_param")
        kind = x.dtype.base_dtype
        if not kind.is_floating:
            raise TypeError(f"Unable to validate size of unrecognized dtype ({kind.name}).")
        most = _largest(kind)
        if x.dims == ():
            raise ValueError(CATEGORIES + "1 dimension.")
        if x.dims is None or x.dims[-1] is None:
            return _category_count_checked(x, kind, most)
        if x.dims[-1] < 2:
            raise ValueError(CATEGORIES + "2 events.")
        if x.dims[-1] > most:
            raise ValueError(
                f"Number of classes exceeds `dtype` precision, i.e., {kind.name} implies shape"
                f" ({x.dims[-1]}) cannot exceed {most}."
            )
        return x


def _category_count_checked(x: Tensor, kind: DType, most: int) -> Tensor:
    size = array.shape(x, name="x_shape")[-1]
    too_many = (
        f"Number of classes exceeds `dtype` precision, i.e., {kind.name} dtype cannot exceed {most}"
        " shape."
    )
    checks = [
        assert_rank_at_least(x, 1, message=CATEGORIES + "1 dimension."),
        assert_greater_equal(array.shape(x)[-1], 2, message=CATEGORIES + "2 events."),
        assert_less_equal(size, min(most, np.iinfo(np.int32).max), message=too_many),
    ]
    return with_dependencies(checks, x)


def positive_concentration(x: Any, validate_args: bool) -> Tensor:
    """The concentrations of Dirichlet's distribution of at least two categories."""
    return checked(
        validate_args, x,
        lambda: [
            assert_positive(x, message="Concentration parameter must be positive."),
            assert_rank_at_least(
                x, 1, message="Concentration parameter must have >=1 dimensions."
            ),
            _more_than_one(array.shape(x)[-1]),
        ],
    )  # fmt: skip


def _more_than_one(size: Tensor) -> Any:
    return assert_greater_equal(
        size, 2, message="Concentration parameter must have event_size >= 2."
    )


def logits_and_probs(
    logits: Any = None, probs: Any = None, multidimensional: bool = False,
    validate_args: bool = False, name: str = "get_logits_and_probs", dtype: DType | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Both, from the one that is given: of coins or, if multidimensional, of categories."""
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = _floats("logits", logits, dtype)
            if not multidimensional:
                return logits, math.sigmoid(logits, name="probs")
            logits = categorical_event(logits) if validate_args else logits
            return logits, softmax(logits, name="probs")
        probs = _floats("probs", probs, dtype)
        if validate_args:
            probs = _validated(probs, multidimensional)
        with name_scope("logits"):
            logs = math.log(probs)
            return (logs if multidimensional else logs - math.log1p(-1.0 * probs)), probs


def categories(logits: Any, probs: Any, validate_args: bool, name: str) -> tuple[Tensor, Tensor]:
    """Logits and probabilities of categories, which are on the last axis."""
    found = logits_and_probs(logits, probs, True, validate_args=validate_args, name=name)
    found[0].shape.with_rank_at_least(1)
    return found


def _floats(name: str, value: Any, dtype: DType | None) -> Tensor:
    tensor = convert_to_tensor(value, name=name, dtype=dtype)
    if not tensor.dtype.is_floating:
        raise TypeError(f"{name} must having floating type.")
    return tensor


def _validated(probs: Tensor, multidimensional: bool) -> Tensor:
    with name_scope("validate_probs"):
        one = constant(1.0, probs.dtype)
        checks = [assert_non_negative(probs)]
        if multidimensional:
            probs = categorical_event(probs)
            total = math.reduce_sum(probs, -1)
            checks.append(assert_near(total, one, message="probs does not sum to 1."))
        else:
            message = "probs has components greater than 1."
            checks.append(assert_less_equal(probs, one, message=message))
        return with_dependencies(checks, probs)
