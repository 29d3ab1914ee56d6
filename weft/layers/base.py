"""The base of every layer: a scope of its own, variables made on the first call, shared after.

A layer's variables are named after its variable scope, which is fixed by the first call:
`dense/kernel`, then `dense_1/kernel` for the next layer of that class.
"""

from __future__ import annotations

import collections
import copy
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Graph,
    GraphKeys,
    Operation,
    Tensor,
    get_collection_ref,
    get_default_graph,
    name_scope,
)
from weft.graph.stacks import get_default_session
from weft.layers import named
from weft.layers.input_spec import InputSpec, assert_input_compatibility
from weft.layers.members import Members
from weft.ops import array_shape, casts
from weft.ops import variable_scope as vs
from weft.ops.partitioned_variable import PartitionedVariable
from weft.ops.variables import (
    Variable,
    VariableAggregation,
    VariableSynchronization,
    global_variables,
    trainable_variables,
)

__all__ = ["InputSpec", "Layer", "keras_style_scope", "set_keras_style", "to_snake_case"]

# Counts the layers of each class in a graph; not exported with it.
_NAMES_KEY: Any = ("__layer_names",)
_keras_style = [False]


@contextmanager
def keras_style_scope() -> Iterator[None]:
    """Layers made inside own their variables: they share by object, never by name."""
    before = _keras_style[0]
    _keras_style[0] = True
    try:
        yield
    finally:
        _keras_style[0] = before


def set_keras_style() -> None:
    """As `keras_style_scope`, for the rest of the program."""
    _keras_style[0] = True


def to_snake_case(name: str) -> str:
    """`BasicLSTMCell` as `basic_lstm_cell`."""
    words = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    snake = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    # A scope name may not start with an underscore.
    return "private" + snake if snake.startswith("_") else snake


def unique_object_name(base: str, zero_based: bool = False) -> str:
    """`base` with a number that no other layer of this graph has: dense_1, dense_2, ..."""
    kept = get_default_graph().get_collection_ref(_NAMES_KEY)
    if not kept:
        kept.append(collections.Counter())
    number = kept[0][base] if zero_based else kept[0][base] + 1
    kept[0][base] += 1
    return f"{base}_{number}" if number or not zero_based else base


