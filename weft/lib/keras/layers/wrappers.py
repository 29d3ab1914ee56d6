"""Layers around a layer."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.keras import backend
from weft.lib.keras.engine.base_layer import InputSpec, Layer
from weft.lib.keras.utils.generic import entry, has_arg
from weft.ops.array import array
from weft.ops.math import math


class Wrapper(Layer):
    """A layer that does something with the layer inside of it."""

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        assert isinstance(layer, Layer)
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape: Any = None) -> None:
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    @property  # type: ignore[misc]
    def activity_regularizer(self) -> Any:
        """The regularizer of the layer inside."""
        return getattr(self.layer, "activity_regularizer", None)

    def get_config(self) -> dict[str, Any]:
        inner = {"class_name": type(self.layer).__name__, "config": self.layer.get_config()}
        return {**super().get_config(), "layer": inner}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        from weft.lib.keras.layers.serialization import deserialize

        layer = deserialize(entry(config, "layer"), custom_objects=custom_objects)
        return cls(layer, **{key: value for key, value in config.items() if key != "layer"})


def _shape(start: tuple[Any, ...], x: Tensor, first: int, dims: Any = None) -> tuple[Any, ...]:
    """`start`, then the sizes of `x` from axis `first` on, known (`dims`) or found when run."""
    dims = x.shape.as_list()[first:] if dims is None else list(dims)
    if all(dims):
        return (*start, *dims)
    sizes = array.shape(x)
    return (*start, *(n or sizes[first + i] for i, n in enumerate(dims)))


class TimeDistributed(Wrapper):
    """Applies a layer to every step of a sequence."""

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `TimeDistributed` layer with a `Layer` instance. You passed: "
                f"{layer}"
            )
        super().__init__(layer, **kwargs)
        self.supports_masking = True
        # What the layer inside was called on, by what we were called on.
        self._input_map: dict[int, Tensor] = {}
        # Layers that derive from our own treat examples apart; other layers may not.
        ours = next(c for c in type(layer).__mro__ if c.__module__.startswith("weft."))
        known = ours.__name__ != "Layer"
        self._always_use_reshape = known and not getattr(layer, "stateful", False)

    def build(self, input_shape: Any) -> None:
        dims = TensorShape(input_shape).as_list()
        if len(dims) < 3:
            raise ValueError(
                "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 "
                f"dimensions, received: {dims}"
            )
        # The number of examples and steps may differ in the next call.
        self.input_spec = InputSpec(shape=[None, None, *dims[2:]])
        super().build((dims[0], *dims[2:]))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        batch, steps, *dims = TensorShape(input_shape).as_list()
        inner = TensorShape(self.layer.compute_output_shape(TensorShape([batch, *dims])))
        batch, *dims = inner.as_list()
        return TensorShape([batch, steps, *dims])

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Tensor:
        arguments = {"training": training} if has_arg(self.layer.call, "training") else {}
        if inputs.shape.as_list()[0] and not self._always_use_reshape:
            return self._step_by_step(inputs, arguments)
        if mask is not None and has_arg(self.layer.call, "mask"):
            arguments["mask"] = array.reshape(mask, _shape((-1,), mask, 2))
        return self._all_steps(inputs, arguments)

    def _step_by_step(self, inputs: Any, arguments: dict[str, Any]) -> Tensor:
        """A layer that knows its batch size, or may keep a state, sees one step at a time."""
        _, outputs, _ = backend.rnn(
            lambda x, _: (self.layer(x, **arguments), []),
            inputs,
            initial_states=[],
            input_length=inputs.shape.as_list()[1],
            unroll=False,
        )
        return outputs

    def _all_steps(self, inputs: Any, arguments: dict[str, Any]) -> Tensor:
        """The steps of all sequences as one large batch."""
        steps = inputs.shape.as_list()[1] or array.shape(inputs)[1]
        inner = array.reshape(inputs, _shape((-1,), inputs, 2))
        self._input_map[id(inputs)] = inner
        outputs = self.layer(inner, **arguments)
        dims = self.compute_output_shape(inputs.shape).as_list()[2:]
        return array.reshape(outputs, _shape((-1, steps), outputs, 1, dims))

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask that the layer inside makes, or which steps have anything unmasked."""
        if inputs.shape.as_list()[0] and not self._always_use_reshape:
            return mask
        inner_mask = None if mask is None else array.reshape(mask, _shape((-1,), mask, 2))
        made = self.layer.compute_mask(self._input_map.get(id(inputs), inputs), inner_mask)
        if made is not None:
            steps = inputs.shape.as_list()[1] or array.shape(inputs)[1]
            return array.reshape(made, _shape((-1, steps), made, 1))
        for _ in range(2, 0 if mask is None else mask.shape.ndims):
            mask = math.reduce_any(mask, axis=-1)
        return mask
