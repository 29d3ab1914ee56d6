"""Workers that average their models, pull them together, or gather gradients for a shared one."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import colocate_with, control_dependencies, device, name_scope
from weft.lib.contrib.opt.workers import (
    _GLOBAL,
    GLOBAL_VARIABLE_NAME,
    GRAD_VARIABLE_NAME,
    LOCAL_VARIABLE_NAME,
    CopyingGetter,
    PeriodicOptimizer,
    assigned,
    made_local,
    own_variables,
    step_counted,
    trained,
)
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.sessions.session_run_hook import SessionRunHook
from weft.ops.array.fill import fill, zeros_like
from weft.ops.control.control import group, no_op
from weft.ops.math import math
from weft.ops.nn.activations import l2_loss
from weft.ops.queues.accumulators import ConditionalAccumulator
from weft.ops.queues.queues import FIFOQueue
from weft.ops.state.updates import assign, assign_add, assign_sub
from weft.ops.state.variables import Variable, trainable_variables

# ---- accumulated gradients --------------------------------------------------------------------


class AGNCustomGetter(CopyingGetter):
    """A custom getter for `AGNOptimizer`: a shared variable, and a worker's sum of gradients."""

    _own_prefix = GRAD_VARIABLE_NAME


class AGNOptimizer(PeriodicOptimizer):
    """Accumulated gradient normalization: the shared model steps by the mean of many gradients.

    Args:
        optimizer: for the worker's variables, and for the shared ones.
        num_worker: the number of workers.
        custom_getter: the `AGNCustomGetter` that the model was made with.
        communication_period: how many steps a worker takes by itself.
        use_locking: lock variables while they are updated.
        name: of the operations.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        num_worker: int,
        custom_getter: AGNCustomGetter,
        communication_period: int = 10,
        use_locking: bool = True,
        name: str = "AGNOptimizer",
    ) -> None:
        super().__init__(optimizer, custom_getter, communication_period, use_locking, name)
        self._num_worker, self._grad_map = num_worker, custom_getter._own_map

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        grads_and_vars = list(grads_and_vars)
        grads, variables = trained(grads_and_vars)
        shared, sums = self._copies(variables)
        with made_local():
            stepped = self._opt.apply_gradients(grads_and_vars)
        added = [assign_add(total, grad) for total, grad in zip(sums, grads, strict=True)]

        def meet() -> Any:
            with control_dependencies([assign(total, total / self._period) for total in sums]):
                moved = self._opt.apply_gradients(zip(sums, shared, strict=True))
            with control_dependencies([moved]):
                counted = step_counted(global_step)
                pulled = assigned(variables, [var.read_value() for var in shared])
                return group(*counted, pulled, assigned(sums, [zeros_like(t) for t in sums]))

        return self._periodically([stepped, *added], meet)

    def get_init_op(self, task_index: int) -> Any:
        lists = "local_variables, global_center_variables,grad_center_variables"
        variables = own_variables(lists, self._global_map, self._grad_map)
        shared, sums = self._copies(variables)
        return group(assigned(variables, shared), assigned(sums, [zeros_like(t) for t in sums]))


# ---- models on a spring -----------------------------------------------------------------------


class ElasticAverageCustomGetter(CopyingGetter):
    """A custom getter for `ElasticAverageOptimizer`: shared variables, as they were seen last."""

    _own_prefix = LOCAL_VARIABLE_NAME


class ElasticAverageOptimizer(PeriodicOptimizer):
    """Elastic averaging: workers and the shared model pull at each other.

    Args:
        opt: for the worker's own variables.
        num_worker: the number of workers.
        ea_custom_getter: the `ElasticAverageCustomGetter` that the model was made with.
        communication_period: how many steps a worker takes by itself.
        moving_rate: how much of the difference both sides move; None: 0.9, divided by the period
            and by the workers.
        rho: the weight of the distance in the loss; None: `moving_rate` by the learning rate.
        use_locking: lock variables while they are updated.
        synchronous: whether workers wait for each other before they start.
        name: of the operations.
    """

    BETA = 0.9

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        ea_custom_getter: ElasticAverageCustomGetter,
        communication_period: int = 10,
        moving_rate: float | None = None,
        rho: float | None = None,
        use_locking: bool = True,
        synchronous: bool = False,
        name: str = "ElasticAverageOptimizer",
    ) -> None:
        super().__init__(opt, ea_custom_getter, communication_period, use_locking, name)
        self._num_worker, self._synchronous = num_worker, synchronous
        self._local_map = ea_custom_getter._own_map
        usual = self.BETA / communication_period / num_worker
        self._moving_rate = usual if moving_rate is None else moving_rate
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho  # type: ignore[attr-defined]

    def compute_gradients(self, loss: Any, var_list: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Those of `loss` and of the distance from the shared variables as they were last."""
        variables = var_list or trainable_variables()
        return self._opt.compute_gradients(
            loss + self._rho * self._distance(variables), variables, *args, **kwargs
        )

    def _distance(self, variables: list[Any]) -> Any:
        return math.add_n([l2_loss(math.subtract(v, self._local_map[v])) for v in variables])

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        grads_and_vars = list(grads_and_vars)
        _, variables = trained(grads_and_vars)
        with made_local():
            stepped = self._opt.apply_gradients(grads_and_vars)

        def meet() -> Any:
            shared, seen = self._copies(variables)
            with control_dependencies([assigned(seen, shared)]):
                moves = [
                    self._moving_rate * math.subtract(var, center)
                    for var, center in zip(variables, seen, strict=True)
                ]
                pulled = [assign_sub(v, move) for v, move in zip(variables, moves, strict=True)]
                pulled += [assign_add(v, move) for v, move in zip(shared, moves, strict=True)]
                return group(*pulled, *step_counted(global_step))

        return self._periodically([stepped], meet)

    def get_init_op(self, task_index: int) -> Any:
        lists = "local_variables, global_center_variables, local_center_variables"
        variables = own_variables(lists, self._global_map, self._local_map)
        shared, seen = self._copies(variables)
        started = group(assigned(variables, shared), assigned(seen, shared))
        return self._barrier(started, task_index) if self._synchronous else started

    def _barrier(self, after: Any, task_index: int) -> Any:
        """Each worker tells all others that it is ready, and waits for as many."""
        queues = [
            FIFOQueue(
                self._num_worker,
                [dtypes.bool],
                shapes=[[]],
                shared_name=f"variable_init_sync_queue{i}",
            )
            for i in range(self._num_worker)
        ]
        with control_dependencies([after]):
            others = [queue for i, queue in enumerate(queues) if i != task_index]
            told = [queue.enqueue(constant(False)) for queue in others]
        return group(*told, queues[task_index].dequeue_many(len(others)))

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """A saver that saves the shared variables under the names of the workers'."""
        from weft.lib.train.checkpoint.saver import Saver
        from weft.lib.train.checkpoint.saver_saveable import op_list_to_dict

        if not self._global_map:
            raise RuntimeError(
                "global_center_variable is empty, please make sure this is called after model "
                "created and ElasticAverageCustomGetter is used when declaring you model"
            )
        given = trainable_variables() if var_list is None else var_list
        named = given if isinstance(given, dict) else op_list_to_dict(given)
        by_name = {var.op.name: shared for var, shared in self._global_map.items()}

        def swapped(value: Any) -> Any:
            if isinstance(value, list):
                return [swapped(part) for part in value]
            return by_name.get(value.op.name, value)

        return Saver({key: swapped(var) for key, var in named.items()}, name=name, **kwargs)


