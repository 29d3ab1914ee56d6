"""What a distribution is: its name, its arguments, the shapes of its batch and of its events.

Shapes follow from its parameters (parameter.py) unless it says otherwise.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape, as_shape
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions import parameter, sample_shapes
from weft.lib.distributions.reparameterization import ReparameterizationType
from weft.ops.array import array
from weft.ops.kit.shared import is_tensor_like


class Described:
    """The part of a `Distribution` that says what it is a distribution of."""

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
        for i, parent in enumerate(graph_parents or ()):
            if parent is None or not is_tensor_like(parent):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        if not name or name[-1] != "/":  # a name that ends so is of a scope already open
            with name_scope(name or type(self).__name__) as name:
                pass
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._allow_nan_stats = allow_nan_stats
        self._validate_args = validate_args
        self._parameters = parameters or {}
        self._graph_parents = list(graph_parents or ())
        self._name = name

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
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        static = {}
        for name, shape in cls.param_shapes(sample_shape).items():
            value = constant_value(shape)
            if value is None:
                raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
            static[name] = TensorShape(value)
        return static

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
