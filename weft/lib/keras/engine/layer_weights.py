"""The weights of a layer: its own variables and those of the layers inside it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import init_scope, name_scope
from weft.lib.keras import constraints, initializers, regularizers
from weft.lib.keras.backend.config import floatx
from weft.lib.keras.backend.graph_state import track_variable
from weft.ops.state.partitioned_variable import PartitionedVariable
from weft.ops.state.variables import Variable, VariableAggregation, VariableSynchronization


def make_variable(
    name: str,
    shape: Any = None,
    dtype: Any = dtypes.float32,
    initializer: Any = None,
    use_resource: bool | None = None,
    partitioner: Any = None,
    **settings: Any,
) -> Any:
    """A new variable, whatever others are called; never in parts."""
    initial_value, kept_dtype = initializer, None
    if callable(initializer):
        with init_scope():
            make = initializer() if isinstance(initializer, type) else initializer
        initial_value, kept_dtype = lambda: make(shape, dtype=dtype), dtype.base_dtype
    return Variable(
        initial_value=initial_value,
        name=name,
        dtype=kept_dtype,
        use_resource=True if use_resource is None else use_resource,
        shape=TensorShape(shape) if shape else None,
        **settings,
    )


class LayerWeights:
    name: Any
    built: bool
    dtype: Any
    _dtype: Any
    _layers: Any
    _trainable: bool
    _trainable_weights: list[Any]
    _non_trainable_weights: list[Any]
    _gather_children_attribute: Callable[[str], list[Any]]
    _own_what_was_appended: Callable[[], None]
    add_loss: Callable[..., None]

    # ---- which ----

    @property
    def trainable(self) -> bool:
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        for layer in self._layers:
            layer.trainable = value

    @property
    def trainable_weights(self) -> list[Any]:
        self._own_what_was_appended()
        if not self.trainable:
            return []
        return self._trainable_weights + self._gather_children_attribute("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[Any]:
        self._own_what_was_appended()
        if self.trainable:
            nested = self._gather_children_attribute("non_trainable_weights")
            return self._non_trainable_weights + nested
        own = self._trainable_weights + self._non_trainable_weights
        return own + self._gather_children_attribute("weights")

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    @property
    def variables(self) -> Any:
        return self.weights

    @property
    def trainable_variables(self) -> Any:
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self.non_trainable_weights

    @property
    def _unique_trainable_weights(self) -> list[Any]:
        """As `trainable_weights`; what several layers share comes once."""
        return list({id(w): w for w in self.trainable_weights}.values())

    # ---- values ----

    def count_params(self) -> int:
        """The number of scalars in the weights."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You "
                f"can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return sum(int(np.prod(weight.shape.as_list())) for weight in self.weights)

    def get_weights(self) -> list[np.ndarray]:
        """The values of the weights in Keras's session."""
        from weft.lib.keras.backend.session import batch_get_value

        return batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Assigns arrays to the weights, in their order, in Keras's session."""
        from weft.lib.keras.backend.session import batch_set_value

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
        if params:
            batch_set_value(list(zip(params, weights, strict=True)))

    # ---- making ----

    def add_weight(
        self,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        partitioner: Any = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        **kwargs: Any,
    ) -> Any:
        """Makes a variable that is part of the layer.

        `kwargs` may be `getter` (what makes it), `collections` and `experimental_autocast`.
        """
        for unknown in kwargs.keys() - {"getter", "collections", "experimental_autocast"}:
            raise TypeError("Unknown keyword argument:", unknown)
        dtype = dtypes.as_dtype(dtype or self.dtype or floatx())
        if self.dtype is None:
            self._dtype = dtype.base_dtype.name
        trainable = _is_trainable(trainable, synchronization)
        variable = kwargs.get("getter", make_variable)(
            name=name,
            shape=() if shape is None else shape,
            dtype=dtype,
            initializer=self._initializer_for(initializer, name, dtype),
            trainable=trainable,
            constraint=constraints.get(constraint),
            partitioner=partitioner,
            use_resource=use_resource,
            collections=kwargs.get("collections"),
            synchronization=synchronization,
            aggregation=aggregation,
        )
        variable = self._readable(variable, kwargs.get("experimental_autocast", True))
        self.keep_weight(variable, trainable, name)
        if regularizer is not None:
            self._add_weight_regularization(
                variable.name.partition(":")[0], variable, regularizers.get(regularizer)
            )
        return variable

    def keep_weight(self, variable: Any, trainable: bool, name: str | None = None) -> None:
        """Lists a variable among the weights of the layer; `name` is for checkpoints."""
        for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
            track_variable(part)
        (self._trainable_weights if trainable else self._non_trainable_weights).append(variable)
        self.__dict__.setdefault("_added_weights", []).append((name, variable))

    def _readable(self, variable: Any, autocast: bool) -> Any:
        """`variable`, or what reads it in the type that the layer computes in."""
        if not (autocast and self._casts_variables):  # type: ignore[attr-defined]
            return variable
        from weft.lib.keras.mixed_precision.autocast_variable import AutoCastVariable

        return AutoCastVariable(variable)

    def _initializer_for(self, given: Any, name: Any, dtype: dtypes.DType) -> Any:
        initializer = initializers.get(given)
        if initializer is not None:
            return initializer
        if dtype.is_floating:
            return initializers.get("glorot_uniform")
        if dtype.is_integer or dtype.is_bool:
            return initializers.get("zeros")
        raise ValueError(
            f"An initializer for variable {name} of type {dtype.base_dtype} is required for layer "
            f"{self.name}"
        )

    def _add_weight_regularization(self, name: str, variable: Any, regularizer: Any) -> None:
        """A loss that is made anew whenever losses are asked for."""
        for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
            self.add_loss(functools.partial(_regularization, name, part, regularizer))

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """Another name of `add_weight`."""
        return self.add_weight(*args, **kwargs)


def _is_trainable(trainable: bool | None, synchronization: Any) -> bool:
    if synchronization != VariableSynchronization.ON_READ:
        return True if trainable is None else trainable
    if trainable:
        raise ValueError(
            "Synchronization value can be set to VariableSynchronization.ON_READ only for "
            "non-trainable variables. You have specified trainable=True and "
            "synchronization=VariableSynchronization.ON_READ."
        )
    return False


def _regularization(name: str, variable: Any, regularizer: Callable[..., Any]) -> Any:
    with name_scope(name + "/Regularizer"):
        return regularizer(variable)
