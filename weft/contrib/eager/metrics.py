"""tfe.metrics: objects that gather numbers over calls, and give a result."""

from __future__ import annotations

import re
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.ops import array, check, math
from weft.ops.control import group
from weft.ops.eager import executing_eagerly
from weft.ops.initializers import Zeros
from weft.ops.resource_variable import ResourceVariable
from weft.summary import summary_ops_v2
from weft.train.checkpoint_objects import AutoTrackable


class Metric(AutoTrackable):
    """A metric: `build` makes its variables, `call` gathers, `result` tells."""

    def __init__(self, name: str | None = None, use_global_variables: bool = False) -> None:
        given = name or type(self).__name__
        self._name, self._use_global_variables = given, use_global_variables
        self._built = False
        self._vars: list[ResourceVariable] = []
        self._scope = re.sub(r"[^A-Za-z0-9.]", "_", given)

    @property
    def name(self) -> str:
        return self._name

    @property
    def variables(self) -> list[ResourceVariable]:
        return self._vars

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Gathers from the arguments; of a graph's session, the operation that does."""
        if not self._built:
            self.build(*args, **kwargs)
            self._built = True
        with name_scope(self._scope):
            return self.call(*args, **kwargs)

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables, when it is called for the first time."""

    def call(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Any:
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Any:
        """The result."""
        return self.result()

    def init_variables(self) -> Any:
        """Back to the start."""
        if executing_eagerly():
            for variable in self._vars:
                variable.assign(array.zeros(variable.shape, variable.dtype))
            return None
        return group(*[variable.initializer for variable in self._vars])

    def add_variable(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None
    ) -> Any:
        """A variable of the metric; only `build` may make them."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        key = "variables" if self._use_global_variables else "local_variables"
        make = initializer or Zeros()
        variable = ResourceVariable(
            lambda: make(shape or (), dtype=dtype), trainable=False, collections=[key],
            name=f"{self._scope}/{name}", dtype=dtype,
        )  # fmt: skip
        self._vars.append(variable)
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
        """Gathers `values`; returns them, with the weights if there are any."""
        values = convert_to_tensor(values)
        if weights is None:
            count = math.cast(array.size(values), self.dtype)
            total = math.reduce_sum(math.cast(values, self.dtype))
        else:
            weight = math.cast(weights, self.dtype)
            count = math.reduce_sum(weight)
            total = math.reduce_sum(math.cast(values, self.dtype) * weight)
        updates = [self.denom.assign_add(count), self.numer.assign_add(total)]
        with control_dependencies([] if executing_eagerly() else updates):
            return _passed(values) if weights is None else (_passed(values), _passed(weights))

    def result(self, write_summary: bool = True) -> Any:
        """The average so far; also a summary, where those are recorded."""
        average = self.numer.read_value() / self.denom.read_value()
        if write_summary:
            summary_ops_v2.scalar(name=self.name, tensor=average)
        return average


def _passed(value: Any) -> Any:
    return array.identity(convert_to_tensor(value))


class Accuracy(Mean):
    """How often predictions are equal to labels."""

    def __init__(
        self, name: str | None = None, dtype: Any = dtypes.float64,
        use_global_variables: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(name, dtype, use_global_variables)

    def _matches(self, labels: Any, predictions: Any) -> Any:
        check.assert_equal(
            array.shape(labels), array.shape(predictions),
            message="Shapes of labels and predictions are unequal",
        )  # fmt: skip
        return raw.Equal(labels, predictions)

    def call(  # type: ignore[override]
        self, labels: Any, predictions: Any, weights: Any = None
    ) -> Any:
        """Gathers; returns its arguments."""
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        super().call(math.cast(self._matches(labels, predictions), self.dtype), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class CategoricalAccuracy(Accuracy):
    """How often the largest prediction is where the label has its one."""

    def _matches(self, labels: Any, predictions: Any) -> Any:
        return raw.Equal(raw.ArgMax(labels, -1), raw.ArgMax(predictions, -1))


class BinaryAccuracy(Accuracy):
    """How often predictions, as against a threshold, are equal to labels of zeros and ones."""

    def __init__(
        self, threshold: float, name: str | None = None, dtype: Any = dtypes.float64,
    ) -> None:  # fmt: skip
        super().__init__(name, dtype)
        self.threshold = threshold

    def _matches(self, labels: Any, predictions: Any) -> Any:
        predicted = math.cast(predictions > self.threshold, labels.dtype)
        return raw.Equal(raw.Round(labels), predicted)


class SparseAccuracy(Accuracy):
    """How often the largest prediction is at the place that is the label."""

    def _matches(self, labels: Any, predictions: Any) -> Any:
        if labels.shape.ndims == predictions.shape.ndims:
            labels = array.squeeze(labels, [-1])
        best = raw.ArgMax(predictions, -1)
        return raw.Equal(math.cast(labels, best.dtype), best)
