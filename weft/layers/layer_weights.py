"""The weights of a layer: variables in a scope of its own, made on the first call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.graph import get_default_graph, name_scope
from weft.graph.stacks import get_default_session
from weft.layers import named
from weft.ops import variable_scope as vs
from weft.ops.partitioned_variable import PartitionedVariable
from weft.ops.variables import (
    VariableAggregation,
    VariableSynchronization,
    global_variables,
    trainable_variables,
)


class LayerWeights:
    name: Any
    built: bool
    add_loss: Callable[..., None]
    _base_name: str
    _keras_style: bool

    def __init__(self, trainable: bool, dtype: Any, reuse: Any) -> None:
        self._trainable = trainable
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self._reuse = reuse
        self._use_resource_variables = False
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._scope: Any = None
        self._current_scope: Any = None

    @property
    def dtype(self) -> Any:
        """The name of the type of the layer's variables, or None until its inputs tell."""
        return self._dtype

    @property
    def trainable(self) -> bool:
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value

    @property
    def trainable_weights(self) -> list[Any]:
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        if self.trainable:
            return list(self._non_trainable_weights)
        return self._trainable_weights + self._non_trainable_weights

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        return self.weights

    @property
    def trainable_variables(self) -> list[Any]:
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self.non_trainable_weights

    def count_params(self) -> int:
        """The number of scalars in the weights."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You "
                "can build it manually via: "
                f"`{self.name}.build(batch_input_shape)`."
            )
        return sum(int(np.prod(weight.shape.as_list())) for weight in self.weights)

    def get_weights(self) -> list[np.ndarray]:
        """The values of the weights in the default session."""
        return _session("get_weights").run(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Assigns arrays to the weights, in their order, in the default session."""
        params = self.weights
        if len(params) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of '
                f"length {len(weights)}, but the layer was expecting {len(params)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        for param, value in zip(params, weights, strict=True):
            if not param.shape.is_compatible_with(np.shape(value)):
                raise ValueError(
                    f"Layer weight shape {param.shape} not compatible with provided weight shape "
                    f"{np.shape(value)}"
                )
        session = _session("set_weights")
        for param, value in zip(params, weights, strict=True):
            param.load(value, session)

    def _name_scope(self) -> str:
        if self._keras_style:
            return self.name
        return self._current_scope.original_name_scope

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            opened = vs.variable_scope(scope if scope is not None else self._base_name)
        else:
            opened = vs.variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        partitioner: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Makes the variable `name` in the layer's scope, or shares the one it has."""
        for unknown in kwargs:
            if unknown != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", unknown)
        trainable = self._is_trainable(trainable, synchronization)
        dtype = dtypes.as_dtype(dtype or self.dtype or dtypes.float32)
        if self._dtype is None:
            self._dtype = dtype.base_dtype.name
        settings = {
            "dtype": dtype,
            "trainable": trainable,
            "constraint": constraint,
            "partitioner": partitioner,
            "synchronization": synchronization,
            "aggregation": aggregation,
        }
        if self._keras_style:
            return self._own_variable(name, shape, initializer, regularizer, settings)
        settings["use_resource"] = use_resource or self._use_resource_variables
        return self._shared_variable(name, shape, initializer, regularizer, settings)

    def _is_trainable(self, trainable: bool | None, synchronization: Any) -> bool:
        if synchronization == VariableSynchronization.ON_READ:
            if trainable:
                raise ValueError(
                    "Synchronization value can be set to VariableSynchronization.ON_READ only for "
                    "non-trainable variables. You have specified trainable=True and "
                    "synchronization=VariableSynchronization.ON_READ."
                )
            return False
        return (True if trainable is None else trainable) and self.trainable

    def _own_variable(
        self, name: str, shape: Any, initializer: Any, regularizer: Any, settings: dict[str, Any]
    ) -> Any:
        """A new variable, whatever others are called."""
        existing = set(global_variables())
        initial = self._initializer_for(initializer, name, settings["dtype"])
        with (
            name_scope(self.name),
            vs.variable_scope(
                vs.VariableScope(False, name=get_default_graph().get_name_scope()),
                auxiliary_name_scope=False,
            ),
        ):
            variable = vs.get_variable(
                name, shape, initializer=initial, use_resource=True, **settings
            )
        self._keep(name, variable, settings["trainable"], regularizer, existing)
        return variable

    def _shared_variable(
        self, name: str, shape: Any, initializer: Any, regularizer: Any, settings: dict[str, Any]
    ) -> Any:
        """A variable of the layer's scope, which may exist."""
        existing = set(global_variables())
        self._set_scope(None)
        with vs.variable_scope(
            self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False
        ) as scope:
            self._current_scope = scope
            settings["use_resource"] = settings["use_resource"] or scope.use_resource
            with name_scope(self._name_scope()):
                given = scope.initializer if initializer is None else initializer
                initial = self._initializer_for(given, name, settings["dtype"])
                shape = () if shape is None else shape
                variable = vs.get_variable(name, shape, initializer=initial, **settings)
                self._keep(name, variable, settings["trainable"], regularizer, existing)
        return variable

    def _initializer_for(self, given: Any, name: str, dtype: dtypes.DType) -> Any:
        initializer = named.initializer(given)
        if initializer is not None:
            return initializer
        if dtype.is_floating:
            return named.initializer("glorot_uniform")
        if dtype.is_integer or dtype.is_bool:
            return named.initializer("zeros")
        raise ValueError(
            f"An initializer for variable {name} of type {dtype.base_dtype} is required for layer "
            f"{self.name}"
        )

    def _keep(
        self, name: str, variable: Any, trainable: bool, regularizer: Any, existing: set[Any]
    ) -> None:
        """Lists a variable that is new to this layer, and what its regularizer costs."""
        parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
        if regularizer and not any(part in existing for part in parts):
            for part in parts:
                self.add_loss(functools.partial(_regularization, name, part, regularizer))
        # A custom getter may have made it untrainable.
        known = trainable_variables()
        if trainable and any(part is v for part in parts for v in known):
            self._trainable_weights.append(variable)
        else:
            self._non_trainable_weights.append(variable)

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Another name of `add_weight`."""
        return self.add_weight(*args, **kwargs)


def _session(wanted_by: str) -> Any:
    session = get_default_session()
    if session is None:
        raise ValueError(f"`{wanted_by}` needs a default session: call it in `with session:`.")
    return session


def _regularization(name: str, variable: Any, regularizer: Callable[..., Any]) -> Any:
    with name_scope(name + "/Regularizer"):
        return regularizer(variable)
