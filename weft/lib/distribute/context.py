"""The strategy and the replica that code belongs to; without a strategy, the default one."""

from __future__ import annotations

import weakref
from contextlib import ExitStack
from typing import Any

from weft.graph.graph import get_default_graph
from weft.lib.train.optimizers.distributed_apply import loss_reduction
from weft.ops.kit.replicas import Mode, current_mode
from weft.ops.state.reduce_op import ReduceOp

_open: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def _mode() -> Mode:
    from weft.lib.distribute.default import default_mode

    return current_mode() or default_mode()


def get_strategy() -> Any:
    """The strategy whose scope is open, or one that does nothing."""
    return _mode().strategy


def has_strategy() -> bool:
    """Whether the scope of a strategy is open."""
    from weft.lib.distribute.default import default_mode

    return get_strategy() is not default_mode().strategy


def get_replica_context() -> Any:
    """The replica that this code belongs to; None where it is for all of them."""
    return _mode().replica


def in_cross_replica_context() -> bool:
    """Whether the code is inside of a strategy's scope, and not of one of its replicas."""
    return _mode().replica is None


def get_cross_replica_context() -> Any:
    """The strategy, where code is for all of its replicas; else None."""
    mode = _mode()
    return mode.strategy if mode.replica is None else None


def experimental_set_strategy(strategy: Any) -> None:
    """Opens the strategy's scope for all that follows; None closes it."""
    graph = get_default_graph()
    _open.pop(graph, ExitStack()).close()
    if has_strategy():
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    if strategy is not None:
        scopes = ExitStack()
        scopes.enter_context(strategy.scope())
        _open[graph] = scopes


def get_loss_reduction() -> ReduceOp:
    """How losses of replicas are to become one, by what the last of `tf.losses` did."""
    return loss_reduction(get_strategy())


# ---- checks --------------------------------------------------------------------------------------


def require_cross_replica(extended: Any) -> None:
    """RuntimeError inside of a replica, or of another strategy; no strategy at all will do."""
    from weft.lib.distribute.default import default_mode

    mode = _mode()
    if mode is default_mode() or (mode.replica is None and mode.strategy.extended is extended):
        return
    _require_same(extended._container_strategy(), mode)
    raise RuntimeError(
        "Method requires being in cross-replica context, use get_replica_context().merge_call()"
    )


def require_strategy(extended: Any) -> None:
    """RuntimeError unless it is this strategy whose scope is open."""
    _require_same(extended._container_strategy(), _mode())


def require_replica(replica: Any) -> None:
    """RuntimeError unless the code belongs to this very replica."""
    mode = _mode()
    if mode.replica is replica:
        return
    if mode.replica is None:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")
    if mode.strategy is replica.strategy:
        raise RuntimeError("Mismatching ReplicaContext.")
    raise RuntimeError(
        f"Mismatching tf.distribute.Strategy objects: {mode.strategy} is not {replica.strategy}."
    )


def _require_same(strategy: Any, mode: Mode) -> None:
    if mode.strategy is strategy:
        return
    if not has_strategy():
        raise RuntimeError(f'Need to be inside "with strategy.scope()" for {strategy}')
    raise RuntimeError(
        f"Mixing different tf.distribute.Strategy objects: {mode.strategy} is not {strategy}"
    )
