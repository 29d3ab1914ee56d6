"""tf.contrib.fused_conv: convolution, bias, a further input and ReLU as one operation."""

from __future__ import annotations

from typing import Any

from weft.graph.op_def import raw
from weft.graph.tensor import Tensor


def fused_conv2d_bias_activation(
    conv_input: Any,
    filter: Any,
    bias: Any,
    strides: Any = None,
    padding: Any = None,
    conv_input_scale: Any = 1.0,
    side_input_scale: Any = 0.0,
    side_input: Any = None,
    activation_mode: str = "Relu",
    data_format: str | None = None,
    filter_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """`relu(conv_input_scale * conv2d(...) + side_input_scale * side_input + bias)`.

    `activation_mode` "None" leaves the ReLU out. Formats of four channels in one (`NCHW_VECT_C`)
    are not there.
    """
    return raw.FusedConv2DBiasActivation(
        conv_input, filter, bias, [] if side_input is None else side_input, conv_input_scale,
        side_input_scale, strides=strides or [1, 1, 1, 1], padding=padding,
        activation_mode=activation_mode, data_format=data_format or "NHWC",
        filter_format=filter_format or "HWIO", name=name,
    )  # fmt: skip
