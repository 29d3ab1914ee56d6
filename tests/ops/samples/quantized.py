"""Samples of weft/ops/quantized/arithmetic.py and weft/ops/quantized/windows.py.

Their inputs are of quantized types, which samples do not have: they are compared with what
TensorFlow gives in tests/ops/quantized/test_quantized.py.
"""

from tests.ops.sample import skip

SAMPLES = [
    skip(name, "checked against recorded results in tests/ops/quantized/test_quantized.py")
    for name in (
        "QuantizeDownAndShrinkRange QuantizedAdd QuantizedAvgPool"
        " QuantizedBatchNormWithGlobalNormalization"
        " QuantizedBiasAdd QuantizedConcat QuantizedInstanceNorm QuantizedResizeBilinear"
        " QuantizedConv2D QuantizedMatMul QuantizedMaxPool QuantizedMul QuantizedRelu"
        " QuantizedRelu6 QuantizedReluX QuantizedReshape RequantizationRange Requantize"
    ).split()
]
