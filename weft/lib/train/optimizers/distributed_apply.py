"""Applying gradients inside of a distribution strategy: they are summed over the replicas first."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import (
    GraphKeys,
    control_dependencies,
    get_collection_ref,
    get_default_graph,
    init_scope,
    name_scope,
)
from weft.graph.tensor import Tensor
from weft.ops.kit.replicas import replica_in_force, strategy_in_force
from weft.ops.scores.losses import Reduction
from weft.ops.state.reduce_op import ReduceOp
from weft.ops.state.updates import assign_add


def _whole(variable: Any) -> Any:
    """The variable that this one is a copy in, or the variable itself."""
    container = getattr(variable, "_distributed_container", None)
    return variable if container is None else container()


def primary_copy(variable: Any) -> Any:
    """The copy of the first replica, which stands for all of them; of a plain variable, itself."""
    return getattr(_whole(variable), "primary", variable)


def copy_beside(variable: Any, slot: Any) -> Any:
    """The copy of a slot that lies where `variable`, a copy itself, does."""
    if slot is None or _whole(variable) is variable or not hasattr(slot, "primary"):
        return slot
    return slot.get(device=variable.device)


def closest_copy(variable: Any) -> Any:
    """The copy that code at this place means; of a plain variable, itself."""
    return variable.get() if hasattr(variable, "primary") else variable


def loss_reduction(strategy: Any) -> ReduceOp:
    """How losses of replicas are to become one, by what the last of `tf.losses` did."""
    if not strategy._scale_loss_for_estimator:
        return ReduceOp.SUM
    last = getattr(get_default_graph(), "_last_loss_reduction", None)
    return ReduceOp.SUM if last in (Reduction.SUM, "sum") else ReduceOp.MEAN


def scaled_loss(loss: Any) -> Any:
    """The part of a mean over all replicas that is this one's, where Estimators ask for that."""
    graph = get_default_graph()
    graph._is_loss_scaled_by_optimizer = False  # type: ignore[attr-defined]
    strategy = strategy_in_force()
    if strategy is None or strategy.num_replicas_in_sync == 1:
        return loss
    if loss_reduction(strategy) is not ReduceOp.MEAN:
        return loss
    graph._is_loss_scaled_by_optimizer = True  # type: ignore[attr-defined]
    return loss * (1.0 / strategy.num_replicas_in_sync)


def apply_in_replica(
    optimizer: Any, grads_and_vars: Any, global_step: Any, name: str | None
) -> Any:
    """The result of `apply_gradients` inside of a replica."""
    replica = replica_in_force()
    if replica is None:
        raise RuntimeError(
            "Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context."
        )
    pairs = [(g, v) for g, v in grads_and_vars if g is not None]
    if not pairs:
        raise ValueError(
            f"No gradients provided for any variable: {[str(v) for _, v in grads_and_vars]}."
        )
    return replica.merge_call(optimizer._distributed_apply, (pairs, global_step, name))


def distributed_apply(
    optimizer: Any, strategy: Any, grads_and_vars: Any, global_step: Any, name: str | None
) -> Any:
    """Updates the copies of each variable by the sum of the replicas' gradients."""
    extended = strategy.extended
    gradients = extended.batch_reduce_to("SUM", grads_and_vars)
    var_list = [v for _, v in grads_and_vars]
    with init_scope():
        optimizer._create_slots(var_list)

    def update(variable: Any, gradient: Any) -> Any:
        return optimizer._update(gradient, variable)

    with name_scope(name or optimizer._name) as scope:
        optimizer._prepare()
        updates = [
            made
            for gradient, variable in zip(gradients, var_list, strict=True)
            for made in extended.update(variable, update, args=(gradient,), group=False)
        ]
        finished = extended.update_non_slot(
            extended.non_slot_devices(var_list),
            lambda *given: optimizer._finish(list(given), "update"),
            args=tuple(updates),
            group=False,
        )
        applied = _count_step(strategy, finished, global_step, scope)
    if isinstance(applied, Tensor):
        applied = applied.op
    train_op = get_collection_ref(GraphKeys.TRAIN_OP)
    if applied not in train_op:
        train_op.append(applied)
    return applied


def _count_step(strategy: Any, finished: Any, global_step: Any, name: str) -> Any:
    if global_step is None:
        return strategy.group(finished, name=name)
    with control_dependencies(finished):
        return strategy.extended.update(global_step, assign_add, args=(1,), kwargs={"name": name})
