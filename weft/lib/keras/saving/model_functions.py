"""The functions that a Keras model has in a SavedModel: the model itself, and what is served."""

from __future__ import annotations

import weakref
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
    by_graph = vars(value).setdefault(_MADE, weakref.WeakKeyDictionary())
    graph = get_default_graph()
    if graph not in by_graph:
        by_graph[graph] = {
            "__call__": _call(value),
            "_default_save_signature": _signature(value),
        }
    found: dict[str, Any] = by_graph[graph]
    return found


def lists_of_model(value: Any) -> dict[str, Any]:
    """The variables of a model, which one that was loaded has as attributes."""
    if not _is_built_model(value):
        return {}
    names = "variables", "trainable_variables", "non_trainable_variables"
    return {name: list(getattr(value, name)) for name in names}


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
