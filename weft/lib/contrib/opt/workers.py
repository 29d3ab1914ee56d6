"""Optimizers for workers that train variables of their own and meet at shared ones now and then.

A custom getter makes the shared variable (and others) beside each trainable one. The optimizer
steps on the worker's own; every so many steps it brings both together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.graph.graph import (
    colocate_with,
    control_dependencies,
    device,
    get_collection_ref,
)
from weft.graph.keys import GraphKeys
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.optimizers.wrapper import WrapperOptimizer
from weft.lib.train.sessions.session_run_hook import SessionRunHook
from weft.ops.array.placeholders import identity
from weft.ops.control.cond import cond
from weft.ops.control.control import group, no_op
from weft.ops.math import math
from weft.ops.state import variable_scope as vs
from weft.ops.state.updates import assign, assign_add
from weft.ops.state.variables import global_variables, trainable_variables

_LOCAL, _GLOBAL = [GraphKeys.LOCAL_VARIABLES], [GraphKeys.GLOBAL_VARIABLES]
GLOBAL_VARIABLE_NAME, LOCAL_VARIABLE_NAME = "global_center_variable", "local_center_variable"
GRAD_VARIABLE_NAME = "grad_variable"


class CopyingGetter:
    """A custom getter: trainable variables become local, and get copies.

    Args:
        worker_device: where the worker's own variables are.
    """

    # The prefix of a further copy that each worker has for itself.
    _own_prefix = ""

    def __init__(self, worker_device: str) -> None:
        self._worker_device = worker_device
        self._global_map: dict[Any, Any] = {}
        self._own_map: dict[Any, Any] = {}

    def __call__(
        self, getter: Any, name: str, trainable: Any, collections: Any, *args: Any, **kwargs: Any
    ) -> Any:
        def get(prefix: str, among: Any, trainable: Any = False) -> Any:
            full = f"{prefix}/{name}" if prefix else name
            return getter(full, *args, trainable=trainable, collections=among, **kwargs)

        if not trainable:
            if GraphKeys.LOCAL_VARIABLES not in (collections or ()):
                return get("", collections, trainable)
            with device(self._worker_device):
                return get("", collections, trainable)
        with device(self._worker_device):
            local = get("", _LOCAL, trainable=True)
        if kwargs.get("reuse") is not True:
            parted = kwargs.get("partitioner") is not None
            _record(self._global_map, local, self._shared(get, name, local), parted)
            if self._own_prefix:
                with device(self._worker_device):
                    _record(self._own_map, local, get(self._own_prefix, _LOCAL), parted)
        return local

    def _shared(self, get: Callable[..., Any], name: str, local: Any) -> Any:
        return get(GLOBAL_VARIABLE_NAME, _GLOBAL)


def _record(copies: dict[Any, Any], local: Any, made: Any, parted: bool) -> None:
    pairs = zip(local, made, strict=True) if parted else [(local, made)]
    copies.update(pairs)


class PeriodicOptimizer(WrapperOptimizer):
    """Runs `opt` on a worker's own variables, and every `period` steps something more."""

    def __init__(
        self, opt: Optimizer, getter: CopyingGetter, period: Any, use_locking: bool, name: str
    ) -> None:
        super().__init__(opt, use_locking, name)
        self._period = period
        self._global_map, self._own_map = getter._global_map, getter._own_map
        self._local_step = _counter("local_step")
        opt._prepare()

    def _periodically(self, after: list[Any], meet: Callable[[], Any]) -> Any:
        """An operation that counts a step once `after` is done, and runs `meet` if it is time."""
        with control_dependencies(after):
            steps = identity(assign_add(self._local_step, 1, name="local_step_update"))
        return cond(math.equal(steps % self._period, 0), meet, no_op)

    def make_session_run_hook(self, is_chief: bool, task_index: int) -> SessionRunHook:
        """A hook that makes the worker's variables equal to the shared ones at the start."""
        return _StartingHook(self, task_index)

    def get_init_op(self, task_index: int) -> Any:
        """The operation that the hook runs."""
        raise NotImplementedError

    def _copies(self, variables: list[Any]) -> tuple[list[Any], list[Any]]:
        """The shared variables and the further copies of `variables`."""
        return [self._global_map[v] for v in variables], [self._own_map[v] for v in variables]


def _counter(name: str) -> Any:
    """A number of the worker's own, 0 at first."""
    return vs.get_variable(name, initializer=0, trainable=False, collections=_LOCAL)


class _StartingHook(SessionRunHook):
    def __init__(self, optimizer: PeriodicOptimizer, task_index: int) -> None:
        self._optimizer, self._task_index = optimizer, task_index

    def begin(self) -> None:
        self._start = self._optimizer.get_init_op(self._task_index)

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._start)


def trained(grads_and_vars: Any) -> tuple[list[Any], list[Any]]:
    """The gradients that are there, and their variables."""
    pairs = [(grad, var) for grad, var in grads_and_vars if grad is not None]
    return [grad for grad, _ in pairs], [var for _, var in pairs]


@contextmanager
def made_local() -> Iterator[None]:
    """Variables that are made inside, such as an optimizer's, belong to the worker."""
    before = {var.op.name for var in global_variables()}
    yield
    shared, local = get_collection_ref(_GLOBAL[0]), get_collection_ref(_LOCAL[0])
    local += [var for var in shared if var.op.name not in before]
    shared[:] = [var for var in shared if var.op.name in before]


def step_counted(global_step: Any) -> list[Any]:
    if global_step is None:
        return []
    with colocate_with(global_step):
        return [assign_add(global_step, 1)]


def assigned(targets: list[Any], values: list[Any]) -> Any:
    """An operation that gives each target its value, where the target is."""
    return group(*map(_assigned_in_place, targets, values))


def _assigned_in_place(target: Any, value: Any) -> Any:
    with device(target.device):
        return assign(target, value)


def own_variables(wanted: str, *maps: dict[Any, Any]) -> list[Any]:
    """The variables that are trained, all of which the custom getter must have made."""
    variables = trainable_variables()
    if not variables or not all(maps):
        raise ValueError(f"The lists of {wanted} should not be empty")
    return variables
