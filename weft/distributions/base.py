"""Distribution: what all distributions share.

A distribution implements methods with an underscore (`_log_prob`, `_mean`, ...); the public ones
open name scopes, convert arguments, and fall back on one another: `prob` on `exp(log_prob)`, ...
Shapes of batches and events follow from its parameters (parameter.py) unless it says otherwise.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape, as_shape
from weft.distributions import kullback_leibler, parameter, sample_shapes
from weft.distributions.reparameterization import ReparameterizationType
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops import array, math
from weft.ops.control import with_dependencies
from weft.ops.kernels import is_tensor_like
from weft.ops.select import where_v2


def first_of(*ways: Callable[[], Any]) -> Any:
    """The result of the first way that is implemented, or else the first way's error."""
    error = None
    for way in ways:
        try:
            return way()
        except NotImplementedError as problem:
            error = error or problem
    assert error is not None
    raise error


class Distribution:
    """A batch of distributions of one family."""

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

    # ---- samples ---------------------------------------------------------------------------------

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        raise self._missing("sample_n")

    def _draws(self, n: Any) -> Tensor:
        """[n] + batch shape: what `_sample_n` of a distribution of numbers draws."""
        return array.concat([[n], self.batch_shape_tensor()], 0)

    def _call_sample_n(
        self, sample_shape: Any, seed: int | None, name: str, **kwargs: Any
    ) -> Tensor:
        with self._name_scope(name, values=[sample_shape]):
            shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            shape, n = sample_shapes.as_vector(shape, "sample_shape")
            samples = self._sample_n(n, seed, **kwargs)
            whole = array.concat([shape, array.shape(samples)[1:]], 0)
            samples = self._from_base(array.reshape(samples, whole), **kwargs)
            return sample_shapes.set_static_shape(self, samples, shape)

    def _from_base(self, samples: Tensor, **kwargs: Any) -> Tensor:
        """What samples become, once they have their shape."""
        return samples

    def sample(
        self, sample_shape: Any = (), seed: int | None = None, name: str = "sample"
    ) -> Tensor:
        """`sample_shape` samples of every distribution of the batch."""
        return self._call_sample_n(sample_shape, seed, name)

    # ---- probabilities ---------------------------------------------------------------------------

    def _log_prob(self, value: Any) -> Tensor:
        raise self._missing("log_prob")

    def _prob(self, value: Any) -> Tensor:
        raise self._missing("prob")

    def _log_cdf(self, value: Any) -> Tensor:
        raise self._missing("log_cdf")

    def _cdf(self, value: Any) -> Tensor:
        raise self._missing("cdf")

    def _log_survival_function(self, value: Any) -> Tensor:
        raise self._missing("log_survival_function")

    def _survival_function(self, value: Any) -> Tensor:
        raise self._missing("survival_function")

    def _quantile(self, value: Any) -> Tensor:
        raise self._missing("quantile")

    @contextlib.contextmanager
    def _given(self, value: Any, name: str) -> Iterator[Tensor]:
        with self._name_scope(name, values=[value]):
            yield convert_to_tensor(value, name="value", preferred_dtype=self.dtype)

    def _call_log_prob(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._log_prob(x, **kwargs), lambda: math.log(self._prob(x, **kwargs))
            )

    def _call_prob(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._prob(x, **kwargs), lambda: math.exp(self._log_prob(x, **kwargs))
            )

    def _call_log_cdf(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._log_cdf(x, **kwargs), lambda: math.log(self._cdf(x, **kwargs))
            )

    def _call_cdf(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._cdf(x, **kwargs), lambda: math.exp(self._log_cdf(x, **kwargs))
            )

    def _call_log_survival_function(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._log_survival_function(x, **kwargs),
                lambda: math.log1p(-self.cdf(x, **kwargs)),
            )

    def _call_survival_function(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return first_of(
                lambda: self._survival_function(x, **kwargs),
                lambda: 1.0 - self.cdf(x, **kwargs),
            )

    def _call_quantile(self, value: Any, name: str, **kwargs: Any) -> Tensor:
        with self._given(value, name) as x:
            return self._quantile(x, **kwargs)

    def log_prob(self, value: Any, name: str = "log_prob") -> Tensor:
        """The logarithm of the density, or of the probability of a discrete value."""
        return self._call_log_prob(value, name)

    def prob(self, value: Any, name: str = "prob") -> Tensor:
        """The density, or the probability of a discrete value."""
        return self._call_prob(value, name)

    def log_cdf(self, value: Any, name: str = "log_cdf") -> Tensor:
        """The logarithm of P[X <= value]."""
        return self._call_log_cdf(value, name)

    def cdf(self, value: Any, name: str = "cdf") -> Tensor:
        """P[X <= value]"""
        return self._call_cdf(value, name)

    def log_survival_function(self, value: Any, name: str = "log_survival_function") -> Tensor:
        """The logarithm of P[X > value]."""
        return self._call_log_survival_function(value, name)

    def survival_function(self, value: Any, name: str = "survival_function") -> Tensor:
        """P[X > value]"""
        return self._call_survival_function(value, name)

    def quantile(self, value: Any, name: str = "quantile") -> Tensor:
        """x with P[X <= x] = value."""
        return self._call_quantile(value, name)

    # ---- statistics ------------------------------------------------------------------------------

    def _entropy(self) -> Tensor:
        raise self._missing("entropy")

    def _mean(self) -> Tensor:
        raise self._missing("mean")

    def _variance(self) -> Tensor:
        raise self._missing("variance")

    def _stddev(self) -> Tensor:
        raise self._missing("stddev")

    def _covariance(self) -> Tensor:
        raise self._missing("covariance")

    def _mode(self) -> Tensor:
        raise self._missing("mode")

    def entropy(self, name: str = "entropy") -> Tensor:
        """Shannon's entropy, in nats."""
        with self._name_scope(name):
            return self._entropy()

    def mean(self, name: str = "mean") -> Tensor:
        """The mean."""
        with self._name_scope(name):
            return self._mean()

    def variance(self, name: str = "variance") -> Tensor:
        """The variance of each component."""
        with self._name_scope(name):
            return first_of(self._variance, lambda: math.square(self._stddev()))

    def stddev(self, name: str = "stddev") -> Tensor:
        """The standard deviation of each component."""
        with self._name_scope(name):
            return first_of(self._stddev, lambda: math.sqrt(self._variance()))

    def covariance(self, name: str = "covariance") -> Tensor:
        """The covariance of the components of a vector."""
        with self._name_scope(name):
            return self._covariance()

    def mode(self, name: str = "mode") -> Tensor:
        """The most probable value."""
        with self._name_scope(name):
            return self._mode()

    def _cross_entropy(self, other: Distribution) -> Tensor:
        return kullback_leibler.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def _kl_divergence(self, other: Distribution) -> Tensor:
        return kullback_leibler.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Tensor:
        """The expectation of -log_prob of `other` under this distribution."""
        with self._name_scope(name):
            return self._cross_entropy(other)

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Tensor:
        """How far `other` is from this distribution: KL[self || other]."""
        with self._name_scope(name):
            return self._kl_divergence(other)

    def _where_defined(self, defined: Any, value: Tensor, checks: Callable[[], Any]) -> Tensor:
        """`value` where a statistic is defined; elsewhere NaN or, if not allowed, an error."""
        if not self.allow_nan_stats:
            return with_dependencies(checks(), value)
        nan = np.array(np.nan, self.dtype.as_numpy_dtype)
        return where_v2(defined(), value, array.fill(array.shape(value), nan, name="nan"))
