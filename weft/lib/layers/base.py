"""The base of tf.layers: Keras's, with variables that can be shared by name.

A layer's variables are named after its variable scope, which is fixed by the first call:
`dense/kernel`, then `dense_1/kernel` for the next layer of that class.
"""

from __future__ import annotations

import copy
from typing import Any

from weft.core import dtypes
from weft.graph.graph import GraphKeys, get_collection_ref, name_scope
from weft.lib.keras.backend.graph_state import unique_object_name
from weft.lib.keras.engine import base_layer
from weft.lib.keras.engine.input_spec import InputSpec
from weft.lib.keras.engine.naming import to_snake_case
from weft.lib.layers.naming import is_keras_style
from weft.ops.state import variable_scope as vs
from weft.ops.state.partitioned_variable import PartitionedVariable
from weft.ops.state.variables import (
    VariableAggregation,
    VariableSynchronization,
    global_variables,
    trainable_variables,
)

__all__ = ["InputSpec", "Layer"]


class Layer(base_layer.Layer):
    """Something with variables in a scope, that is called on tensors.

    A subclass makes its variables in `build(input_shape)` with `add_weight` and computes in
    `call(inputs, ...)`.
    """

    def __init__(
        self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        scope, self._reuse = kwargs.pop("_scope", None), kwargs.pop("_reuse", None)
        self._use_resource_variables = False
        kwargs.setdefault("autocast", False)
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._scope: Any = None
        self._current_scope: Any = None
        self._keras_style = is_keras_style()
        if self._keras_style:
            _refuse(scope=scope, reuse=self._reuse)
        if scope:
            with vs.variable_scope(scope) as captured:
                self._scope = captured

    def __setattr__(self, name: str, value: Any) -> None:
        # Attributes of these layers are theirs in no further sense.
        object.__setattr__(self, name, value)

    def _init_set_name(self, name: Any, zero_based: bool = False) -> None:
        base = name.name if isinstance(name, vs.VariableScope) else name
        if not name or isinstance(name, vs.VariableScope):
            self._name, default = self._make_unique_name()
            self._base_name = base or default
        else:
            self._name = self._base_name = name

    def _make_unique_name(self, zero_based: bool = False, **kwargs: Any) -> tuple[str, str]:
        base = to_snake_case(type(self).__name__)
        return unique_object_name(base, zero_based=zero_based, **kwargs), base

    # ---- what it is ----

    @property
    def graph(self) -> None:
        """Layers no longer keep their graph."""
        return None

    @property
    def _is_legacy_layer(self) -> bool:
        return True

    @property
    def scope_name(self) -> str:
        if not self._scope:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been '
                "used yet. The scope name  is determined the first time the layer instance is "
                "called. You must therefore call the layer before querying `scope_name`."
            )
        return self._scope.name

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """As Keras's, and the losses join the regularization losses of the graph."""
        before = len(self._losses), len(self._callable_losses)
        super().add_loss(losses, inputs=inputs)
        new = self._losses[before[0] :]
        new += [loss for f in self._callable_losses[before[1] :] if (loss := f()) is not None]
        add_to_collection(new, GraphKeys.REGULARIZATION_LOSSES)

    # ---- weights ----

    def _name_scope(self) -> str:
        if self._keras_style:
            return self.name
        return self._current_scope.original_name_scope

    def _set_scope(self, scope: Any = None) -> None:
        if self._scope is None:
            # One that is opened again is called so exactly.
            exact = self._base_name if self._reuse and scope is None else scope
            default = None if self._reuse else self._base_name
            with vs.variable_scope(exact, default_name=default) as self._scope:
                pass

    def add_weight(  # type: ignore[override]
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
        on_read = synchronization == VariableSynchronization.ON_READ
        if trainable is None and not on_read:
            trainable = True
        settings = {
            "dtype": dtypes.as_dtype(dtype or self.dtype or dtypes.float32),
            "initializer": initializer,
            # What may not be trained is an error even in a layer that is not.
            "trainable": trainable if on_read else trainable and self.trainable,
            "constraint": constraint,
            "partitioner": partitioner,
            **kwargs,
        }
        if self._keras_style:
            return super().add_weight(
                name, shape, regularizer=regularizer, use_resource=use_resource, **settings
            )
        settings.update(synchronization=synchronization, aggregation=aggregation)
        return self._shared_variable(name, shape, regularizer, use_resource, settings)

    def _shared_variable(
        self,
        name: str,
        shape: Any,
        regularizer: Any,
        use_resource: bool | None,
        settings: dict[str, Any],
    ) -> Any:
        """A variable of the layer's scope, which may exist."""
        existing = set(global_variables())
        self._set_scope(None)
        with vs.variable_scope(
            self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False
        ) as scope:
            self._current_scope = scope
            if settings["initializer"] is None:
                settings["initializer"] = scope.initializer
            with name_scope(self._name_scope()):
                variable = super().add_weight(
                    name,
                    shape,
                    use_resource=use_resource or self._use_resource_variables or scope.use_resource,
                    getter=vs.get_variable,
                    **settings,
                )
                parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
                if regularizer and not any(part in existing for part in parts):
                    self._add_weight_regularization(name, variable, regularizer)
        self._untrain_if_asked(variable, parts)
        return variable

    def _untrain_if_asked(self, variable: Any, parts: list[Any]) -> None:
        """A custom getter may have made a variable that is not to be trained."""
        known = trainable_variables()
        if self._trainable_weights and self._trainable_weights[-1] is variable:
            if not any(part is each for part in parts for each in known):
                self._non_trainable_weights.append(self._trainable_weights.pop())

    # ---- calls ----

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        given = kwargs.pop("scope", None)
        if self._keras_style:
            _refuse(scope=given)
            return super().__call__(inputs, *args, **kwargs)
        self._set_scope(given)
        with self._opened_scope() as self._current_scope:
            wanted = "scope" in self._call_fn_args
            more = {"scope": self._current_scope} if wanted else {}
            outputs = super().__call__(inputs, *args, **kwargs | more)
        add_to_collection(self.updates, GraphKeys.UPDATE_OPS)
        return outputs

    def _opened_scope(self) -> Any:
        if not self.built:
            return vs.variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        # Variables exist by now, so this scope can be opened again and again.
        if not hasattr(self, "_always_reuse_variable_scope"):
            self._always_reuse_variable_scope = vs.variable_scope(
                self._scope, reuse=True, auxiliary_name_scope=False
            )
        return self._always_reuse_variable_scope

    def _copied(self, value: Any, memo: dict[int, Any]) -> Any:
        if isinstance(value, (vs.VariableScope, vs.variable_scope)):
            return copy.copy(value)
        return super()._copied(value, memo)


def add_to_collection(elements: list[Any], key: str) -> None:
    """Adds what is not there yet."""
    collection = get_collection_ref(key)
    known = {id(element) for element in collection}
    for element in elements:
        if id(element) not in known:
            collection.append(element)
            known.add(id(element))


def _refuse(**arguments: Any) -> None:
    """Arguments that have no meaning for a layer that owns its variables."""
    for argument, value in arguments.items():
        if value is not None:
            raise ValueError(
                f"{argument} argument not allowed when keras style layers are enabled, "
                f"but saw: {value}"
            )
