"""The description of a distribution: name, arguments, shapes of its batch and its events.

Shapes follow from its parameters (parameter.py) unless it says otherwise.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape, as_shape
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions import parameter, sample_shapes
from weft.lib.distributions.checks import checking
from weft.lib.distributions.reparameterization import FULLY_REPARAMETERIZED, ReparameterizationType
from weft.ops.array import array
from weft.ops.control.check_types import assert_same_float_dtype
from weft.ops.kit.shared import is_tensor_like


def keeps_arguments(init: Callable[..., None]) -> Any:
    """A constructor that keeps its arguments, for `parameters` and `copy`."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        self._parameters = dict(given.arguments)

    construct.__signature__ = signature  # type: ignore[attr-defined]
    return construct


def checked_parents(parents: Sequence[Any] | None) -> list[Any]:
    """The tensors that a distribution or a transform says it is made of."""
    for i, parent in enumerate(parents or ()):
        if parent is None or not is_tensor_like(parent):
            raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
    return list(parents or ())


def _own_scope(name: str) -> str:
    """A new scope of this name; one that ends with a slash is open already."""
    if name.endswith("/"):
        return name
    with name_scope(name) as scope:
        return scope


def _known_sizes(shape: Any) -> Any:
    """A shape, as a list if it is a `TensorShape`."""
    if not isinstance(shape, TensorShape):
        return shape
    if not shape.is_fully_defined():
        raise ValueError("TensorShape sample_shape must be fully defined")
    return shape.as_list()


class Described:
    """The part of a `Distribution` that says what it is a distribution of."""

    _reparameterization = FULLY_REPARAMETERIZED  # unless a class says otherwise

    def __init__(
        self,
        dtype: DType,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> None:
        self._graph_parents = checked_parents(graph_parents)
        self._name = _own_scope(name or type(self).__name__)
        self._dtype, self._reparameterization_type = dtype, reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._parameters = parameters or {}

    @contextlib.contextmanager
    def _made_of(self, given: dict[str, Any], *names: str, like: str) -> Iterator[str]:
        """The scope in which a constructor makes its parameters, and is described by them after.

        `given` are the arguments, `names` those of them whose graph it is; samples have the type
        that is asked for, or that of the parameter `like`.
        """
        with name_scope(given["name"], values=[given[each] for each in names]) as scope:
            yield scope
        kind = given.get("dtype") or getattr(self, like).dtype
        asked = given["validate_args"], given["allow_nan_stats"]
        Described.__init__(
            self, kind, self._reparameterization, *asked, None, parameter.tensors(self), scope
        )

    def _keep(
        self, validate_args: bool, checks: Callable[[], Sequence[Any]], **tensors: Any
    ) -> None:
        """Keeps numbers of one type under their names; they are there after `checks`."""
        with checking(validate_args, checks):
            for name, value in tensors.items():
                setattr(self, name, array.identity(value, name=name))
        if len(tensors) > 1:
            assert_same_float_dtype([getattr(self, name) for name in tensors])

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The scope of its nodes."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The type of samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments it was constructed with."""
        given = self._parameters.items()
        return {name: v for name, v in given if not name.startswith("__") and name != "self"}

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether gradients flow through samples."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether statistics that are not defined are NaN; otherwise they are errors."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether arguments are checked, at the cost of time."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """Another one, constructed with the same arguments but for those given."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    def __str__(self) -> str:
        parts = [f'"{self.name}"']
        if self.batch_shape.ndims is not None:
            parts.append(f"batch_shape={self.batch_shape}")
        if self.event_shape.ndims is not None:
            parts.append(f"event_shape={self.event_shape}")
        return (
            f"tfp.distributions.{type(self).__name__}({', '.join(parts)}, dtype={self.dtype.name})"
        )

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape}"
            f" event_shape={self.event_shape} dtype={self.dtype.name}>"
        )

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None, values: Any = None) -> Iterator[str]:
        with (
            name_scope(self.name),
            name_scope(name, values=[*(values or ()), *self._graph_parents]) as scope,
        ):
            yield scope

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{what} is not implemented: {type(self).__name__}")

    # ---- shapes ----------------------------------------------------------------------------------

    @classmethod
    def param_shapes(cls, sample_shape: Any, name: str = "DistributionParamShapes") -> Any:
        """Shapes of parameters with which a sample has `sample_shape`, as tensors."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, TensorShape]:
        """Shapes of parameters with which a sample has `sample_shape`, which must be known."""
        found = cls.param_shapes(_known_sizes(sample_shape))
        shapes = {name: constant_value(shape) for name, shape in found.items()}
        if any(value is None for value in shapes.values()):
            raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
        return {name: TensorShape(value) for name, value in shapes.items()}

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        names = parameter.arguments(cls)
        if not names:
            raise NotImplementedError("_param_shapes not implemented")
        return dict.fromkeys(names, convert_to_tensor(sample_shape, dtype=dtypes.int32))

    def _batch_shape_tensor(self) -> Tensor:
        return parameter.batch_shape_tensor(self, lambda: self._missing("batch_shape_tensor"))

    def _batch_shape(self) -> Any:
        return parameter.batch_shape(self)

    def _event_shape_tensor(self) -> Tensor:
        found = parameter.event_parameter(self)
        if found is None:
            raise self._missing("event_shape_tensor")
        tensor, rank = found
        return constant([], dtypes.int32) if tensor is None else array.shape(tensor)[-rank:]

    def _event_shape(self) -> Any:
        found = parameter.event_parameter(self)
        if found is None:
            return TensorShape(None)
        tensor, rank = found
        return [] if tensor is None else tensor.shape.with_rank_at_least(rank)[-rank:]

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the batch, as far as it is known."""
        return as_shape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one sample, as far as it is known."""
        return as_shape(self._event_shape())

    def _shape_tensor(self, known: TensorShape, name: str, build: Callable[[], Tensor]) -> Tensor:
        if known.is_fully_defined():
            return convert_to_tensor(known.as_list(), dtype=dtypes.int32, name=name)
        return build()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch."""
        with self._name_scope(name):
            return self._shape_tensor(self.batch_shape, "batch_shape", self._batch_shape_tensor)

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """The shape of one sample."""
        with self._name_scope(name):
            return self._shape_tensor(self.event_shape, "event_shape", self._event_shape_tensor)

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether samples are single numbers."""
        with self._name_scope(name):
            return sample_shapes.is_scalar(self.event_shape, self.event_shape_tensor, name)

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether it is one distribution."""
        with self._name_scope(name):
            return sample_shapes.is_scalar(self.batch_shape, self.batch_shape_tensor, name)
