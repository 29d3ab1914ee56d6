"""A layer made of layers: from inputs to outputs, or by a subclass that calls them itself."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.graph.graph import get_default_graph
from weft.lib.keras.backend.graph_state import state_of
from weft.lib.keras.engine import network_config, network_shapes
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.history import create_keras_history, history_of
from weft.lib.keras.engine.layer_nodes import mask_of
from weft.lib.keras.engine.network_building import NetworkBuilding
from weft.lib.keras.engine.network_checks import check_ends, check_no_legacy_layers
from weft.lib.keras.engine.network_saving import NetworkSaving
from weft.lib.keras.engine.node import Node
from weft.lib.keras.engine.topology import map_graph
from weft.lib.keras.engine.tracking import has_weights, no_automatic_dependency_tracking
from weft.lib.keras.utils.generic import entry

_FORGOTTEN = (
    "It looks like you are subclassing `Model` and you forgot to call "
    "`super(YourClass, self).__init__()`. Always start with this line."
)


class Network(NetworkSaving, NetworkBuilding, Layer):
    """Layers that are called together.

    `Network(inputs, outputs)` is the graph of layer calls between them. A subclass that gives
    neither makes layers in its constructor and calls them in `call`.
    """

    _is_graph_network: bool
    _compute_output_and_mask_jointly = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The first two positions are inputs and outputs.
        given = {"inputs", "outputs"} & kwargs.keys() | set(("inputs", "outputs")[: len(args)])
        if len(given) == 2 and len(args) <= 2:
            self._init_graph_network(*args, **kwargs)
        else:
            self._init_subclassed_network(**kwargs)
        check_no_legacy_layers(self.layers)

    @no_automatic_dependency_tracking
    def _base_init(self, name: str | None = None, **kwargs: Any) -> None:
        allowed = {"trainable", "dtype", "dynamic", "autocast"}
        for unknown in kwargs.keys() - allowed:
            raise TypeError("Keyword argument not understood:", unknown)
        Layer.__init__(self, name=name, **kwargs)
        self._is_compiled = False
        self._graph = get_default_graph()
        if "optimizer" not in self.__dict__:
            self.optimizer: Any = None

    @no_automatic_dependency_tracking
    def _init_subclassed_network(self, name: str | None = None, **kwargs: Any) -> None:
        self._base_init(name=name, **kwargs)
        self._is_graph_network = False
        self.inputs: Any = []
        self.outputs: Any = []
        self.built = False

    @no_automatic_dependency_tracking
    def _init_graph_network(
        self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any
    ) -> None:
        for unknown in kwargs.keys() - {"trainable"}:
            raise TypeError(
                "Functional models may only specify `name` and `trainable` keyword arguments "
                "during initialization. Got an unexpected argument:",
                unknown,
            )
        self._nested_inputs, self._nested_outputs = _unlisted(inputs), _unlisted(outputs)
        self.inputs = nest.flatten(self._nested_inputs)
        self.outputs = nest.flatten(self._nested_outputs)
        if any(history_of(x) is None for x in self.outputs):
            create_keras_history(self.outputs)
        self._base_init(name=name, **kwargs)
        check_ends(self)
        self._is_graph_network = self._compute_output_and_mask_jointly = self.built = True
        self._autocast = False
        self._input_coordinates = [tuple(x._keras_history) for x in self.inputs]
        self._output_coordinates = [tuple(x._keras_history) for x in self.outputs]
        self._input_layers = [layer for layer, _, _ in self._input_coordinates]
        self._output_layers = [layer for layer, _, _ in self._output_coordinates]
        found = map_graph(self.inputs, self.outputs)
        self._network_nodes, self._nodes_by_depth = found.keys, found.nodes_by_depth
        self._layers = found.layers
        self._number_layers()
        Node(self, [], [], [], self._nested_inputs, self._nested_outputs)
        self._name_ends()

    def _name_ends(self) -> None:
        """Names of inputs and outputs; of several outputs of one layer, all but one get a number"""
        self.output_names: list[str] = []
        counts: dict[str, int] = {}
        for layer in self._output_layers:
            proposal = layer.name
            while proposal in self.output_names:
                counts[layer.name] = counts.get(layer.name, 0) + 1
                proposal = f"{layer.name}_{counts[layer.name]}"
            self.output_names.append(proposal)
        self.input_names = [layer.name for layer in self._input_layers]
        fed = [layer for layer in self._input_layers if getattr(layer, "is_placeholder", False)]
        self._feed_input_names = [layer.name for layer in fed]
        self._feed_input_shapes = [layer._batch_input_shape for layer in fed]
        self._feed_inputs = [layer.input for layer in fed]

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_tracked(name) and "_is_graph_network" not in self.__dict__:
            if all(has_weights(each) for each in _leaves(value)):
                raise RuntimeError(_FORGOTTEN)
        super().__setattr__(name, value)
        if self.__dict__.get("_self_setattr_tracking", True) and hasattr(value, "update_state"):
            from weft.lib.keras.metrics import Metric

            if isinstance(value, Metric):
                self._metrics.append(value)

    # ---- what is in it ----

    @property
    def layers(self) -> list[Any]:
        return list(self._layers)

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """The layer called `name`, or the one at `index`."""
        layers = self.layers
        if index is not None:
            if index < len(layers):
                return layers[index]
            raise ValueError(
                f"Was asked to retrieve layer at index {index} but model only has "
                f"{len(layers)} layers."
            )
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        found = next((layer for layer in layers if layer.name == name), None)
        if found is None:
            raise ValueError("No such layer: " + name)
        return found

    @property
    def dynamic(self) -> bool:
        own = self._dynamic and not self._is_graph_network
        return own or any(layer.dynamic for layer in self.layers)

    @property
    def stateful(self) -> bool:  # type: ignore[override]
        return any(getattr(layer, "stateful", False) for layer in self.layers)

    def reset_states(self) -> None:
        """Starts the states of stateful layers again."""
        for layer in self.layers:
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    @property
    def state_updates(self) -> list[Any]:
        """The updates of stateful layers, which run in prediction too."""
        stateful = [layer for layer in self.layers if getattr(layer, "stateful", False)]
        return [update for layer in stateful for update in getattr(layer, "updates", ())]

    @property
    def weights(self) -> list[Any]:
        """Layer by layer, then the model's own."""
        self._assert_weights_created()
        own = self._trainable_weights + self._non_trainable_weights
        return self._gather_children_attribute("weights") + own

    @property
    def trainable_weights(self) -> list[Any]:
        self._assert_weights_created()
        if not self.trainable:
            return []
        own = [v for v in self._trainable_weights if v.trainable]
        return self._gather_children_attribute("trainable_weights") + own

    @property
    def non_trainable_weights(self) -> list[Any]:
        self._assert_weights_created()
        own = self._non_trainable_weights + self._trainable_weights
        fixed = self._gather_children_attribute("non_trainable_weights")
        fixed += [v for v in own if not v.trainable]
        if self.trainable:
            return fixed
        rest = self._gather_children_attribute("trainable_weights")
        return rest + [v for v in own if v.trainable] + fixed

    def _assert_weights_created(self) -> None:
        self._own_what_was_appended()
        if self._is_graph_network or self.dynamic or self.built:
            return
        if "build" in type(self).__dict__:
            raise ValueError(
                f"Weights for model {self.name} have not yet been created. Weights are created "
                "when the Model is first called on inputs or `build()` is called with an "
                "`input_shape`."
            )

    def count_params(self) -> int:
        if not self.built and self._is_graph_network:
            self.built = True
        return super().count_params()

    @property  # type: ignore[misc]
    def input_spec(self) -> Any:  # type: ignore[override]
        if not self._is_graph_network:
            return None
        specs = [spec for layer in self._input_layers for spec in nest.flatten(layer.input_spec)]
        return specs[0] if len(specs) == 1 else specs

    # ---- calls ----

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Repeats the layer calls of the model on `inputs`."""
        if not self._is_graph_network:
            raise NotImplementedError(
                "When subclassing the `Model` class, you should implement a `call` method."
            )
        return self._run_internal_graph(inputs, training=training, mask=mask)

    def _takes_masks_from_inputs(self) -> bool:
        return self._is_graph_network

    def compute_mask(self, inputs: Any, mask: Any) -> Any:
        if not self._is_graph_network:
            return None
        return nest.map_structure(mask_of, self._run_internal_graph(inputs, mask=mask))

    def compute_output_shape(self, input_shape: Any) -> Any:
        if not self._is_graph_network:
            return super().compute_output_shape(input_shape)
        return network_shapes.output_shape(self, input_shape)

    def _run_internal_graph(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        flat = nest.flatten(inputs)
        masks = [None] * len(flat) if mask is None else nest.flatten(mask)
        for x, each in zip(flat, masks, strict=False):
            x._keras_mask = each
        # Tensor of the model -> tensor of this call.
        known = {id(x): y for x, y in zip(self.inputs, flat, strict=False)}
        for depth in sorted(self._nodes_by_depth, reverse=True):
            for node in self._nodes_by_depth[depth]:
                used = nest.flatten(node.input_tensors)
                if node.inbound_layers and all(id(x) in known for x in used):
                    self._repeat_call(node, known, training)
        for x in self.outputs:
            assert id(x) in known, f"Could not compute output {x}"
        return nest.map_structure(lambda x: known[id(x)], self._nested_outputs)

    def _repeat_call(self, node: Node, known: dict[int, Any], training: Any) -> None:
        layer = node.outbound_layer
        inputs = nest.map_structure(lambda x: known[id(x)], node.input_tensors)
        kwargs = dict(node.arguments or {})
        if "training" in layer._call_fn_args:
            kwargs.setdefault("training", training)
            if kwargs["training"] is not None and kwargs["training"] is state_of().learning_phase:
                kwargs["training"] = training
        kwargs = nest.map_structure(lambda x: x if history_of(x) is None else known[id(x)], kwargs)
        outputs = nest.flatten(layer(inputs, **kwargs))
        for x, y in zip(nest.flatten(node.output_tensors), outputs, strict=False):
            known[id(x)] = y

    # ---- configuration ----

    def get_config(self) -> dict[str, Any]:
        if not self._is_graph_network:
            raise NotImplementedError
        return network_config.network_config(self)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The model that `config` describes, with new weights."""
        from weft.lib.keras.layers.serialization import deserialize

        made = network_config.Rebuilt(config, lambda data: deserialize(data, custom_objects))
        model = cls(
            inputs=made.ends(entry(config, "input_layers")),
            outputs=made.ends(entry(config, "output_layers")),
            name=config.get("name"),
        )
        layers = list(made.layers.values())
        extra = [layer for layer in layers if layer not in model.layers]
        if extra:
            nodes = [
                node
                for layer in layers
                for node in layer._inbound_nodes[network_config.skips_first_node(layer) :]
            ]
            model._insert_layers(extra, nodes)
        return model


def _unlisted(ends: Any) -> Any:
    return ends[0] if isinstance(ends, list) and len(nest.flatten(ends)) == 1 else ends


def _leaves(value: Any) -> list[Any]:
    return nest.flatten(value) if isinstance(value, (list, tuple, dict)) else [value]
