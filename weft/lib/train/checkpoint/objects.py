"""Python objects that own variables, as a graph: what a checkpoint of objects is matched against.

An object's children are its attributes (or elements) that own variables themselves. A variable is
saved under the shortest path to it from the root, so renaming it in the graph changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from weft.core.no_dependency import TakesNoDependency
from weft.core.tracks import NAMED, Tracks, named_dependencies
from weft.graph.graph import get_default_graph
from weft.lib.train.checkpoint.saver_saveable import (
    VARIABLE_VALUE_KEY,
    SaveableObject,
    op_list_to_dict,
    saveable_objects_for_op,
)
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.state.variables import Variable
from weft.protos.checkpoint import TrackableObjectGraph

Children = list[tuple[str, Any]]


class Trackable(Tracks):
    """An object that says what it depends on: other objects, and values of its own."""

    @property
    def _checkpoint_dependencies(self) -> Children:
        return list(self._unconditional_checkpoint_dependencies)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """Name -> a saveable, a variable, or a function of a name that makes one of them."""
        return {}

    def _no_dependency(self, value: Any) -> Any:
        """`value`, to be assigned to an attribute that nothing depends on."""
        return value


class AutoTrackable(TakesNoDependency, Trackable):
    """An object that depends on those of its attributes which own variables."""

    @property
    def _checkpoint_dependencies(self) -> Children:
        skipped = {NAMED, *vars(self).get("_untracked", ())}
        named = ((name, value) for name, value in vars(self).items() if name not in skipped)
        return [(name, value) for name, value in named if is_trackable(value)]


def is_trackable(value: Any) -> bool:
    """Whether a value owns variables, or may come to."""
    if isinstance(value, (Variable, Trackable, Optimizer)):
        return True
    if isinstance(value, (list, tuple)):
        return any(is_trackable(each) for each in value)
    if isinstance(value, dict):
        return any(is_trackable(each) for each in value.values())
    if _is_layer(value) or tracks_attributes(value):
        return True
    return hasattr(value, "_gather_saveables_for_checkpoint")


def tracks_attributes(value: Any) -> bool:
    """Whether an object depends on all that its attributes own: a module, if it is no layer."""
    own = isinstance(value, AutoTrackable) or getattr(type(value), "_tracks_attributes", False)
    return own and not _is_layer(value)


def _is_layer(value: Any) -> bool:
    return not isinstance(value, type) and hasattr(value, "trainable_weights")


def has_slots(value: Any) -> bool:
    """Whether it is an optimizer, which keeps variables beside those of others."""
    return hasattr(value, "get_slot_names") and hasattr(value, "get_slot")


def _slot(optimizer: Any, variable: Any, name: str) -> Any:
    """The optimizer's slot of a variable; None if it has none."""
    try:
        return optimizer.get_slot(variable, name)
    except KeyError:
        return None


def children(value: Any) -> Children:
    """The names by which an object knows its children, and these."""
    if isinstance(value, Variable):
        return []
    named = named_dependencies(value)
    found = _found_children(value)
    return [*((name, child) for name, child in found if name not in named), *named.items()]


def _found_children(value: Any) -> Children:
    """The children that an object was not told of by name."""
    if hasattr(type(value), "_checkpoint_dependencies"):
        return value._checkpoint_dependencies
    if isinstance(value, Optimizer):
        graph = get_default_graph()
        made = sorted(value._non_slot_dict.items(), key=lambda item: item[0][0])
        return [(name, variable) for (name, _), variable in made if variable.graph is graph]
    if isinstance(value, (list, tuple)):
        named: Any = ((str(i), each) for i, each in enumerate(value))
    elif isinstance(value, dict):
        named = ((str(key), each) for key, each in value.items())
    else:
        state = getattr(value, "__dict__", {})
        skipped = {NAMED, *state.get("_untracked", ())}
        attributes = [item for item in state.items() if item[0] not in skipped]
        if not tracks_attributes(value):
            attributes = [(key, each) for key, each in attributes if key[0] != "_"]
        named = [*own_weights(value), *attributes, *renamed_weights(value)]
    return [(name, each) for name, each in named if is_trackable(each)]


def own_weights(layer: Any) -> Children:
    """The variables that a layer made with `add_weight`, by the names it gave them.

    A name that was given twice is that of the later one.
    """
    return [*dict(_added(layer)).items()]


def renamed_weights(layer: Any) -> Children:
    """Those whose names the layer gave to others later, with numbers.

    TensorFlow would not save them: several embeddings of a `DenseFeatures`, for example.
    """
    named = dict(_added(layer))
    earlier = [(name, each) for name, each in _added(layer) if each is not named[name]]
    return [(f"{name}_{i}", each) for i, (name, each) in enumerate(earlier, 1)]


def _added(layer: Any) -> Children:
    made = getattr(layer, "_added_weights", ())
    return [(_added_name(name, each), each) for name, each in made if isinstance(each, Variable)]


def _added_name(name: str | None, variable: Any) -> str:
    return variable.op.name.rpartition("/")[2] if name is None else name


