"""The losses and updates of a layer, and which of them depend on which inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, Operation, get_collection_ref


class LayerLosses:
    trainable: Any
    stateful: bool

    def __init__(self) -> None:
        # Each with whether it stands whatever the inputs are.
        self._losses: list[tuple[Any, bool]] = []
        self._callable_losses: list[Callable[[], Any]] = []
        self._updates: list[tuple[Any, bool]] = []
        self._inputs_now: list[Any] | None = None

    @property
    def losses(self) -> list[Any]:
        made = [loss for loss, _ in self._losses]
        return made + [loss for f in self._callable_losses if (loss := f()) is not None]

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses, tensors or functions that make one, to the regularization losses.

        With `inputs`, a loss depends on them; without, it stands for the layer as a whole.
        """
        new = []
        for loss in nest.flatten(losses):
            if callable(loss):
                self._callable_losses.append(loss)
                loss = loss()
            elif loss is not None:
                loss = convert_to_tensor(loss)
                self._losses.append((loss, inputs is None))
            if loss is not None:
                new.append(loss)
        add_to_collection(new, GraphKeys.REGULARIZATION_LOSSES)

    @property
    def updates(self) -> list[Any]:
        if not self.trainable and not self.stateful:
            return []
        return [update() if callable(update) else update for update, _ in self._updates]

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations to run with each training step, such as those of moving averages."""
        if self._inputs_now is not None:
            inputs = self._inputs_now
        for update in nest.flatten(updates):
            if callable(update):
                update = update()
            if not isinstance(update, Operation):
                update = getattr(update, "op", None) or convert_to_tensor(update)
            depends = bool(inputs) and bool(_reached_from(inputs, [update]))
            self._updates.append((update, not depends))

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that depend on `inputs`; with None, those that depend on no input."""
        return _relevant(self._updates if self.trainable or self.stateful else [], inputs)

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that depend on `inputs`; with None, those that depend on no input."""
        if inputs is None:
            return [loss for loss, alone in self._losses if alone] + [
                loss for f in self._callable_losses if (loss := f()) is not None
            ]
        return _relevant(self._losses, inputs)


def add_to_collection(elements: list[Any], key: str) -> None:
    collection = get_collection_ref(key)
    known = {id(element) for element in collection}
    for element in elements:
        if id(element) not in known:
            collection.append(element)
            known.add(id(element))


def _relevant(kept: list[tuple[Any, bool]], inputs: Any) -> list[Any]:
    if inputs is None:
        return [item for item, alone in kept if alone]
    return _reached_from(nest.flatten(inputs), [item for item, alone in kept if not alone])


def _reached_from(inputs: Any, targets: list[Any]) -> list[Any]:
    """Those of `targets` that are computed from `inputs`."""
    sources = {id(x) for x in inputs}

    def reached(target: Any) -> bool:
        waiting, seen = [target], set()
        while waiting:
            item = waiting.pop()
            if id(item) in sources:
                return True
            op = item if isinstance(item, Operation) else item.op
            if op not in seen:
                seen.add(op)
                waiting.extend(op.inputs)
        return False

    return [target for target in targets if reached(target)]
