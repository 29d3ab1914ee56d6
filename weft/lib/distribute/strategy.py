"""Strategy: what a program calls to run a model in several replicas."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from weft.core import dtypes
from weft.lib.autograph.api import control_status_ctx, tf_convert
from weft.lib.distribute.context import require_cross_replica
from weft.lib.distribute.input_context import InputReplicationMode
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.state.reduce_op import ReduceOp, as_reduce_op


class Strategy:
    """Base of all strategies. `extended` holds what libraries need and most programs do not."""

    def __init__(self, extended: Any) -> None:
        self._extended = extended
        # Estimators want the mean of the replicas' losses, whatever a program's own loop does.
        self._scale_loss_for_estimator = False

    @property
    def extended(self) -> Any:
        return self._extended

    @contextmanager
    def _scale_loss_for_estimator_enabled(self) -> Iterator[None]:
        self._scale_loss_for_estimator = True
        try:
            yield
        finally:
            self._scale_loss_for_estimator = False

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are, in all workers."""
        return int(self._extended._num_replicas_in_sync)

    def scope(self) -> AbstractContextManager[Any]:
        """Variables made inside are the strategy's."""
        scope: AbstractContextManager[Any] = self._extended._scope(self)
        return scope

    def colocate_vars_with(self, colocate_with_variable: Any) -> AbstractContextManager[Any]:
        """Deprecated: `extended.colocate_vars_with`."""
        scope: AbstractContextManager[Any] = self._extended.colocate_vars_with(
            colocate_with_variable
        )
        return scope

    # ---- input ----

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator that cuts the batches of `dataset` into one part for each replica."""
        return self._extended._make_dataset_iterator(dataset)

    def make_input_fn_iterator(
        self,
        input_fn: Callable[[Any], Any],
        replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
    ) -> Any:
        """An iterator over `input_fn(InputContext)`, whose elements go to the replicas in turn."""
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode!r}")
        with self.scope():
            return self._extended._make_input_fn_iterator(
                input_fn, replication_mode=replication_mode
            )

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of the rows of arrays, which are kept out of the graph."""
        return self._extended.experimental_make_numpy_dataset(numpy_input, session=session)

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        """`dataset`, whose batches are cut into one part for each replica."""
        return self._extended._experimental_distribute_dataset(dataset)

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[[Any], Any]
    ) -> Any:
        """The dataset `dataset_fn(InputContext)`, whose batches are those of one replica."""
        return self._extended._experimental_distribute_datasets_from_function(dataset_fn)

    # ---- computing ----

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """`fn` of the iterator's next element, in each replica."""
        with self.scope():
            args = () if input_iterator is None else (input_iterator.get_next(),)
        return self.experimental_run_v2(fn, args)

    def experimental_run_v2(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """`fn(*args)` in each replica, which gets its own part of distributed arguments."""
        with self.scope():
            # Inside of a `tf.function`, control flow of replicas may depend on tensors as well.
            fn = tf_convert(fn, control_status_ctx(), convert_by_default=False)
            return self._extended.call_for_each_replica(fn, args=args, kwargs=kwargs)

    def reduce(self, reduce_op: Any, value: Any, axis: int | None = None) -> Any:
        """The sum or mean of what the replicas have, and along `axis` of each of that."""
        require_cross_replica(self._extended)
        reduce_op = as_reduce_op(reduce_op)
        if axis is None:
            return self._extended._reduce(reduce_op, value)
        if reduce_op is ReduceOp.SUM:
            sums = self.experimental_run_v2(lambda v: math.reduce_sum(v, axis=axis), (value,))
            return self._extended._reduce(reduce_op, sums)
        if reduce_op is not ReduceOp.MEAN:
            raise TypeError(
                f"Expected `reduce_op` to be a `tf.distribute.ReduceOp`, not: {reduce_op!r}"
            )
        if not isinstance(axis, int):
            raise TypeError(f"Expected `axis` to be an integer not: {axis!r}")
        # Replicas may have different numbers of elements: a mean of means would be wrong.
        total, count = self.experimental_run_v2(lambda v: _sum_and_count(v, axis), (value,))
        total = self._extended._reduce(ReduceOp.SUM, total)
        if isinstance(count, int):
            count *= self.num_replicas_in_sync
        else:
            count = self._extended._reduce(ReduceOp.SUM, count)
        return math.truediv(total, math.cast(count, total.dtype))

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas, in their order."""
        found: tuple[Any, ...] = self._extended._local_results(value)
        return found

    experimental_local_results = unwrap

    def group(self, value: Any, name: str | None = None) -> Any:
        """An operation that is done when `value` is there in all replicas."""
        return self._extended._group(value, name)

    # ---- settings ----

    def configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Makes the strategy fit a cluster, and the session's config fit the strategy."""
        self._extended._configure(session_config, cluster_spec, task_type, task_id)

    def update_config_proto(self, config_proto: Any) -> Any:
        """A copy of the config with what the strategy needs."""
        return self._extended._update_config_proto(config_proto)

    def __deepcopy__(self, memo: dict[int, Any]) -> Strategy:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        vars(made).update(copy.deepcopy(vars(self), memo))
        made._extended._container_strategy_weakref = weakref.ref(made)
        return made

    def __copy__(self) -> Strategy:
        raise RuntimeError("Must only deepcopy DistributionStrategy.")


def _sum_and_count(value: Any, axis: int) -> tuple[Any, Any]:
    """The sum along an axis, and how many were summed: a number if that is known."""
    rank = value.shape.ndims
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(f"`axis` = {axis!r} out of range for `value` with rank {rank}")
    total = math.reduce_sum(value, axis=axis)
    known = None if rank is None else value.shape.as_list()[axis]
    if known is None:
        known = array.shape(value, out_type=dtypes.int64)[axis]
    return total, known
