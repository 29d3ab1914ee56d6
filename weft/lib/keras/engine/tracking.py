"""Tracking of a layer's attributes: the layers and variables assigned to it are its own."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from weft.core.no_dependency import NoDependency
from weft.core.tracks import Tracks
from weft.ops.state.resource_variable import UpdatedVariable
from weft.ops.state.variables import Variable


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose assignments to `self` are not looked at."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return untracked


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """Assignments to `obj` inside are not looked at."""
    before = obj.__dict__.get("_self_setattr_tracking", True)
    obj.__dict__["_self_setattr_tracking"] = False
    try:
        yield
    finally:
        obj.__dict__["_self_setattr_tracking"] = before


def has_weights(value: Any) -> bool:
    """Whether `value` is a layer, or as good as one."""
    kind = type(value)
    return hasattr(kind, "trainable_weights") and hasattr(kind, "non_trainable_weights")


class LayersInside(list[Any]):
    """The layers right inside another: one that is appended to the list becomes one of them."""

    def __init__(self, owner: Tracking, layers: Iterable[Any]) -> None:
        super().__init__(layers)
        self._state = owner.__dict__

    def append(self, layer: Any) -> None:
        super().append(layer)
        self._state.setdefault("_appended_layers", []).append(layer)
        self._state.setdefault("_tracked", {})["_appended_layers"] = True


class Tracking(Tracks):
    """Attributes that hold layers, or collections of them, are remembered in their order.

    Collections are searched when the layers are asked for, so what is appended later counts.
    """

    _trainable_weights: list[Any]
    _non_trainable_weights: list[Any]

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, NoDependency):
            self._forget(name)
            value = value.value
        elif self._is_tracked(name):
            self._forget(name)
            if has_weights(value) or isinstance(value, (list, tuple, dict)):
                self.__dict__.setdefault("_tracked", {})[name] = True
            for variable in _variables_in(value, list | tuple):
                self._own_variable(variable)
            give_resources(_layers_in(value))
        try:
            object.__setattr__(self, name, value)
        except AttributeError:
            raise AttributeError(
                f'Can\'t set the attribute "{name}", likely because it conflicts with an existing '
                "read-only @property of the object. Please choose a different name."
            ) from None

    def __delattr__(self, name: str) -> None:
        self._forget(name)
        object.__delattr__(self, name)

    def _is_tracked(self, name: str) -> bool:
        state = self.__dict__
        if not state.get("_self_setattr_tracking", True) or state.get("_is_graph_network", False):
            return False
        return not hasattr(type(self), name)

    def _forget(self, name: str) -> None:
        """Stops tracking an attribute's value, unless another attribute holds it too."""
        self.__dict__.get("_tracked", {}).pop(name, None)
        old = self.__dict__.get(name)
        if isinstance(old, Variable) and not self._held_elsewhere(name, old):
            for key in ("_trainable_weights", "_non_trainable_weights"):
                self.__dict__[key] = [w for w in self.__dict__.get(key, ()) if w is not old]

    def _held_elsewhere(self, name: str, value: Any) -> bool:
        return any(held is value for key, held in self.__dict__.items() if key != name)

    def _own_variable(self, variable: Variable) -> None:
        from weft.lib.keras.backend.graph_state import track_variable

        key = "_trainable_weights" if variable.trainable else "_non_trainable_weights"
        owned = self.__dict__.setdefault(key, [])
        if not any(variable is each for each in owned):
            owned.append(variable)
            track_variable(variable)

    def _own_what_was_appended(self) -> None:
        """Variables that collections got after they were assigned are the layer's, too."""
        for name in self.__dict__.get("_tracked", ()):
            for variable in _variables_in(self.__dict__[name], list):
                self._own_variable(variable)

    @property
    def _layers(self) -> list[Any]:
        """The layers right inside this one."""
        if "_layer_list" in self.__dict__:
            return self.__dict__["_layer_list"]
        found: dict[int, Any] = {}
        for name in self.__dict__.get("_tracked", ()):
            for layer in _layers_in(self.__dict__[name]):
                found.setdefault(id(layer), layer)
        return LayersInside(self, found.values())

    @_layers.setter
    def _layers(self, layers: list[Any]) -> None:
        self.__dict__["_layer_list"] = layers

    def _gather_children_attribute(self, attribute: str) -> list[Any]:
        return [item for layer in self._layers for item in getattr(layer, attribute)]


def _layers_in(value: Any) -> Iterator[Any]:
    """The layers in lists and dictionaries; those in a tuple are nobody's."""
    if has_weights(value):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _layers_in(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _layers_in(each)


def give_resources(layers: Iterable[Any]) -> None:
    """Layers of `tf.layers` that are another's make resource variables."""
    for layer in layers:
        if hasattr(layer, "_use_resource_variables"):
            layer._use_resource_variables = True


def _variables_in(value: Any, sequences: Any) -> Iterator[Variable]:
    """The variables in dictionaries and `sequences`, a type or several."""
    if isinstance(value, Variable):
        # What assigning gave is the variable again.
        if not isinstance(value, UpdatedVariable):
            yield value
    elif isinstance(value, sequences):
        for each in value:
            yield from _variables_in(each, sequences)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _variables_in(each, sequences)
