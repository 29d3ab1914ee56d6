"""ReplicaContext: what the code of one replica can do that has to do with the others."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from weft.autodiff.custom_gradient import custom_gradient
from weft.core import nest
from weft.graph.tensor import Tensor
from weft.lib.distribute import device_util
from weft.lib.distribute.context import require_replica
from weft.ops.kit.replicas import Mode, entered
from weft.ops.state.reduce_op import as_reduce_op


class ReplicaContext:
    """One replica of a strategy; enter it to say that the code belongs to it."""

    def __init__(self, strategy: Any, replica_id_in_sync_group: Any) -> None:
        self._strategy, self._replica_id_in_sync_group = strategy, replica_id_in_sync_group
        self._mode = Mode(strategy, self)
        self._open: list[ExitStack] = []

    def __enter__(self) -> ReplicaContext:
        stack = ExitStack()
        stack.enter_context(entered(self._mode))
        self._open.append(stack)
        return self

    def __exit__(self, *exc: Any) -> None:
        self._open.pop().__exit__(*exc)

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The result of `merge_fn(strategy, ...)`, called once with arguments of all replicas."""
        require_replica(self)
        return self._merge_call(merge_fn, tuple(args), kwargs or {})

    def _merge_call(self, merge_fn: Any, args: Any, kwargs: Any) -> Any:
        with entered(Mode(self._strategy)):
            return merge_fn(self._strategy, *args, **kwargs)

    @property
    def num_replicas_in_sync(self) -> int:
        return int(self._strategy.num_replicas_in_sync)

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of this replica, as a tensor where there are several."""
        require_replica(self)
        return self._replica_id_in_sync_group

    @property
    def strategy(self) -> Any:
        return self._strategy

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of this replica."""
        require_replica(self)
        return (device_util.current(),)

    def all_reduce(self, reduce_op: Any, value: Any) -> Any:
        """The sum or mean over all replicas; gradients are joined likewise."""
        reduce_op = as_reduce_op(reduce_op)

        def joint(strategy: Any, *flat: Any) -> Any:
            pairs = [(each, _destination(each)) for each in flat]
            return strategy.extended.batch_reduce_to(reduce_op, pairs)

        @custom_gradient
        def reduced(*flat: Any) -> Any:
            found = self.merge_call(joint, flat)

            def gradient(*grads: Any) -> Any:
                return self.all_reduce(reduce_op, list(grads))

            return found, gradient

        return nest.pack_sequence_as(value, nest.flatten(reduced(*nest.flatten(value))))


def _destination(value: Any) -> Any:
    return value.device if isinstance(value, Tensor) else value
