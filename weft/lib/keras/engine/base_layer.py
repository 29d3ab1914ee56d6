"""The base of every layer: variables made on the first call, then calls that remember each other.

A call on tensors that come from a `keras.Input` is recorded (`node.py`), so that a model can be
made from its inputs and outputs. Masks travel on tensors, as `_keras_mask`.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import nest
from weft.core.hints import hinted
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph, Operation, Tensor, name_scope
from weft.lib.keras.backend.graph_state import unique_object_name
from weft.lib.keras.backend.symbolic import describes_a_model, model_graph, runs_eagerly
from weft.lib.keras.engine.call_context import call_context
from weft.lib.keras.engine.history import (
    KerasHistory,
    create_keras_history,
    have_all_keras_metadata,
    mark_checked,
    needs_keras_history,
)
from weft.lib.keras.engine.input_spec import InputSpec, assert_input_compatibility
from weft.lib.keras.engine.layer_calls import LayerCalls
from weft.lib.keras.engine.layer_dtype import LayerDtype, v2_dtype_behavior_enabled
from weft.lib.keras.engine.layer_losses import LayerLosses
from weft.lib.keras.engine.layer_nodes import LayerNodes, mask_of
from weft.lib.keras.engine.layer_shapes import LayerShapes
from weft.lib.keras.engine.layer_weights import LayerWeights
from weft.lib.keras.engine.naming import to_snake_case
from weft.lib.keras.engine.tracking import (
    Tracking,
    give_resources,
    no_automatic_dependency_tracking,
)
from weft.lib.platform.module import Module
from weft.ops.array import placeholders as array_pass
from weft.ops.state.partitioned_variable import PartitionedVariable
from weft.ops.state.variables import Variable

__all__ = ["InputSpec", "KerasHistory", "Layer", "default"]

_ALLOWED = {
    "input_shape",
    "batch_input_shape",
    "batch_size",
    "weights",
    "activity_regularizer",
    "autocast",
}


def default(method: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a method, so that one can tell whether a subclass has another."""
    method._is_default = True  # type: ignore[attr-defined]
    return method