def own_values(value: Any) -> dict[str, Any]:
    """The values an object itself saves, apart from its children: attribute -> how."""
    if isinstance(value, Variable):
        return {VARIABLE_VALUE_KEY: value}
    gather = getattr(value, "_gather_saveables_for_checkpoint", None)
    return gather() if gather is not None else {}


def escaped(name: str) -> str:
    """A name that is one component of a key: "/" and "." mean something there."""
    return name.replace(".", "..").replace("/", ".S")


class ObjectGraph:
    """All objects below a root, the nearest first, then the slots of optimizers."""

    def __init__(self, root: Any) -> None:
        self.objects: list[Any] = []
        self._ids: dict[int, int] = {}
        self._paths: dict[int, str] = {}
        self._walk(root)
        # optimizer -> (slot's name, number of the variable, number of the slot)
        self.slots: dict[int, list[tuple[str, int, int]]] = {}
        for optimizer in [each for each in self.objects if has_slots(each)]:
            self._add_slots(optimizer, len(self.objects))

    def children(self, value: Any) -> Children:
        """The names by which an object knows those below it, and these."""
        return children(value)

    def _add(self, value: Any, path: str) -> int:
        self._ids[id(value)] = len(self.objects)
        self._paths[id(value)] = path
        self.objects.append(value)
        return self._ids[id(value)]

    def _walk(self, root: Any) -> None:
        waiting = deque([(root, "")])
        seen = {id(root)}
        while waiting:
            value, path = waiting.popleft()
            self._add(value, path)
            for name, child in self.children(value):
                if id(child) not in seen:
                    seen.add(id(child))
                    below = f"{path}/{escaped(name)}" if path else escaped(name)
                    waiting.append((child, below))

    def _add_slots(self, optimizer: Any, count: int) -> None:
        for slot_name in optimizer.get_slot_names():
            for number, variable in enumerate(self.objects[:count]):
                if not isinstance(variable, Variable):
                    continue
                slot = _slot(optimizer, variable, slot_name)
                if slot is None:
                    continue
                path = (
                    f"{self._paths[id(variable)]}/.OPTIMIZER_SLOT/{self._paths[id(optimizer)]}"
                    f"/{escaped(slot_name)}"
                )
                made = (slot_name, number, self._add(slot, path))
                self.slots.setdefault(id(optimizer), []).append(made)

    def variables(self) -> list[Any]:
        return [value for value in self.objects if isinstance(value, Variable)]

    def serialize(self) -> tuple[Any, list[SaveableObject]]:
        """(the TrackableObjectGraph, what is to be saved)"""
        message = TrackableObjectGraph()
        saveables: list[SaveableObject] = []
        for value in self.objects:
            node = message.nodes.add()
            for name, child in self.children(value):
                node.children.add(node_id=self._ids[id(child)], local_name=name)
            for slot_name, variable, slot in self.slots.get(id(value), ()):
                node.slot_variables.add(
                    slot_name=slot_name,
                    original_variable_node_id=variable,
                    slot_variable_node_id=slot,
                )
            saveables += self._attributes(value, node)
        return message, saveables

    def _attributes(self, value: Any, node: Any) -> Iterator[SaveableObject]:
        for name, source in own_values(value).items():
            key = f"{self._paths[id(value)]}/.ATTRIBUTES/{escaped(name)}"
            found = list(saveables_of(source, key))
            node.attributes.add(
                name=name,
                checkpoint_key=key,
                full_name=_full_name(source),
                optional_restore=all(each.optional_restore for each in found),
            )
            yield from found


def saveables_of(source: Any, key: str) -> Iterator[SaveableObject]:
    """The saveables of one value of an object under `key`."""
    if callable(source) and not isinstance(source, Variable):
        source = source(key)
    return saveable_objects_for_op(source, key)


def _full_name(source: Any) -> str:
    """The name by which a `tf.train.Saver` would save a variable."""
    if not isinstance(source, Variable):
        return ""
    (name,) = op_list_to_dict([source], convert_variable_to_tensor=False)
    return name


def match(root: Any, message: Any) -> dict[int, Any]:
    """Number in a TrackableObjectGraph -> the object that is there now, starting at the root."""
    found: dict[int, Any] = {0: root}
    waiting = deque([0])
    while waiting:
        number = waiting.popleft()
        here = dict(children(found[number]))
        look_up = getattr(found[number], "_lookup_dependency", here.get)
        for child in message.nodes[number].children:
            if child.node_id not in found:
                below = here.get(child.local_name)
                below = look_up(child.local_name) if below is None else below
                if below is not None:
                    found[child.node_id] = below
                    waiting.append(child.node_id)
    for number, value in list(found.items()):
        if has_slots(value):
            for slot in message.nodes[number].slot_variables:
                variable = found.get(slot.original_variable_node_id)
                made = None if variable is None else _slot(value, variable, slot.slot_name)
                if made is not None:
                    found[slot.slot_variable_node_id] = made
    return found
