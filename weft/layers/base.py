"""The base of every layer: a scope of its own, variables made on the first call, shared after.

A layer's variables are named after its variable scope, which is fixed by the first call:
`dense/kernel`, then `dense_1/kernel` for the next layer of that class.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph, GraphKeys, Operation, Tensor, name_scope
from weft.layers.input_spec import InputSpec, assert_input_compatibility
from weft.layers.layer_calls import LayerCalls
from weft.layers.layer_losses import LayerLosses, add_to_collection
from weft.layers.layer_weights import LayerWeights
from weft.layers.members import Members
from weft.layers.naming import is_keras_style, to_snake_case, unique_object_name
from weft.ops import array_shape, casts
from weft.ops import variable_scope as vs
from weft.ops.partitioned_variable import PartitionedVariable
from weft.ops.variables import Variable

__all__ = ["InputSpec", "Layer"]


class Layer(LayerWeights, LayerLosses, LayerCalls, Members):
    """Something with variables that is called on tensors.

    A subclass makes its variables in `build(input_shape)` with `add_weight` and computes in
    `call(inputs, ...)`.
    """

    stateful = False
    supports_masking = False

    def __init__(
        self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        scope, reuse = kwargs.pop("_scope", None), kwargs.pop("_reuse", None)
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
        LayerWeights.__init__(self, trainable, dtype, reuse)
        LayerLosses.__init__(self)
        LayerCalls.__init__(self)
        self._init_set_name(name)
        self._keras_style = is_keras_style()
        if self._keras_style:
            _refuse(scope=scope, reuse=reuse)
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
    def graph(self) -> None:
        """Layers no longer keep their graph."""
        return None

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

    # ---- calls ----

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        scope = kwargs.pop("scope", None)
        if self._keras_style:
            _refuse(scope=scope)
            return self._call_in_scope(inputs, args, kwargs)
        self._set_scope(scope)
        with self._opened_scope() as scope:
            self._current_scope = scope
            if "scope" in inspect.signature(self.call).parameters:
                kwargs["scope"] = scope
            outputs = self._call_in_scope(inputs, args, kwargs)
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


def _refuse(**arguments: Any) -> None:
    """Arguments that have no meaning for a layer that owns its variables."""
    for argument, value in arguments.items():
        if value is not None:
            raise ValueError(
                f"{argument} argument not allowed when keras style layers are enabled, "
                f"but saw: {value}"
            )


def _as_tensor_if_number(x: Any) -> Any:
    return convert_to_tensor(x) if isinstance(x, (np.ndarray, float, int)) else x


def _belongs_to_a_graph(value: Any) -> bool:
    flat = nest.flatten(value) if nest.is_nested(value) else [value]
    kinds = (Tensor, Variable, PartitionedVariable, Operation, Graph)
    return any(isinstance(x, kinds) for x in flat)
