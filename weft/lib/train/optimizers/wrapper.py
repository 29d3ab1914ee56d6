"""An optimizer around another one."""

from __future__ import annotations

from typing import Any

from weft.lib.train.optimizers.optimizer import Optimizer


class WrapperOptimizer(Optimizer):
    """Hands over to the optimizer inside whatever a subclass does not do in its own way.

    Slots are those of the optimizer inside. It is known by both names that subclasses of
    TensorFlow's give it: `_opt` and `_optimizer`.
    """

    def __init__(self, inside: Any, use_locking: bool, name: str) -> None:
        super().__init__(use_locking, name)
        self._opt = self._optimizer = inside

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients that the optimizer inside computes."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """The step of the optimizer inside."""
        return self._opt.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the optimizer inside."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The names of the slots of the optimizer inside."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        """The variables of the optimizer inside."""
        return self._opt.variables(*args, **kwargs)
