"""The shapes that a layer gives, from those it gets, without computing anything."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.graph.type_spec import TensorSpec
from weft.lib.keras.backend.config import floatx
from weft.lib.keras.backend.symbolic import eager_program, model_graph
from weft.lib.keras.engine.network_shapes import map_shapes
from weft.ops.array import placeholders as array_pass


class LayerShapes:
    dynamic: Any
    _compute_dtype: Any
    _expects_training_arg: Any

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output, given that of the input.

        Eager execution finds out by calling the layer, outside of the program.
        """
        if eager_program() is None or self.dynamic:
            raise NotImplementedError
        kwargs = {"training": False} if self._expects_training_arg else {}
        try:
            with model_graph():
                outputs = self(self._placeholders(input_shape), **kwargs)  # type: ignore[operator]
        except TypeError as error:
            raise NotImplementedError(
                "We could not automatically infer the static shape of the layer's output. Please "
                "implement the `compute_output_shape` method on your layer "
                f"({type(self).__name__})."
            ) from error
        return nest.map_structure(lambda x: x.shape, outputs)

    def _placeholders(self, shapes: Any) -> Any:
        """Tensors of these shapes, without values."""
        dtype = self._compute_dtype or floatx()
        return map_shapes(lambda shape: array_pass.placeholder(dtype, shape), shapes)

    def _symbolic_outputs(self, inputs: Any) -> Any:
        """Placeholders of the outputs, for where `call` cannot be called."""
        shapes = nest.map_structure(lambda x: x.shape, inputs)
        return self._placeholders(self.compute_output_shape(shapes))

    def compute_output_signature(self, input_signature: Any) -> Any:
        """Shape and type of the outputs, given those of the inputs."""
        shapes = self.compute_output_shape(nest.map_structure(_shape_of, input_signature))
        dtype = self._compute_dtype or nest.flatten(input_signature)[0].dtype
        return map_shapes(lambda shape: TensorSpec(shape, dtype), shapes)


def _shape_of(spec: Any) -> Any:
    if not isinstance(spec, TensorSpec):
        raise TypeError(
            "Only TensorSpec signature types are supported, but saw signature signature "
            f"entry: {spec}."
        )
    return spec.shape
