"""The scope of a strategy, which makes the variables inside of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from weft.graph.graph import device
from weft.lib.distribute.context import has_strategy, require_cross_replica
from weft.lib.platform import tf_logging as logging
from weft.ops.kit.replicas import Mode, entered
from weft.ops.state.variable_creators import variable_creator_scope
from weft.ops.state.variable_scope import get_variable_scope, variable_scope


class StrategyScope:
    """Opens the scope of `strategy`; where it is open already, does nothing."""

    def __init__(
        self, strategy: Any, creator: Callable[..., Any], default_device: str | None
    ) -> None:
        self._strategy, self._creator, self._device = strategy, creator, default_device
        self._open: list[ExitStack] = []

    def __enter__(self) -> Any:
        with ExitStack() as stack:
            if has_strategy():
                require_cross_replica(self._strategy.extended)
            else:
                self._enter(stack)
            self._open.append(stack.pop_all())
        return self._strategy

    def _enter(self, stack: ExitStack) -> None:
        stack.enter_context(entered(Mode(self._strategy)))
        stack.enter_context(
            variable_scope(get_variable_scope(), custom_getter=self._get_in_one_piece)
        )
        stack.enter_context(variable_creator_scope(self._creator))
        if self._device is not None:
            stack.enter_context(device(self._device))

    def _get_in_one_piece(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        whole = not self._strategy.extended._allow_variable_partition()
        if whole and kwargs.pop("partitioner", None) is not None:
            logging.log_first_n(
                logging.WARN,
                "Partitioned variables are disabled when using current tf.distribute.Strategy.",
                1,
            )
        return getter(*args, **kwargs)

    def __exit__(self, *exc: Any) -> None:
        self._open.pop().__exit__(*exc)
