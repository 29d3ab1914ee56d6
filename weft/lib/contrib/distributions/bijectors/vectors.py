"""Transforms of vectors: their order, their shares of a whole, their shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.constant_value import constant_value, constant_value_as_dims
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.lib.contrib.distributions.bijectors.base import Bijector
from weft.lib.distributions.checks import checked
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.shape import invert_permutation
from weft.ops.control.check import (
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less_equal,
    assert_positive,
)
from weft.ops.math import math
from weft.ops.nn.activations import softmax, softplus, top_k


class _NoVolume(Bijector):
    """A transform that moves numbers without changing them."""

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return constant(0.0, y.dtype.base_dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        return constant(0.0, x.dtype.base_dtype)


def _permutation(given: Any, validate_args: bool) -> Tensor:
    """A vector that has every number from 0 once; checked at once if it is known."""
    order = convert_to_tensor(given, name="permutation")
    if not order.dtype.is_integer:
        raise TypeError(f"permutation.dtype ({order.dtype.name}) should be `int`-like.")
    message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
    known = constant_value(order)
    if known is None:
        return checked(
            validate_args, order,
            lambda: [assert_equal(*_sorted_and_range(order), message=message)],
        )  # fmt: skip
    if sorted(known.tolist()) != list(range(known.size)):
        raise ValueError(message)
    return order


def _sorted_and_range(order: Tensor) -> tuple[Tensor, Tensor]:
    return -top_k(-order, array.shape(order)[-1])[0], math.range(array.size(order))


class Permute(_NoVolume):
    """y[i] = x[permutation[i]], along the last axis."""

    def __init__(
        self, permutation: Any, validate_args: bool = False, name: str | None = None
    ) -> None:
        with name_scope(name, "permute", values=[permutation]):
            self.permutation = _permutation(permutation, validate_args)
            super().__init__(
                forward_min_event_ndims=1, is_constant_jacobian=True, validate_args=validate_args,
                name=name or "permute",
            )  # fmt: skip

    def _forward(self, x: Any) -> Tensor:
        return gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Any) -> Tensor:
        return gather(y, invert_permutation(self.permutation), axis=-1)


class _LastAxisGrows(Bijector):
    """A transform of vectors to vectors that are longer by a fixed number of elements."""

    growth = 0

    def __init__(self, validate_args: bool, name: str) -> None:
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        if input_shape.ndims is None or input_shape.dims[-1].value is None:
            return input_shape
        return TensorShape([input_shape.dims[-1].value + self.growth])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Tensor:
        return (input_shape[-1] + self.growth)[..., None]

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        if output_shape.ndims is None or output_shape.dims[-1].value is None:
            return output_shape
        last = output_shape.dims[-1].value
        if last <= 1:
            raise ValueError(f"output_shape[-1] = {last} <= 1")
        return TensorShape([last - self.growth])

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Tensor:
        message = "Need last dimension greater than 1."
        shape = checked(
            self.validate_args, output_shape,
            lambda: [assert_greater(output_shape[-1], 1, message=message)],
        )  # fmt: skip
        return (shape[-1] - self.growth)[..., None]


class SoftmaxCentered(_LastAxisGrows):
    """y = softmax of x and a zero: n numbers become n + 1 shares of a whole."""

    growth = 1

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered") -> None:
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Tensor:
        return softmax(array.concat([x, array.zeros_like(x[..., :1])], -1))

    def _inverse(self, y: Any) -> Tensor:
        logs = math.log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return -math.reduce_sum(math.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        last: dict[str, Any] = {"axis": -1, "keepdims": True}
        whole = softplus(math.reduce_logsumexp(x, **last))
        log_shares = math.reduce_sum(x - whole, **last) - whole
        return array.squeeze(log_shares, axis=-1)


class Ordered(_LastAxisGrows):
    """y[0] = x[0], y[k] = log(x[k] - x[k - 1]): increasing vectors become any vectors."""

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Tensor:
        x = self._checked(x)
        return array.concat([x[..., :1], self._log_steps(x)], axis=-1)

    def _inverse(self, y: Any) -> Tensor:
        return math.cumsum(array.concat([y[..., :1], math.exp(y[..., 1:])], axis=-1), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return math.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        return -math.reduce_sum(self._log_steps(self._checked(x)), axis=-1)

    def _log_steps(self, x: Any) -> Tensor:
        return math.log(x[..., 1:] - x[..., :-1])

    def _checked(self, x: Any) -> Any:
        message = "Forward transformation input must be strictly increasing."
        return checked(
            self.validate_args, x,
            lambda: [assert_positive(x[..., 1:] - x[..., :-1], message=message)],
        )  # fmt: skip


class Reshape(_NoVolume):
    """Events of one shape as events of another."""

    def __init__(
        self, event_shape_out: Any, event_shape_in: Any = (-1,), validate_args: bool = False,
        name: str | None = None,
    ) -> None:  # fmt: skip
        with name_scope(name, "reshape", values=[event_shape_out, event_shape_in]):
            out, into = (
                convert_to_tensor(shape, name=label, preferred_dtype=dtypes.int32)
                for shape, label in (
                    (event_shape_out, "event_shape_out"), (event_shape_in, "event_shape_in")
                )
            )  # fmt: skip
            self._checks = [
                check for shape in (out, into) for check in _shape_checks(shape, validate_args)
            ]
            self._event_shape_in, self._event_shape_out = into, out
            super().__init__(
                forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args,
                name=name or "reshape",
            )  # fmt: skip

    def _forward(self, x: Any) -> Tensor:
        return self._reshaped(x, self._event_shape_in, self._event_shape_out)

    def _inverse(self, y: Any) -> Tensor:
        return self._reshaped(y, self._event_shape_out, self._event_shape_in)

    def _reshaped(self, x: Any, old: Tensor, new: Tensor) -> Tensor:
        with control_dependencies(self._checks):
            count = old.dims[0] if old.dims else None
            size = array.shape(old)[0] if count is None else count
            rank = array.rank(x) if x.dims is None else len(x.dims)
            x = self._checked(x, old, rank - size)
            if count is not None and x.dims is not None and count == len(x.dims):
                return array.reshape(x, new)
            before = array.shape(x)[: rank - size]
            return array.reshape(x, array.concat([before, new], axis=0))

    def _checked(self, x: Tensor, expected: Tensor, at: Any) -> Tensor:
        """`x`, if its events have the expected shape."""
        message = "Input `event_shape` does not match `event_shape_in`"
        known = constant_value(expected)
        dims = x.dims[at:] if x.dims is not None and isinstance(at, int) and at >= 0 else None
        if known is not None and dims is not None and None not in dims:
            have: Any = np.array(dims, np.int32)
            if have.size != known.size or np.any(have[known >= 0] != known[known >= 0]):
                raise ValueError(f"{message} ({have} vs {known}).")
            return x
        have = array.shape(x)[at:]
        fits = math.logical_or(math.less(expected, 0), math.equal(have, expected))
        return checked(
            self.validate_args, x, lambda: [assert_equal(fits, True, message=f"{message}.")]
        )

    def _shape_of(self, transform: Any, shape: Any) -> Tensor:
        return transform(array.zeros(shape, dtypes.float32))

    def _forward_event_shape(self, input_shape: Any) -> Any:
        if not input_shape.is_fully_defined():
            return TensorShape(constant_value_as_dims(self._event_shape_out))
        return self._shape_of(self.forward, input_shape).shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        if not output_shape.is_fully_defined():
            return TensorShape(constant_value_as_dims(self._event_shape_in))
        return self._shape_of(self.inverse, output_shape).shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Tensor:
        return array.shape(self._shape_of(self.forward, input_shape))

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Tensor:
        return array.shape(self._shape_of(self.inverse, output_shape))


def _shape_checks(shape: Tensor, validate_args: bool) -> list[Any]:
    if not shape.dtype.is_integer:
        raise TypeError(f"{shape} dtype ({shape.dtype.name}) should be `int`-like.")
    rank = shape.shape.ndims
    if rank is not None and rank > 1:
        raise ValueError(f"`{shape}` rank ({rank}) should be <= 1.")
    if not validate_args:
        return []
    open_sizes = math.reduce_sum(math.cast(math.equal(shape, -1), dtypes.int32))
    messages = [
        f"`{shape}` rank should be <= 1.",
        f"`{shape}` elements must have at most one `-1`.",
        f"`{shape}` elements must be either positive integers or `-1`.",
    ]
    return [
        assert_less_equal(array.rank(shape), 1, message=messages[0]),
        assert_less_equal(open_sizes, 1, message=messages[1]),
        assert_greater_equal(shape, -1, message=messages[2]),
    ]
