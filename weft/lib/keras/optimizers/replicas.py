"""Keras's optimizers inside of a distribution strategy: gradients are summed over the replicas."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import control_dependencies, name_scope
from weft.ops.control import control


def apply_in_replica(optimizer: Any, replica: Any, pairs: Any, name: str | None) -> Any:
    """The result of `apply_gradients` inside of a replica."""

    def apply(strategy: Any, pairs: Any) -> Any:
        return _apply(optimizer, strategy, pairs, name)

    return replica.merge_call(apply, (pairs,))


def _apply(optimizer: Any, strategy: Any, pairs: Any, name: str | None) -> Any:
    extended, variables = strategy.extended, [variable for _, variable in pairs]
    gradients = extended.batch_reduce_to("SUM", pairs)
    with name_scope(optimizer._name):
        optimizer._create_weights(variables)
        copies = [c for v in variables for c in strategy.experimental_local_results(v)]
        state = optimizer._prepare(copies)

        def update(variable: Any, gradient: Any) -> Any:
            return optimizer._update(gradient, variable, state)

        with name_scope(name or optimizer._name):
            updates = [
                made
                for gradient, variable in zip(gradients, variables, strict=True)
                for made in extended.update(variable, update, args=(gradient,), group=False)
            ]
            with control_dependencies([control.group(*updates)]):
                return strategy.group(optimizer.iterations.assign_add(1))
