"""Transforms made of others, or of functions: one after the other, backwards, conditioned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.contrib.distributions.bijectors.base import Bijector, static_rank_of
from weft.ops.array import array
from weft.ops.math import math


def _least_rank(bijectors: Sequence[Bijector], forward: bool) -> int:
    """How many axes the first of a chain must be given so that all have as many as they need."""
    least = have = 0
    for each in reversed(bijectors) if forward else bijectors:
        needs, gives = each.forward_min_event_ndims, each.inverse_min_event_ndims
        if not forward:
            needs, gives = gives, needs
        least += max(needs - have, 0)
        have = max(needs, have) - (needs - gives)
    return least


def _common_dtype(bijectors: Sequence[Bijector]) -> Any:
    kinds = {each.dtype for each in bijectors} - {None}
    if len(kinds) > 1:
        raise ValueError(f"incompatible dtypes: {list(kinds)}")
    return kinds.pop() if kinds else None


class Chain(Bijector):
    """y = first(second(... last(x)))"""

    def __init__(
        self, bijectors: Sequence[Bijector] | None = None, validate_args: bool = False,
        name: str | None = None,
    ) -> None:  # fmt: skip
        self.bijectors = bijectors = bijectors or ()
        for each in bijectors:
            if not each._is_injective:
                raise NotImplementedError(
                    f"Invert is not implemented for non-injective bijector ({each.name})"
                )
        joined = "_of_".join(each.name for each in bijectors)
        super().__init__(
            graph_parents=[parent for each in bijectors for parent in each.graph_parents],
            forward_min_event_ndims=_least_rank(bijectors, True),
            inverse_min_event_ndims=_least_rank(bijectors, False),
            is_constant_jacobian=all(each.is_constant_jacobian for each in bijectors),
            validate_args=validate_args, dtype=_common_dtype(bijectors),
            name=name or (f"chain_of_{joined}" if joined else "identity"),
        )  # fmt: skip

    def _in_order(self, forward: bool) -> list[Bijector]:
        return list(reversed(self.bijectors)) if forward else list(self.bijectors)

    def _shape(self, method: str, shape: Any, forward: bool) -> Any:
        for each in self._in_order(forward):
            shape = getattr(each, method)(shape)
        return shape

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._shape("forward_event_shape", input_shape, True)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._shape("forward_event_shape_tensor", input_shape, True)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._shape("inverse_event_shape", output_shape, False)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._shape("inverse_event_shape_tensor", output_shape, False)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        for each in self._in_order(True):
            x = each.forward(x, **kwargs.get(each.name, {}))
        return x

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        for each in self._in_order(False):
            y = each.inverse(y, **kwargs.get(each.name, {}))
        return y

    def _log_det(self, point: Any, forward: bool, **kwargs: Any) -> Tensor:
        """The sum of the log-determinants of all, each at the point that reaches it."""
        way = "forward" if forward else "inverse"
        point = convert_to_tensor(point, name="x" if forward else "y")
        total = math.cast(0.0, point.dtype.base_dtype)
        rank: Any = self.forward_min_event_ndims if forward else self.inverse_min_event_ndims
        for each in self._in_order(forward):
            given = kwargs.get(each.name, {})
            total += getattr(each, f"{way}_log_det_jacobian")(point, event_ndims=rank, **given)
            rank = _rank_after(each, way, point, rank)
            point = getattr(each, way)(point, **given)
        return total

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Tensor:
        return self._log_det(x, True, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Tensor:
        return self._log_det(y, False, **kwargs)


def _rank_after(bijector: Bijector, way: str, point: Tensor, rank: Any) -> Any:
    """How many axes an event has once it is transformed."""
    if isinstance(rank, int) and s.known(point.dims):
        shape: Any = point.shape[len(point.shape) - rank :]
        found = getattr(bijector, f"{way}_event_shape")(shape).ndims
        if found is not None:
            return found
    shape = array.shape(point)[array.rank(point) - rank :]
    size = array.size(getattr(bijector, f"{way}_event_shape_tensor")(shape))
    known = static_rank_of(size)
    return size if known is None else known


def _of_the_other(method: str) -> Any:
    """A method that is another one of the transform that is inverted."""

    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.bijector, method)(*args, **kwargs)

    return ask


class Invert(Bijector):
    """A transform the other way round."""

    def __init__(
        self, bijector: Bijector, validate_args: bool = False, name: str | None = None
    ) -> None:
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self.bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian, validate_args=validate_args,
            dtype=bijector.dtype, name=name or f"invert_{bijector.name}",
        )  # fmt: skip

    _forward = _of_the_other("_inverse")
    _inverse = _of_the_other("_forward")
    _forward_log_det_jacobian = _of_the_other("_inverse_log_det_jacobian")
    _inverse_log_det_jacobian = _of_the_other("_forward_log_det_jacobian")
    _forward_event_shape = _of_the_other("_inverse_event_shape")
    _inverse_event_shape = _of_the_other("_forward_event_shape")
    _forward_event_shape_tensor = _of_the_other("_inverse_event_shape_tensor")
    _inverse_event_shape_tensor = _of_the_other("_forward_event_shape_tensor")


class Inline(Bijector):
    """A transform of functions that are given."""

    def __init__(
        self, forward_fn: Any = None, inverse_fn: Any = None,
        inverse_log_det_jacobian_fn: Any = None, forward_log_det_jacobian_fn: Any = None,
        forward_event_shape_fn: Any = None, forward_event_shape_tensor_fn: Any = None,
        inverse_event_shape_fn: Any = None, inverse_event_shape_tensor_fn: Any = None,
        is_constant_jacobian: bool = False, validate_args: bool = False,
        forward_min_event_ndims: int | None = None, inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ) -> None:  # fmt: skip
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, name=name,
        )  # fmt: skip
        self._maps = {
            "forward_fn": forward_fn, "inverse_fn": inverse_fn,
            "inverse_log_det_jacobian_fn": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian_fn": forward_log_det_jacobian_fn,
        }  # fmt: skip
        self._forward_shape, self._forward_shape_tensor, self._inverse_shape = (
            _or_same(forward_event_shape_fn),
            _or_same(forward_event_shape_tensor_fn),
            _or_same(inverse_event_shape_fn),
        )
        self._inverse_shape_tensor = _or_same(inverse_event_shape_tensor_fn)

    def _mapped(self, which: str, value: Any, **kwargs: Any) -> Any:
        if not callable(self._maps[which]):
            raise NotImplementedError(f"{which} is not a callable function.")
        return self._maps[which](value, **kwargs)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._forward_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._forward_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._inverse_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._inverse_shape_tensor(output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._mapped("forward_fn", x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._mapped("inverse_fn", y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._mapped("inverse_log_det_jacobian_fn", y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._mapped("forward_log_det_jacobian_fn", x, **kwargs)


def _or_same(function: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    return function or (lambda shape: shape)


class ConditionalBijector(Bijector):
    """A transform whose methods take further arguments, which it hands to its own."""

    forward = Bijector._call_forward
    inverse = Bijector._call_inverse
    inverse_log_det_jacobian = Bijector._call_inverse_log_det_jacobian
    forward_log_det_jacobian = Bijector._call_forward_log_det_jacobian
