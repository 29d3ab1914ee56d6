"""tfe.metrics: objects that gather numbers over calls, and give a result."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, name_scope
from weft.lib.functions.polymorphic import Function
from weft.lib.summary import summary_ops_v2
from weft.lib.train.checkpoint.objects import AutoTrackable
from weft.ops.array import array
from weft.ops.control import check
from weft.ops.control.cond import smart_cond
from weft.ops.control.control import group
from weft.ops.kit.eager import executing_eagerly
from weft.ops.math import math
from weft.ops.state.initializers import Zeros
from weft.ops.state.resource_variable import ResourceVariable


class Metric(AutoTrackable):
    """A metric: `build` makes its variables, `call` gathers, `result` tells."""

    def __init__(self, name: str | None = None, use_global_variables: bool = False) -> None:
        given = name or type(self).__name__
        self._name, self._use_global_variables = given, use_global_variables
        self._built = False
        self._vars: list[ResourceVariable] = []
        self._initial_values: list[Any] = []  # in eager execution
        self._scope = re.sub(r"[^A-Za-z0-9.]", "_", given)

    @property
    def name(self) -> str:
        return self._name

    @property
    def variables(self) -> list[ResourceVariable]:
        return self._vars

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Gathers from the arguments. While a graph is built, whatever of the results is fetched
        makes all updates of `call`, since it is a function there.
        """
        if not self._built:
            self.build(*args, **kwargs)
            self._built = True
        with name_scope(self._scope):
            if executing_eagerly():
                return self.call(*args, **kwargs)
            return self._call_as_function(*args, **kwargs)

    @functools.cached_property
    def _call_as_function(self) -> Function:
        return Function(self.call, "call", autograph=False)

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables, when it is called for the first time."""
        raise NotImplementedError("Metrics must define a build() member function")

    def call(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Any:
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Any:
        """The result; in eager execution, the function that gives it."""
        return self.result if executing_eagerly() else self.result()

    def init_variables(self) -> Any:
        """Back to the start: at once, or by the operation that is returned."""
        if not executing_eagerly():
            return group(*[variable.initializer for variable in self._vars])
        for variable, start in zip(self._vars, self._initial_values, strict=True):
            variable.assign(start)
        return None

    def aggregate(self, metrics: Iterable[Metric]) -> None:
        """Adds the variables of others of its kind to its own."""
        others = list(metrics)
        strange = [type(other) for other in others if type(other) is not type(self)]
        if strange:
            raise TypeError(f"All metrics must be the same type, '{type(self)}' != '{strange[0]}'.")
        for own, *theirs in zip(self._vars, *(other._vars for other in others), strict=True):
            if {each.name for each in theirs} - {own.name}:
                raise ValueError("All metrics must have variables in the same order.")
            own.assign_add(math.add_n([each.read_value() for each in theirs]))

    def add_variable(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None
    ) -> Any:
        """A variable of the metric; only `build` may make them."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        keys = GraphKeys
        own = keys.GLOBAL_VARIABLES if self._use_global_variables else keys.LOCAL_VARIABLES
        make = initializer or Zeros()
        make = make() if isinstance(make, type) else make
        variable = ResourceVariable(
            lambda: make(shape or (), dtype=dtype), trainable=False,
            collections=[own, keys.METRIC_VARIABLES], name=f"{self._scope}/{name}", dtype=dtype,
        )  # fmt: skip
        self._vars.append(variable)
        if executing_eagerly():
            self._initial_values.append(variable.read_value())
        return variable


class Mean(Metric):
    """The average of all values, weighted."""

    def __init__(
        self, name: str | None = None, dtype: Any = dtypes.float64,
        use_global_variables: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(name=name, use_global_variables=use_global_variables)
        self.dtype = dtypes.as_dtype(dtype)

    def build(self, *args: Any, **kwargs: Any) -> None:
        self.numer = self.add_variable("numer", (), self.dtype)
        self.denom = self.add_variable("denom", (), self.dtype)

    def call(self, values: Any, weights: Any = None) -> Any:
        """Gathers `values`; returns their sum, or the weighted values and the weights."""
        if weights is not None:
            return self._call_weighted(values, math.cast(weights, self.dtype))
        self.denom.assign_add(math.cast(array.size(values), self.dtype))
        total = math.reduce_sum(values)
        self.numer.assign_add(math.cast(total, self.dtype))
        return total

    def _call_weighted(self, values: Any, weights: Any) -> Any:
        self.denom.assign_add(math.reduce_sum(weights))
        values = math.cast(values, self.dtype) * weights
        self.numer.assign_add(math.reduce_sum(values))
        return values, weights

    def result(self, write_summary: Any = True) -> Any:
        """The average so far; also a summary, where those are recorded."""
        average = self.numer.read_value() / self.denom.read_value()

        def written() -> Any:
            summary_ops_v2.scalar(name=self.name, tensor=average)
            return array.identity(average)

        smart_cond(convert_to_tensor(write_summary), written, lambda: array.identity(average))
        return average


class _Matches(Mean):
    """The share of examples for which two tensors made of the arguments are equal."""

    def __init__(self, name: str | None = None, dtype: Any = dtypes.float64) -> None:
        super().__init__(name=name, dtype=dtype)

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return labels, predictions

    def _check_shapes(self, labels: Any, predictions: Any) -> None:
        check.assert_equal(
            array.shape(labels), array.shape(predictions),
            message="Shapes of labels and predictions are unequal",
        )  # fmt: skip

    def call(  # type: ignore[override]
        self, labels: Any, predictions: Any, weights: Any = None
    ) -> Any:
        """Gathers; returns what was compared, and the weights if there are any."""
        self._check_shapes(labels, predictions)
        labels, predictions = self._compared(labels, convert_to_tensor(predictions))
        super().call(math.cast(math.equal(labels, predictions), self.dtype), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class Accuracy(_Matches):
    """How often predictions are equal to labels."""


class CategoricalAccuracy(_Matches):
    """How often the largest prediction is where the label has its one."""

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return math.argmax(labels, axis=-1), math.argmax(predictions, axis=-1)


class BinaryAccuracy(_Matches):
    """How often a prediction is above a threshold where the label is not zero."""

    def __init__(
        self, threshold: float, name: str | None = None, dtype: Any = dtypes.float64
    ) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return math.cast(labels, dtypes.bool), predictions > self.threshold


class SparseAccuracy(_Matches):
    """How often the largest prediction is at the place that is the label."""

    def _check_shapes(self, labels: Any, predictions: Any) -> None:
        check.assert_equal(
            array.shape(labels), array.shape(predictions)[0],
            message="First axis of labels and predictions is unequal",
        )  # fmt: skip

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return math.cast(labels, dtypes.int64), math.argmax(predictions, axis=-1)