# ---- models averaged in step ------------------------------------------------------------------


class ModelAverageCustomGetter(CopyingGetter):
    """A custom getter for `ModelAverageOptimizer`: shared variables that start as a worker's."""

    def __init__(self, worker_device: str) -> None:
        super().__init__(worker_device)
        self._local_2_global = self._global_map

    def _shared(self, get: Any, name: str, local: Any) -> Any:
        return Variable(
            name=f"{GLOBAL_VARIABLE_NAME}/{name}",
            initial_value=local.initialized_value(),
            trainable=False,
            collections=_GLOBAL,
        )


class ModelAverageOptimizer(PeriodicOptimizer):
    """All workers stop together every so often, and go on from the mean of their models.

    Args:
        opt: for the worker's own variables.
        num_worker: the number of workers.
        is_chief: whether this worker is the one that averages.
        ma_custom_getter: the `ModelAverageCustomGetter` that the model was made with.
        interval_steps: how many steps workers take by themselves.
        use_locking: lock variables while they are updated.
        name: of the operations.
    """

    def __init__(
        self,
        opt: Optimizer,
        num_worker: int,
        is_chief: bool,
        ma_custom_getter: ModelAverageCustomGetter,
        interval_steps: int = 100,
        use_locking: bool = True,
        name: str = "ModelAverageOptimizer",
    ) -> None:
        super().__init__(opt, ma_custom_getter, interval_steps, use_locking, name)
        self._num_worker, self._is_chief = num_worker, is_chief
        self._accumulator_list: list[tuple[Any, str]] = []
        self._chief_init_op: Any = None

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        grads_and_vars = list(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        _, variables = trained(grads_and_vars)
        stepped = [self._opt.apply_gradients(grads_and_vars)]
        update = self._periodically(stepped, lambda: self._meet(variables, global_step))
        made = [accumulator for accumulator, _ in self._accumulator_list]
        self._chief_init_op = group(
            *[m.set_global_step(global_step, "SetGlobalStep") for m in made]
        )
        return update

    def _meet(self, variables: list[Any], global_step: Any) -> Any:
        shared = [self._global_map[var] for var in variables]
        with name_scope(None, f"{self._name}/global"):
            places = [*map(self._accumulator, variables, shared)]
            pairs = zip(places, variables, strict=True)
            given = [place.apply_grad(var, local_step=global_step) for place, var in pairs]
            means = [place.take_grad(self._num_worker) for place in places]
        with control_dependencies(given):
            averaged = (
                [assigned(shared, means), *step_counted(global_step)] if self._is_chief else []
            )
        with control_dependencies([*given, *averaged]):
            going_on = self._signal(global_step)
        with control_dependencies([going_on]):
            return self._pulled(variables)

    def _accumulator(self, var: Any, center: Any) -> ConditionalAccumulator:
        """Where all workers hand in their variable: beside the shared one."""
        where, shared_name = center.device, f"{center.name}/var_accum"
        with device(where):
            made = ConditionalAccumulator(var.dtype.base_dtype, var.shape, shared_name)
        self._accumulator_list += [(made, where)]
        return made

    def _signal(self, global_step: Any) -> Any:
        """The chief tells all others to go on; they wait for that."""
        others = self._num_worker - 1
        with colocate_with(global_step):
            queue = FIFOQueue(-1, [dtypes.bool], shapes=[[]], shared_name="sync_queue")
            going = fill([others], constant(False)) if self._is_chief else None
            return queue.dequeue() if going is None else queue.enqueue_many(going)

    def _pulled(self, variables: list[Any]) -> Any:
        if not variables:
            raise ValueError("The list of local_variables should not be empty")
        return assigned(variables, [self._global_map[var].read_value() for var in variables])

    def get_init_op(self, task_index: int = 0) -> Any:
        """Makes the worker's variables equal to the shared ones."""
        return self._pulled(trainable_variables())

    def make_session_run_hook(self, *args: Any) -> SessionRunHook:
        """A hook for the session; models are equal from the first meeting on."""
        return _AveragingHook(self)


class _AveragingHook(SessionRunHook):
    def __init__(self, optimizer: ModelAverageOptimizer) -> None:
        self._optimizer = optimizer

    def begin(self) -> None:
        self._variable_init_op = self._optimizer.get_init_op()
        self._chief_init_op = self._optimizer._chief_init_op or no_op()
