"""Copies of models: new layers of the same configuration, called in the same way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.lib.keras.backend import is_keras_tensor, placeholder
from weft.lib.keras.engine.add_layers import AddMetric
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.input_layer import Input, InputLayer
from weft.lib.keras.engine.sequential import Sequential
from weft.lib.keras.engine.training import Model
from weft.lib.keras.metrics import clone_metrics
from weft.lib.keras.optimizers import TFOptimizer
from weft.lib.keras.utils.generic import CustomObjectScope
from weft.lib.platform import tf_logging as logging

MakeLayer = Callable[[Any], Any]


def clone_layer(layer: Any) -> Any:
    return type(layer).from_config(layer.get_config())


def share_weights(layer: Any) -> Any:
    """For `clone_model`: a model of the same layers, on other inputs."""
    return layer


def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None) -> Any:
    """A model like `model` with weights of its own, on `input_tensors` if they are given.

    `clone_function` makes the new layer for each layer.
    """
    make = clone_layer if clone_function is None else clone_function
    if isinstance(model, Sequential):
        return _clone_sequential_model(model, input_tensors, make)
    return _clone_functional_model(model, input_tensors, make)


# ---- graphs of layers ----


def _clone_functional_model(
    model: Any, input_tensors: Any = None, layer_fn: MakeLayer = clone_layer
) -> Any:
    if not isinstance(model, Model):
        raise ValueError("Expected `model` argument to be a `Model` instance, got ", model)
    if isinstance(model, Sequential):
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, got a `Sequential` "
            "instance instead:",
            model,
        )
    if not model._is_graph_network:
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclass "
            "model instead."
        )
    if not callable(layer_fn):
        raise ValueError("Expected `layer_fn` argument to be a callable.")
    layers: dict[Any, Any] = {}
    inputs = _new_inputs(model, input_tensors, layers)
    starts = [
        _start(x, layer, layers) for x, layer in zip(inputs, model._input_layers, strict=True)
    ]
    tensors = {id(x): y for x, y in zip(model.inputs, starts, strict=True)}
    nodes = _repeat_calls(model._nodes_by_depth, layer_fn, layers, tensors)
    for x in model.outputs:
        assert id(x) in tensors, f"Could not compute output {x}"
    made = Model(
        nest.pack_sequence_as(model._nested_inputs, inputs),
        nest.map_structure(lambda x: tensors[id(x)], model._nested_outputs),
        name=model.name,
    )
    _insert_extra(made, [new for new in layers.values() if new not in made.layers], model, nodes)
    return made


def _new_inputs(model: Any, given: Any, layers: dict[Any, Any]) -> list[Any]:
    """The inputs of the copy; `layers` gets the layers of those that are made here."""
    inputs = []
    found = [None] * len(model._input_layers) if given is None else nest.flatten(given)
    for x, layer in zip(found, model._input_layers, strict=True):
        if x is None or not is_keras_tensor(x):
            wrapped = {"tensor": x, "name": "input_wrapper_for_" + layer.name}
            x = Input(**(layer.get_config() if x is None else wrapped))
            layers[layer] = x._keras_history.layer
        inputs.append(x)
    return inputs


def _start(x: Any, old: Any, layers: dict[Any, Any]) -> Any:
    """An input that another layer made goes through a copy of the old input's layer."""
    if old in layers:
        return x
    layers[old] = clone_layer(old)
    (copied,) = layers[old]([x])
    return copied


def _repeat_calls(
    nodes_by_depth: dict[int, list[Any]],
    make: MakeLayer,
    layers: dict[Any, Any],
    tensors: dict[int, Any],
) -> list[Any]:
    """Calls new layers as the old ones were called; returns the new calls."""
    made = []
    for depth in sorted(nodes_by_depth, reverse=True):
        for node in nodes_by_depth[depth]:
            old = node.outbound_layer
            if isinstance(old, InputLayer):
                continue
            if old not in layers:
                layers[old] = make(old)
            layer = layers[old]
            if not all(id(x) in tensors for x in nest.flatten(node.input_tensors)):
                continue
            inputs = nest.map_structure(lambda x: tensors[id(x)], node.input_tensors)
            kwargs = nest.map_structure(lambda x: tensors.get(id(x), x), node.arguments or {})
            outputs = nest.flatten(layer(inputs, **kwargs))
            made.append(layer._inbound_nodes[outputs[0]._keras_history.node_index])
            for x, y in zip(nest.flatten(node.output_tensors), outputs, strict=True):
                tensors[id(x)] = y
    return made


