"""Sequential: layers one after the other."""

from __future__ import annotations

import copy
from typing import Any

from weft.core import nest
from weft.lib.keras.engine.base_layer import Layer, default
from weft.lib.keras.engine.history import history_of
from weft.lib.keras.engine.input_layer import Input, InputLayer
from weft.lib.keras.engine.layer_nodes import mask_of
from weft.lib.keras.engine.network_checks import check_no_legacy_layers, input_shape_and_dtype
from weft.lib.keras.engine.topology import get_source_inputs
from weft.lib.keras.engine.tracking import no_automatic_dependency_tracking
from weft.lib.keras.engine.training import Model
from weft.lib.keras.utils.generic import entry
from weft.lib.platform import tf_logging as logging

_ONE_OUTPUT = (
    "All layers in a Sequential model should have a single output tensor. For multi-output "
    "layers, use the functional API."
)


def _only_output(made: Any) -> Any:
    if len(nest.flatten(made)) != 1:
        raise TypeError(_ONE_OUTPUT)
    return made


class Sequential(Model):
    """A stack of layers, each called on the output of the one before.

    If the first layer knows the shape of its input, the model is built as layers are added, else
    when it sees data, or by `build`.

    Args:
        layers: a list of layers; None: none yet.
        name: of the model.

    Raises:
        TypeError: from `add`: something else than a layer.

    Example:
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(3,))])
        >>> model.add(tf.keras.layers.Dense(1))
        >>> model.output_shape, model.count_params()
        ((None, 1), 21)
    """

    supports_masking = True

    @no_automatic_dependency_tracking
    def __init__(self, layers: Any = None, name: str | None = None) -> None:
        self._layer_list: list[Any] = []
        super().__init__(name=name)
        self._build_input_shape: Any = None
        self._compute_output_and_mask_jointly = True
        if layers:
            for layer in layers if isinstance(layers, (list, tuple)) else [layers]:
                self.add(layer)

    @property
    def layers(self) -> list[Any]:
        found = self._layers
        first_is_input = bool(found) and isinstance(found[0], InputLayer)
        return found[1:] if first_is_input else found[:]

    @property  # type: ignore[misc]
    def input_spec(self) -> Any:  # type: ignore[override]
        return getattr(self.layers[0], "input_spec", None) if self.layers else None

    # ---- building ----

    @no_automatic_dependency_tracking
    def add(self, layer: Any) -> None:
        """Puts a layer on top."""
        history = history_of(layer)
        if history is not None and isinstance(history.layer, InputLayer):
            layer = history.layer
        if not isinstance(layer, Layer):
            raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}")
        check_no_legacy_layers([layer])
        self.built = False
        starts = not self._layers and self._start_with(layer)
        if not starts and self._layers and self.outputs:
            self.outputs = [_only_output(layer(self.outputs[0]))]
        self.built = bool(self.outputs)
        if starts or self._is_graph_network:
            self._remake_graph()
        else:
            self._layers.append(layer)
            self._number_layers()

    def _start_with(self, layer: Any) -> bool:
        """Takes the first layer's word for the inputs, if it says anything about them."""
        if not isinstance(layer, InputLayer):
            shape, dtype = input_shape_and_dtype(layer)
            if not shape:
                return False
            layer(Input(batch_shape=shape, dtype=dtype, name=layer.name + "_input"))
        made = nest.flatten(layer._inbound_nodes[-1].output_tensors)
        if len(made) != 1:
            raise ValueError(_ONE_OUTPUT)
        self.outputs = made
        self.inputs = get_source_inputs(made[0])
        return True

    @no_automatic_dependency_tracking
    def pop(self) -> None:
        """Takes the last layer off."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        self._layers.pop()
        match self.layers:
            case []:
                self.outputs = self.inputs = None
                self.built = False
            case [*_, top] if self._is_graph_network:
                top._outbound_nodes, self.outputs = [], [top.output]
                self._remake_graph()

    @default
    def build(self, input_shape: Any = None) -> None:
        needs_shape = not self._is_graph_network
        if needs_shape and input_shape is None:
            raise ValueError("You must provide an `input_shape` argument.")
        if needs_shape:
            self._build_input_shape = (*input_shape,)
            super().build(self._build_input_shape)
            self._number_layers()
        else:
            self._remake_graph()
        self.built = True

    def _remake_graph(self) -> None:
        """Makes the network between the inputs and outputs that there are now."""
        self._init_graph_network(self.inputs, self.outputs, name=self.name)

    # ---- calls ----

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        if self._is_graph_network:
            if not self.built:
                self._remake_graph()
            return super().call(inputs, training=training, mask=mask)
        for layer in self.layers:
            given = {"mask": mask, "training": training}
            kwargs = {key: given[key] for key in given if key in layer._call_fn_args}
            inputs = layer(inputs, **kwargs)
            mask = mask_of(inputs)
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        for layer in self.layers:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def compute_mask(self, inputs: Any, mask: Any) -> Any:
        return mask_of(self.call(inputs, mask=mask))

    # ---- predictions ----

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """As `predict`, with a warning if what comes are no probabilities."""
        found = self.predict(x, batch_size, verbose)
        if found.min() < 0.0 or found.max() > 1.0:
            logging.warning(
                "Network returning invalid probability values. The last layer might not normalize "
                "predictions into probabilities (like softmax or sigmoid would)."
            )
        return found

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The most probable class of each sample."""
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        is_single = found.shape[-1] <= 1
        return (found > 0.5).astype("int32") if is_single else found.argmax(axis=-1)

    # ---- configuration ----

    def get_config(self) -> dict[str, Any]:
        layers = [
            {"class_name": type(layer).__name__, "config": layer.get_config()}
            for layer in self.layers
        ]
        first = self._layers[0] if self._layers else None
        if self._is_graph_network and layers and isinstance(first, InputLayer):
            layers[0]["config"].setdefault("batch_input_shape", first._batch_input_shape)
        config = {"name": self.name, "layers": copy.deepcopy(layers)}
        if self._build_input_shape:
            config["build_input_shape"] = self._build_input_shape
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        from weft.lib.keras.layers.serialization import deserialize

        named = isinstance(config, dict) and "name" in config
        model = cls(name=config["name"] if named else None)
        for layer in entry(config, "layers") if named else config:
            model.add(deserialize(layer, custom_objects=custom_objects))
        shape = config.get("build_input_shape") if named else None
        if not model.inputs and shape:
            model.build(shape)
        return model
