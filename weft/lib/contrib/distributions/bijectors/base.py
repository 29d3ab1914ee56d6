"""Bijector: a transform of events that can be undone, and that knows how it changes volumes.

One implements `_forward`, `_inverse` and at least one of `_forward_log_det_jacobian` and
`_inverse_log_det_jacobian`, of events with as many axes as the transform needs. The public methods
add up over further axes of an event, fill in what is missing from its counterpart, and remember
what they made: the inverse of a tensor that `forward` gave is the tensor it was given.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.lib.distributions.base import first_of
from weft.lib.distributions.described import checked_parents
from weft.ops.array import array
from weft.ops.control.check import assert_greater_equal
from weft.ops.control.check_shapes import assert_rank
from weft.ops.kit.shared import is_tensor_like
from weft.ops.math import math


@dataclass
class _Known:
    """A point, what it is mapped to, and log-determinants there, by the rank of the event."""

    x: Any = None
    y: Any = None
    inverse_log_det: dict[Any, Any] = field(default_factory=dict)


def _snake(name: str) -> str:
    parts = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name.lstrip("_"))
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", parts).lower()


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((key, _hashable(value[key])) for key in sorted(value))
    if isinstance(value, list | tuple):
        return tuple(_hashable(item) for item in value)
    return value if isinstance(value, str | int | float | None) else id(value)


class Bijector:
    """A differentiable transform y = forward(x) with x = inverse(y)."""

    def __init__(
        self,
        graph_parents: Sequence[Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: DType | None = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ) -> None:
        ranks = _minimal_ranks(forward_min_event_ndims, inverse_min_event_ndims)
        self._forward_min_event_ndims, self._inverse_min_event_ndims = ranks
        self._graph_parents = checked_parents(graph_parents)
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = dtype
        self._name = name or _snake(type(self).__name__)
        self._constant_log_det: dict[Any, Any] = {}
        self._from_x: dict[Any, _Known] = {}
        self._from_y: dict[Any, _Known] = {}

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors it is made of."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self) -> int:
        """How many axes `forward` needs at least."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self) -> int:
        """How many axes `inverse` needs at least."""
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether volumes change by the same factor everywhere."""
        return self._is_constant_jacobian

    @property
    def _is_injective(self) -> bool:
        """Whether every y comes from one x; if not, `inverse` gives a tuple."""
        return True

    @property
    def validate_args(self) -> bool:
        """Whether arguments are checked, at the cost of time."""
        return self._validate_args

    @property
    def dtype(self) -> DType | None:
        """The type it transforms, or None if it takes all."""
        return self._dtype

    @property
    def name(self) -> str:
        """The scope of its nodes."""
        return self._name

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None, values: Any = None) -> Iterator[str]:
        with (
            name_scope(self.name),
            name_scope(name, values=[*(values or ()), *self._graph_parents]) as scope,
        ):
            yield scope

    # ---- shapes of events ------------------------------------------------------------------------

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return output_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return output_shape

    def forward_event_shape_tensor(
        self, input_shape: Any, name: str = "forward_event_shape_tensor"
    ) -> Tensor:
        """The shape of y for events x of `input_shape`."""
        with self._name_scope(name, [input_shape]):
            given = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
            return self._forward_event_shape_tensor(given)

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """The known shape of y."""
        return self._forward_event_shape(TensorShape(input_shape))

    def inverse_event_shape_tensor(
        self, output_shape: Any, name: str = "inverse_event_shape_tensor"
    ) -> Tensor:
        """The shape of x for events y of `output_shape`."""
        with self._name_scope(name, [output_shape]):
            given = convert_to_tensor(output_shape, dtype=dtypes.int32, name="output_shape")
            return self._inverse_event_shape_tensor(given)

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        """The known shape of x."""
        return self._inverse_event_shape(TensorShape(output_shape))

    # ---- the transform ---------------------------------------------------------------------------

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError("inverse not implemented")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _as_tensor(self, value: Any, name: str) -> Tensor:
        tensor = convert_to_tensor(value, name=name)
        if self.dtype is not None and self.dtype.base_dtype != tensor.dtype.base_dtype:
            raise TypeError(f"Input had dtype {self.dtype} but expected {tensor.dtype}.")
        return tensor

    def _known(self, x: Any, y: Any, kwargs: dict[str, Any]) -> _Known:
        key = _hashable(kwargs)
        found = self._from_x.get((id(x), key)) if y is None else self._from_y.get((id(y), key))
        return found or _Known(x, y)

    def _remember(self, known: _Known, kwargs: dict[str, Any]) -> None:
        """Keeps the tensors as well: an id is unique only while its tensor lives."""
        key = _hashable(kwargs)
        if known.x is not None:
            self._from_x[id(known.x), key] = known
        if known.y is not None:
            self._from_y[id(known.y), key] = known

    def _call_forward(self, x: Any, name: str = "forward", **kwargs: Any) -> Any:
        """y, for x under a condition."""
        with self._name_scope(name, [x]):
            x = self._as_tensor(x, "x")
            if not self._is_injective:
                return self._forward(x, **kwargs)
            known = self._known(x, None, kwargs)
            if known.y is None:
                known.y = self._forward(x, **kwargs)
                self._remember(known, kwargs)
            return known.y

    def _call_inverse(self, y: Any, name: str = "inverse", **kwargs: Any) -> Any:
        """x, for y under a condition."""
        with self._name_scope(name, [y]):
            y = self._as_tensor(y, "y")
            if not self._is_injective:
                return self._inverse(y, **kwargs)
            known = self._known(None, y, kwargs)
            if known.x is None:
                known.x = self._inverse(y, **kwargs)
                self._remember(known, kwargs)
            return known.x

    def forward(self, x: Any, name: str = "forward") -> Any:
        """y, for x."""
        return self._call_forward(x, name)

    def inverse(self, y: Any, name: str = "inverse") -> Any:
        """x, for y; all of them, if there are several."""
        return self._call_inverse(y, name)

    # ---- how volumes change ----------------------------------------------------------------------

    def _by_inverse(self, known: _Known, event_ndims: Any, kwargs: dict[str, Any]) -> Any:
        """log |det dx/dy| at y, which is computed if it must be."""
        if known.y is None:
            known.y = self._forward(known.x, **kwargs)
        found = self._inverse_log_det_jacobian(known.y, **kwargs)
        return self._summed(known.y, found, self.inverse_min_event_ndims, event_ndims)

    def _by_forward(self, known: _Known, event_ndims: Any, kwargs: dict[str, Any]) -> Any:
        """The same, as minus log |det dy/dx| at x."""
        if known.x is None:
            known.x = self._inverse(known.y, **kwargs)
        found = self._forward_log_det_jacobian(known.x, **kwargs)
        return self._summed(known.x, -found, self.forward_min_event_ndims, event_ndims)

    def _known_log_det(
        self, known: _Known, key: Any, event_ndims: Any, kwargs: dict[str, Any], forward: bool
    ) -> Any:
        """log |det dx/dy|, by the way that was asked for, or else by the other."""
        if key not in known.inverse_log_det:
            ways = [self._by_forward, self._by_inverse]
            first, second = ways if forward else reversed(ways)
            found = first_of(
                lambda: first(known, event_ndims, kwargs),
                lambda: second(known, event_ndims, kwargs),
            )
            self._keep_log_det(known, key, found, kwargs)
        return known.inverse_log_det[key]

    def _branches(self, y: Any, event_ndims: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The log-determinant of each branch of an inverse that has several."""
        try:
            found = self._inverse_log_det_jacobian(y, **kwargs)
            rank, points = self.inverse_min_event_ndims, [y] * len(found)
        except NotImplementedError:
            points = self._inverse(y, **kwargs)
            found = [-each for each in self._forward_log_det_jacobian(points, **kwargs)]
            rank = self.forward_min_event_ndims
        return tuple(
            self._summed(point, each, rank, event_ndims)
            for point, each in zip(points, found, strict=True)
        )

    def _call_inverse_log_det_jacobian(
        self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian", **kwargs: Any
    ) -> Any:
        """log |det dx/dy| under a condition."""
        with self._name_scope(name, [y]):
            key = _rank_key(event_ndims)
            if key in self._constant_log_det:
                return self._constant_log_det[key]
            y = self._as_tensor(y, "y")
            checks = self._rank_checks(self.inverse_min_event_ndims, event_ndims)
            with control_dependencies(checks):
                if not self._is_injective:
                    return self._branches(y, event_ndims, **kwargs)
                known = self._known(None, y, kwargs)
                return self._known_log_det(known, key, event_ndims, kwargs, forward=False)

    def _call_forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian", **kwargs: Any
    ) -> Any:
        """log |det dy/dx| under a condition."""
        if not self._is_injective:
            raise NotImplementedError(
                "forward_log_det_jacobian cannot be implemented for non-injective transforms."
            )
        with self._name_scope(name, [x]):
            checks = self._rank_checks(self.forward_min_event_ndims, event_ndims)
            key = _rank_key(event_ndims)
            with control_dependencies(checks):
                if key in self._constant_log_det:
                    return -1.0 * self._constant_log_det[key]
                x = self._as_tensor(x, "x")
                known = self._known(x, None, kwargs)
                return -self._known_log_det(known, key, event_ndims, kwargs, forward=True)

    def _keep_log_det(self, known: _Known, key: Any, value: Any, kwargs: dict[str, Any]) -> None:
        known.inverse_log_det[key] = value
        self._remember(known, kwargs)
        if self.is_constant_jacobian:
            self._constant_log_det[key] = value

    def inverse_log_det_jacobian(
        self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian"
    ) -> Any:
        """log |det dx/dy| of events that have `event_ndims` axes."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian"
    ) -> Any:
        """log |det dy/dx| of events that have `event_ndims` axes."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    def _summed(self, point: Tensor, log_det: Any, least: int, event_ndims: Any) -> Tensor:
        """The log-determinant, added up over the axes of an event beyond those needed."""
        rank = array.rank(point)
        log_det = convert_to_tensor(log_det)
        ones = array.ones(array.shape(point)[rank - event_ndims : rank - least], log_det.dtype)
        known = static_rank_of(event_ndims)
        if known is None:
            return math.reduce_sum(ones * log_det, axis=math.range(least - event_ndims, 0))
        axes = [-axis for axis in range(1, known - least + 1)]
        found = math.reduce_sum(ones * log_det, axis=axes)
        if point.dims is not None and log_det.dims is not None:
            count = len(point.dims)
            across = TensorShape(point.dims[count - known : count - least])
            shape = array.broadcast_static_shape(log_det.shape, across)
            if shape.ndims is not None:
                found.set_shape(shape[: shape.ndims - (known - least)])
        return found

    def _rank_checks(self, least: int, event_ndims: Any) -> list[Any]:
        rank = convert_to_tensor(event_ndims, name="event_ndims")
        if not rank.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {rank.dtype}")
        if rank.shape.ndims not in (0, None):
            raise ValueError(f"Expected scalar event_ndims, got shape {rank.shape}")
        known = constant_value(rank)
        if known is not None and least > known:
            raise ValueError(f"event_ndims ({known}) must be larger than min_event_ndims ({least})")
        checks: list[Any] = []
        if self.validate_args and known is None:
            checks.append(assert_greater_equal(rank, least))
        if self.validate_args and rank.shape.ndims is None:
            checks.append(assert_rank(rank, 0, message="Expected scalar."))
        return checks