def _insert_extra(made: Any, extra: list[Any], model: Any, nodes: list[Any]) -> None:
    """Layers that lead to no output: losses and metrics, the latter in the order they had."""
    names = model.metrics_names if extra else ()

    def place(layer: Any) -> int:
        return names.index(layer.metric_name) if isinstance(layer, AddMetric) else -1

    if extra:
        made._insert_layers(sorted(extra, key=place), nodes)


# ---- stacks of layers ----


def _clone_sequential_model(
    model: Any, input_tensors: Any = None, layer_fn: MakeLayer = clone_layer
) -> Any:
    if not isinstance(model, Sequential):
        raise ValueError(
            "Expected `model` argument to be a `Sequential` model instance, but got:", model
        )
    if not callable(layer_fn):
        raise ValueError("Expected `layer_fn` argument to be a callable.")
    extra = _extra_layers(model)
    layers: dict[Any, Any] = {}
    for layer in model._layers:
        if isinstance(layer, InputLayer):
            if input_tensors is None:
                layers[layer] = clone_layer(layer)
        elif layer not in extra:
            layers[layer] = layer_fn(layer)
    first = [] if input_tensors is None else [_first_layer(input_tensors)]
    made = Sequential(layers=first + list(layers.values()), name=model.name)
    if extra:
        tensors = {id(x): y for x, y in zip(model.inputs, made.inputs, strict=True)}
        for old, new in layers.items():
            for x, y in zip(_outputs(old), _outputs(new), strict=True):
                tensors[id(x)] = y
        below = {depth: nodes for depth, nodes in model._nodes_by_depth.items() if depth < 0}
        nodes = _repeat_calls(below, layer_fn, layers, tensors)
        _insert_extra(made, [layers[layer] for layer in extra], model, nodes)
    return made


def _outputs(layer: Any) -> list[Any]:
    return nest.flatten(layer._inbound_nodes[-1].output_tensors)


def _extra_layers(model: Any) -> list[Any]:
    if not model._is_graph_network:
        return []
    below = {depth: nodes for depth, nodes in model._nodes_by_depth.items() if depth < 0}
    return [node.outbound_layer for depth in sorted(below, reverse=True) for node in below[depth]]


def _first_layer(input_tensors: Any) -> Any:
    found = list(input_tensors) if isinstance(input_tensors, (list, tuple)) else [input_tensors]
    if len(found) != 1:
        raise ValueError(
            "To clone a `Sequential` model, we expect  at most one tensor as part of "
            "`input_tensors`."
        )
    (x,) = found
    if not is_keras_tensor(x):
        x = Input(tensor=x, name="input_wrapper_for_" + x.name.replace(":", "_"))
    layer = x._keras_history.layer
    if not isinstance(layer, InputLayer):
        raise ValueError(
            "Cannot clone a `Sequential` model on top of a tensor that comes from a Keras layer "
            "other than an `InputLayer`. Use the functional API instead."
        )
    return layer


# ---- compiled copies, as estimators need them ----


def clone_and_build_model(
    model: Any,
    input_tensors: Any = None,
    target_tensors: Any = None,
    custom_objects: Any = None,
    compile_clone: bool = True,
    in_place_reset: bool = False,
    optimizer_iterations: Any = None,
    optimizer_config: Any = None,
) -> Any:
    """A copy that is compiled like `model`, on other inputs and targets.

    A subclass without a configuration cannot be copied; with `in_place_reset`, its layers are
    replaced by new ones until `in_place_subclassed_model_state_restoration`.
    """
    if compile_clone and not model.optimizer:
        raise ValueError(
            "Error when cloning model: compile_clone was set to True, but the original model has "
            "not been compiled."
        )
    optimizer = model.optimizer
    loss, loss_weights = getattr(model, "loss", None), getattr(model, "loss_weights", None)
    with CustomObjectScope(custom_objects or {}):
        clone = _clone_with_inputs(model, input_tensors, in_place_reset)
    if compile_clone:
        clone.compile(
            _new_optimizer(optimizer, optimizer_iterations, optimizer_config),
            loss,
            metrics=clone_metrics(model._compile_metrics),
            loss_weights=loss_weights,
            sample_weight_mode=model.sample_weight_mode,
            weighted_metrics=clone_metrics(model._compile_weighted_metrics),
            target_tensors=target_tensors,
        )
    return clone


