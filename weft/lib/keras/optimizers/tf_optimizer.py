"""Optimizers of tf.train, as Keras uses them."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import name_scope
from weft.lib.keras import backend as K
from weft.lib.train.checkpoint.objects import Children, Trackable
from weft.ops.kit.replicas import replica_in_force
from weft.ops.state.global_step import get_global_step
from weft.ops.state.updates import assign_add


class TFOptimizer(Trackable):
    """An optimizer of tf.train and the number of steps it has made."""

    def __init__(self, optimizer: Any, iterations: Any = None) -> None:
        self.optimizer = optimizer
        self.iterations = self._new_counter() if iterations is None else iterations
        self.updates: list[Any] = []

    def _new_counter(self) -> Any:
        with name_scope(type(self).__name__):
            return K.variable(0, dtype="int64", name="iterations")

    def apply_gradients(self, grads: Any) -> Any:
        # Replicas count what all of them have a copy of.
        step = self.iterations if replica_in_force() is None else get_global_step()
        return self.optimizer.apply_gradients(grads, global_step=step)

    def get_grads(self, loss: Any, params: Any) -> list[Any]:
        return self.optimizer.compute_gradients(loss, params)

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """The operations of a training step; without `params`, only the step is counted."""
        if params:
            update = self.apply_gradients(self.get_grads(loss, params))
        else:
            update = assign_add(self.iterations, 1)
        self.updates = [update]
        return self.updates

    @property
    def weights(self) -> Any:
        raise NotImplementedError

    def get_config(self) -> Any:
        raise NotImplementedError

    def from_config(self, config: Any) -> Any:
        raise NotImplementedError

    @property
    def _checkpoint_dependencies(self) -> Children:
        return [("optimizer", self.optimizer), ("global_step", self.iterations)]
