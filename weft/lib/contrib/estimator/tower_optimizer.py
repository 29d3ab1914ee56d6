"""An optimizer for copies of a model: the last copy applies the gradients of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from weft.graph.graph import control_dependencies, device, get_default_graph, name_scope
from weft.graph.slices import IndexedSlices
from weft.lib.contrib.framework.deprecation import deprecated
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.array.join import concat
from weft.ops.control.control import no_op
from weft.ops.math import math
from weft.ops.scores.losses import Reduction
from weft.ops.state import variable_scope as vs

INSTEAD = "2018-05-31", "Please use `tf.contrib.distribute.MirroredStrategy` instead."
_STATES = "replicate_model_fn_graph_states"


@dataclass
class Towers:
    """The copies of a model that are being made in a graph."""

    count: int = 1
    reduction: str | None = None
    current: int = 0
    optimizer_used: bool = False
    # The variable and name scope of the first copy, whose names have no prefix.
    first_scopes: Any = None
    # For each copy, the gradients that it applied: one list for each call.
    applied: list[list[Any]] = field(default_factory=lambda: [[]])

    @classmethod
    def of_graph(cls) -> Towers:
        states: list[Towers] = get_default_graph().get_collection_ref(_STATES)
        if not states:
            states.append(cls())
        return states[-1]

    @classmethod
    def of_new_copies(cls, count: int, reduction: str) -> Towers:
        towers = cls.of_graph()
        towers.count, towers.reduction = count, reduction
        towers.applied = [[] for _ in range(count)]
        return towers

    @contextmanager
    def making(self, number: int, scopes: Any) -> Iterator[None]:
        self.current = number
        self.first_scopes = scopes if number == 0 else self.first_scopes
        yield

    def finish(self) -> None:
        """Forgets the copies; each of them must have applied as many gradients as the others."""
        if sum(map(len, self.applied)) % self.count:
            raise ValueError(
                "Each invocation of model_fn was supposed to make the same optimizer calls."
            )
        get_default_graph().clear_collection(_STATES)

    def scaled(self, loss: Any) -> Any:
        return scaled_loss(loss, self.reduction, self.count)

    def gradients_of_call(self) -> dict[Any, list[Any]]:
        """Variable -> its gradients from all copies, for the call that was made last."""
        call = len(self.applied[self.current]) - 1
        found: dict[Any, list[Any]] = {}
        for calls in self.applied[: self.current + 1]:
            for grad, variable in calls[call]:
                if grad is not None:
                    found.setdefault(variable.experimental_ref(), []).append(grad)
        return {reference.deref(): grads for reference, grads in found.items()}


def scaled_loss(loss: Any, reduction: str | None, count: int) -> Any:
    """The loss of a copy, such that those of all copies add up to the loss of the batch."""
    if loss is None or count == 1 or reduction == Reduction.SUM:
        return loss
    return math.div(loss, 1.0 * count, name="averaged_loss")


def summed(values: list[Any], where: str, name: str | None = None) -> Any:
    """The sum of values from several devices, on the device `where`."""
    with device(where):
        if not isinstance(values[0], IndexedSlices):
            return math.add_n(values, name=name)
        rows, indices = (concat([getattr(v, n) for v in values], 0) for n in ("values", "indices"))
        return IndexedSlices(rows, indices, values[0].dense_shape)


class TowerOptimizer(Optimizer):
    """Gathers the gradients of all copies of a model, and applies their sums in the last one.

    Without `replicate_model_fn`, or with one copy, it is the optimizer inside.

    Args:
        optimizer_or_optimizer_fn: an optimizer, or a function without arguments that makes it.
    """

    COLLECTION_FOR_GRAPH_STATES = _STATES

    @deprecated(*INSTEAD)
    def __init__(self, optimizer_or_optimizer_fn: Optimizer | Callable[[], Optimizer]) -> None:
        self._made: Any = optimizer_or_optimizer_fn

    @staticmethod
    def has_been_used() -> bool:
        """Whether a copy of the model in this graph has used one."""
        return Towers.of_graph().optimizer_used

    def _inside(self) -> Any:
        if callable(self._made):
            self._made = self._made()
        Towers.of_graph().optimizer_used = True
        return self._made

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._inside().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        return self._inside().get_slot_names(*args, **kwargs)

    def get_name(self, *args: Any, **kwargs: Any) -> Any:
        return self._inside().get_name(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        return self._inside().variables(*args, **kwargs)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        return self._inside().compute_gradients(Towers.of_graph().scaled(loss), *args, **kwargs)

    def apply_gradients(  # type: ignore[override]
        self, grads_and_vars: Any, global_step: Any = None, **kwargs: Any
    ) -> Any:
        towers, grads_and_vars = Towers.of_graph(), list(grads_and_vars)
        if towers.count == 1:
            return self._inside().apply_gradients(grads_and_vars, global_step, **kwargs)
        towers.applied[towers.current].append(grads_and_vars)
        if towers.current < towers.count - 1:
            given = [grad for grad, _ in grads_and_vars if grad is not None]
            dense = [g.values if isinstance(g, IndexedSlices) else g for g in given]
            with control_dependencies(dense):
                return no_op(name="train_op_placeholder")
        variables, names = towers.first_scopes
        with vs.variable_scope(variables), name_scope(names):
            with name_scope("gradient_aggregating"):
                gathered = [
                    (summed(grads, variable.device), variable)
                    for variable, grads in towers.gradients_of_call().items()
                ]
            return self._inside().apply_gradients(gathered, global_step=global_step, **kwargs)
