"""Several steps of all replicas in one step of the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.graph.convert import constant
from weft.graph.graph import control_dependencies
from weft.lib.distribute.context import get_replica_context, get_strategy
from weft.lib.distribute.values import regroup
from weft.ops.control import control
from weft.ops.control.while_loop import while_loop
from weft.ops.state.reduce_op import as_reduce_op


class MultiStepContext:
    """The outputs of the last of the steps."""

    def __init__(self) -> None:
        self._last_step_outputs: dict[str, Any] = {}
        self._reduce_ops: dict[str, Any] = {}
        self._non_tensor_outputs: dict[str, Any] = {}
        self.run_op: Any = None

    @property
    def last_step_outputs(self) -> dict[str, Any]:
        return self._last_step_outputs

    @property
    def non_tensor_outputs(self) -> dict[str, Any]:
        return self._non_tensor_outputs

    def set_last_step_output(self, name: str, output: Any, reduce_op: Any = None) -> None:
        """Keeps `output` of the last step, joined over the replicas if that is asked for."""
        replica = get_replica_context()
        if replica is None:
            self._keep(get_strategy(), name, output, reduce_op)
            return
        assert reduce_op is not None
        replica.merge_call(
            lambda strategy, value: self._keep(strategy, name, value, reduce_op), (output,)
        )

    def _keep(self, strategy: Any, name: str, output: Any, reduce_op: Any) -> None:
        if reduce_op is not None:
            output = strategy.reduce(as_reduce_op(reduce_op), output, axis=None)
        self._last_step_outputs[name] = output
        self._reduce_ops[name] = reduce_op

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Keeps a Python value, one for each replica."""
        replica = get_replica_context()
        if replica is None:
            self._non_tensor_outputs[name] = output
            return

        def keep(strategy: Any, value: Any) -> None:
            self._non_tensor_outputs[name] = strategy.experimental_local_results(value)

        replica.merge_call(keep, (output,))


def run_steps(
    extended: Any, fn: Callable[..., Any], iterator: Any, iterations: Any, initial_values: Any
) -> MultiStepContext:
    """A loop of `fn(context, iterator.get_next())`."""
    context = MultiStepContext()
    names: list[str] = []

    def body(i: Any, *_: Any) -> list[Any]:
        done = fn(context, iterator.get_next())
        outputs = context._last_step_outputs
        names[:] = sorted(outputs)
        flat = [value for name in names for value in extended._local_results(outputs[name])]
        with control_dependencies([done] if done is not None else []):
            return [i + 1, *flat]

    start = [constant(0), *nest.flatten(initial_values or {})]
    looped = while_loop(
        lambda i, *_: i < iterations, body, start, name="", parallel_iterations=1,
        back_prop=False, return_same_structure=True,
    )  # fmt: skip
    context.run_op = control.group(*looped)
    _unpack(context, extended, names, looped[1:])
    return context


def _unpack(context: MultiStepContext, extended: Any, names: list[str], flat: list[Any]) -> None:
    """Puts the results of the loop in the place of the tensors of its body."""
    rest = iter(flat)
    for name in names:
        count = len(extended._local_results(context._last_step_outputs[name]))
        values = [next(rest) for _ in range(count)]
        alone = context._reduce_ops.get(name) is not None or count == 1
        context._last_step_outputs[name] = (
            values[0] if alone else regroup(get_strategy().extended.worker_devices, values)
        )
