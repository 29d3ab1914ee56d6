"""tf.contrib.quantization: operations of quantized tensors, by their lower-case names."""

from __future__ import annotations

from typing import Any

from weft.graph.op_def import raw

_OPERATIONS = {
    "dequantize": "Dequantize",
    "quantize_v2": "QuantizeV2",
    "quantized_add": "QuantizedAdd",
    "quantized_avg_pool": "QuantizedAvgPool",
    "quantized_batch_norm_with_global_normalization": "QuantizedBatchNormWithGlobalNormalization",
    "quantized_bias_add": "QuantizedBiasAdd",
    "quantized_concat": "QuantizedConcat",
    "quantized_conv2d": "QuantizedConv2D",
    "quantized_mat_mul": "QuantizedMatMul",
    "quantized_max_pool": "QuantizedMaxPool",
    "quantized_mul": "QuantizedMul",
    "quantized_relu": "QuantizedRelu",
    "quantized_relu6": "QuantizedRelu6",
    "quantized_relu_x": "QuantizedReluX",
    "quantize_down_and_shrink_range": "QuantizeDownAndShrinkRange",
    "requantization_range": "RequantizationRange",
    "requantize": "Requantize",
}


def __getattr__(name: str) -> Any:
    if name in _OPERATIONS:
        return getattr(raw, _OPERATIONS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_OPERATIONS)
