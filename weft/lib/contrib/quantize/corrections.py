"""Corrections that let folded weights follow the moving averages of a batch normalization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.graph.graph import get_default_graph
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.quantize import common
from weft.ops.array import array, blocks, fill
from weft.ops.control.cond import smart_cond
from weft.ops.math import math
from weft.ops.nn.dilated import depthwise_conv2d


@dataclass
class Normalization:
    """The tensors of one batch normalization; the moving ones are there in training only."""

    gamma: Any
    mean: Any
    variance: Any
    epsilon: Any
    moving_mean: Any = None
    moving_variance: Any = None
    mean_decay: Any = None
    variance_decay: Any = None


@dataclass
class Corrections:
    """Factors of the weights and of the result, and what is added to the result."""

    scale: Tensor
    reciprocal: Tensor
    offset: Tensor


def _frozen(is_frozen: Any, decay: Tensor, name: str) -> None:
    """Makes users of a decay take zero, once the averages are frozen."""
    users = list(decay.consumers())
    chosen = smart_cond(is_frozen, lambda: 0.0, lambda: decay, name=name)
    common.RerouteTensor(chosen, decay, can_modify=users)


def compute(prefix: str, norm: Normalization, freeze_delay: int | None) -> Corrections:
    """The corrections of a layer.

    Weights are scaled by the moving deviation, which changes slowly. Until the averages are
    frozen the result is scaled back to the deviation of the batch; afterwards it is moved by the
    difference of the means.
    """
    with get_default_graph().name_scope(prefix + "batch_norm_correction"):
        moving = raw.Rsqrt(norm.moving_variance + norm.epsilon)
        batch = raw.Rsqrt(norm.variance + norm.epsilon)
        ratio = math.divide(moving, batch, name="scale_compute")
        scale = array.identity(ratio, name="correction_scale")
        reciprocal = raw.Reciprocal(scale, name="reciprocal_compute")
        distance = norm.mean * batch - norm.moving_mean * moving
        offset = math.multiply(norm.gamma, distance, name="offset_compute")
        is_frozen: Any = False
        if freeze_delay is not None:
            step = common.CreateOrGetQuantizationStep()
            is_frozen = raw.GreaterEqual(step, freeze_delay, name="use_moving_average")
        _frozen(is_frozen, norm.mean_decay, "freeze_moving_mean")
        _frozen(is_frozen, norm.variance_decay, "freeze_moving_var")
        return Corrections(
            scale,
            smart_cond(
                is_frozen, lambda: fill.ones(scale.shape), lambda: reciprocal, "correction_recip"
            ),
            smart_cond(
                is_frozen, lambda: offset, lambda: fill.zeros(offset.shape), "correction_offset"
            ),
        )


# What makes a layer anew, and which attributes it takes over. Dilated layers keep the operations
# around them, so that their rate is not among these.
_LAYERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "Conv2D": (raw.Conv2D, ("strides", "padding", "use_cudnn_on_gpu", "data_format")),
    "DepthwiseConv2dNative": (depthwise_conv2d, ("strides", "padding", "data_format")),
    "MatMul": (raw.MatMul, ("transpose_a", "transpose_b")),
}


def layer_with(layer: Operation, inputs: Tensor, weights: Tensor, name: str) -> Tensor:
    """The result of a layer like `layer` with other operands."""
    if layer.type not in _LAYERS:
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    make, names = _LAYERS[layer.type]
    return make(inputs, weights, name=name, **{each: layer.attrs[each] for each in names})


def blocks_like(op: Operation, tensor: Tensor, name: str) -> Tensor:
    """`tensor` brought back from blocks, as `op` does it for the dilated layer before it."""
    _, block, crops = op.inputs
    return blocks.batch_to_space_nd(tensor, block, crops, name=name)


def channel_shape(weights: Tensor) -> list[int | None]:
    """The last two sizes of depthwise weights: channels, and results per channel."""
    return weights.get_shape().as_list()[2:4]
