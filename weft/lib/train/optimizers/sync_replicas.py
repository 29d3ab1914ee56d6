"""SyncReplicasOptimizer: one update from the mean gradient of several replicas.

Replicas add their gradients to accumulators on the parameter servers. The chief's queue runner
takes the means once enough are there, applies them, and puts out one token a replica; a replica
waits for a token before it goes on. A gradient older than the global step is dropped, so replicas
above `replicas_to_aggregate` are backups for slow ones.
"""

from __future__ import annotations

import threading
from typing import Any

from weft.core import dtypes
from weft.graph.graph import (
    GraphKeys,
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    name_scope,
)
from weft.graph.slices import IndexedSlices
from weft.lib.platform import tf_logging
from weft.lib.train.input.queue_runner import QueueRunner
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.optimizers.wrapper import WrapperOptimizer
from weft.lib.train.sessions.coordinator import Coordinator
from weft.lib.train.sessions.session_run_hook import SessionRunHook
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.queues.accumulators import ConditionalAccumulator, SparseConditionalAccumulator
from weft.ops.queues.queues import FIFOQueue
from weft.ops.state.updates import assign
from weft.ops.state.variables import Variable, global_variables, report_uninitialized_variables


def _shared_queue(name: str, capacity: int, dtype: Any) -> FIFOQueue:
    """A queue of scalars that is the same one for all replicas."""
    return FIFOQueue(capacity, dtype, shapes=(), name=name, shared_name=name)