def _clone_with_inputs(model: Any, input_tensors: Any, in_place_reset: bool) -> Any:
    if model._is_graph_network or isinstance(model, Sequential):
        clone = clone_model(model, input_tensors=input_tensors)
        shape = getattr(model, "_build_input_shape", None)
        if isinstance(clone, Sequential) and not clone._is_graph_network and shape is not None:
            clone._set_inputs(placeholder(shape, dtype=model.inputs[0].dtype))
        return clone
    try:
        clone = type(model).from_config(model.get_config())
    except NotImplementedError:
        logging.warning(
            "This model is a subclassed model. Please implement `get_config` and `from_config` to "
            "better support cloning the model."
        )
        if not in_place_reset:
            raise ValueError(
                "This model is a subclassed model. Such a model cannot be cloned, but there is a "
                "workaround where the model is reset in-place. To use this, please set the argument"
                " `in_place_reset` to `True`. This will reset the attributes in the original model."
                " To restore the attributes, call "
                "`in_place_subclassed_model_state_restoration(model)`."
            ) from None
        clone = model
        _reset_in_place(clone)
    if input_tensors is not None:
        alone = isinstance(input_tensors, (list, tuple)) and len(input_tensors) == 1
        clone._set_inputs(input_tensors[0] if alone else input_tensors)
    return clone


def _new_optimizer(old: Any, iterations: Any, config: Any) -> Any:
    if isinstance(old, TFOptimizer):
        from weft.lib.keras.backend.graph_state import track_tf_optimizer

        made = TFOptimizer(old.optimizer, iterations)
        track_tf_optimizer(made)
        return made
    several = isinstance(old, (list, tuple))
    olds = list(old) if several else [old]
    configs = [each.get_config() for each in olds] if config is None else config
    configs = [configs] if isinstance(configs, dict) else configs
    new = [type(each).from_config(c) for each, c in zip(olds, configs, strict=False)]
    if iterations is not None:
        for each in new:
            each.iterations = iterations
    return new if several else new[0]


_STATE = (
    "inputs", "outputs", "total_loss", "optimizer", "train_function", "test_function",
    "predict_function", "_training_endpoints", "_collected_trainable_weights", "_feed_inputs",
    "_feed_input_names", "_feed_input_shapes", "built", "_is_compiled",
)  # fmt: skip
_ABSENT = object()


def _reset_in_place(model: Any) -> None:
    """New layers in the attributes of a subclass, as if it had never been called."""
    kept: dict[str, Any] = {}
    for name, value in list(vars(model).items()):
        if isinstance(value, Layer):
            if getattr(value, "layers", None):
                raise ValueError(
                    "We do not support the use of nested layers in `model_to_estimator` at this "
                    f"time. Found nested layer: {value}"
                )
            kept[name] = value
        elif name in vars(model).get("_tracked", ()) and value:
            raise ValueError(
                "We do not support the use of list-of-layers attributes in subclassed models used "
                f"with `model_to_estimator` at this time. Found list model: {name}"
            )
    for name, layer in kept.items():
        setattr(model, name, clone_layer(layer))
    if vars(model).get("_original_attributes_cache") is None:
        kept.update({name: vars(model).get(name, _ABSENT) for name in _STATE})
        vars(model)["_original_attributes_cache"] = kept
    _forget_build(model)


def _forget_build(model: Any) -> None:
    vars(model).update(built=False, inputs=None, outputs=None, _is_compiled=False, optimizer=None)


def in_place_subclassed_model_state_restoration(model: Any) -> None:
    """Puts back what `clone_and_build_model` replaced in a subclass."""
    kept = vars(model).pop("_original_attributes_cache", None)
    if kept is None:
        _forget_build(model)
        return
    for name, value in kept.items():
        if isinstance(value, Layer):
            setattr(model, name, value)
        elif value is _ABSENT:
            vars(model).pop(name, None)
        else:
            vars(model)[name] = value
