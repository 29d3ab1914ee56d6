"""The functions that a Keras model has in a SavedModel: itself, its losses, and what is served."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from weft.core import nest
from weft.graph.graph import get_default_graph
from weft.graph.type_spec import TensorSpec
from weft.lib.functions.concrete import ConcreteFunction
from weft.lib.functions.polymorphic import Function
from weft.lib.keras import backend as K

_MADE = "_functions_by_graph"  # where a model keeps them, so that they go when it goes


def functions_of_model(value: Any, known: dict[str, Any]) -> dict[str, Any]:
    """`__call__` and the default signature of a model; nothing for other objects.

    `known` are functions that the program gave it: a model has no need of ours then.
    """
    if not _is_built_model(value) or "call" in known:
        return {}
    made = _made_of(value)
    if "__call__" not in made:
        made["__call__"] = _call(value)
        made["_default_save_signature"] = _signature(value)
    return {name: made[name] for name in ("__call__", "_default_save_signature")}


def lists_of_model(value: Any) -> dict[str, Any]:
    """The variables of a model and the losses of its weights, as attributes of a loaded one."""
    if not _is_built_model(value):
        return {}
    names = "variables", "trainable_variables", "non_trainable_variables"
    made = _made_of(value)
    if "regularization_losses" not in made:
        made["regularization_losses"] = [_loss(each) for each in _callable_losses(value)]
    losses = {"regularization_losses": made["regularization_losses"]}
    return {name: list(getattr(value, name)) for name in names} | losses


def _made_of(model: Any) -> dict[str, Any]:
    """The functions that were made of a model for the graph that is current."""
    by_graph = vars(model).setdefault(_MADE, weakref.WeakKeyDictionary())
    found: dict[str, Any] = by_graph.setdefault(get_default_graph(), {})
    return found


def _callable_losses(layer: Any) -> Iterator[Any]:
    """The functions that give the losses of a layer and of the layers in it."""
    yield from layer._callable_losses
    for inner in layer._layers:
        yield from _callable_losses(inner)


def _loss(loss: Any) -> Function:
    made = Function(loss, "loss", autograph=False)
    made.get_concrete_function()
    return made


def _is_built_model(value: Any) -> bool:
    return hasattr(value, "_is_graph_network") and bool(value.inputs)


def _specs(model: Any) -> list[TensorSpec]:
    named = zip(model.inputs, model.input_names, strict=True)
    return [TensorSpec(tensor.shape, tensor.dtype, name) for tensor, name in named]


def _result(model: Any, inputs: Any, training: Any) -> Any:
    with K.learning_phase_scope(int(bool(training))):
        if getattr(model, "_expects_training_arg", False):
            return model(inputs, training=bool(training))
        return model(inputs)


def _call(model: Any) -> Function:
    def call(inputs: Any, training: Any = False) -> Any:
        return _result(model, inputs, training)

    made = Function(call, "model_call", autograph=False)
    specs = _specs(model)
    for training in (False, True):
        made.get_concrete_function(specs[0] if len(specs) == 1 else specs, training)
    return made


def _signature(model: Any) -> ConcreteFunction:
    def serve(*args: Any) -> Any:
        outputs = _result(model, args[0] if len(args) == 1 else list(args), False)
        return dict(zip(model.output_names, nest.flatten(outputs), strict=True))

    return Function(serve, "serve", autograph=False).get_concrete_function(*_specs(model))