class SyncReplicasOptimizer(Optimizer):
    """Applies `opt` to gradients averaged over `replicas_to_aggregate` replicas."""

    # A wrapper, but one whose base is `Optimizer` itself: programs look for these in tf.train.
    _opt: Optimizer
    compute_gradients = WrapperOptimizer.compute_gradients
    get_slot = WrapperOptimizer.get_slot
    get_slot_names = WrapperOptimizer.get_slot_names
    variables = WrapperOptimizer.variables

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: Any = None,
        variables_to_average: Any = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        total = replicas_to_aggregate if total_num_replicas is None else total_num_replicas
        tf_logging.info(
            f"SyncReplicasV2: replicas_to_aggregate={replicas_to_aggregate}; "
            f"total_num_replicas={total}"
        )
        self._replicas_to_aggregate, self._total_num_replicas = replicas_to_aggregate, total
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        # Enough for every replica, and for a step that takes more gradients than there are.
        self._tokens_per_step = max(total, replicas_to_aggregate)
        self._gradients_applied = False
        self._global_step: Any = None
        self._sync_token_queue: Any = None
        self._chief_queue_runner: QueueRunner | None = None
        self._accumulator_list: list[tuple[Any, str]] = []

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """The op of one replica's step: hands in its gradients, waits for a token."""
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        self._make_local_step()
        with name_scope(None, self._name):
            pairs = list(grads_and_vars)
            handed_in, means = [], []
            for grad, var in pairs:
                with device(var.device):
                    given, mean = self._aggregated(grad, var)
                handed_in += given
                means.append((mean, var))
            with device(global_step.device), name_scope(""):
                update = self._opt.apply_gradients(means, global_step)
                queue = self._make_token_queue()
                # A runner wants a queue to close; nothing goes through this one.
                unused = _shared_queue("dummy_queue", 1, dtypes.int32)
                with control_dependencies(handed_in):
                    token = queue.dequeue()
                train_op = assign(self._local_step, token)
                self._make_chief_queue_runner(update, unused)
            steps = [self.local_step_init_op]
            for accumulator, where in self._accumulator_list:
                with device(where):
                    steps.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = control.group(*steps)
            self._gradients_applied = True
            return train_op

    def _make_local_step(self) -> None:
        """The step this replica's gradients are computed at."""
        with colocate_with(control.no_op()):
            self._local_step = Variable(
                0, False, [GraphKeys.LOCAL_VARIABLES], name="sync_rep_local_step",
                dtype=self._global_step.dtype.base_dtype,
            )  # fmt: skip
        self.local_step_init_op = assign(self._local_step, self._global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())

    def _aggregated(self, grad: Any, var: Any) -> tuple[list[Any], Any]:
        """The op that hands a gradient in, and the mean of those of all replicas."""
        if grad is None:
            return [], None
        shared, count = var.name + "/grad_accum", self._replicas_to_aggregate
        accumulator: Any
        if isinstance(grad, Tensor):
            accumulator = ConditionalAccumulator(grad.dtype, shape=var.shape, shared_name=shared)
            given = accumulator.apply_grad(grad, local_step=self._local_step)
            mean: Any = accumulator.take_grad(count)
        elif isinstance(grad, IndexedSlices):
            accumulator = SparseConditionalAccumulator(grad.dtype, shape=(), shared_name=shared)
            given = accumulator.apply_indexed_slices_grad(grad, local_step=self._local_step)
            mean = accumulator.take_indexed_slices_grad(count)
        else:
            raise ValueError("Unknown grad type!")
        self._accumulator_list.append((accumulator, var.device))
        return [given], mean

    def _make_token_queue(self) -> Any:
        self._sync_token_queue = _shared_queue(
            "sync_token_q", -1, self._global_step.dtype.base_dtype
        )
        return self._sync_token_queue

    def _put_tokens(self, count: int) -> Any:
        tokens = array.fill([count], self._global_step)
        return self._sync_token_queue.enqueue_many((tokens,))

    def _make_chief_queue_runner(self, update: Any, unused: Any) -> None:
        """Makes the chief's queue runner: it repeats the update and a token for every replica."""
        with control_dependencies([update]):
            last = self._put_tokens(self._tokens_per_step)
        if (averages := self._variable_averages) is not None:
            with control_dependencies([last]), name_scope(""):
                last = averages.apply(self._variables_to_average)
        self._chief_queue_runner = QueueRunner(unused, [last])

    def get_chief_queue_runner(self) -> QueueRunner | None:
        """The queue runner that the chief, and no other, must start."""
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """The op by which the chief lets the first step begin."""
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        count = self._replicas_to_aggregate if num_tokens == -1 else num_tokens
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if count < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {count} (given) vs {needed} (needed)"
            )
        if count <= 0:
            return control.no_op(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            return self._put_tokens(count)

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """A hook that starts a replica: initialization, tokens and the chief's queue runner."""
        return _SyncReplicasOptimizerHook(self, is_chief, num_tokens)


class _SyncReplicasOptimizerHook(SessionRunHook):
    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int) -> None:
        self._sync_optimizer, self._is_chief, self._num_tokens = optimizer, is_chief, num_tokens

    def begin(self) -> None:
        optimizer = self._sync_optimizer
        if not optimizer._gradients_applied:
            raise ValueError(
                "SyncReplicasOptimizer.apply_gradient should be called before using the hook."
            )
        self._local_init_op = (
            optimizer.chief_init_op if self._is_chief else optimizer.local_step_init_op
        )
        self._init_tokens_op = (
            optimizer.get_init_tokens_op(self._num_tokens) if self._is_chief else None
        )

    def after_create_session(self, session: Any, coord: Any) -> None:
        missing = session.run(self._sync_optimizer.ready_for_local_init_op)
        if len(missing):
            names = ", ".join(name.decode() for name in missing)
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. "
                f"Init op: {self._local_init_op.name}, error: Variables not initialized: {names}"
            )
        session.run(self._local_init_op)
        if not self._is_chief:
            return
        session.run(self._init_tokens_op)
        runner = self._sync_optimizer.get_chief_queue_runner()
        assert runner is not None
        runner.create_threads(session, coord=_Bystander(coord), daemon=True, start=True)


class _Bystander(Coordinator):
    """A coordinator as the chief's queue runner sees it.

    The runner waits for gradients even when there will be no more. So the end of training does not
    wait for it, and it is no error that closing the session cuts it off.
    """

    def __init__(self, coord: Coordinator) -> None:
        super().__init__()
        self._coord = coord

    def register_thread(self, thread: threading.Thread) -> None:
        return

    def should_stop(self) -> bool:
        return self._coord.should_stop()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        return self._coord.wait_for_stop(timeout)

    def request_stop(self, ex: Any = None) -> None:
        if not self._coord.should_stop():
            self._coord.request_stop(ex)
