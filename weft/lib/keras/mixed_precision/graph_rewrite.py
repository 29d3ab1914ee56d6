"""Mixed precision as TensorFlow turns it on: by wrapping the optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from weft.client.process_config import settings
from weft.graph.graph import get_default_graph
from weft.lib.platform import tf_logging
from weft.lib.train.optimizers.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer
from weft.lib.train.optimizers.optimizer import Optimizer


def graph_rewrite_is_enabled() -> bool:
    """Whether the program has asked for mixed precision in this way; Keras has another."""
    return settings.half_precision


def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """`opt`, of tf.train or of Keras, with a loss scale.

    Sessions made from now on compute products and convolutions on GPUs in half precision, and what
    lies between them.
    """
    wrapped = _wrapped(opt, loss_scale)
    settings.half_precision = True
    return wrapped


def _wrapped(opt: Any, loss_scale: Any) -> Any:
    from weft.lib.keras.mixed_precision.loss_scale_optimizer import LossScaleOptimizer
    from weft.lib.keras.optimizers.optimizer_v2 import OptimizerV2

    for wrapper in (MixedPrecisionLossScaleOptimizer, LossScaleOptimizer):
        if isinstance(opt, wrapper):
            raise ValueError(
                f'"opt" must not already be an instance of a {wrapper.__name__}. '
                "`enable_mixed_precision_graph_rewrite` will automatically wrap the optimizer with "
                f"a {wrapper.__name__}."
            )
    if isinstance(opt, Optimizer):
        return MixedPrecisionLossScaleOptimizer(opt, loss_scale)
    if isinstance(opt, OptimizerV2):
        return LossScaleOptimizer(opt, loss_scale)
    raise ValueError(
        '"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, '
        f"but got: {opt}"
    )


def disable_mixed_precision_graph_rewrite() -> None:
    """Optimizers that were wrapped stay so."""
    if not settings.half_precision:
        tf_logging.warning(
            "disable_mixed_precision_graph_rewrite() called when mixed precision is already "
            "disabled."
        )
    settings.half_precision = False


@contextmanager
def auto_mixed_precision_scope(select: bool = True) -> Iterator[None]:
    """Marks the nodes made inside: whether a rewrite may have them compute in half precision."""
    mark = AttrValue(b=select)
    with get_default_graph()._attr_scope({"_AutoMixedPrecisionScopeInclude": mark}):
        yield