class Layer(Members):
    """Something with variables that is called on tensors.

    A subclass makes its variables in `build(input_shape)` with `add_weight` and computes in
    `call(inputs, ...)`.
    """

    stateful = False
    supports_masking = False

    def __init__(
        self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        self._activity_regularizer = kwargs.pop("activity_regularizer", None)
        self._initial_weights = kwargs.pop("weights", None)
        kwargs.pop("autocast", None)
        if "input_shape" in kwargs:
            self._batch_input_shape = (None, *kwargs.pop("input_shape"))
        if "batch_input_shape" in kwargs:
            self._batch_input_shape = tuple(kwargs.pop("batch_input_shape"))
        for unknown in kwargs:
            raise TypeError("Keyword argument not understood:", unknown)
        self.built = False
        self.input_spec: Any = None
        self._use_resource_variables = False
        self._trainable = trainable
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        # Losses and updates, each with whether it stands whatever the inputs are.
        self._losses: list[tuple[Any, bool]] = []
        self._callable_losses: list[Callable[[], Any]] = []
        self._updates: list[tuple[Any, bool]] = []
        self._calls: list[tuple[Any, Any]] = []
        self._inputs_now: list[Any] | None = None
        self._init_set_name(name)
        self._keras_style = _keras_style[0]
        if self._keras_style:
            for argument, value in (("scope", scope), ("reuse", self._reuse)):
                if value is not None:
                    raise ValueError(
                        f"{argument} argument not allowed when keras style layers are enabled, "
                        f"but saw: {value}"
                    )
        self._scope: Any = None
        self._current_scope: Any = None
        if scope:
            with vs.variable_scope(scope) as captured:
                self._scope = captured

    def _init_set_name(self, name: Any) -> None:
        base = name.name if isinstance(name, vs.VariableScope) else name
        if not name or isinstance(name, vs.VariableScope):
            self._name, default = self._make_unique_name()
            self._base_name = base or default
        else:
            self._name = self._base_name = name

    def _make_unique_name(self, **_: Any) -> tuple[str, str]:
        base = to_snake_case(type(self).__name__)
        return unique_object_name(base), base

    # ---- what it is called, what it holds ----

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> Any:
        """The name of the type of the layer's variables, or None until its inputs tell."""
        return self._dtype

    @property
    def graph(self) -> None:
        """Layers no longer keep their graph."""
        return None

    @property
    def trainable(self) -> bool:
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value

    @property
    def activity_regularizer(self) -> Any:
        """A function of each output, whose value is added to the losses."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Any) -> None:
        self._activity_regularizer = regularizer

    @property
    def scope_name(self) -> str:
        if not self._scope:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been '
                "used yet. The scope name  is determined the first time the layer instance is "
                "called. You must therefore call the layer before querying `scope_name`."
            )
        return self._scope.name

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

    # ---- losses and updates ----

    @property
    def losses(self) -> list[Any]:
        made = [loss for loss, _ in self._losses]
        return made + [loss for f in self._callable_losses if (loss := f()) is not None]

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses, tensors or functions that make one, to the regularization losses.

        With `inputs`, a loss depends on them; without, it stands for the layer as a whole.
        """
        new = []
        for loss in nest.flatten(losses):
            if callable(loss):
                self._callable_losses.append(loss)
                loss = loss()
            elif loss is not None:
                loss = convert_to_tensor(loss)
                self._losses.append((loss, inputs is None))
            if loss is not None:
                new.append(loss)
        _add_to_collection(new, GraphKeys.REGULARIZATION_LOSSES)

    @property
    def updates(self) -> list[Any]:
        if not self.trainable and not self.stateful:
            return []
        return [update() if callable(update) else update for update, _ in self._updates]

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations to run with each training step, such as those of moving averages."""
        if self._inputs_now is not None:
            inputs = self._inputs_now
        for update in nest.flatten(updates):
            if callable(update):
                update = update()
            if not isinstance(update, Operation):
                update = getattr(update, "op", None) or convert_to_tensor(update)
            depends = bool(inputs) and bool(_reached_from(inputs, [update]))
            self._updates.append((update, not depends))

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that depend on `inputs`; with None, those that depend on no input."""
        return _relevant(self._updates if self.trainable or self.stateful else [], inputs)

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that depend on `inputs`; with None, those that depend on no input."""
        if inputs is None:
            return [loss for loss, alone in self._losses if alone] + [
                loss for f in self._callable_losses if (loss := f()) is not None
            ]
        return _relevant(self._losses, inputs)

    # ---- to be overridden ----

    def build(self, input_shape: Any) -> None:
        """Makes the variables, given the shapes of the inputs of the first call."""
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Computes the outputs."""
        return inputs

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs, given that of the inputs."""
        if not self.supports_masking and any(m is not None for m in nest.flatten(mask)):
            raise TypeError(
                f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}"
            )
        return mask if self.supports_masking else None

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output, given that of the input."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """Arguments from which `from_config` makes the same layer, without its weights."""
        config = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)

    # ---- scopes and variables ----

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
        if synchronization == VariableSynchronization.ON_READ:
            if trainable:
                raise ValueError(
                    "Synchronization value can be set to VariableSynchronization.ON_READ only for "
                    "non-trainable variables. You have specified trainable=True and "
                    "synchronization=VariableSynchronization.ON_READ."
                )
            trainable = False
        trainable = (True if trainable is None else trainable) and self.trainable
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
        existing = set(global_variables())
        if self._keras_style:
            made = named.initializer(initializer)
            initial = self._initializer_for(made, name, dtype)
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
            self._keep(name, variable, trainable, regularizer, existing)
            return variable
        self._set_scope(None)
        with vs.variable_scope(
            self._scope, reuse=self.built or self._reuse, auxiliary_name_scope=False
        ) as scope:
            self._current_scope = scope
            with name_scope(self._name_scope()):
                made = named.initializer(scope.initializer if initializer is None else initializer)
                initial = self._initializer_for(made, name, dtype)
                variable = vs.get_variable(
                    name,
                    shape=() if shape is None else shape,
                    initializer=initial,
                    use_resource=use_resource or self._use_resource_variables or scope.use_resource,
                    **settings,
                )
                self._keep(name, variable, trainable, regularizer, existing)
        return variable

    def _initializer_for(self, initializer: Any, name: str, dtype: dtypes.DType) -> Any:
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

    # ---- calls ----

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            if scope is not None:
                raise ValueError(
                    "scope argument not allowed when keras style layers are enabled, "
                    f"but saw: {scope}"
                )
            return self._call_in_scope(inputs, args, kwargs)
        self._set_scope(scope)
        if self.built:
            # Variables exist by now, so this scope can be opened again and again.
            if not hasattr(self, "_always_reuse_variable_scope"):
                self._always_reuse_variable_scope = vs.variable_scope(
                    self._scope, reuse=True, auxiliary_name_scope=False
                )
            opened = self._always_reuse_variable_scope
        else:
            opened = vs.variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        with opened as scope:
            self._current_scope = scope
            if "scope" in inspect.signature(self.call).parameters:
                kwargs["scope"] = scope
            outputs = self._call_in_scope(inputs, args, kwargs)
        _add_to_collection(self.updates, GraphKeys.UPDATE_OPS)
        return outputs

    def _call_in_scope(self, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if any(isinstance(x, (np.ndarray, float, int)) for x in nest.flatten(inputs)):
            inputs = nest.map_structure(_as_tensor_if_number, inputs)
        assert_input_compatibility(self.input_spec, inputs, self.name)
        before, self._inputs_now = self._inputs_now, nest.flatten(inputs)
        try:
            with name_scope(self._name_scope()):
                self._maybe_build(inputs)
                outputs = self.call(inputs, *args, **kwargs)
                if outputs is None:
                    raise ValueError(
                        "A layer's `call` method should return a Tensor or a list of Tensors, not "
                        f"None (layer: {self.name})."
                    )
                self._add_activity_losses(inputs, outputs)
        finally:
            self._inputs_now = before
        self._calls.append((inputs, outputs))
        return outputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Another way to call the layer."""
        return self(inputs, *args, **kwargs)

    def _maybe_build(self, inputs: Any) -> None:
        if not self.built:
            flat = nest.flatten(inputs)
            if self._dtype is None and flat and hasattr(flat[0], "dtype"):
                self._dtype = dtypes.as_dtype(flat[0].dtype).base_dtype.name
            shapes = None
            if all(hasattr(x, "shape") for x in flat):
                shapes = nest.map_structure(lambda x: x.shape, inputs)
            self.build(shapes)
            self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _add_activity_losses(self, inputs: Any, outputs: Any) -> None:
        if not self._activity_regularizer:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                # Per example, so that the strength does not depend on the batch.
                batch = casts.cast(array_shape.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch, inputs=inputs)

    # ---- what it was called on ----

    def _call_at(self, node_index: int, which: int, what: str) -> Any:
        if not self._calls:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if not node_index < len(self._calls):
            raise ValueError(
                f"Asked to get {what} at node {node_index}, but the layer has only "
                f"{len(self._calls)} inbound nodes."
            )
        return self._calls[node_index][which]

    def _only_call(self, which: int, what: str) -> Any:
        if not self._calls:
            raise AttributeError(f"Layer {self.name} is not connected, no {what} to return.")
        if len(self._calls) > 1:
            raise AttributeError(
                f'Layer {self.name} has multiple inbound nodes, hence the notion of "layer {what}" '
                f"is ill-defined. Use `get_{what}_at(node_index)` instead."
            )
        return self._calls[0][which]

    def get_input_at(self, node_index: int) -> Any:
        return self._call_at(node_index, 0, "input")

    def get_output_at(self, node_index: int) -> Any:
        return self._call_at(node_index, 1, "output")

    def get_input_shape_at(self, node_index: int) -> Any:
        return nest.map_structure(_static, self._call_at(node_index, 0, "input_shape"))

    def get_output_shape_at(self, node_index: int) -> Any:
        return nest.map_structure(_static, self._call_at(node_index, 1, "output_shape"))

    @property
    def input(self) -> Any:
        return self._only_call(0, "input")

    @property
    def output(self) -> Any:
        return self._only_call(1, "output")

    @property
    def input_shape(self) -> Any:
        return nest.map_structure(_static, self._only_call(0, "input"))

    @property
    def output_shape(self) -> Any:
        return nest.map_structure(_static, self._only_call(1, "output"))

    # ---- copies ----

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A layer with the same settings; graphs, tensors and variables are shared."""
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for key, value in vars(self).items():
            if isinstance(value, (vs.VariableScope, vs.variable_scope)):
                value = copy.copy(value)
            elif not _belongs_to_a_graph(value):
                value = copy.deepcopy(value, memo)
            vars(made)[key] = value
        return made


def _static(x: Any) -> Any:
    dims = TensorShape(x.shape)
    return None if dims.ndims is None else tuple(dims.as_list())


def _as_tensor_if_number(x: Any) -> Any:
    return convert_to_tensor(x) if isinstance(x, (np.ndarray, float, int)) else x


def _belongs_to_a_graph(value: Any) -> bool:
    flat = nest.flatten(value) if nest.is_nested(value) else [value]
    kinds = (Tensor, Variable, PartitionedVariable, Operation, Graph)
    return any(isinstance(x, kinds) for x in flat)


def _session(wanted_by: str) -> Any:
    session = get_default_session()
    if session is None:
        raise ValueError(f"`{wanted_by}` needs a default session: call it in `with session:`.")
    return session


def _regularization(name: str, variable: Any, regularizer: Callable[..., Any]) -> Any:
    with name_scope(name + "/Regularizer"):
        return regularizer(variable)


def _add_to_collection(elements: list[Any], key: str) -> None:
    collection = get_collection_ref(key)
    known = {id(element) for element in collection}
    for element in elements:
        if id(element) not in known:
            collection.append(element)
            known.add(id(element))


def _relevant(kept: list[tuple[Any, bool]], inputs: Any) -> list[Any]:
    if inputs is None:
        return [item for item, alone in kept if alone]
    return _reached_from(nest.flatten(inputs), [item for item, alone in kept if not alone])


def _reached_from(inputs: Any, targets: list[Any]) -> list[Any]:
    """Those of `targets` that are computed from `inputs`."""
    sources = {id(x) for x in inputs}

    def reached(target: Any) -> bool:
        waiting, seen = [target], set()
        while waiting:
            item = waiting.pop()
            if id(item) in sources:
                return True
            op = item if isinstance(item, Operation) else item.op
            if op not in seen:
                seen.add(op)
                waiting.extend(op.inputs)
        return False

    return [target for target in targets if reached(target)]