class OfNumbers(Bijector):
    """A transform of single numbers, each without regard to the others of an event."""

    def __init__(self, validate_args: bool, name: str, is_constant_jacobian: bool = False) -> None:
        super().__init__(
            forward_min_event_ndims=0, is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args, name=name,
        )  # fmt: skip


def _minimal_ranks(forward: Any, inverse: Any) -> tuple[int, int]:
    if forward is None and inverse is None:
        raise ValueError(
            "Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`."
        )
    forward, inverse = (
        (inverse if forward is None else forward),
        (forward if inverse is None else inverse),
    )
    for name, rank in (("forward", forward), ("inverse", inverse)):
        if not isinstance(rank, int):
            kind = type(rank).__name__
            raise TypeError(f"Expected {name}_min_event_ndims to be of type int, got {kind}")
        if rank < 0:
            raise ValueError(f"{name}_min_event_ndims must be a non-negative integer.")
    return forward, inverse


def _rank_key(event_ndims: Any) -> Any:
    known = static_rank_of(event_ndims)
    return id(event_ndims) if known is None else known


def static_rank_of(event_ndims: Any) -> int | None:
    """A rank that may be a number, an array or a tensor, as a number if it is known."""
    value = constant_value(event_ndims) if is_tensor_like(event_ndims) else event_ndims
    if value is None:
        return None
    if isinstance(value, np.generic | np.ndarray):
        if value.dtype not in (np.int32, np.int64):
            raise ValueError(f"Expected integer dtype, got dtype {value.dtype}")
        if value.ndim:
            raise ValueError(f"Expected a scalar integer, got {value}")
    return int(value)