class Layer(
    Tracking, LayerDtype, LayerWeights, LayerLosses, LayerNodes, LayerShapes, LayerCalls, Module
):
    """Something with variables that is called on tensors.

    A subclass makes its variables in `build(input_shape)` with `add_weight` and computes in
    `call(inputs, ...)`. Layers and variables assigned to attributes belong to the layer.
    """

    # Whether its updates are to run in inference, too: a state that goes from batch to batch.
    stateful: bool = False
    supports_masking: bool = False

    @no_automatic_dependency_tracking
    def __init__(
        self,
        trainable: bool = True,
        name: Any = None,
        dtype: Any = None,
        dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        for unknown in kwargs.keys() - _ALLOWED:
            wrong = TypeError("Keyword argument not understood:", unknown)
            raise hinted(wrong, unknown, inspect.signature(type(self).__init__).parameters)
        self._trainable = trainable
        self.built = False
        self._input_spec: Any = None
        self._init_set_name(name)
        self._activity_regularizer = kwargs.get("activity_regularizer")
        # A subclass may have assigned variables before it called this.
        self.__dict__.setdefault("_trainable_weights", [])
        self.__dict__.setdefault("_non_trainable_weights", [])
        self._updates: list[Any] = []
        self._losses: list[Any] = []
        self._eager_losses: list[Any] = []
        self._callable_losses: list[Any] = []
        self._metrics: list[Any] = []
        self._inbound_nodes: list[Any] = []
        self._outbound_nodes: list[Any] = []
        self._set_dtype_policy(dtype)
        self._autocast = kwargs.get("autocast", v2_dtype_behavior_enabled())
        self._dynamic = dynamic
        self._initial_weights = kwargs.get("weights")
        if "batch_input_shape" in kwargs:
            self._batch_input_shape = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            self._batch_input_shape = (kwargs.get("batch_size"), *kwargs["input_shape"])

    def _init_set_name(self, name: Any, zero_based: bool = True) -> None:
        base = to_snake_case(type(self).__name__)
        if isinstance(name, (dict, list, tuple)):
            raise TypeError(f"The name of a layer must be a string, got {name!r}")
        self._name = name or unique_object_name(base, zero_based=zero_based)

    # ---- what it is ----

    @property
    def name(self) -> str:
        return self._name

    @property
    def dynamic(self) -> bool:
        """Whether it can only run eagerly: a graph gets no more of it than shapes."""
        return self._dynamic

    @property
    def activity_regularizer(self) -> Any:
        """A function of each output, whose value is added to the losses."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Any) -> None:
        self._activity_regularizer = regularizer

    @property
    def input_spec(self) -> Any:
        """The specification of the layer's inputs."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        for spec in nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {spec}")
        self.__dict__["_input_spec"] = value

    @property
    def name_scope(self) -> Any:
        """A name scope of the layer's name."""
        return name_scope(self.name)

    def _name_scope(self) -> str:
        return self.name

    def _is_layer(self) -> bool:
        return True

    # ---- to be overridden ----

    @default
    def build(self, input_shape: Any) -> None:
        """Makes the variables, given the shapes of the inputs of the first call."""
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """Computes the outputs."""
        return inputs

    @default
    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs, given that of the inputs."""
        if not self.supports_masking and any(m is not None for m in nest.flatten(mask)):
            raise TypeError(
                f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}"
            )
        return mask if self.supports_masking else None

    @default
    def get_config(self) -> dict[str, Any]:
        """Arguments from which `from_config` makes the same layer, without its weights."""
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        if self.dynamic:
            config["dynamic"] = True
        wanted = inspect.getfullargspec(self.__init__).args[1:]  # type: ignore[misc]
        if hasattr(self.get_config, "_is_default") and set(wanted) - {*config, "dynamic"}:
            raise NotImplementedError(
                "Layers with arguments in `__init__` must override `get_config`."
            )
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)

    # ---- calls ----

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if runs_eagerly():
            if describes_a_model(inputs):
                with model_graph():
                    return self(inputs, *args, **kwargs)
            if not call_context().in_call:
                self._forget_eager_losses()
        if any(isinstance(x, (np.ndarray, float, int)) for x in nest.flatten(inputs)):
            inputs = nest.map_structure(_as_tensor_if_number, inputs)
        given = frozenset(kwargs)
        masks = self._pass_mask(inputs, args, kwargs)
        training = self._pass_training(args, kwargs)
        if needs_keras_history(inputs):
            create_keras_history(inputs)
        with call_context().enter(self, inputs, training):
            assert_input_compatibility(self.input_spec, inputs, self.name)
            with name_scope(self._name_scope()):
                self._maybe_build(inputs)
                if self.dynamic and not runs_eagerly():
                    outputs = self._symbolic_outputs(inputs)
                else:
                    call = self._call_function()
                    outputs = call(self._maybe_cast_inputs(inputs), *args, **kwargs)
                if outputs is None:
                    raise ValueError(
                        "A layer's `call` method should return a Tensor or a list of Tensors, not "
                        f"None (layer: {self.name})."
                    )
                if have_all_keras_metadata(inputs):
                    # What was passed on by us is found out again when the call is repeated.
                    kept = {k: v for k, v in kwargs.items() if k in given}
                    outputs = self._record_call(inputs, outputs, args, kept)
                self._add_activity_losses(inputs, outputs)
                self._set_masks(inputs, outputs, masks)
                self._called(inputs, outputs)
        return outputs

    def _called(self, inputs: Any, outputs: Any) -> None:
        """Called at the end of each call, for subclasses."""

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Another way to call the layer."""
        return self(inputs, *args, **kwargs)

    def _maybe_build(self, inputs: Any) -> None:
        if not self.built:
            self._build_for(inputs)
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _build_for(self, inputs: Any) -> None:
        self._infer_dtype(nest.flatten(inputs))
        if not hasattr(self.build, "_is_default"):
            self.build(_shapes_of(inputs))
        give_resources(self._layers)
        self.built = True

    def _record_call(
        self, inputs: Any, outputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Adds a node; an output that is an input becomes a tensor of its own."""
        passed_on = {id(x) for x in nest.flatten(inputs)}

        def own(x: Any) -> Any:
            if id(x) not in passed_on:
                return x
            with name_scope(self.name):
                return array_pass.identity(x)

        outputs = nest.map_structure(own, outputs)
        self._add_inbound_node(inputs, outputs, self._call_arguments(args, kwargs))
        return outputs

    def _set_masks(self, inputs: Any, outputs: Any, masks: Any) -> None:
        flat = nest.flatten(outputs)
        if getattr(self, "_compute_output_and_mask_jointly", False) or all(
            mask_of(x) is not None for x in flat
        ):
            found = [mask_of(x) for x in flat]
        elif self.supports_masking or not hasattr(self.compute_mask, "_is_default"):
            computed = self.compute_mask(inputs, masks)
            found = [None] * len(flat) if computed is None else nest.flatten(computed)
        else:
            found = [None] * len(flat)
        for output, mask in zip(flat, found, strict=False):
            try:
                output._keras_mask = mask
            except AttributeError:  # a named tuple of states, for example
                continue
            if mask is not None:
                mark_checked(mask)

    # ---- copies ----

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A layer with the same settings; graphs, tensors and variables are shared."""
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for key, value in vars(self).items():
            vars(made)[key] = self._copied(value, memo)
        return made

    def _copied(self, value: Any, memo: dict[int, Any]) -> Any:
        return value if _belongs_to_a_graph(value) else copy.deepcopy(value, memo)


def _shapes_of(inputs: Any) -> Any:
    """The shapes of a structure of inputs, or None if one of them has no shape."""
    if any(not hasattr(x, "shape") for x in nest.flatten(inputs)):
        return None
    return nest.map_structure(lambda x: x.shape, inputs)


def _as_tensor_if_number(x: Any) -> Any:
    return convert_to_tensor(x) if isinstance(x, (np.ndarray, float, int)) else x


def _belongs_to_a_graph(value: Any) -> bool:
    flat = nest.flatten(value) if nest.is_nested(value) else [value]
    kinds = (Tensor, Variable, PartitionedVariable, Operation, Graph)
    return any(isinstance(x, kinds) for x in flat)
