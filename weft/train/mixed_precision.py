"""Mixed precision as TensorFlow turns it on: by wrapping the optimizer."""

from __future__ import annotations

from typing import Any

from weft.train.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer
from weft.train.optimizer import Optimizer


def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """`opt` with a loss scale.

    Which operations compute in half precision stays as the program says: TensorFlow changes that
    only for what runs on a GPU.
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError(
            '"opt" must not already be an instance of a MixedPrecisionLossScaleOptimizer. '
            "`enable_mixed_precision_graph_rewrite` will automatically wrap the optimizer with a "
            "MixedPrecisionLossScaleOptimizer."
        )
    if not isinstance(opt, Optimizer):
        raise ValueError(
            '"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, '
            f"but got: {opt}"
        )
    return MixedPrecisionLossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite() -> None:
    """Nothing: optimizers that were wrapped stay so, in TensorFlow, too."""
