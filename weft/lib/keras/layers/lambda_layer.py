"""A function of tensors as a layer."""

from __future__ import annotations

import inspect
import sys
import types
import warnings
from typing import Any

import numpy as np

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.graph import Graph
from weft.lib.keras.backend import track_variable
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.network_shapes import as_shapes, as_tuples, map_shapes
from weft.lib.keras.utils.generic import deserialize_keras_object, func_dump, func_load
from weft.ops.state.variable_creators import variable_creator_scope


class Lambda(Layer):
    """Applies `function`, with `arguments`, to its inputs; variables it makes are the layer's."""

    def __init__(
        self,
        function: Any,
        output_shape: Any = None,
        mask: Any = None,
        arguments: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.function, self.mask = function, mask
        self.arguments = arguments or {}
        self.supports_masking = mask is not None
        self._output_shape = output_shape
        self._variable_dict: dict[str, Any] = {}
        taken = inspect.getfullargspec(function).args
        self._passed = [name for name in ("mask", "training") if name in taken]

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        given = {"mask": mask, "training": training}
        with variable_creator_scope(self._create_variable):
            return self._applied(inputs, given)

    def _applied(self, inputs: Any, given: dict[str, Any]) -> Any:
        passed = {name: given.get(name) for name in self._passed}
        return self.function(inputs, **self.arguments, **passed)

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        """The variable of that name that an earlier call made, or a new one."""
        name = kwargs["name"]
        if name not in self._variable_dict:
            variable = next_creator(**kwargs)
            self._variable_dict[name] = variable
            kept = self._trainable_weights if variable.trainable else self._non_trainable_weights
            kept.append(variable)
            track_variable(variable)
        return self._variable_dict[name]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        if self._output_shape is None:
            return self._inferred_shape(input_shape)
        if callable(self._output_shape):
            return as_shapes(self._output_shape(as_tuples(input_shape)))
        flat: list[TensorShape] = []
        map_shapes(flat.append, input_shape)
        batch = flat[0].as_list()[0] if flat else None
        return map_shapes(lambda shape: TensorShape([batch, *shape.as_list()]), self._output_shape)

    def _inferred_shape(self, input_shape: Any) -> Any:
        """The shape of the function's result for placeholders, in a graph that is thrown away."""
        with Graph().as_default():
            inputs = self._placeholders(input_shape)
            try:
                outputs = self._applied(inputs, {})
            except TypeError as error:
                raise NotImplementedError(
                    "We could not automatically infer the shape of the Lambda's output. Please "
                    "specify `output_shape` for this Lambda."
                ) from error
        return nest.map_structure(lambda x: x.shape, outputs)

    # ---- configuration: code travels as text ----

    def get_config(self) -> dict[str, Any]:
        config = _record("function", self.function, "module")
        config |= _record("output_shape", self._output_shape, "output_shape_module")
        if self.mask is not None:
            config |= _record("mask", self.mask, "mask_module")
        return {**super().get_config(), **config, "arguments": self.arguments}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        config["function"] = _restored(config, custom_objects, "function", "module")
        config["output_shape"] = _restored(
            config, custom_objects, "output_shape", "output_shape_module"
        )
        if "mask" in config:
            config["mask"] = _restored(config, custom_objects, "mask", "mask_module")
        config["arguments"] = {
            key: np.array(value["value"])
            if isinstance(value, dict) and value.get("type") == "ndarray"
            else value
            for key, value in (config.get("arguments") or {}).items()
        }
        return cls(**config)


def _record(key: str, value: Any, module_key: str) -> dict[str, Any]:
    """The form of a function, or of a plain value for `output_shape`, in a configuration."""
    if isinstance(value, types.LambdaType):
        return {key: func_dump(value), f"{key}_type": "lambda", module_key: value.__module__}
    if callable(value):
        return {key: value.__name__, f"{key}_type": "function", module_key: value.__module__}
    if key == "output_shape":
        return {key: value, f"{key}_type": "raw", module_key: None}
    raise ValueError(f"Invalid input for serialization, type: {type(value)} ")


def _restored(config: dict[str, Any], custom_objects: Any, key: str, module_key: str) -> Any:
    known: dict[str, Any] = {}
    module = config.pop(module_key, None)
    if module in sys.modules:
        known.update(vars(sys.modules[module]))
    elif module is not None:
        warnings.warn(
            f"{module} is not loaded, but a Lambda layer uses it. It may cause errors.",
            UserWarning,
            stacklevel=4,
        )
    known.update(custom_objects or {})
    kind = config.pop(f"{key}_type")
    if kind == "function":
        return deserialize_keras_object(
            config[key],
            custom_objects=custom_objects,
            printable_module_name="function in Lambda layer",
        )
    if kind == "lambda":
        return func_load(config[key], globs=known)
    if kind == "raw":
        return config[key]
    raise TypeError("Unknown function type:", kind)
