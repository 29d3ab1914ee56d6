"""Metric: variables that batches are added to, and a result that is computed from them."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.graph import Tensor, control_dependencies, get_default_graph
from weft.lib.functions.polymorphic import Function
from weft.lib.keras import backend as K
from weft.lib.keras.backend.symbolic import eager_program, runs_eagerly
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.effects import with_effects
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.state.variables import VariableAggregation, VariableSynchronization


class Metric(Layer):
    """Base of all metrics.

    A subclass makes its variables in `__init__` with `add_weight`, adds a batch to them in
    `update_state(...)`, and computes the metric in `result()`.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        # On the object, so that a method can call that of its base class as it is.
        update, result = _as_function(made.update_state), made.result
        for name, method in (("update_state", _update(update)), ("result", _result(result))):
            object.__setattr__(made, name, types.MethodType(method, made))
        return made

    def __init__(self, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.stateful = True
        self.built = True
        self._dtype = K.floatx() if dtype is None else dtypes.as_dtype(dtype).name

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Adds a batch, and gives the result with it."""
        with control_dependencies([self.update_state(*args, **kwargs)]):
            result = self.result()
        result._metric_obj = self
        return result

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("Must be implemented in subclasses.")

    def result(self) -> Any:
        raise NotImplementedError("Must be implemented in subclasses.")

    def reset_states(self) -> None:
        """Starts again: all variables are zero."""
        K.batch_set_value([(v, np.zeros(v.shape.as_list())) for v in self.variables])

    def add_weight(  # type: ignore[override]
        self,
        name: str,
        shape: Any = (),
        aggregation: Any = VariableAggregation.SUM,
        synchronization: Any = VariableSynchronization.ON_READ,
        initializer: Any = None,
        dtype: Any = None,
    ) -> Any:
        """Makes a variable that is part of the metric; it is in no collection."""
        return super().add_weight(
            name=name,
            shape=shape,
            dtype=self._dtype if dtype is None else dtype,
            trainable=False,
            initializer=initializer,
            collections=[],
            synchronization=synchronization,
            aggregation=aggregation,
        )

    def _add_zeros(self, *names: str, shape: Any = ()) -> None:
        """Makes variables that start at zero attributes of the same names."""
        for name in names:
            setattr(self, name, self.add_weight(name, shape=shape, initializer="zeros"))

    def get_config(self) -> dict[str, Any]:
        return {"name": self.name, "dtype": self.dtype}


def _is_ours(method: Any) -> bool:
    return type(method.__self__).__module__.startswith("weft.lib.keras.metrics")


def _as_function(method: Any) -> Any:
    """A method of the user's, so that its effects happen as written; in a graph, one operation."""
    graph = get_default_graph()
    if _is_ours(method) or graph.building_function:
        return method
    if eager_program() is None:
        return Function(method, "update_state")
    return functools.partial(_in_order, method)


def _update(method: Callable[..., Any]) -> Callable[..., Any]:
    """Keeps the update among those of the metric, as one operation."""

    def update_state(metric: Metric, *args: Any, **kwargs: Any) -> Any:
        updated = method(*args, **kwargs)
        if updated is not None:
            metric.add_update(updated)
        return updated

    return update_state


def _in_order(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Runs a method whose effects are meant to happen as written, and returns them as one."""
    if runs_eagerly():
        return method(*args, **kwargs)
    _, effects = with_effects(method, *args, **kwargs)
    return control.group(*effects)


def _result(method: Callable[..., Any]) -> Callable[..., Any]:
    """Remembers the latest result, which training reports."""

    def result(metric: Any, *args: Any) -> Tensor:
        metric._call_result = array.identity(method(*args))
        return metric._call_result

    return result


def clone_metric(metric: Any) -> Any:
    """A metric of the same configuration with variables of its own."""
    if not isinstance(metric, Metric):
        return metric
    return type(metric).from_config(metric.get_config())


def clone_metrics(metrics: Any) -> Any:
    """As `clone_metric`, for each of a list or dictionary."""
    if isinstance(metrics, dict):
        return {name: clone_metric(metric) for name, metric in metrics.items()}
    return None if metrics is None else list(map(clone_metric, metrics))
