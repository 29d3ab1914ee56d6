"""The children of a model in a checkpoint of objects: layers by number, and the optimizer.

Layers that have weights are also counted by themselves, so that a checkpoint fits a model into
which layers without weights were put.
"""

from __future__ import annotations

from typing import Any

from weft.lib.train.checkpoint.objects import Children, is_trackable, own_weights


def of_model(model: Any) -> Children:
    """(name, object) for all that is right below a model."""
    found = _layers(model) if _is_list_of_layers(model) else []
    held = {id(value) for _, value in found}
    found += [
        (name, value)
        for name, value in [*own_weights(model), *vars(model).items()]
        if name[0] != "_" and name != "optimizer" and id(value) not in held and is_trackable(value)
    ]
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and is_trackable(optimizer):
        found.append(("optimizer", optimizer))
    return found


def _is_list_of_layers(model: Any) -> bool:
    return bool(getattr(model, "_is_graph_network", False)) or type(model).__name__ == "Sequential"


def number_layers(model: Any) -> None:
    """Gives the layers their names; of those without weights by now, some have one to come.

    A layer goes by its first name. So where it had no weights when it was added, it is `layer-1`,
    even if there is a `layer_with_weights-0` for it later.
    """
    model.__dict__.setdefault("_layer_numbers", {}).update(_numbered(model.layers))


def _layers(model: Any) -> Children:
    if "_layer_numbers" not in model.__dict__:
        return _numbered(model.layers)
    here = {id(layer) for layer in model.layers}
    return [item for item in model.__dict__["_layer_numbers"].items() if id(item[1]) in here]


def _numbered(layers: list[Any]) -> Children:
    found: Children = []
    with_weights = 0
    for i, layer in enumerate(layers):
        if _has_weights(layer):
            found.append((f"layer_with_weights-{with_weights}", layer))
            with_weights += 1
        found.append((f"layer-{i}", layer))
    return found


def _has_weights(layer: Any) -> bool:
    try:
        return bool(layer.weights)
    except ValueError:  # not built yet
        return False
