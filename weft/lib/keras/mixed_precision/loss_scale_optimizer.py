"""An optimizer whose loss is scaled up, and its gradients down again."""

from __future__ import annotations

from typing import Any

from weft.lib.keras import backend as K
from weft.lib.keras.optimizers.optimizer_v2 import OptimizerV2
from weft.lib.train.checkpoint.objects import Children
from weft.lib.train.optimizers.loss_scale import as_loss_scale
from weft.lib.train.optimizers.loss_scale_optimizer import scaled_gradient, scaled_loss
from weft.ops.control import control
from weft.ops.control.cond import smart_cond


class LossScaleOptimizer(OptimizerV2):
    """`opt` with a loss scale; steps with infinite gradients are left out."""

    def __init__(self, opt: Any, loss_scale: Any) -> None:
        if not isinstance(opt, OptimizerV2):
            raise ValueError(f'"opt" must be an instance of OptimizerV2, but got: {opt}')
        for limit in ("clipnorm", "clipvalue"):
            if limit in vars(opt):
                raise ValueError(
                    f"LossScaleOptimizer does not support wrapping optimizers with a {limit}. "
                    f"Optimizer {opt} has {limit} {getattr(opt, limit)}"
                )
        super().__init__(opt._name)
        self._optimizer = opt
        scale: Any = as_loss_scale(loss_scale)
        self._loss_scale = scale
        for weight in scale._weights.values():
            K.track_variable(weight)

    @property
    def loss_scale(self) -> Any:
        return self._loss_scale

    def get_scaled_loss(self, loss: Any) -> Any:
        """`loss`, or what a function gives for it, times the scale."""
        scale = self._loss_scale()
        return (lambda: scaled_loss(loss, scale)) if callable(loss) else scaled_loss(loss, scale)

    def get_unscaled_gradients(self, grads: Any) -> list[Any]:
        factor = 1.0 / self._loss_scale()
        return [scaled_gradient(grad, factor) for grad in grads]

    def _compute_gradients(
        self, loss: Any, var_list: Any, grad_loss: Any = None
    ) -> list[tuple[Any, Any]]:
        scaled = self.get_scaled_loss(loss)
        pairs = self._optimizer._compute_gradients(scaled, var_list, grad_loss)
        grads = self.get_unscaled_gradients([grad for grad, _ in pairs])
        return list(zip(grads, [var for _, var in pairs], strict=True))

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        grads = self._optimizer.get_gradients(self.get_scaled_loss(loss), params)
        return self.get_unscaled_gradients(grads)

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        pairs = tuple(grads_and_vars)
        adapted, good = self._loss_scale.update([grad for grad, _ in pairs])
        applied = smart_cond(
            good, lambda: self._optimizer.apply_gradients(pairs, name), control.no_op
        )
        return control.group(applied, adapted)

    # ---- what the optimizer inside has ----

    @property
    def iterations(self) -> Any:
        return self._optimizer.iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        self._optimizer.iterations = variable

    @property
    def learning_rate(self) -> Any:
        return self._optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self._optimizer.learning_rate = value

    @property
    def lr(self) -> Any:
        return self._optimizer.learning_rate

    @property
    def weights(self) -> list[Any]:
        return self._optimizer.weights

    def get_slot_names(self) -> list[str]:
        return self._optimizer.get_slot_names()

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError("get_config() is not yet implemented for LossScaleOptimizers")

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        raise NotImplementedError("from_config() is not yet implemented for LossScaleOptimizers")

    @property
    def _checkpoint_dependencies(self) -> Children:
        return [("base_optimizer", self._optimizer), ("loss_scale", self._loss_scale)]
