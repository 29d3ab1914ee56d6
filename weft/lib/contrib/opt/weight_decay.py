"""Weight decay apart from the gradient: weights shrink before each step of an optimizer."""

from __future__ import annotations

from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.lib.train.optimizers.adam import AdamOptimizer
from weft.lib.train.optimizers.momentum import MomentumOptimizer
from weft.ops.array.gather import gather
from weft.ops.control import control
from weft.ops.state.updates import scatter_add


class DecoupledWeightDecayExtension:
    """To be put before an optimizer among the base classes.

    `minimize` and `apply_gradients` take `decay_var_list`, the variables to shrink (all, if empty).
    """

    _use_locking: bool

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._decay_var_list: Any = None
        self._weight_decay = weight_decay
        self._weight_decay_now = self._weight_decay_tensor = None  # type: Any
        super().__init__(**kwargs)

    def minimize(self, *args: Any, decay_var_list: Any = None, **kwargs: Any) -> Any:
        self._decay_var_list = list(decay_var_list or ())
        return super().minimize(*args, **kwargs)  # type: ignore[misc]

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Any = None,
    ) -> Any:
        if decay_var_list or self._decay_var_list is None:
            self._decay_var_list = list(decay_var_list or ())
        return super().apply_gradients(  # type: ignore[misc]
            grads_and_vars, global_step=global_step, name=name
        )

    def _prepare(self) -> None:
        given = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        self._weight_decay_now = given
        self._weight_decay_tensor = convert_to_tensor(given, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _shrinks(self, var: Any) -> bool:
        return not self._decay_var_list or any(var is v for v in self._decay_var_list)

    def _shrunk(self, var: Any) -> Any:
        if not self._shrinks(var):
            return control.no_op()
        return var.assign_sub(self._weight_decay_now * var, self._use_locking)

    def _rows_shrunk(self, var: Any, indices: Tensor, resource: bool) -> Any:
        if not self._shrinks(var):
            return control.no_op()
        change = -self._weight_decay_now * gather(var, indices)
        if resource:
            return raw.ResourceScatterAdd(var.handle, indices, change)
        return scatter_add(var, indices, change, self._use_locking)

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        with control_dependencies([self._shrunk(var)]):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Tensor, var: Any) -> Any:
        with control_dependencies([self._shrunk(var)]):
            return super()._resource_apply_dense(grad, var)  # type: ignore[misc]

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        with control_dependencies([self._rows_shrunk(var, grad.indices, resource=False)]):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor) -> Any:
        with control_dependencies([self._rows_shrunk(var, indices, resource=True)]):
            return super()._resource_apply_sparse(grad, var, indices)  # type: ignore[misc]


def extend_with_decoupled_weight_decay(base_optimizer: type) -> type:
    """The class of `base_optimizer` with weight decay, its first argument."""

    class OptimizerWithDecoupledWeightDecay(
        DecoupledWeightDecayExtension,
        base_optimizer,  # type: ignore[valid-type, misc]
    ):
        """An optimizer with weight decay apart from the gradient."""

        def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
            super().__init__(weight_decay, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with weight decay."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )
