"""Training steps as objects, and what drives them; and the strategies of an Estimator together."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import errors
from weft.ops.state.variables import global_variables_initializer


class DistributeConfig(NamedTuple):
    """The strategies that an Estimator trains and evaluates by."""

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


class Step:
    """One step of training, to be called for the operation that takes it."""

    def __init__(self, distribution: Any) -> None:
        self._distribution = distribution

    @property
    def distribution(self) -> Any:
        return self._distribution

    def initialize(self) -> Any:
        """The operations that have to run before the first step."""
        return []

    def __call__(self) -> Any:
        raise NotImplementedError("must be implemented in descendants")


class StandardInputStep(Step):
    """A step whose input comes from the dataset that `dataset_fn()` gives."""

    def __init__(self, dataset_fn: Callable[[], Any], distribution: Any) -> None:
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(lambda _: dataset_fn())

    def initialize(self) -> Any:
        return self._iterator.initialize()


class StandardSingleLossStep(StandardInputStep):
    """A step that makes `loss_fn(context, inputs)` smaller by `optimizer`."""

    def __init__(
        self,
        dataset_fn: Callable[[], Any],
        loss_fn: Callable[..., Any],
        optimizer: Any,
        distribution: Any,
        iterations_per_step: int = 1,
    ) -> None:
        super().__init__(dataset_fn, distribution)
        self._loss_fn, self._optimizer = loss_fn, optimizer
        self._iterations_per_step = iterations_per_step

    def __call__(self) -> Any:
        extended = self.distribution.extended

        def gradients(context: Any, inputs: Any) -> list[Any]:
            computed = self._optimizer.compute_gradients(self._loss_fn(context, inputs))
            return [(grad, variable) for grad, variable in computed if grad is not None]

        def step(context: Any, inputs: Any) -> Any:
            grads_and_vars = extended.call_for_each_replica(gradients, (context, inputs))
            return self._optimizer._distributed_apply(self.distribution, grads_and_vars)

        with self.distribution.scope():
            context = extended.experimental_run_steps_on_iterator(
                step, self._iterator, self._iterations_per_step
            )
            return context.run_op


class Monitor:
    """Takes steps in a session."""

    def __init__(self, step_callable: Any, session: Any = None) -> None:
        if session is None:
            raise ValueError("Should provide a `session` in Graph mode.")
        first = [step_callable.initialize()]
        self._run_step = session.make_callable(step_callable())
        session.run([*first, global_variables_initializer()])

    def run_steps(self, num_steps: int | None = None) -> None:
        """Runs `num_steps` steps, or as many as there is input for."""
        turns = itertools.count() if num_steps is None else range(num_steps)
        with contextlib.suppress(errors.OutOfRangeError):
            for _ in turns:
                self._run_step()
