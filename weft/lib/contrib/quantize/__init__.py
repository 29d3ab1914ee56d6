"""tf.contrib.quantize: graphs rewritten in place so that they train and run as if quantized."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import get_default_graph
from weft.lib.contrib.quantize.fold_batch_norms import FoldBatchNorms as _fold
from weft.lib.contrib.quantize.quantize import Quantize as _quantize

__all__ = [
    "create_eval_graph",
    "create_training_graph",
    "experimental_create_eval_graph",
    "experimental_create_training_graph",
]

_RULES = (
    "Adadelta Adagrad AdagradDA Adam AddSign CenteredRMSProp Ftrl FtrlV2 GradientDescent Momentum "
    "PowerSign ProximalAdagrad ProximalGradientDescent RMSProp"
).split()
# Rules without a sparse form, and the one that is not looked for among dense ref updates.
_DENSE_ONLY = {"Adam", "AddSign", "GradientDescent", "PowerSign"}
_TRAINING = (
    {f"{kind}Apply{rule}" for kind in ("", "Resource") for rule in _RULES} - {"ApplyAdadelta"}
) | {
    f"{kind}SparseApply{rule}"
    for kind in ("", "Resource")
    for rule in _RULES
    if rule not in _DENSE_ONLY
}


def _rewrite(
    graph: Any, is_training: bool, freeze_bn_delay: int | None = None, **given: Any
) -> None:
    graph = graph or get_default_graph()
    found = {op.type for op in graph.get_operations()} & _TRAINING
    if found:
        raise ValueError(f"Training op found in graph, exiting {found}")
    with graph.as_default():
        _fold(graph, is_training, freeze_batch_norm_delay=freeze_bn_delay)
        _quantize(graph, is_training, **given)


def create_training_graph(input_graph: Any = None, quant_delay: int = 0) -> None:
    """Rewrites a graph, before its gradients are added, for training as if quantized.

    `quant_delay` is how many steps pass first: with none, a model that is trained is refined.
    """
    _rewrite(input_graph, True, quant_delay=quant_delay)


def create_eval_graph(input_graph: Any = None) -> None:
    """Rewrites a graph for evaluation as if quantized."""
    _rewrite(input_graph, False)


def experimental_create_training_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int = 0,
    freeze_bn_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_training_graph` with sizes of values, and for the operations of one scope only.

    From the step `freeze_bn_delay` on, normalizations use their moving averages.
    """
    _rewrite(
        input_graph, True, freeze_bn_delay, weight_bits=weight_bits, scope=scope,
        activation_bits=activation_bits, symmetric=symmetric, quant_delay=quant_delay,
    )  # fmt: skip


def experimental_create_eval_graph(
    input_graph: Any = None,
    weight_bits: int = 8,
    activation_bits: int = 8,
    symmetric: bool = False,
    quant_delay: int | None = None,
    scope: str | None = None,
) -> None:
    """`create_eval_graph` with sizes of values, and for the operations of one scope only."""
    _rewrite(
        input_graph, False, weight_bits=weight_bits, activation_bits=activation_bits,
        symmetric=symmetric, quant_delay=quant_delay, scope=scope,
    )  # fmt: skip
